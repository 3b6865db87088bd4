#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Input that is odd, large or incomplete, but real: what is read of it, what is said about it, and how long that takes."""
import itertools
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Folder, Suite, cede, in_memory  # noqa: E402

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
KUBERNETES = ("--profile", "kubernetes")


def pod(name, cpu="1", on=None, priority=0, labels=None, start="2026-11-15T11:00:00Z", ns="ns", **spec):
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns, "labels": labels or {}},
            "spec": {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec},
            "status": {"phase": "Running", "startTime": start} if on else {}}


def deleted(one):
    one["metadata"]["deletionTimestamp"] = "2026-11-15T12:00:20Z"
    return one


def budget(spec, **more):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"}, "spec": spec, **more}


def run(command, objects, *args, **options):
    return cede(command, "-f", "-", *NOW, *args, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode(), **options)


def decision(objects, name, *args):
    return [d for d in json.loads(run("plan", objects, "-o", "json", *args).out)["decisions"] if d["pod"] == f"ns/{name}"][-1]


def is_said(t, name, found, code, *parts):
    t.true(name, found.code == code and all(p in found.err for p in parts), f"exit code {found.code}\n{found.err}{found.out[:400]}")


# ---- files and folders ----

def files(t):
    with Folder({"d/n.json": json.dumps(NODE), "d/big/": None}) as folder:
        os.mkfifo(os.path.join(folder, "d", "pipe.yaml"))
        os.symlink("nowhere", os.path.join(folder, "d", "readme.txt"))
        t.equal("in a folder, pipes and lost links that are no manifests are passed over", cede("show", "-f", "d", cwd=folder).code, 0)
        os.symlink("nowhere", os.path.join(folder, "d", "lost.yaml"))
        is_said(t, "a lost link that would be a manifest is an error", cede("show", "-f", "d", cwd=folder), 2, "d/lost.yaml: No such file")
        with open(os.path.join(folder, "huge.yaml"), "wb") as f:
            f.truncate(1 << 40)
        is_said(t, "a file of a terabyte is refused without reading it", cede("show", "-f", "huge.yaml", cwd=folder), 2,
                "cede: error: huge.yaml: more than 2 GiB\n")


# ---- sizes ----

def in_little(t, name, objects, check=lambda found: found.code == 0):
    """It ends, and not because a gigabyte was too little. How long it takes is bench_load's business."""
    found = run("show", objects, **in_memory(1 << 30))
    t.true(name, check(found), f"exit code {found.code}\n{found.err[:400]}")


def group(subgroups):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
            "spec": {"minMember": 1, "queue": "q", "subGroups": subgroups}}


def sizes(t):
    crowd = pod("p")
    crowd["spec"]["initContainers"] = [{"name": f"i{i}", "resources": {"requests": {"cpu": "1m", f"x.io/r{i % 40}": "1"}}} for i in range(5000)]
    crowd["spec"]["containers"] = [{"name": f"c{i}", "resources": {"requests": {"cpu": "1m", f"x.io/r{i % 40}": "1"}}} for i in range(5000)]
    in_little(t, "a pod of 10000 containers", [NODE, crowd])
    in_little(t, "a PodGroup of 10000 sub-groups", [NODE, group([{"name": f"s{i}"} for i in range(10000)])])
    chain = [{"name": "s0"}, *[{"name": f"s{i}", "parent": f"s{i - 1}"} for i in range(1, 10000)]]
    in_little(t, "a PodGroup whose 10000 sub-groups are one below the other", [NODE, group(chain)])
    chain[0]["parent"] = "s9999"
    in_little(t, "or in a circle", [NODE, group(chain)],
              lambda found: found.code == 2 and "sub-groups are parents of each other in a circle" in found.err)
    kinds = [{"apiVersion": "x.io/v1", "kind": f"K{i % 50000}", "metadata": {"name": "x"}} for i in range(60000)]
    in_little(t, "60000 objects of 50000 kinds nobody knows, with a note for some", [NODE, *kinds],
              lambda found: found.code == 0 and found.err.endswith("\ncede: note: and 31 more\n"))
    flat = [queue(f"q{i}") for i in range(100000)]
    in_little(t, "100000 queues beside each other", [NODE, *flat])
    deep = [queue("q0"), *[queue(f"q{i}", f"q{i - 1}") for i in range(1, 20000)]]
    in_little(t, "20000 queues below each other: their depth is refused before all their paths are written out", [NODE, *deep],
              lambda found: found.code == 2 and "queues are nested more than 64 deep" in found.err)


