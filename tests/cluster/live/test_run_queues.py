#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run in profile default: queues, guarantees, delays and windows that end by themselves, and restarts in the middle."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import (Daemon, bound, clear, condition, events, get, node_of, written)  # noqa: E402

QUEUES = """partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: a, resources: {guaranteed: {vcore: 4}}, properties: {preemption.delay: 4s}}
    - {name: b, resources: {guaranteed: {vcore: 1}}}
"""


def queued(name, queue, cpu=1, **spec):
    return pod(name, cpu=cpu, labels={"queue": f"root.{queue}", "applicationId": f"app-{queue}"}, **spec)


def config_map(text):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "kube-system"}, "data": {"queues.yaml": text}}


def CL_5_delay(lab, suite):
    lab.create(node("n0"), node("n1"))
    lab.apply(config_map(QUEUES))
    lab.daemon = Daemon(lab)
    lab.create(*[queued(f"b-{i}", "b", cpu=2) for i in range(4)])
    bound(lab, *[f"b-{i}" for i in range(4)])
    since, start = len(lab.audit()), time.monotonic()
    lab.create(queued("a-0", "a", cpu=2))
    c = lab.wait("condition", lambda: condition(lab, "a-0"))
    suite.true("CL_9 why it may not preempt yet stands at the end of the message", "It takes room from nobody (delay) until" in c["message"], c["message"])
    bound(lab, "a-0")
    took = time.monotonic() - start
    suite.true("CL_5 when the delay ends, and nothing else happens, it reclaims", 3 < took < 15, f"{took:.1f} s")
    deleted = [w for w in written(lab, since) if w[:2] == ("delete", "pods")]
    suite.equal("CL_2 one had to go", len(deleted), 1)
    note = lab.wait("event", lambda: events(lab, deleted[0][2], "Preempted"))[0]["note"]
    suite.true("CL_9 the event has the rule's numbers", note == "cede: reclaim for default/a-0: root.a uses 0 of 4 guaranteed cpu, root.b 8 of 1", note)


def CL_3_restart(lab, suite):
    """Victims that do not go at once: the daemon is killed while they leave; the room is still the preemptor's."""
    lab.daemon.end(signal.SIGKILL)
    clear(lab)
    lab.daemon = Daemon(lab)
    lab.kubectl("delete", "node", "n1")
    held = queued("b-0", "b", cpu=3)
    held["metadata"]["finalizers"] = ["cede.test/hold"]
    lab.create(queued("b-1", "b", cpu=1))
    bound(lab, "b-1")
    lab.create(held)
    bound(lab, "b-0")
    lab.create(queued("a-0", "a", cpu=3))
    lab.wait("nominated", lambda: (get(lab, "a-0")["status"].get("nominatedNodeName") or "") == "n0", 40)
    lab.wait("leaving", lambda: get(lab, "b-0")["metadata"].get("deletionTimestamp"), 20)
    suite.true("CL_3 nominatedNodeName is written", True, "")
    lab.daemon.end(signal.SIGKILL)
    since = len(lab.audit())
    lab.daemon = Daemon(lab)
    lab.create(queued("b-9", "b", cpu=1))
    c = lab.wait("condition", lambda: condition(lab, "b-9"), 30)
    suite.true("CL_3 after a restart the room is still reserved", node_of(lab, "b-9") is None, c["message"])
    suite.equal("CL_3 nobody is asked twice", [w for w in written(lab, since) if w[0] == "delete"], [])
    lab.kubectl("patch", "pod", "b-0", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    suite.equal("CL_3 when the victim is gone, the pod it went for gets the room", bound(lab, "a-0"), ["n0"])
    suite.true("and who came later still waits", node_of(lab, "b-9") is None, "")


def CL_7_settings(lab, suite):
    lab.apply(config_map("partitions: 7"))
    lab.wait("refusal", lambda: events(lab, "yunikorn-configs", "ConfigurationRefused", ns="kube-system"), 30)
    e = events(lab, "yunikorn-configs", "ConfigurationRefused", ns="kube-system")[0]
    suite.equal("CL_7 a bad change is refused aloud, on its object", (e["type"], e["regarding"]["kind"]), ("Warning", "ConfigMap"))
    lab.kubectl("delete", "pod", "b-9", "b-1", "--wait=false")
    lab.create(queued("a-1", "a", cpu=1))
    suite.equal("CL_7 what was in force stays in force", bound(lab, "a-1"), ["n0"])
    lab.apply(config_map(QUEUES.replace("- {name: b,", "- {name: c}\n    - {name: b,")))
    lab.kubectl("delete", "pod", "a-1", "--wait=false")
    lab.create(queued("c-0", "c", cpu=1))
    suite.equal("CL_7 a good one is taken without a restart", bound(lab, "c-0", seconds=30), ["n0"])


def ending(lab, suite):
    suite.equal("SIGTERM: exit 0", lab.daemon.end(), 0)
    refused = [(a["verb"], a["requestURI"]) for a in lab.audit() if "serviceaccount:kube-system:cede" in a["user"]["username"] and a["responseStatus"]["code"] == 403]
    suite.equal("CL_10 nothing was forbidden under the shipped role", refused, [])


run(CL_5_delay, CL_3_restart, CL_7_settings, ending)
