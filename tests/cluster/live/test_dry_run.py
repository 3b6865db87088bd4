#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run --dry-run: decides when something changes or a time has come, takes settings as they change, and writes nothing."""
import os
import queue
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, node, pod, run  # noqa: E402

QUEUES = """partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: a, resources: {guaranteed: {vcore: 4}}, properties: {preemption.delay: 4s}}
    - {name: b, resources: {guaranteed: {vcore: 1}}}
"""


class Runner:
    def __init__(self, lab, *options):
        self.process = subprocess.Popen([CEDE, "run", "--listen", "none", "--dry-run", "--kubeconfig", lab.kubeconfig("cede"), *options], stdout=subprocess.PIPE,
                                        stderr=open(lab.path("run.log"), "ab"), text=True)
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=lambda: [self.lines.put((time.monotonic(), line)) for line in self.process.stdout], daemon=True).start()

    def wait(self, *words, seconds=30):
        """The next line with all these words and when it came; None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                at, line = self.lines.get(timeout=left)
            except queue.Empty:
                break
            self.seen.append(line)
            if all(w in line for w in words):
                return at, line
        return None


def decisions(lab, suite):
    lab.create(*[node(f"n{i}") for i in range(2)])
    r = lab.runner = Runner(lab)
    lab.create(pod("small", cpu=1))
    suite.true("a pod that comes is decided", r.wait("default/small: placed on n"), "".join(r.seen))
    lab.create(pod("big", cpu=9))
    suite.true("one that fits nowhere waits, with the reason", r.wait("default/big: waiting", "0/2 nodes are available"), "".join(r.seen))
    lab.create(node("n9", cpu=16))
    suite.true("a node that comes helps it", r.wait("default/big: placed on n9"), "".join(r.seen))
    lab.kubectl("delete", "node", "n9")
    suite.true("and when it goes it waits again", r.wait("default/big: waiting"), "".join(r.seen))
    lab.kubectl("delete", "pod", "small", "big", "--wait=false")


def CL_7_settings(lab, suite):
    r = lab.runner
    lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "kube-system"}, "data": {"queues.yaml": QUEUES}})
    time.sleep(2)
    label = {"labels": {"queue": "root.b", "applicationId": "app-b"}}
    lab.create(*[pod(f"b-{i}", cpu=2, node_name=f"n{i % 2}", **label) for i in range(4)])
    lab.wait("running pods", lambda: sum(p["status"]["phase"] == "Running" for p in lab.objects("pods")) == 4)
    start = time.monotonic()
    lab.create(pod("a-0", cpu=2, labels={"queue": "root.a", "applicationId": "app-a"}))
    first = r.wait("default/a-0: waiting")
    suite.true("CL_7 queues from a ConfigMap are in force: the pod waits for its delay", first, "".join(r.seen))
    second = r.wait("default/a-0: nominated to n", "has to go: default/b-", seconds=20)
    suite.true("CL_5 when the delay ends, and nothing else happens, it is decided", second and 3 < second[0] - start < 10, "".join(r.seen))
    lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "kube-system"}, "data": {"queues.yaml": "partitions: 7"}})
    lab.wait("a refusal", lambda: "settings refused" in open(lab.path("run.log"), encoding="utf-8").read(), 20)
    suite.true("CL_7 a bad change is refused aloud", True)
    lab.create(pod("a-1", cpu=2, labels={"queue": "root.a", "applicationId": "app-a"}))
    suite.true("CL_7 and what was in force stays in force", r.wait("default/a-1: nominated", "has to go", seconds=20), "".join(r.seen))


def CL_10_writes_nothing(lab, suite):
    lab.runner.process.send_signal(signal.SIGTERM)
    suite.equal("SIGTERM: exit 0", lab.runner.process.wait(10), 0)
    ours = [a for a in lab.audit() if a["user"]["username"] == "system:serviceaccount:kube-system:cede"]
    suite.true("it was seen in the audit log", len(ours) > 20)
    suite.equal("CL_10 nothing was written", {a["verb"] for a in ours} - {"get", "list", "watch"}, set())
    suite.equal("CL_10 nothing was refused", [a["requestURI"] for a in ours if a["responseStatus"]["code"] == 403], [])


run(decisions, CL_7_settings, CL_10_writes_nothing)