# ---- incomplete documents ----

def documents(t):
    for text in ('{"kind": "List"}', '{"kind": "List", "apiVersion": "v1", "items": null}', '{"kind": "PodList", "items": []}', "kind: List\nitems:\n"):
        t.equal(f"an empty List is nothing, and fine: {text!r}", cede("show", "-f", "-", stdin=text.encode()).code, 0)
    is_said(t, "a missing apiVersion", cede("show", "-f", "-", stdin=b"kind: Node\nmetadata: {name: n}\n"), 2,
            "cede: error: <stdin>:1:1: Node: apiVersion: expected v1, found nothing\n")
    t.equal("kinds of others may do without", cede("show", "-f", "-", stdin=b"kind: Kustomization\n").code, 0)

    def config_map(name, key, value):
        return run("show", [NODE, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kube-system"}, "data": {key: value}}])

    kube = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    t.equal("somebody else's config.yaml", [config_map(name, "config.yaml", text).code for name, text in
                                            (("my-scheduler", kube), ("a-scheduler-config", "a: [b"), ("x", "hello: {world: 1}"))], [0, 0, 0])
    is_said(t, "KAI's is known by its name", config_map("scheduler-config", "config.yaml", "a: 1"), 2, "(ConfigMap scheduler-config, config.yaml)")
    is_said(t, "queues.yaml that is no text", config_map("yunikorn-configs", "queues.yaml", {"partitions": []}), 2,
            "ConfigMap kube-system/yunikorn-configs: data.queues.yaml: expected a string, found a map")


def numbers(t):
    is_said(t, "cpu that is too large is told at its field", run("show", [pod("p", "1E")]), 0,
            'Pod ns/p: spec.containers[0].resources.requests.cpu: expected a quantity below 2^63 thousandths, found "1E"; the pod is ignored')
    lots = pod("p")
    lots["spec"]["containers"] = [{"name": f"c{i}", "resources": {"requests": {"cpu": "8P"}}} for i in range(3)]
    is_said(t, "and cpu that is too large together", run("show", [lots]), 0, "Pod ns/p: spec: cpu of all containers together is too large; the pod is ignored")
    less = {**NODE, "status": {"allocatable": {"cpu": "-4"}}}
    is_said(t, "a node with less than nothing", run("show", [less]), 2,
            'Node n: status.allocatable.cpu: expected a quantity that is not negative, found "-4"')


def streams(t):
    two = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE]}, indent=4) + "\n" + json.dumps({"kind": "List", "apiVersion": "v1", "items": [pod("p", "1")]})
    found = cede("show", "-f", "-", *NOW, stdin=two.encode())
    t.true("two kubectl -o json, one after the other", found.code == 0 and found.out.startswith("1 node, 1 pod: "), found.out + found.err)
    found = cede("show", "-f", "-", *NOW, stdin=(two + " 7").encode())
    t.true("something else after them is refused", found.code == 2 and "expected the end of the input after the value, found '7'" in found.err, found.err)
    odd = pod("p", "3000")
    odd["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "notin", "values": ["b"]}]}]}}}
    found = run("show", [NODE, odd])
    is_said(t, "an operator nobody knows", found, 0, "this term matches no node: unknown operator 'notin'; did you mean NotIn?\n")
    t.true("3000 cores are not 3k", " cpu 3000 " in found.out, found.out)
    found = cede("plan", "--dran", "x", "-f", "-")
    t.equal("an option that is near one", (found.code, found.err), (2, "cede: error: '--dran' is not an option of cede plan; did you mean '--drain'?\n"))


def budgets(t):
    for value, text in (("50x", '"50x"'), ("5", '"5"'), (-1, "-1"), (1.5, "1.5"), (True, "true")):
        is_said(t, f"a budget of {value}", run("show", [budget({"minAvailable": value})]), 2,
                f"spec.minAvailable: expected a whole number or a percentage such as 50%, found {text}\n")
    runs = [pod(f"db-{i}", "1", "n", 1, {"app": "db"}) for i in range(3)]
    for spec, words in (({"minAvailable": "50%"}, "3 of 4 run, 2 must stay, so 1 may go"), ({"minAvailable": 1}, "3 of 4 run, 1 must stay, so 2 may go"),
                        ({"maxUnavailable": 1}, "3 of 4 run, 3 must stay, so 0 may go"), ({"maxUnavailable": "50%"}, "3 of 4 run, 2 must stay, so 1 may go"),
                        ({"maxUnavailable": 9}, "3 of 4 run, 0 must stay, so 3 may go"), ({}, "3 of 4 run, 4 must stay, so 0 may go")):
        objects = [NODE, *runs, pod("db-3", "1", labels={"app": "db"}), budget({**spec, "selector": {"matchLabels": {"app": "db"}}})]
        is_said(t, f"a budget of {spec} without a status is counted from its pods", run("show", objects), 0,
                f"PodDisruptionBudget ns/b: no status; counted from its pods: {words}\n")
        found = json.loads(run("show", objects, "--manifests", "-o", "json").out)["items"]
        allowed = [o["status"]["disruptionsAllowed"] for o in found if o["kind"] == "PodDisruptionBudget"]
        t.equal(f"and so written: {spec}", allowed, [int(words.split()[-3])])
    deploy = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"}, "spec": {"replicas": 8, "selector": {"matchLabels": {"app": "db"}}}}
    rs = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r", "namespace": "ns", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "controller": True}]},
          "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "db"}}}}
    owned = [{**p, "metadata": {**p["metadata"], "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True}]}} for p in runs]
    for owners, spec, words in (([deploy, rs], {"maxUnavailable": "50%"}, "3 of 9 run, 4 must stay, so 0 may go"), ([rs], {"maxUnavailable": "50%"}, "3 of 5 run, 2 must stay, so 1 may go"),
                                ([deploy, rs], {"minAvailable": "30%"}, "3 of 9 run, 3 must stay, so 0 may go"), ([deploy, rs], {"minAvailable": 1}, "3 of 4 run, 1 must stay, so 2 may go"),
                                ([], {"maxUnavailable": "50%"}, "3 of 4 run, 2 must stay, so 1 may go")):
        objects = [NODE, *owners, *owned, pod("db-3", "1", labels={"app": "db"}), budget({**spec, "selector": {"matchLabels": {"app": "db"}}})]
        is_said(t, f"a budget of {spec} and what {len(owners)} controllers are to have", run("show", objects), 0, f"counted from its pods: {words}\n")
    none = run("show", [budget({"minAvailable": 1})])
    is_said(t, "a budget without a status and without pods", none, 0, "0 of 0 run, 1 must stay, so 0 may go")
    t.equal("one with a status is not", run("show", [budget({"minAvailable": 1}, status={"disruptionsAllowed": 0})]).err, "")
    # small takes the one disruption there is and stays; that large goes is against the budget all the same
    objects = [NODE, pod("small", "1", "n", 2, {"app": "db"}), pod("large", "3", "n", 1, {"app": "db"}),
               budget({"selector": {"matchLabels": {"app": "db"}}}, status={"disruptionsAllowed": 1}), pod("p", "3", priority=9)]
    t.equal("KF_6 who violates a budget is who the search found to violate it",
            [(v["pod"], v.get("rule")) for v in decision(objects, "p", *KUBERNETES)["victims"]], [("ns/large", "budget")])


# ---- where mistakes stand ----

def queue(name, parent="", **limits):
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"parentQueue": parent, "resources": {k: {"quota": 1, **({} if v is None else {"limit": v})} for k, v in limits.items()}}}


def places(t):
    found = run("show", [NODE, queue("a", gpu=None, cpu=-1, memory=None)])
    t.equal("a KAI queue without limits is noted once", found.err.splitlines()[0].split(": ", 3)[0::3] + [len(found.err.splitlines())],
            ["cede", "queue a: no limit is set for gpu, memory, which means none at all in KAI; -1 means no limit", 1])
    found = run("show", [NODE, queue("a", "nobody", gpu=-1, cpu=-1, memory=-1)])
    t.true("one without its parent is noted, and where", found.err.startswith("cede: note: <stdin>:1:") and
           found.err.endswith(": queue a: there is no queue nobody to be its parent, so it is ignored\n"), found.err)
    config = ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: s\n  plugins:\n"
              "    %s:\n      enabled: [{name: %s}]\n")
    for point, plugin, said in (("filter", "Nobody", 'plugins.filter: no plugin is called "Nobody"'),
                                ("multiPoint", "Nobody", 'plugins.multiPoint: no plugin is called "Nobody"'),
                                ("score", "NodeName", 'plugins.score: has no place for plugin "NodeName"')):
        with Folder({"n.json": json.dumps(NODE), "c.yaml": config % (point, plugin)}) as folder:
            is_said(t, f"a plugin that cannot be at {point}", cede("plan", "-f", "n.json", "--config", "c.yaml", *KUBERNETES, cwd=folder), 2,
                    f"c.yaml:7:24: {said}\n")


# ---- namespaces ----

def term(**more):
    return {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}, **more}


