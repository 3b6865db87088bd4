#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede plan --add, --remove, --drain, --set`: a cluster that is only thought of, and how its plan differs from today's."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Folder, Suite, cede, environment  # noqa: E402

EXAMPLE = "examples/gpu-cluster"
JOB = "examples/what-if/retrain.yaml"
MORE = ["--set", "queue.root.ads.guaranteed.gpu=16", "--set", "queue.root.ads.ranking.guaranteed.gpu=16"]


def node(name, cpu=4):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}}


def pod(name, cpu=1, priority=0, on=None, owner=None, **meta):
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]}
    if on:
        spec["nodeName"] = on
    if owner:
        meta["ownerReferences"] = [{"kind": owner, "name": owner.lower(), "controller": True}]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "creationTimestamp": "2026-11-15T10:00:00Z", **meta},
            "spec": spec, "status": {"phase": "Running", "startTime": "2026-11-15T11:00:00Z"} if on else {}}


def template(cpu=1, **spec):
    return {"metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}], **spec}}


def workload(kind, name="w", api="apps/v1", **spec):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "ns"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}, **spec}}


def listed(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def run(base, added, *args, command="plan"):
    with Folder({"base.json": listed(base), "added.json": listed(added)}) as path:
        more = ["--add", os.path.join(path, "added.json")] if added else []
        return cede(command, "-f", os.path.join(path, "base.json"), *NOW, *more, *args)


def difference(base, added, *args):
    found = run(base, added, *args, "-o", "json")
    return json.loads(found.out) if found.code == 0 else {"code": found.code, "err": found.err}


def pods_of(base, added):
    """Names of the pods that wait, in all."""
    with Folder({"base.json": listed(base), "added.json": listed(added)}) as path:
        found = cede("show", "-f", os.path.join(path, "base.json"), "--add", os.path.join(path, "added.json"), *NOW, "--manifests", "-o", "json")
        if found.code:
            return found.err
        return sorted(o["metadata"]["name"] for o in json.loads(found.out)["items"] if o["kind"] == "Pod")


def expands_workloads(t):
    owned = dict(pod("w-abc", on="n"), kind="Pod")
    owned["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "w", "controller": True}]
    job = {"parallelism": 2, "template": template()}
    rows = [
        ("a Deployment makes its replicas", [], workload("Deployment", replicas=3, template=template()), ["w-0", "w-1", "w-2"]),
        ("one replica where none are stated", [], workload("ReplicaSet", template=template()), ["w-0"]),
        ("a ReplicaSet that has a pod makes the others", [owned], workload("ReplicaSet", replicas=2, template=template()), ["w-0", "w-abc"]),
        ("names that are taken are passed over", [pod("w-0", on="n")], workload("ReplicaSet", template=template()), ["w-0", "w-1"]),
        ("a StatefulSet counts from its ordinal", [], workload("StatefulSet", replicas=2, ordinals={"start": 5}, template=template()), ["w-5", "w-6"]),
        ("a Job makes no more pods than it has completions", [],
         workload("Job", api="batch/v1", parallelism=4, completions=2, template=template()), ["w-0", "w-1"]),
        ("a Job makes as many as run at a time", [], workload("Job", api="batch/v1", parallelism=2, completions=9, template=template()), ["w-0", "w-1"]),
        ("a suspended Job makes none", [], workload("Job", api="batch/v1", suspend=True, template=template()), []),
        ("a JobSet makes its replicated jobs' pods", [],
         workload("JobSet", api="jobset.x-k8s.io/v1alpha2", replicatedJobs=[{"name": "a", "template": {"spec": {"template": template()}}},
                                                                             {"name": "b", "replicas": 2, "template": {"spec": job}}]),
         ["w-a-0-0", "w-b-0-0", "w-b-0-1", "w-b-1-0", "w-b-1-1"]),
        ("a suspended JobSet makes none", [], workload("JobSet", api="jobset.x-k8s.io/v1alpha2", suspend=True,
                                                       replicatedJobs=[{"name": "a", "template": {"spec": {"template": template()}}}]), []),
    ]
    for sentence, base, one, expected in rows:
        t.equal("what if: " + sentence, pods_of([node("n")] + base, [one]), expected)


def expands_daemon_sets(t):
    """One pod for each node that it may run on, and that node alone."""
    def tainted(name, key, effect="NoSchedule"):
        one = node(name)
        one["spec"] = {"taints": [{"key": key, "effect": effect}]}
        return one

    def labelled(name, **labels):
        one = node(name)
        one["metadata"]["labels"] = labels
        return one

    def daemon(**spec):
        made = template()
        made["spec"].update(spec)
        return workload("DaemonSet", template=made)
    there = pod("w-xyz", on="n")
    there["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "w", "controller": True}]
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}}}
    rows = [
        ("each node gets one", [node("m")], daemon(), ["w-m", "w-n"]),
        ("but for a node that has it", [node("m"), there], daemon(), ["w-m", "w-xyz"]),
        ("a taint keeps it away", [tainted("m", "gpu")], daemon(), ["w-n"]),
        ("unless it is tolerated", [tainted("m", "gpu")], daemon(tolerations=[{"key": "gpu", "operator": "Exists"}]), ["w-m", "w-n"]),
        ("a node that is not ready, under pressure or cordoned gets it all the same",
         [tainted("m", "node.kubernetes.io/not-ready", "NoExecute"), tainted("o", "node.kubernetes.io/memory-pressure"),
          tainted("p", "node.kubernetes.io/unschedulable")], daemon(), ["w-m", "w-n", "w-o", "w-p"]),
        ("one without a network does not", [tainted("m", "node.kubernetes.io/network-unavailable")], daemon(), ["w-n"]),
        ("unless it uses the host's", [tainted("m", "node.kubernetes.io/network-unavailable")], daemon(hostNetwork=True), ["w-m", "w-n"]),
        ("a node selector chooses", [labelled("m", disk="ssd")], daemon(nodeSelector={"disk": "ssd"}), ["w-m"]),
        ("required affinity too", [labelled("m", disk="ssd")], daemon(affinity=required), ["w-m"]),
    ]
    for sentence, base, one, expected in rows:
        t.equal("what if: a DaemonSet: " + sentence, pods_of([node("n")] + base, [one]), expected)
    full = [node("m", 1), node("n", 1), pod("low", 1, 1, on="m")]
    d = difference(full, [workload("DaemonSet", template=template(cpu=1, priority=9))])
    t.equal("what if: a DaemonSet's pod takes room on the node it must run on",
            ([(x["pod"], x["action"], x["for"]["pod"]) for x in d["newlyEvicted"]],
             sorted((x["pod"], x["now"]["outcome"], x["now"]["node"]) for x in d["otherAnswers"])),
            ([("ns/low", "required-node", "ns/w-m")], [("ns/w-m", "nominated", "m"), ("ns/w-n", "placed", "n")]))


