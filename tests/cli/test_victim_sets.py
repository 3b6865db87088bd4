#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which set of victims is chosen on one node, who is named when no set is lawful, and that a search that ends early says so."""
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Suite, cede  # noqa: E402

GPU = "nvidia.com/gpu"


def node(**has):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"memory": "64Gi", "pods": "110", **has}}}


def queues(*leaves):
    """Each: name, guarantee. The first reclaims."""
    return {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [
        {"name": name, "resources": {"guaranteed": guaranteed}, "properties": {"preemption.delay": "1s"}} for name, guaranteed in leaves]}]}]}


def pod(name, queue=None, wants=None, runs=None, priority=0, labels=None):
    """runs: since when, in minutes; None: it waits."""
    start = "2026-11-15T%02d:%02d:00Z" % divmod(12 * 60 - (runs if runs is not None else 5), 60)
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": wants or {}}}]}
    status = {"phase": "Pending"}
    if runs is not None:
        spec["nodeName"] = "n1"
        status = {"phase": "Running", "startTime": start}
    return {"apiVersion": "v1", "kind": "Pod", "status": status, "spec": spec,
            "metadata": {"namespace": "x", "name": name, "creationTimestamp": start, "labels": {**({"queue": queue} if queue else {}), **(labels or {})}}}


def budget(name, labels, allowed):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"namespace": "x", "name": name},
            "spec": {"selector": {"matchLabels": labels}}, "status": {"disruptionsAllowed": allowed}}


def settings(**rules):
    return {"apiVersion": "cede.dev/v1", "kind": "CedeConfiguration", "rules": {k.replace("_", "-"): v for k, v in rules.items()}}


def plan(docs, *args):
    done = cede("plan", "-f", "-", *NOW, "-o", "json", *args, stdin="".join(f"---\n{json.dumps(d)}\n" for d in docs).encode())
    assert done.code == 0, done.err
    return json.loads(done.out)["decisions"]


def victims(docs):
    return [v["pod"] for d in plan(docs) for v in d["victims"]]


def protected(docs):
    """Rule and sentence of whoever is protected from x/a."""
    return [(p["rule"], p["reason"]) for d in plan(docs) if d.get("pod") == "x/a" for p in d.get("protected", [])]


def beside_small_ones(queue, labels, priority=0):
    """One pod with all GPUs, and fourteen younger ones without any that are dearer to nobody."""
    return [pod("train", queue, {"cpu": "4", GPU: "4"}, runs=60, priority=5 if queue is None else 0, labels=labels)] + [
        pod(f"s{i:02}", queue, {"cpu": "2"}, runs=10, priority=priority, labels=labels) for i in range(14)]


WANTS_4 = pod("a", "root.a", {"cpu": "4", GPU: "4"})
FULL = node(cpu="32", **{GPU: "4"})
A = ("a", {GPU: 4, "vcore": 4})
TEAM = {"team": "b"}

CHOICES = [  # sentence, documents, victims
    ("GQ_9: law 2 is not spent on pods that free nothing of what is short",
     [FULL, queues(A, ("b", {"vcore": 20})), *beside_small_ones("root.b", None), WANTS_4], ["x/train"]),
    ("GQ_9: nor is a disruption budget",
     [FULL, queues(A, ("b", {})), *beside_small_ones("root.b", TEAM), budget("team", TEAM, 1), WANTS_4], ["x/train"]),
    ("GQ_9: nor is an hourly rate",
     [FULL, queues(A, ("b", {})), *beside_small_ones("root.b", None), settings(eviction_rate={"perHour": 1}), WANTS_4], ["x/train"]),
    ("KF_5: nor is a budget of pods without queues",
     [FULL, *beside_small_ones(None, TEAM), budget("team", TEAM, 1), pod("a", None, {"cpu": "4", GPU: "4"}, priority=100)], ["x/train"]),
    ("GQ_9: one victim that loses 8 GPU-hours instead of eight that lose 35",
     [node(cpu="16", **{GPU: "16"}), queues(("a", {GPU: 8}), ("b", {})), pod("big", "root.b", {"cpu": "1", GPU: "8"}, runs=60),
      *[pod(f"s{i}", "root.b", {"cpu": "1", GPU: "1"}, runs=264) for i in range(8)], pod("a", "root.a", {"cpu": "1", GPU: "8"})], ["x/big"]),
    ("GQ_9: of two lawful sets the one with the lower highest priority",
     [node(cpu="5", **{GPU: "2"}), queues(("a", {GPU: 1, "vcore": 1}), ("b", {"vcore": 1}), ("c", {})),
      pod("lo", "root.b", {"cpu": "2", GPU: "1"}, runs=2, priority=5), pod("cpu", "root.b", {"cpu": "2"}, runs=2),
      pod("hi", "root.c", {"cpu": "1", GPU: "1"}, runs=90, priority=10), pod("a", "root.a", {"cpu": "1", GPU: "1"}, priority=50)], ["x/lo"]),
]