def namespaces(t):
    named = {"matchLabels": {"kubernetes.io/metadata.name": "other"}}
    shy = pod("shy", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(namespaceSelector=named)]}})
    node = {**NODE, "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n"}}}
    objects = [node, pod("db", on="n", labels={"app": "db"}, ns="other"), shy]
    t.equal("KF_4 a namespace that was not read has its name as a label", decision(objects, "shy", *KUBERNETES)["outcome"], "waiting")
    t.equal("as has one that was read without it",
            decision([*objects, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}], "shy", *KUBERNETES)["outcome"], "waiting")
    found = run("plan", [*objects, {**shy, "metadata": {"name": "shy2", "namespace": "ns"}}]).err
    t.true("that namespaces were not read is noted once", found.count("a namespaceSelector, but no Namespace was read") == 1, found)


# ---- words about decisions ----

def words(t):
    ghost = pod("p", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["ghost"]}]}]}}})
    message = decision([NODE, ghost], "p", *KUBERNETES)["message"]
    t.true("KF_8 a pod for a node that does not exist: every node says so",
           message.startswith("0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. "), message)
    gone = [NODE, deleted(pod("p"))]
    t.equal("a waiting pod that is deleted has not finished", run("explain", gone, "ns/p").out, "ns/p is being deleted; it never got a place.\n")
    first = run("show", gone).out.splitlines()[0]
    t.true("nor does show say so", "0 finished, 1 being deleted; " in first, first)
    old = [NODE, *[pod(f"v{i:02}", "100m", "n", start="1700-01-01T00:00:00Z") for i in range(25)], pod("p", "4", priority=9)]
    big = {**NODE, "status": {"allocatable": {"cpu": "4", "pods": "30"}}}
    lost = [run("plan", [big, *old[1:]], *KUBERNETES, *args).out for args in ((), ("-o", "wide"))]
    t.true("lost time that no number holds is not negative", all("LOST" in x and not re.search(r"-\d+d", x) for x in lost), lost[0] + lost[1])


