#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger follows the cluster: over watches, restarts of the API server and etcd, compaction, and CRDs that come and go."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, node, pod, run  # noqa: E402

FOLLOW = os.environ.get("CEDE_FOLLOW") or os.path.join(os.path.dirname(CEDE), "follow")


class Follower:
    def __init__(self, lab, name="cede"):
        self.log = open(lab.path("follow.log"), "ab")
        self.process = subprocess.Popen([FOLLOW, lab.kubeconfig(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def check(self):
        self.process.stdin.write("check\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != ".\n":
            if not line:
                raise RuntimeError("follow ended")
            lines.append(line.strip())
        return lines

    def settles(self, seconds=60):
        """What differs from a fresh list once nothing moves; [] in the end, or what was left after this time."""
        end = time.monotonic() + seconds
        while True:
            found = self.check()
            if found == ["same"]:
                return []
            if time.monotonic() > end:
                return found
            time.sleep(0.3)

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.log.close()


def deployment(name, replicas):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod("x", cpu="100m")["spec"]}}}


def crd(plural, kind, group, version, scope):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def churn(lab, rounds=3):
    for i in range(rounds):
        lab.kubectl("scale", "deployment", "web", f"--replicas={3 + 7 * (i % 2)}")
        lab.create(pod(f"one-{i}", node_name="n1"))
        lab.kubectl("label", "node", "n0", f"round={i}", "--overwrite")
        if i:
            lab.kubectl("delete", "pod", f"one-{i - 1}", "--wait=false")
    lab.kubectl("delete", "pod", f"one-{rounds - 1}", "--wait=false")


def follows(lab, suite):
    lab.create(*[node(f"n{i}") for i in range(3)], deployment("web", 3))
    f = lab.follower = Follower(lab)
    suite.equal("everything is listed", f.ask("sync"), "synced")
    suite.equal("the ledger is what a fresh list says", f.settles(), [])
    churn(lab)
    suite.equal("and after pods and nodes changed", f.settles(), [])
    suite.equal("nodes are counted", f.ask("count", "Node"), "3")


def CL_6_api_server_restarts(lab, suite):
    f = lab.follower
    lab.restart("kube-apiserver", signal.SIGKILL)
    churn(lab)
    suite.equal("CL_6 the API server was killed: watches go on", f.settles(), [])
    lab.stop("kube-apiserver", signal.SIGTERM)
    time.sleep(3)
    lab.start("kube-apiserver")
    lab.wait_ready()
    churn(lab)
    suite.equal("CL_6 it was away for a while: the same", f.settles(), [])


def CL_6_etcd_restarts(lab, suite):
    f = lab.follower
    lab.restart("etcd", signal.SIGKILL)
    churn(lab)
    suite.equal("CL_6 etcd was killed: the same", f.settles(90), [])


def CL_6_stopped_and_continued(lab, suite):
    f = lab.follower
    f.process.send_signal(signal.SIGSTOP)
    churn(lab)
    time.sleep(2)
    f.process.send_signal(signal.SIGCONT)
    suite.equal("CL_6 it was stopped itself: the same", f.settles(), [])
    lab.send("kube-apiserver", signal.SIGSTOP)
    time.sleep(4)
    lab.send("kube-apiserver", signal.SIGCONT)
    churn(lab)
    suite.equal("CL_6 a server that was silent for some seconds: the same", f.settles(), [])


def kinds_come_and_go(lab, suite):
    f = lab.follower
    lab.wait("absence", lambda: f.ask("count", "Queue", "scheduling.run.ai") == "absent")  # it may just be asking again
    suite.true("no KAI here: its kinds are absent", True)
    lab.apply(crd("queues", "Queue", "scheduling.run.ai", "v2", "Cluster"), crd("podgroups", "PodGroup", "scheduling.run.ai", "v2alpha2", "Namespaced"))
    lab.wait("the CRDs", lambda: "queues" in lab.kubectl("api-resources", "--api-group=scheduling.run.ai", check=False))
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    lab.apply({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "ml"}, "spec": {"resources": {"cpu": {"quota": 4000}}}},
              {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "ml-a"}, "spec": {"parentQueue": "ml"}},
              {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "default"},
               "spec": {"minMember": 2, "queue": "ml-a"}})
    lab.wait("the queues", lambda: f.ask("count", "Queue", "scheduling.run.ai") == "2", 30)
    suite.equal("queues and groups of a CRD that appeared are followed", f.settles(), [])
    lab.kubectl("delete", "crd", "queues.scheduling.run.ai", "podgroups.scheduling.run.ai")
    lab.wait("the kinds to go", lambda: f.ask("count", "Queue", "scheduling.run.ai") == "absent", 60)
    suite.equal("and when it went they are gone", f.settles(), [])


def many_requests_at_once(lab, suite):
    f = lab.follower
    ok, failed, connections = map(int, f.ask("burst", 600).split())
    suite.equal("600 requests at once are answered", [ok, failed], [600, 0])
    suite.true("over some connections, because the server takes 50 streams on one", 2 <= connections <= 48, f"{connections} connections")


def writes(lab, suite):
    f = lab.follower
    lab.create(pod("bind-me"))
    uid = lab.objects("pods", "--field-selector=metadata.name=bind-me")[0]["metadata"]["uid"]
    suite.true("CL_10 nothing is written before the fence is open", f.ask("bind", "default/bind-me", uid, "n2").startswith("fenced 0"))
    suite.equal("the fence opens", f.ask("fence", 600), "ok")
    suite.true("a bind of another uid is a conflict", f.ask("bind", "default/bind-me", "00000000-0000-0000-0000-000000000000", "n2").startswith("conflict 409"))
    suite.true("a bind", f.ask("bind", "default/bind-me", uid, "n2").startswith("ok 201"))
    suite.true("CL_1 a second one is a conflict", f.ask("bind", "default/bind-me", uid, "n1").startswith("conflict 409"))
    suite.true("a bind of what is not there: gone", f.ask("bind", "default/nobody", uid, "n2").startswith("gone 404"))
    suite.true("CL_2 a deletion of another uid is a conflict", f.ask("delete", "default/bind-me", "00000000-0000-0000-0000-000000000000").startswith("conflict 409"))
    suite.true("a deletion", f.ask("delete", "default/bind-me", uid).startswith("ok 200"))
    suite.equal("and the ledger is right", f.settles(), [])


def it_ends(lab, suite):
    attempts, connections, events, troubles, refused = map(int, lab.follower.ask("metrics").split())
    suite.true(f"numbers: {attempts} requests, {connections} connections, {events} changes of objects, {troubles} troubles", refused == 0)
    lab.follower.end()
    suite.equal("it ends cleanly", lab.follower.process.returncode, 0)
    ours = [a for a in lab.audit() if a["user"]["username"] == "system:serviceaccount:kube-system:cede"]
    last = {a["requestURI"].split("?")[0]: a["responseStatus"]["code"] for a in ours}  # a server that has just begun refuses everything
    suite.equal("CL_10 nothing was refused in the end", [path for path, code in last.items() if code == 403], [])


run(follows, many_requests_at_once, writes, CL_6_api_server_restarts, CL_6_etcd_restarts, CL_6_stopped_and_continued, kinds_come_and_go, it_ends,
    apiserver_args=["--http2-max-streams-per-connection=50"])