FOUR = pod("a", "root.a", {"cpu": "4"})
REFUSED = [  # sentence, documents, rule, what its sentence says
    ("GQ_2: two may not take together what one may take alone, and that is said",
     [node(cpu="4"), queues(("a", {"vcore": 4}), ("b", {"vcore": 1})), *[pod(f"b{i}", "root.b", {"cpu": "2"}, runs=60) for i in range(2)], FOUR],
     "guarantee", "root.b uses 4 of 1 guaranteed cpu; taking 4, all victims together, would leave 0 (law 2)"),
    ("a budget that two victims would overspend is named",
     [node(cpu="4"), queues(("a", {"vcore": 4}), ("b", {})), *[pod(f"b{i}", "root.b", {"cpu": "2"}, runs=60, labels=TEAM) for i in range(2)],
      budget("team", TEAM, 1), FOUR],
     "budget", "the budget x/team allows 1 disruption, 2 are needed"),
    ("an hourly rate that two victims would exceed is named",
     [node(cpu="4"), queues(("a", {"vcore": 4}), ("b", {})), *[pod(f"b{i}", "root.b", {"cpu": "2"}, runs=60) for i in range(2)],
      settings(eviction_rate={"perHour": 1}), FOUR],
     "eviction-rate", "root.b lost 0 pods within an hour and may lose 1; 2 more are needed"),
    ("GQ_2: law 2 in all types names the type",
     [node(cpu="4"), queues(("a", {"vcore": 4}), ("b", {"memory": "4Gi"})), pod("b0", "root.b", {"cpu": "4", "memory": "4Gi"}, runs=60),
      settings(guarantee={"types": "all"}), pod("a", "root.a", {"cpu": "4", "memory": "4Gi"})],
     "guarantee", "root.b uses 4Gi of 4Gi guaranteed memory; taking 4Gi would leave 0 (law 2)"),
]