# ---- what is written and not acted on ----

def kai_queue(**spec):
    share = {"quota": 4, "limit": -1, "overQuotaWeight": 1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"},
            "spec": {"resources": {"gpu": share, "cpu": {**share, **spec.pop("cpu", {})}, "memory": share}, **spec}}


def annotated(name, **annotations):
    one = pod(name)
    one["metadata"]["annotations"] = annotations
    return one


def unread(t):
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}, "spec": {"replicas": 3, "template": {"spec": {}}}}
    owned = pod("p")
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop-1", "uid": "1", "controller": True}]
    bare = pod("p")
    del bare["spec"]["containers"]
    slip = pod("p")
    slip["spec"]["containers"][0]["resources"] = {"requets": {"cpu": "1"}}
    empty = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "m"}, "status": {"allocatabel": {"cpu": "1"}}}
    members = {**group([]), "spec": {"minMembers": 4, "queue": "q"}}
    for name, objects, note in (
            ("a Deployment without pods", [deployment], "Deployment default/shop: cede plans pods, not what makes them; no pod here belongs to it"),
            ("two of them", [deployment, {**deployment, "metadata": {"name": "b"}}], "no pod here belongs to it; so 1 more\n"),
            ("a part of a GPU", [annotated("a", **{"gpu-fraction": "0.5"})], "Pod ns/a: gpu-fraction: cede has no parts of GPUs"),
            ("task groups that are none", [annotated("a", **{"yunikorn.apache.org/task-groups": "[]", "yunikorn.apache.org/app-id": "x"})],
             "Pod ns/a: metadata.annotations.yunikorn.apache.org/task-groups: expected a list such as"),
            ("a group that is not there", [annotated("a", **{"pod-group-name": "g"})], "group ns/g is not there: pods that name it count each as one on its own"),
            ("a pod without containers", [bare], "Pod ns/p: spec.containers: not there; the pod counts as if it requested nothing"),
            ("a slip in what a container asks for", [slip], 'spec.containers[0].resources.requets: unknown field; did you mean "requests"?'),
            ("a node without amounts", [empty], "Node m: status.allocatable: not there; nothing fits on this node"),
            ("a slip in a Queue", [kai_queue(parentQeue="x")], 'Queue q: spec.parentQeue: unknown field; did you mean "parentQueue"?'),
            ("a field of a Queue that nobody knows", [kai_queue(colour="red")], "Queue q: spec.colour: unknown field\n"),
            ("a slip in a share", [kai_queue(cpu={"qouta": 1})], 'spec.resources.cpu.qouta: unknown field; did you mean "quota"?'),
            ("a negative quota", [kai_queue(cpu={"quota": -4})], "spec.resources.cpu.quota: expected an amount, or -1 for no bound; taken as -1"),
            ("a slip in a PodGroup", [members], 'PodGroup ns/g: spec.minMembers: unknown field; did you mean "minMember"?'),
            ("a topology of a PodGroup", [{**members, "spec": {"topologyConstraint": {"topology": "t"}}}],
             "spec.topologyConstraint: cede does not keep a pod group within one topology domain")):
        is_said(t, f"noted: {name}", run("show", objects), 0, note)
    for name, objects in (("a Deployment in a cluster", [NODE, deployment, owned]), ("a Queue", [kai_queue()]), ("a PodGroup", [group([]), kai_queue()])):
        t.equal(f"nothing to note: {name}", run("show", objects).err, "")