def keeps_what_templates_say(t):
    """Owners and groups of made pods are found."""
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 3}}
    member = template(cpu=2)
    member["metadata"]["annotations"] = {"pod-group-name": "g"}
    d = difference([node("n", 4)], [group, workload("Job", api="batch/v1", parallelism=3, template=member)])
    t.equal("what if: pods of a template join the PodGroup it names, and wait together", [x["now"]["outcome"] for x in d["otherAnswers"]], ["waiting"] * 3)
    owner = workload("Deployment", replicas=1, template=template(cpu=4))
    owner["metadata"]["labels"] = {"kai.scheduler/preemptibility": "non-preemptible"}
    found = run([node("n", 4)], [owner], "-o", "json", "--manifests", command="show")
    kinds = {o["kind"]: o["metadata"].get("ownerReferences", [{}])[0].get("kind") for o in json.loads(found.out)["items"]}
    t.equal("what if: a Deployment's pods belong to a ReplicaSet of it", (kinds.get("Pod"), kinds.get("ReplicaSet")), ("ReplicaSet", "Deployment"))


def tells_differences(t):
    base = [node("n", 4), pod("low", 4, 1, on="n")]
    d = difference(base, [workload("Job", api="batch/v1", template=template(cpu=4, priority=9))])
    t.equal("what if: who pays for an added job, and why", [(x["pod"], x["action"], x["reason"], x["for"]["pod"]) for x in d["newlyEvicted"]],
            [("ns/low", "displace", "priority 1 below 9", "ns/w-0")])
    t.equal("what if: kind, and both sums", (d["kind"], d["today"]["nominated"], d["then"]["nominated"], d["then"]["victims"]),
            ("PlanDifference", 0, 1, 1))
    d = difference(base + [pod("high", 4, 9)], [], "--remove", "low", "-n", "ns")
    t.equal("a name alone is in the namespace of -n", [x["pod"] for x in d["notEvicted"]], ["ns/low"])
    d = difference(base + [pod("high", 4, 9)], [], "--remove", "ns/low")
    t.equal("what if: an eviction that is no longer needed", ([x["pod"] for x in d["notEvicted"]], [x["now"]["outcome"] for x in d["otherAnswers"]]),
            (["ns/low"], ["placed"]))
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 2}}
    made = [pod(f"low-{i}", 2, 1, on="n") for i in range(2)]
    for one in made:
        one["metadata"].update(annotations={"pod-group-name": "g"}, ownerReferences=[{"kind": "ReplicaSet", "name": "rs", "controller": True}])
    rs = workload("ReplicaSet", "rs", replicas=2, template=template())
    rs["metadata"]["ownerReferences"] = [{"kind": "Deployment", "name": "web", "controller": True}]
    for what in ("g", "rs", "web"):
        d = difference([node("n", 4), group, rs, workload("Deployment", "web", replicas=2, template=template()), pod("high", 4, 9)] + made, [], "--remove", f"ns/{what}")
        t.equal(f"what if: all pods of a group or workload are gone: {what}", ([x["pod"] for x in d["notEvicted"]], [(x["pod"], x["now"]["outcome"]) for x in d["otherAnswers"]]),
                ([], [("ns/high", "placed")]))
    d = difference([node("n"), node("m"), pod("a", on="n"), pod("d", on="n", owner="DaemonSet")], [], "--drain", "n")
    t.equal("what if: a drained node's pods find another place, DaemonSets' stay", [(x["pod"], x["now"]["node"]) for x in d["otherAnswers"]], [("ns/a", "m")])
    d = difference([node("n", 2), pod("a", 2, on="n")], [node("n", 4), pod("b", 2)])
    t.equal("what if: an added object takes the place of one of its name", [(x["pod"], x["now"]["outcome"]) for x in d["otherAnswers"]], [("ns/b", "placed")])
    found = run([node("n"), pod("a")], [], "--set", "rules.opt-out.mode=hard")
    t.true("what if: no difference is said", "Nobody gets another place" in found.out and found.code == 0, found.out + found.err)
    kept = [node("n"), node("m"), *[pod(f"p{i}", 2, 9, on="n") for i in range(2)], pod("q", 4, 9, on="m")]
    d = difference(kept, [pod("b", 4, 1)])
    t.equal("what if: why it waits, and who is protected", d["otherAnswers"][0]["now"].get("why"),
            "0/2 nodes are available: 2 Insufficient cpu; 3 pods protected by priority.")
    found = run(kept, [], "--drain", "n").out
    t.true("what if: pods of one node of which the same is said stand together", "ns/p0 and 1 more  root.default  runs on n  waiting" in found
           and "protected by priority" in found, found)
    with Folder({"base.json": listed(kept)}) as path:
        found = cede("plan", "-f", os.path.join(path, "base.json"), *NOW, "--drain", "n", "--remove", "ns/p0", env=environment(COLUMNS="60")).out
        t.true("what if: on a narrow terminal nothing is wider", max(map(len, found.splitlines())) <= 60 and "1 waiting" in found, found)
    def elsewhere(one):
        return {**one, "metadata": {**one["metadata"], "namespace": "other"}}
    both = [pod("b", 4, 10), elsewhere(pod("c", 4, 1))]
    d = difference(kept, both, "-n", "other")
    t.equal("what if: of one namespace alone", ([x["pod"] for x in d["otherAnswers"]], d["newlyEvicted"], d["then"]["waiting"], d["then"]["nominated"], d["then"]["victims"]),
            (["other/c"], [], 1, 0, 0))
    d = difference(kept, both, "-n", "ns")
    t.equal("what if: and of the other", ([x["pod"] for x in d["otherAnswers"]], [x["pod"] for x in d["newlyEvicted"]], d["then"]["waiting"], d["then"]["victims"]), (["ns/b"], ["ns/q"], 0, 1))
    t.true("what if: which one is said", "namespace other, profile" in run(kept, both, "-n", "other").out)
    found = run(kept, [{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "j", "namespace": "ns"}, "spec": {}}, pod("b")])
    t.true("what if: what is odd in added files is said", "CronJob is not a kind cede reads; 1 skipped" in found.err, found.err)
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"}, "spec": {"selector": {}, "minAvailable": 1}}
    found = run(kept + [budget], [pod("b")])
    t.equal("what if: a note is told once, unless it says something else then", [line.split("pods: ")[1] for line in found.err.splitlines()],
            ["3 of 3 run, 1 must stay, so 2 may go", "3 of 4 run, 1 must stay, so 2 may go"])
    t.equal("what if: and not twice", len(run(kept + [budget], [elsewhere(pod("b"))]).err.splitlines()), 1)
    whole = listed([node("n"), pod("a", 4, on="n"), pod("b", 4)]).encode()
    found = cede("plan", "-f", "-", *NOW, "--remove", "ns/a", "-o", "json", stdin=whole)
    t.equal("what if: standard input is read once and used twice", found.code and found.err or len(json.loads(found.out)["otherAnswers"]), 1)
    t.equal("what if: --strict, and work waits that did not", run([node("n", 1)], [pod("b", 4)], "--strict").code, 1)
    t.equal("what if: --strict, and what waits did before", run([node("n", 1), pod("b", 4)], [pod("c", 1)], "--strict").code, 0)


