#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of audit logs can fail a scheduler: forged logs with one crime each, and one without any."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cli")]
from harness import Suite  # noqa: E402
from judge import Case, judge  # noqa: E402

CEDE = "system:serviceaccount:kube-system:cede"
LEASE = ("kube-system", "cede")


class Log:
    """A log that is written by hand; each request takes a tenth of a second and comes half a second after the one before."""

    def __init__(self):
        self.events, self.now = [], 0.0

    @staticmethod
    def stamp(t):
        return f"2026-11-16T12:{int(t // 60):02d}:{t % 60:09.6f}Z"

    def add(self, verb, what, name, body=None, said=None, code=200, user=CEDE, credential="one", took=0.1, pause=0.5):
        self.now += pause
        resource, _, sub = what.partition("/")
        ns = "kube-system" if resource == "leases" else "default"
        self.events.append({
            "stage": "ResponseComplete", "verb": verb, "requestObject": body, "responseObject": said, "responseStatus": {"code": code},
            "objectRef": {"resource": resource, "namespace": ns, "name": name, **({"subresource": sub} if sub else {})},
            "user": {"username": user, "extra": {"authentication.kubernetes.io/credential-id": [credential]}},
            "requestReceivedTimestamp": self.stamp(self.now), "stageTimestamp": self.stamp(self.now + took)})
        return self

    def node(self, name, cpu="4"):
        return self.add("create", "nodes", name, said={"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "pods": "10"}}}, user="admin")

    def pod(self, name, cpu="1", node=None):
        return self.add("create", "pods", name, user="admin", said={
            "metadata": {"uid": "uid-" + name, "name": name, "namespace": "default"},
            "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": cpu}}}]}})

    def bind(self, name, node="n1", **more):
        return self.add("create", "pods/binding", name, {"metadata": {"uid": "uid-" + name}, "target": {"name": node}}, code=more.pop("code", 201), **more)

    def condition(self, name, reason="PreemptionByScheduler", **more):
        return self.add("patch", "pods/status", name, {"metadata": {"uid": "uid-" + name}, "status": {"conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": reason}]}}, **more)

    def delete(self, name, uid=True, grace=0, **more):
        return self.add("delete", "pods", name, {"preconditions": {"uid": "uid-" + name}} if uid else {},
                        said={"metadata": {"uid": "uid-" + name, "deletionGracePeriodSeconds": grace}}, **more)

    def lease(self, holder, credential, **more):
        return self.add("patch", "leases", "cede", {"spec": {"holderIdentity": holder}}, credential=credential, **more)

    def last_first(self):
        """The last line stands before the one before it: who was answered first is not who was asked first."""
        self.events[-1], self.events[-2] = self.events[-2], self.events[-1]
        return self


def evicted(log, name):
    return log.condition(name).delete(name)


def full():
    return Log().node("n1").pod("a", "3", node="n1").pod("b", "2")


ROWS = [
    ("a victim goes, its room is taken: nothing is wrong", evicted(full(), "a").bind("b"), Case(CEDE), None),
    ("a pod is bound twice", Log().node("n1").pod("a").bind("a").bind("a"), Case(CEDE), "bound twice"),
    ("a second bind that is refused is none", Log().node("n1").pod("a").bind("a").bind("a", code=409), Case(CEDE), None),
    ("a pod of the same name is another pod", evicted(Log().node("n1").pod("a").bind("a"), "a").pod("a2").bind("a2"), Case(CEDE), None),
    ("a pod is deleted twice", evicted(full(), "a").delete("a"), Case(CEDE), "deleted twice"),
    ("a second deletion that is refused is none", evicted(full(), "a").delete("a", code=404), Case(CEDE), None),
    ("no condition before the deletion", full().delete("a"), Case(CEDE), "without DisruptionTarget"),
    ("the condition comes after it", full().delete("a").condition("a"), Case(CEDE), "without DisruptionTarget"),
    ("a condition that was refused is none", full().condition("a", code=409).delete("a"), Case(CEDE), "without DisruptionTarget"),
    ("a condition with another reason", full().condition("a", reason="EvictionByEvictionAPI").delete("a"), Case(CEDE), "with the reason"),
    ("no precondition", full().condition("a").delete("a", uid=False), Case(CEDE), "without a precondition"),
    ("an operator may delete as he likes", full().delete("a", uid=False, user="admin"), Case(CEDE), None),
    ("a node is over-committed", full().bind("b"), Case(CEDE), "5 of 4 cpu are taken"),
    ("by pods that others bound too", Log().node("n1").pod("a", "3").bind("a", user="system:kube-scheduler").pod("b", "2").bind("b"), Case(CEDE), "are taken"),
    ("a victim that takes its time still has its room", full().condition("a").delete("a", grace=30).bind("b"), Case(CEDE), "are taken"),
    ("until it is gone", full().condition("a").delete("a", grace=30).delete("a", user="kwok").bind("b"), Case(CEDE), None),
    ("a deletion that was under way when the binding was answered is in doubt",
     full().condition("a").delete("a", took=2).bind("b", pause=0.1).last_first(), Case(CEDE), None),
    ("a tie is no crime: all of it may be taken", Log().node("n1").pod("a", "3", node="n1").pod("b", "1").bind("b"), Case(CEDE), None),
    ("a deletion of which nobody knows what came of it may have made room", full().condition("a").delete("a", code=504).bind("b"), Case(CEDE), None),
    ("one that was refused has not", full().condition("a").delete("a", code=409).bind("b"), Case(CEDE), "are taken"),
    ("a condition of which nobody knows what came of it may be there", full().condition("a", code=504).delete("a"), Case(CEDE), None),
    ("a node that is not there", Log().pod("a").bind("a", node="n9"), Case(CEDE), "which is not there"),
    ("somebody who is protected goes", evicted(full(), "a"), Case(CEDE, protected={"uid-a"}), "was protected, and deleted"),
    ("the leader writes", Log().node("n1").pod("a").lease("A", "one").bind("a"), Case(CEDE, lease=LEASE), None),
    ("somebody writes without a lease", Log().node("n1").pod("a").lease("A", "one").bind("a", credential="two"), Case(CEDE, lease=LEASE), "without a lease"),
    ("a leader writes after another took the lease",
     Log().node("n1").pod("a").lease("A", "one").lease("B", "two").bind("a", credential="one"), Case(CEDE, lease=LEASE), "while B holds the lease"),
    ("and when it has it again it may", Log().node("n1").pod("a").lease("A", "one").lease("B", "two").lease("A", "one").bind("a"), Case(CEDE, lease=LEASE), None),
    ("a lease that was refused was not taken",
     Log().node("n1").pod("a").lease("A", "one").lease("B", "two", code=409).bind("a", credential="one"), Case(CEDE, lease=LEASE), None),
    ("even events are writes", Log().lease("A", "one").lease("B", "two").add("create", "events", "e", {}, code=201), Case(CEDE, lease=LEASE), "create events"),
    ("a write that was under way when the lease changed hands is in doubt",
     Log().node("n1").pod("a").lease("A", "one").bind("a", took=3).lease("B", "two", pause=0.2, took=0.1).last_first(), Case(CEDE, lease=LEASE), None),
]


def main():
    t = Suite()
    for name, log, case, words in ROWS:
        found, _ = judge(log.events, case)
        if words is None:
            t.equal(f"CL_1 CL_2 CL_4 judge: {name}", found, [])
        else:
            t.true(f"CL_1 CL_2 CL_4 judge: {name}", len(found) == 1 and words in found[0], str(found))
    t.end()


main()