# ---- what a tenant may write, and what a live cluster may hold ----

PROFILES = ("default", "kubernetes", "yunikorn", "kai")


def looked_past(t):
    """Odd objects are noted and ignored, never a reason to refuse the rest."""
    others = [NODE, dict(NODE, metadata={"name": "m"}), pod("new")]
    rubbish = pod("rubbish", on="n")
    rubbish["metadata"]["annotations"] = {"cede.dev/checkpointed-at": "rubbish"}
    bad_start = pod("bad", on="n", start="yesterday")
    types = [pod(f"t{i:02}", **{"containers": [{"name": "c", "resources": {"requests": {f"example.com/r{i}": "1"}}}]}) for i in range(65)]
    wide = pod("wide", on="m", containers=[{"name": "c", "resources": {"requests": {f"example.com/r{i}": "1" for i in range(65)}}}])
    huge = [pod(f"huge{i:02}", cpu="9000000000000000") for i in range(70)]
    rows = (("a terminating pod on a node that is gone", [deleted(pod("old", on="spot-7"))],
             ["pod ns/old: its node spot-7 is not there: it counts in its queue and takes nobody's room"]),
            ("a pod that a tenant bound to a node that never was", [pod("ghost", on="gone")], ["pod ns/ghost: its node gone is not there"]),
            ("a checkpoint that is no time", [rubbish], ["annotations.cede.dev/checkpointed-at: not a time such as"]),
            ("a start that is no time", [bad_start], ["status.startTime: not a time such as"]),
            ("65 types of resources", types, ["Pod ns/t44: spec: example.com/r44 is one too many: pods may bring in at most 48 types of resources; the pod is ignored"]),
            ("65 types in a pod that runs", [wide], ["example.com/r44 is one too many: pods may bring in at most 48 types of resources; it is not counted"]),
            ("pods that ask for more together than can be counted", huge, ["the sum over all pods would pass 2^62; the pod is ignored"]))
    for name, objects, notes in rows:
        for profile in PROFILES:
            found = run("plan", [*others, *objects], "-o", "json", "--profile", profile)
            placed = found.code == 0 and [d["outcome"] for d in json.loads(found.out)["decisions"] if d["pod"] == "ns/new"] == ["placed"]
            t.true(f"{name}: noted, and the rest is planned ({profile})",
                   placed and all(f"cede: note: " in found.err and n in found.err for n in notes), f"exit code {found.code}\n{found.err[:600]}")
    node = dict(NODE, status={"allocatable": {"cpu": "4", "pods": "10", **{f"example.com/r{i}": "1" for i in range(70)}}})
    is_said(t, "a node with 70 types: those that cannot be counted are noted", run("plan", [node]), 0, "is one too many: a cluster has at most 64 types; it is not counted")