def sets_settings(t):
    kai = [{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": n},
            "spec": {"parentQueue": p, "resources": {r: {"quota": q, "limit": -1, "overQuotaWeight": 1} for r, q in (("gpu", 0), ("cpu", c), ("memory", 0))}}}
           for n, p, c in (("d", "", 4000), ("a", "d", 2000), ("b", "d", 2000))]
    taker = pod("b0", 2, labels={"kai.scheduler/queue": "b"})
    base = [node("n", 4)] + kai + [pod(f"a{i}", 1, on="n", labels={"kai.scheduler/queue": "a"}) for i in range(4)] + [taker]
    d = difference(base, [], "--set", "queue.root.d.b.guaranteed.cpu=none")
    t.equal("what if: a KAI queue without its quota takes nothing", (len(d["notEvicted"]), d["then"]["victims"]), (2, 0))
    d = difference(base, [], "--set", "queue.root.d.a.reclaimMinRuntime=2h")
    t.equal("what if: a minimum runtime of a KAI queue protects", d["then"]["victims"], 0)
    d = difference(base, [], "--set", "profile=kubernetes")
    t.equal("what if: another profile", (d["today"]["profile"], d["then"]["profile"]), ("default", "kubernetes"))


def refuses(t):
    rows = [
        ("a pod that is not there", ["--remove", "vision/swep-3"], "--remove vision/swep-3: there is no pod vision/swep-3, and no group or workload with pods; did you mean vision/sweep-3?"),
        ("a pod of another namespace", ["--remove", "sweep-3"], "--remove sweep-3: there is no pod default/sweep-3, and no group or workload with pods; there is vision/sweep-3"),
        ("a node that is not there", ["--drain", "a10-1"], "--drain a10-1: there is no node a10-1; did you mean a100-1?"),
        ("a queue that is not there", ["--set", "queue.root.ad.max.cpu=1"], "there is no queue root.ad; did you mean root.ads?"),
        ("a field no queue has", ["--set", "queue.root.ads.guarantee.gpu=1"], "a queue has no 'guarantee.gpu'; did you mean guaranteed?"),
        ("a type nobody has", ["--set", "queue.root.ads.max.nvidia.com/gpus=1"], "nothing here has or asks for nvidia.com/gpus; did you mean nvidia.com/gpu?"),
        ("an amount that is none", ["--set", "queue.root.ads.max.gpu=lots"], "expected a quantity such as 16 or 64Gi, or none; found 'lots'"),
        ("a guarantee above the maximum", ["--set", "queue.root.serving.guaranteed.gpu=5"], "queue root.serving: guaranteed 5 is above its own max 4"),
        ("a guarantee above the parent's", ["--set", "queue.root.ads.ranking.guaranteed.gpu=13"],
         "queue root.ads: guaranteed 12 is below what its children are guaranteed together, 13"),
        ("a bad property", ["--set", "queue.root.ads.preemption.policy=fenced"], "fenced is no value for preemption.policy"),
        ("something of root", ["--set", "queue.root.max.cpu=4"], "nothing of it can be set"),
        ("a window of a queue that knows none", ["--set", "queue.root.ads.preemptMinRuntime=5m"], "is defined by a queues.yaml, which has no preemptMinRuntime"),
        ("a setting that does not exist", ["--set", "rules.optout.mode=hard"], 'rules.optout: unknown field; did you mean "opt-out"?'),
        ("a value a setting cannot have", ["--set", "rules.opt-out.mode=hrd"], 'expected soft or hard, found "hrd"; did you mean "hard"?'),
        ("a plugin, which is code", ["--set", "plugins=[{path: x.so}]"], "plugins are code"),
        ("no value at all", ["--set", "rules.opt-out.mode"], "expected KEY=VALUE"),
        ("a file that is not there", ["--add", "nope.yaml"], "nope.yaml: No such file or directory"),
        ("a journal", ["--add", JOB, "--journal", "x"], "--journal keeps what was planned for the cluster as it is"),
    ]
    for sentence, args, words in rows:
        found = cede("plan", "-f", EXAMPLE, *NOW, *args)
        t.true("what if: refused: " + sentence, found.code == 2 and words in found.err and not found.out, f"{found.code} {found.err}{found.out}")
    many = run([node("n")], [workload("Deployment", replicas=10**9, template=template())])
    t.true("what if: refused: a million pods", many.code == 2 and "spec.replicas: more pods than the 100000" in many.err, many.err)
    bad = run([node("n")], [workload("Deployment", replicas=1, template=template(cpu="4x"))])
    t.true("what if: refused: a bad template, where it stands", bad.code == 2 and "added.json:1:" in bad.err and "resources.requests.cpu" in bad.err, bad.err)
    none = run([node("n")], [workload("Job", api="batch/v1")])
    t.true("what if: refused: a Job without a template", none.code == 2 and "spec.template.spec: expected the spec of its pods" in none.err, none.err)


def main():
    t = Suite()
    for form, ending in (("text", "txt"), ("json", "json")):
        found = cede("plan", "-f", EXAMPLE, *NOW, "--add", JOB, *MORE, "-o", form)
        t.golden(f"what if: the example's difference as {form}", f"whatif-gpu.{ending}", found.out)
    found = cede("plan", "-f", EXAMPLE, *NOW, "--drain", "a100-1")
    t.golden("what if: a node drained", "whatif-gpu-drain.txt", found.out)
    expands_workloads(t)
    expands_daemon_sets(t)
    keeps_what_templates_say(t)
    tells_differences(t)
    sets_settings(t)
    refuses(t)
    t.end()


main()