def crowded(n, seed):
    """A node of n pods in two queues, no two alike, of which about a quarter has to go."""
    r = random.Random(seed)
    sizes = [(r.randint(1, 40) * 100, r.randint(1, 60)) for _ in range(n)]
    cpu, memory = sum(s[0] for s in sizes), sum(s[1] for s in sizes)
    docs = [node(cpu=f"{cpu}m", memory=f"{memory}Mi"), queues(("a", {"vcore": 100000, "memory": "1000Gi"}), ("b", {}), ("c", {"vcore": cpu // 5000}))]
    for i, (c, m) in enumerate(sizes):
        docs.append(pod(f"v{i:03}", r.choice(["root.b", "root.c"]), {"cpu": f"{c}m", "memory": f"{m}Mi"}, runs=r.randint(1, 600)))
    return docs + [pod("a", "root.a", {"cpu": f"{cpu // 4}m", "memory": f"{memory // 5}Mi"})]


def quantity(text):
    return int(text.rstrip("Mi").rstrip("m"))


def needless(docs, decision):
    """Victims without whom the others would still be enough: the node is full."""
    asks = {d["metadata"]["name"]: d["spec"]["containers"][0]["resources"]["requests"] for d in docs if d.get("kind") == "Pod"}
    names = [v["pod"].split("/")[1] for v in decision["victims"]]
    rest = {t: sum(quantity(asks[v].get(t, "0")) for v in names) - quantity(asks["a"][t]) for t in ("cpu", "memory")}
    return [v for v in names if all(quantity(asks[v].get(t, "0")) <= rest[t] for t in rest)]


def idle_ones(n, seed):
    """As crowded, but nobody loses anything and some hold one type alone: many sets cost nearly the same."""
    docs, r = crowded(n, seed), random.Random(seed)
    for d in docs:
        if d.get("kind") == "Pod" and d["metadata"]["name"] != "a":
            d["status"]["startTime"] = "2026-11-15T12:00:00Z"
            d["spec"]["priority"] = r.choice([0, 0, 5, 10])
    docs[-1]["spec"]["priority"] = 60
    return docs


def uneven(leaving):
    """Two zones with a team in both; one of the team is leaving the zone that has the room."""
    docs = [queues(("b", {}))]
    for name in ("n1", "n2"):
        docs.append(node(cpu="4"))
        docs[-1]["metadata"] = {"name": name, "labels": {"zone": name}}
    team = {"team": "web"}
    docs += [pod("old", "root.b", {"cpu": "2"}, runs=60), *[pod(f"stays{i}", "root.b", {}, runs=60, priority=200, labels=team) for i in range(2)],
             pod("goes", "root.b", {}, runs=60, labels=team), pod("full", "root.b", {"cpu": "2"}, runs=60), pod("far", "root.b", {"cpu": "4"}, runs=60, priority=200)]
    docs[-1]["spec"]["nodeName"] = "n2"
    if leaving:
        docs[-3]["metadata"]["deletionTimestamp"] = "2026-11-15T12:00:20Z"
    a = pod("a", "root.b", {"cpu": "2"}, priority=100, labels=team)
    a["spec"]["topologySpreadConstraints"] = [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                               "labelSelector": {"matchLabels": team}}]
    return docs + [a]


def given_up():
    """Room was reserved for x/big, which does not fit any more; then its neighbour in the queue reclaims."""
    big = pod("big", "root.a", {"cpu": "9"}, priority=100)
    big["status"]["nominatedNodeName"] = "n1"
    return [node(cpu="8"), queues(("a", {"vcore": 4}), ("b", {})), *[pod(f"b{i}", "root.b", {"cpu": "4"}, runs=60 + i) for i in range(2)], big, FOUR]


EARLY = "The search for the best set of victims ended early on 1 node."


def reserved_first(t):
    """Room is reserved for x/a once x/v is gone, but its spread would not bear x/b beside it, who comes first in the order of queues."""
    def zone(name, zone, cpu):
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "9"}}}
    wants = pod("a", "root.a", {"cpu": "1"}, labels={"team": "t", "applicationId": "a"})
    wants["spec"]["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"team": "t"}}}]
    tree = queues(("a", {"vcore": "1"}), ("v", {}))
    docs = [tree, zone("n1", "z1", "4"), zone("n2", "z2", "0"), wants, pod("b", None, {"cpu": "2"}, priority=9, labels={"team": "t"}), pod("v", "root.v", {"cpu": "4"}, runs=30, labels={"applicationId": "v"})]
    made = plan(docs, "--profile", "yunikorn", "--cycles", "4")
    t.equal("yunikorn: whose room is reserved is tried first, and nobody comes in between", [(d["pod"], d["outcome"]) for d in made if d["outcome"] != "waiting"],
            [("x/a", "nominated"), ("x/a", "placed"), ("x/b", "placed")])


def main():
    s = Suite()
    for sentence, docs, expected in CHOICES:
        s.equal(sentence, victims(docs), expected)
    for sentence, docs, rule, words in REFUSED:
        s.true(sentence, (rule, words) in protected(docs), str(protected(docs)))
    s.equal("KF_7: who is leaving already is not counted out of its zone a second time", victims(uneven(True)), [])
    s.equal("room that was given up before is not told as used",
            [v["taker"] for d in plan(given_up()) for v in d["victims"]], [{"queue": "root.a", "used": "0", "guaranteed": "4"}])
    found = [plan(crowded(110, seed))[0] for seed in range(1, 9)]
    s.true("a node of 110 pods, no two alike: room is found, by eviction of the needed ones alone",
           all(d["outcome"] == "nominated" and 10 < len(d["victims"]) < 40 for d in found), str([d["outcome"] for d in found]))
    early = [EARLY in d["message"] for d in found]
    s.true("where the search ends early it says so, and most do not", 0 < sum(early) < len(early) / 2, str(early))
    many = [(docs, plan(docs)[0]) for docs in [make(n, seed) for make in (crowded, idle_ones) for n in (20, 31, 110) for seed in range(10, 20)]]
    s.equal("every victim of a search that ends early is needed", [needless(docs, d) for docs, d in many if needless(docs, d)], [])
    s.true("and some of these searches end early", any(EARLY in d["message"] for _, d in many))
    reserved_first(s)
    sys.exit(s.failed > 0)


main()
