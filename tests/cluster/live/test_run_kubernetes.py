#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run in profile kubernetes: pods are bound, refused with conditions and events, and preempt as kube-scheduler's do."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import (Daemon, bound, clear, condition, events, get, node_of, priority, written)  # noqa: E402


def CL_1_binding(lab, suite):
    lab.create(priority("low", 10), priority("high", 1000), *[node(f"n{i}") for i in range(3)])
    lab.daemon = Daemon(lab, "--profile", "kubernetes")
    lab.create(*[pod(f"a-{i}", cpu=1) for i in range(12)])
    nodes = bound(lab, *[f"a-{i}" for i in range(12)])
    suite.equal("CL_1 pods are bound, four to each node", sorted(nodes.count(f"n{i}") for i in range(3)), [4, 4, 4])
    lab.create(pod("theirs", cpu=1, scheduler="other"))
    suite.true("CL_9 event Scheduled", lab.wait("event", lambda: events(lab, "a-0", "Scheduled")), "")
    e = events(lab, "a-0", "Scheduled")[0]
    suite.equal("CL_9 it says where, as kube-scheduler's does", e["note"], f"Successfully assigned default/a-0 to {nodes[0]}")
    suite.equal("CL_9 by the scheduler's name", (e["reportingController"], e["type"], e["action"]), ("cede", "Normal", "Binding"))
    lab.create(pod("big", cpu=9))
    lab.wait("condition", lambda: condition(lab, "big"))
    c = condition(lab, "big")
    suite.equal("CL_9 a pod that fits nowhere: PodScheduled False, Unschedulable", (c["status"], c["reason"]), ("False", "Unschedulable"))
    suite.true("CL_9 with kube-scheduler's sentence", c["message"].startswith("0/3 nodes are available: 3 Insufficient cpu."), c["message"])
    suite.true("CL_9 event FailedScheduling", lab.wait("event", lambda: events(lab, "big", "FailedScheduling")), "")
    suite.true("another scheduler's pod is left alone", node_of(lab, "theirs") is None and condition(lab, "theirs") is None, "")
    lab.create(node("n9", cpu=16))
    suite.equal("a node that comes wakes it", bound(lab, "big"), ["n9"])


def CL_2_preemption(lab, suite):
    lab.kubectl("delete", "node", "n9")
    clear(lab)
    lab.create(*[pod(f"low-{i}", cpu=2, priority_class="low") for i in range(6)])
    bound(lab, *[f"low-{i}" for i in range(6)])
    since = len(lab.audit())
    lab.create(pod("high", cpu=3, priority_class="high"))
    at = bound(lab, "high")[0]
    suite.true("CL_2 a pod of higher priority gets room", at, "")
    left = [p["metadata"]["name"] for p in lab.objects("pods") if p["metadata"]["name"].startswith("low-")]
    suite.equal("CL_2 two had to go, and nobody else", len(left), 4)
    gone = [f"low-{i}" for i in range(6) if f"low-{i}" not in left]
    writes = [w for w in written(lab, since) if w[1].startswith("pods")]
    order = [w[:3] for w in writes if w[3] < 300]
    nominated = order.index(("patch", "pods/status", "high"))
    for name in gone:
        marked, deleted = order.index(("patch", "pods/status", name)), order.index(("delete", "pods", name))
        suite.true("CL_2 the nomination, then DisruptionTarget, then the deletion", nominated < marked < deleted, str(order))
        suite.equal("CL_2 asked once", order.count(("delete", "pods", name)), 1)
    suite.equal("CL_2 nobody else was deleted", sorted(w[2] for w in order if w[0] == "delete"), sorted(gone))
    deletions = [a for a in lab.audit()[since:] if a["verb"] == "delete" and a["objectRef"]["resource"] == "pods" and "cede" in a["user"]["username"]]
    suite.true("CL_2 with uid and resourceVersion", all(set(a["requestObject"]["preconditions"]) == {"uid", "resourceVersion"} for a in deletions), str(deletions))
    marks = [a["requestObject"]["status"]["conditions"][0] for a in lab.audit()[since:] if a["verb"] == "patch" and
             a["objectRef"].get("name") in gone and a["objectRef"].get("subresource") == "status" and "cede" in a["user"]["username"]]
    suite.true("CL_2 the condition says who preempts and why", all((m["type"], m["status"], m["reason"]) == ("DisruptionTarget", "True", "PreemptionByScheduler")
               and "displace for default/high: priority 10 below 1000" in m["message"] for m in marks) and marks, str(marks))
    e = lab.wait("event", lambda: events(lab, gone[0], "Preempted"))[0]
    suite.true("CL_9 event Preempted", e["action"] == "Preempting" and e["related"]["name"] == "high", str(e))
    suite.equal("CL_9 the nomination is where it was bound", get(lab, "high")["status"].get("nominatedNodeName", at), at)


def CL_1_many(lab, suite):
    """Many at once: everybody bound once, no node over-committed in the order of the log."""
    clear(lab)
    since = len(lab.audit())
    lab.create(*[node(f"m{i}", cpu=8) for i in range(10)])
    lab.create(*[pod(f"many-{i}", cpu=1) for i in range(60)])
    bound(lab, *[f"many-{i}" for i in range(60)], seconds=60)
    binds = [w for w in written(lab, since) if w[1] == "pods/binding"]
    suite.equal("CL_1 each bound once", (len(binds), {w[3] for w in binds}), (60, {201}))
    use = {}
    for p in lab.objects("pods"):
        use[p["spec"]["nodeName"]] = use.get(p["spec"]["nodeName"], 0) + 1
    suite.true("CL_1 no node over-committed", all(n <= (8 if name.startswith("m") else 4) for name, n in use.items()), str(use))


def ending(lab, suite):
    suite.equal("SIGTERM: exit 0", lab.daemon.end(), 0)
    refused = [(a["verb"], a["requestURI"]) for a in lab.audit() if "serviceaccount:kube-system:cede" in a["user"]["username"] and a["responseStatus"]["code"] == 403]
    suite.equal("CL_10 nothing was forbidden under the shipped role", refused, [])


run(CL_1_binding, CL_2_preemption, CL_1_many, ending)
