#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gangs without a PodGroup: cede.dev/gang on plain pods, and YuniKorn's task groups."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Folder, Suite, cede  # noqa: E402

YUNIKORN = "yunikorn.apache.org/"


def node(name, cpu):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": str(cpu), "memory": "9Gi", "pods": "9"}}}


def pod(name, cpu=1, labels=None, made="11:50", **annotations):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "creationTimestamp": f"2026-11-15T{made}:00Z", "labels": labels or {},
                         "annotations": {k.replace("__", "/").replace("_", "-"): v for k, v in annotations.items()}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]}}


def own(name, n, cpu=1, gang="g"):
    one = pod(name, cpu)
    one["metadata"]["annotations"] = {"cede.dev/gang": gang, "cede.dev/min-member": str(n)}
    return one


def task(name, group, cpu=1, groups=None, parameters=None, made="11:50"):
    one = pod(name, cpu, {"applicationId": "app"}, made)
    one["metadata"]["annotations"] = {YUNIKORN + "task-group-name": group}
    if groups is not None:
        one["metadata"]["annotations"][YUNIKORN + "task-groups"] = json.dumps(groups) if not isinstance(groups, str) else groups
    if parameters:
        one["metadata"]["annotations"][YUNIKORN + "schedulingPolicyParameters"] = parameters
    return one


def run(objects, profile="default", now="2026-11-15T12:00:00Z", command="plan"):
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return cede(command, "-f", "-", "--now", now, "--profile", profile, *(["-o", "json"] if command == "plan" else ["--manifests"]), stdin=whole.encode())


def outcomes(objects, *args, **more):
    found = run(objects, *args, **more)
    assert found.code == 0, found.err
    return {d["pod"].split("/")[1]: d["outcome"] for d in json.loads(found.out)["decisions"]}


def all_of(names, outcome):
    return {name: outcome for name in names}


def own_gangs(t):
    three = [own(f"p{i}", 3) for i in range(3)]
    for profile in ("default", "yunikorn", "kai"):
        t.equal(f"three start together in profile {profile}", outcomes([node("n", 3), *three], profile), all_of(("p0", "p1", "p2"), "placed"))
        t.equal(f"or none of them in profile {profile}", outcomes([node("n", 2), *three], profile), all_of(("p0", "p1", "p2"), "waiting"))
    t.equal("profile kubernetes knows no such gangs", sorted(outcomes([node("n", 2), *three], "kubernetes").values()), ["placed", "placed", "waiting"])
    t.equal("more than the minimum are tried one by one", sorted(outcomes([node("n", 3), *[own(f"p{i}", 2) for i in range(4)]]).values()),
            ["placed", "placed", "placed", "waiting"])
    labelled = pod("p2")
    labelled["metadata"]["labels"] = {"cede.dev/gang": "g", "cede.dev/min-member": "3"}
    t.equal("labels say it too", outcomes([node("n", 2), *three[:2], labelled]), all_of(("p0", "p1", "p2"), "waiting"))
    t.equal("too few pods wait for the others", outcomes([node("n", 9), *three[:2]]), all_of(("p0", "p1"), "waiting"))
    bad = own("p0", "many")
    found = run([node("n", 9), bad])
    t.true("a minimum that is none is noted, and ignored",
           found.code == 0 and 'cede.dev/min-member: "many" is not a number of pods from 1 on; taken as 1' in found.err, found.err)


def task_groups(t):
    groups = [{"name": "driver", "minMember": 1, "minResource": {"cpu": "1"}}, {"name": "workers", "minMember": 2}]
    app = [task("d", "driver", groups=groups), task("w0", "workers"), task("w1", "workers")]
    names = ("d", "w0", "w1")
    for profile in ("default", "yunikorn"):
        t.equal(f"task groups start together in profile {profile}", outcomes([node("n", 3), *app], profile), all_of(names, "placed"))
        t.equal(f"or not at all in profile {profile}", outcomes([node("n", 2), *app], profile), all_of(names, "waiting"))
    later = outcomes([node("n", 2), *app], now="2026-11-15T12:05:00Z")
    t.equal("after 15 minutes a soft gang goes on pod by pod", sorted(later.values()), ["placed", "placed", "waiting"])
    soon = [task("d", "driver", groups=groups, parameters="placeholderTimeoutInSeconds=60 gangSchedulingStyle=Soft"), *app[1:]]
    t.equal("or after the timeout it names", sorted(outcomes([node("n", 2), *soon]).values()), ["placed", "placed", "waiting"])
    hard = [task("d", "driver", groups=groups, parameters="placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard"), *app[1:]]
    t.equal("a hard one waits for ever", outcomes([node("n", 2), *hard]), all_of(names, "waiting"))
    found = run([node("n", 9), task("d", "driver", groups="[{]")])
    t.true("task groups that cannot be read are noted, and the pod starts on its own",
           found.code == 0 and 'task-groups: expected a list such as [{"name": "workers", "minMember": 4}], each name once; ignored' in found.err, found.err)


def read_back(t):
    groups = [{"name": "driver", "minMember": 1}, {"name": "workers", "minMember": 2}]
    objects = [node("n", 2), own("a", 2), own("b", 2), task("d", "driver", groups=groups, parameters="gangSchedulingStyle=Hard"), task("w", "workers")]
    written = run(objects, command="show").out
    with Folder({"again.yaml": written}) as path:
        again = cede("show", "-f", path, "--now", "2026-11-15T12:00:00Z", "--manifests").out
        t.equal("gangs of pods are written and read back as they were", again, written)
        t.equal("and planned alike", cede("plan", "-f", path, "--now", "2026-11-15T12:00:00Z", "-o", "json").out, run(objects).out)
    t.true("no PodGroup is made up for them", "kind: PodGroup" not in written, written)


def main():
    t = Suite()
    for test in (own_gangs, task_groups, read_back):
        test(t)
    t.end()


main()