def starts(t):
    """A start in the future counts as now; one that cannot be as not given; both are noted. No window protects where none is set."""
    window = [{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": n},
               "spec": {"resources": {r: {"quota": q if r == "cpu" else -1, "limit": -1, "overQuotaWeight": 1} for r in ("cpu", "memory", "gpu")}, **more}}
              for n, q, more in (("d", 4000, {}), ("a", 0, {"parentQueue": "d", "reclaimMinRuntime": "10m"}), ("b", 4000, {"parentQueue": "d"}))]

    def victims(start):
        old = pod("old", cpu="4", on="n", labels={"kai.scheduler/queue": "a"}, start=start)
        new = pod("new", cpu="4", labels={"kai.scheduler/queue": "b"})
        found = run("plan", [NODE, *window, old, new], "-o", "json")
        d = [d for d in json.loads(found.out)["decisions"] if d["pod"] == "ns/new"][-1]
        return len(d["victims"]), [p.get("until") for p in d.get("protected", [])], found.err

    for name, start, expected in (
            ("MR_1 a start long ago: its window is over", "2026-11-15T11:00:00Z", (1, [], "")),
            ("MR_1 a start one second ahead of our clock counts as now", "2026-11-15T12:00:01Z",
             (0, ["2026-11-15T12:10:00Z"], "cede: note: pod ns/old: a start at 2026-11-15T12:00:01Z is in the future and counts as now\n")),
            ("MR_1 as does one a century ahead", "2126-11-15T12:00:01Z",
             (0, ["2026-11-15T12:10:00Z"], "cede: note: pod ns/old: a start at 2126-11-15T12:00:01Z is in the future and counts as now\n")),
            ("MR_1 one before 2000 counts as not given", "1700-01-01T00:00:00Z",
             (0, ["2026-11-15T12:10:00Z"], "cede: note: pod ns/old: a start at 1700-01-01T00:00:00Z cannot be and counts as not given\n"))):
        t.equal(name, victims(start), expected)
    stamp = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 1, "priorityClassName": "train"}}

    def moved(when):
        nodes = [dict(NODE, metadata={"name": n}) for n in ("n1", "n2")]
        groups = [{**stamp, "metadata": {"name": g, "namespace": "ns", "annotations": {"kai.scheduler/last-start-timestamp": when} if g != "want" else {}}} for g in ("ga", "gb", "want")]
        pods = [pod("a", cpu="2", on="n1"), pod("b", cpu="2", on="n2"), pod("want", cpu="4")]
        for one, g in zip(pods, ("ga", "gb", "want")):
            one["metadata"]["annotations"] = {"pod-group-name": g}
        found = run("plan", [*nodes, *groups, *pods], "-o", "json")
        return sum(len(d["victims"]) for d in json.loads(found.out)["decisions"]), "group ns/ga: a start at " in found.err

    for name, when, expected in (("MR_14 a stamp of the past", "2026-11-15T10:00:00Z", (1, False)), ("MR_14 a stamp of the future", "2026-11-15T13:00:00Z", (1, True)),
                                 ("MR_14 a stamp of 1700", "1700-01-01T00:00:00Z", (1, True))):
        t.equal(f"{name} protects from nothing where no window is set", moved(when), expected)
    odd = {**stamp, "metadata": {"name": "g", "namespace": "ns", "annotations": {"kai.scheduler/last-start-timestamp": "1700-01-01T00:00:00Z"}}}
    found = json.loads(run("show", [NODE, odd, {**pod("a"), "metadata": {"name": "a", "namespace": "ns", "annotations": {"pod-group-name": "g"}}}], "-o", "json").out)
    t.equal("a group does not run for three centuries", [g.get("started") for g in found["groups"]], [None])


def namesakes(t):
    """A PodGroup of KAI and one of Kubernetes of one name: pods are in the one of the API by which they name it, in any order of documents."""
    kai = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 2, "priorityClassName": "train"}}
    kube = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "priority": 7}}
    pods = [pod(f"p{i}", cpu="1") for i in range(2)] + [pod(f"q{i}", cpu="1", priority=7) for i in range(2)]
    for one in pods[:2]:
        one["metadata"]["annotations"] = {"pod-group-name": "g"}
    for one in pods[2:]:
        one["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    found = set()
    for order in itertools.permutations([kai, kube, *pods[1:3]]):
        found.add(run("show", [NODE, pods[0], pods[3], *order], "-o", "json").out + run("plan", [NODE, pods[0], pods[3], *order], "-o", "json").out
                  + run("explain", [NODE, pods[0], pods[3], *order], "ns/g").out)
    t.equal("two PodGroups of one name: the same answer for any order of documents", len(found), 1)
    shown = json.loads(run("show", [NODE, kube, kai, *pods], "-o", "json").out)
    t.equal("they are two groups", [(g["group"], g["api"], g["priority"]) for g in shown["groups"]], [("ns/g", "kai", 50), ("ns/g", "kubernetes", 7)])
    made = {d["pod"]: d["outcome"] for d in json.loads(run("plan", [NODE, kube, kai, *pods], "-o", "json").out)["decisions"]}
    t.equal("each with its own minimum", made, {"ns/p0": "placed", "ns/p1": "placed", "ns/q0": "waiting", "ns/q1": "waiting"})
    whole = run("show", [NODE, kube, kai, *pods], "--manifests", "-o", "json").out
    t.equal("and both are written back", sorted(o["apiVersion"] for o in json.loads(whole)["items"] if o["kind"] == "PodGroup"), ["scheduling.k8s.io/v1alpha2", "scheduling.run.ai/v2alpha2"])


def main():
    t = Suite()
    for part in (files, sizes, documents, streams, numbers, budgets, places, namespaces, words, unread, looked_past, starts, namesakes):
        part(t)
    t.end()


if __name__ == "__main__":
    main()
