#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every setting matters: each that `cede config print` lists for a profile, given two values, makes two different plans.

A row is a setting, the profiles it is tried in, two values, and the smallest cluster in which they differ. A setting without a
row fails the last test, and so does a profile that lists a setting without effect there.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Folder, Suite, cede  # noqa: E402

PROFILES = ("default", "kubernetes", "yunikorn", "kai")
CONFIG = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n"
GPU = "nvidia.com/gpu"

# ---- a cluster in a few words ----


def documents(*objects):
    return "---\n".join(json.dumps(o) + "\n" for o in objects)


def node(name, gpus=1):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", GPU: str(gpus)}}}


def pod(name, queue=None, on=None, gpus=1, priority=None, minutes=60, labels=None, annotations=None, scheduler=None, more=None, cpu=None):
    hours, rest = divmod(12 * 60 - minutes, 60)
    when = f"2026-11-15T{hours:02}:{rest:02}:00Z"
    o = {"apiVersion": "v1", "kind": "Pod",
         "metadata": {"name": name, "namespace": "d", "uid": name, "creationTimestamp": when, "labels": dict(labels or {}),
                      "annotations": dict(annotations or {}), **(more or {})},
         "spec": {"containers": [{"name": "c", "resources": {"requests": {GPU: str(gpus), "cpu": cpu or "1"}, "limits": {GPU: str(gpus)}}}]},
         "status": {"phase": "Running" if on else "Pending"}}
    if queue:
        o["metadata"]["labels"].update({"queue": f"root.{queue}", "kai.scheduler/queue": queue})
    if on:
        o["spec"]["nodeName"] = on
        o["status"]["startTime"] = when
    if priority is not None:
        o["spec"]["priority"] = priority
    if scheduler:
        o["spec"]["schedulerName"] = scheduler
    return o


def partition(**queues):
    return {"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": [
        {"name": name, "resources": {k: v for k, v in (("guaranteed", guaranteed), ("max", None)) if v},
         "properties": {"preemption.delay": "1s"}} for name, guaranteed in queues.items()]}]}]}


def kai_queue(name, quota, limit=-1, weight=1, **more):
    share = {"quota": quota, "limit": limit, "overQuotaWeight": weight}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {**more, "resources": {"gpu": share, "cpu": {"quota": -1, "limit": -1, "overQuotaWeight": 1},
                                           "memory": {"quota": -1, "limit": -1, "overQuotaWeight": 1}}}}


def group(name, queue, minimum, **more):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "d", "creationTimestamp": "2026-11-15T10:00:00Z", **more.pop("metadata", {})},
            "spec": {"queue": queue, "minMember": minimum, **more}}


def of(name):
    return {"annotations": {"pod-group-name": name}}


OPTED_OUT = {"annotations": {"yunikorn.apache.org/allow-preemption": "false"}}
AB = partition(a={GPU: 2}, b=None)
KAI_AB = [kai_queue("a", 2), kai_queue("b", 0)]

# ---- the rows ----


def stuck(minutes):
    return {"deletionTimestamp": f"2026-11-15T11:{60 - minutes:02}:00Z", "deletionGracePeriodSeconds": 30}


def cedes(text):
    return CONFIG + text + "\n"


def kais(text):
    return text + "\n"


# setting: profiles in which it counts, two values as documents, what is in the cluster
ROWS = [
    ("profile", ["default"], cedes("profile: default"), cedes("profile: kubernetes"),
     [AB, node("n1"), pod("runs", "b", "n1"), pod("want", "a", minutes=5)]),
    ("schedulerNames", PROFILES, cedes("schedulerNames: []"), cedes("schedulerNames: [other]"),
     [*KAI_AB, node("n1"), pod("want", "a", minutes=5)]),
    ("rules.preemptibility.threshold", ["default", "kai"], cedes("rules: {preemptibility: {threshold: 100}}"),
     cedes("rules: {preemptibility: {threshold: 50}}"),
     [*KAI_AB, node("n1"), pod("runs", "b", "n1", priority=60), pod("want", "a", minutes=5, priority=60)]),
    ("rules.preemptibility.reach", ["default", "kai"], cedes("rules: {preemptibility: {reach: kai}}"),
     cedes("rules: {preemptibility: {reach: 'off'}}"),
     [*KAI_AB, node("n1"), pod("runs", "b", "n1", priority=200), pod("want", "a", minutes=5, priority=200)]),
    ("rules.min-runtime.consolidation", ["default", "kai"], cedes("rules: {min-runtime: {consolidation: true}}"),
     cedes("rules: {min-runtime: {consolidation: false}}"),
     [kai_queue("a", 4, preemptMinRuntime="10m", reclaimMinRuntime="10m"), node("n1", 2), node("n2", 2),
      group("x", "a", 1, metadata={"annotations": {"kai.scheduler/last-start-timestamp": "2026-11-15T11:55:00Z"}}),
      pod("x-0", "a", "n1", minutes=5, **of("x")),
      group("y", "a", 1, metadata={"annotations": {"kai.scheduler/last-start-timestamp": "2026-11-15T11:55:00Z"}}),
      pod("y-0", "a", "n2", minutes=5, **of("y")), group("want", "a", 1), pod("want-0", "a", gpus=2, minutes=4, **of("want"))]),
    ("rules.guarantee.types", ["default", "yunikorn"], cedes("rules: {guarantee: {types: short}}"),
     cedes("rules: {guarantee: {types: all}}"),
     [partition(a={GPU: 1}, b={"vcore": "1"}), node("n1"), pod("runs", "b", "n1"), pod("want", "a", minutes=5)]),
    ("rules.eviction-rate.perHour", ["default"], cedes("rules: {eviction-rate: {perHour: 2}}"),
     cedes("rules: {eviction-rate: {perHour: 1}}"),
     [AB, node("n1", 2), pod("r1", "b", "n1"), pod("r2", "b", "n1"), pod("want", "a", gpus=2, minutes=5)]),
    ("rules.opt-out.mode", ["default", "yunikorn"], cedes("rules: {opt-out: {mode: soft}}"), cedes("rules: {opt-out: {mode: hard}}"),
     [AB, node("n1"), pod("runs", "b", "n1", **OPTED_OUT), pod("want", "a", minutes=5)]),
    ("actions.reclaim.by", ["default"], cedes("actions: {reclaim: {by: guarantee}}"), cedes("actions: {reclaim: {by: fair-share}}"),
     [partition(a=None, b=None), node("n1", 2), pod("r1", "b", "n1"), pod("r2", "b", "n1"), pod("want", "a", minutes=5)]),
    ("actions.reclaim.patience", ["default", "yunikorn"], cedes("actions: {reclaim: {patience: 5m}}"),
     cedes("actions: {reclaim: {patience: 1m}}"),
     [AB, node("n1"), node("n2"), pod("hangs", "b", "n1", more=stuck(3)), pod("runs", "b", "n2"), pod("want", "a", minutes=5)]),
    ("kai.stalenessGracePeriod", ["default", "kai"], cedes("kai: {stalenessGracePeriod: 1m}"), cedes("kai: {stalenessGracePeriod: 10m}"),
     [*KAI_AB, node("n1", 4),
      group("half", "a", 3, metadata={"annotations": {"kai.scheduler/stale-podgroup-timestamp": "2026-11-15T11:58:00Z"}}),
      pod("half-0", "a", "n1", **of("half"))]),
    ("kai.maxConsolidationPreemptees", ["default", "kai"], cedes("kai: {maxConsolidationPreemptees: 16}"),
     cedes("kai: {maxConsolidationPreemptees: 0}"),
     [kai_queue("a", 4), node("n1", 2), node("n2", 2), pod("x", "a", "n1"), pod("y", "a", "n2"),
      group("want", "a", 1), pod("want-0", "a", gpus=2, minutes=4, **of("want"))]),
    ("kai.allowConsolidatingReclaim", ["kai"], cedes("kai: {allowConsolidatingReclaim: true, maxConsolidationPreemptees: 0}"),
     cedes("kai: {allowConsolidatingReclaim: false, maxConsolidationPreemptees: 0}"),
     [kai_queue("a", 2), kai_queue("b", 1), node("n1", 2), node("n2", 1), pod("moves", "b", "n1"), pod("want", "a", gpus=2, minutes=5)]),
    ("actions", ["kai"], kais("actions: allocate, reclaim"), kais("actions: allocate"),
     [*KAI_AB, node("n1"), pod("runs", "b", "n1"), pod("want", "a", minutes=5)]),
    ("nodeplacement.gpu", ["kai"], kais("tiers: [{plugins: [{name: nodeplacement, arguments: {gpu: binpack}}]}]"),
     kais("tiers: [{plugins: [{name: nodeplacement, arguments: {gpu: spread}}]}]"),
     [kai_queue("a", 4), node("n1", 2), node("n2", 2), pod("runs", "a", "n1"), pod("want", "a", minutes=5)]),
    ("nodeplacement.cpu", ["kai"], kais("tiers: [{plugins: [{name: nodeplacement, arguments: {cpu: binpack}}]}]"),
     kais("tiers: [{plugins: [{name: nodeplacement, arguments: {cpu: spread}}]}]"),
     [kai_queue("a", 4), node("n1", 0), node("n2", 0), pod("runs", "a", "n1", gpus=0), pod("want", "a", gpus=0, minutes=5)]),
    ("proportion.relcaimerSaturationMultiplier", ["kai"],
     kais("tiers: [{plugins: [{name: proportion, arguments: {relcaimerSaturationMultiplier: '1'}}]}]"),
     kais("tiers: [{plugins: [{name: proportion, arguments: {relcaimerSaturationMultiplier: '3'}}]}]"),
     [*(kai_queue(q, 0) for q in ("da", "db", "dc")), kai_queue("a", 0, parentQueue="da"), kai_queue("a2", 0, parentQueue="da"),
      kai_queue("b", 0, parentQueue="db"), kai_queue("c", 0, parentQueue="dc"), node("n1", 9),
      *(pod(f"a2-{i}", "a2", "n1") for i in range(3)), *(pod(f"b-{i}", "b", "n1") for i in range(6)),
      pod("too-big", "c", gpus=10, minutes=6), pod("want", "a", minutes=5)]),
    ("minruntime.defaultPreemptMinRuntime", ["default", "kai"],
     kais("tiers: [{plugins: [{name: minruntime, arguments: {defaultPreemptMinRuntime: 1m}}]}]"),
     kais("tiers: [{plugins: [{name: minruntime, arguments: {defaultPreemptMinRuntime: 1h}}]}]"),
     [kai_queue("a", 1), node("n1"),
      group("x", "a", 1, metadata={"annotations": {"kai.scheduler/last-start-timestamp": "2026-11-15T11:55:00Z"}}),
      pod("x-0", "a", "n1", minutes=5, priority=1, **of("x")), pod("want", "a", priority=90, minutes=4)]),
    ("minruntime.defaultReclaimMinRuntime", ["default", "kai"],
     kais("tiers: [{plugins: [{name: minruntime, arguments: {defaultReclaimMinRuntime: 1m}}]}]"),
     kais("tiers: [{plugins: [{name: minruntime, arguments: {defaultReclaimMinRuntime: 1h}}]}]"),
     [*KAI_AB, node("n1"),
      group("x", "b", 1, metadata={"annotations": {"kai.scheduler/last-start-timestamp": "2026-11-15T11:55:00Z"}}),
      pod("x-0", "b", "n1", minutes=5, **of("x")), pod("want", "a", minutes=4)]),
    ("minruntime.reclaimResolveMethod", ["default", "kai"],
     kais("tiers: [{plugins: [{name: minruntime, arguments: {reclaimResolveMethod: lca}}]}]"),
     kais("tiers: [{plugins: [{name: minruntime, arguments: {reclaimResolveMethod: queue}}]}]"),
     [kai_queue("da", 2), kai_queue("db", 0), kai_queue("a", 2, parentQueue="da"), kai_queue("b", 0, parentQueue="db", reclaimMinRuntime="1h"),
      node("n1"), group("x", "b", 1, metadata={"annotations": {"kai.scheduler/last-start-timestamp": "2026-11-15T11:55:00Z"}}),
      pod("x-0", "b", "n1", minutes=5, **of("x")), pod("want", "a", minutes=4)]),
]

# settings that a plan from files cannot show, and where they are tested
ELSEWHERE = {
    "rules.thrash.soft": "tests/properties/test_eviction_history.c",
    "rules.thrash.hard": "tests/properties/test_eviction_history.c",
    "rules.thrash.window": "tests/properties/test_eviction_history.c",
    "rules.thrash.protection": "tests/properties/test_eviction_history.c",
    "eviction.through": "tests/run/test_carry_out.c",
}


def plan(profile, objects, config):
    args = [] if config.startswith(CONFIG + "profile:") else ["--profile", profile]
    with Folder({"objects.yaml": documents(*objects), "config.yaml": config}) as path:
        found = cede("plan", "-f", os.path.join(path, "objects.yaml"), "--config", os.path.join(path, "config.yaml"), "-o", "json", *args, *NOW)
    if found.code:
        return found.err
    return json.dumps([{k: d.get(k) for k in ("pod", "outcome", "action", "node", "victims")} for d in json.loads(found.out)["decisions"]])


def listed(profile):
    found = json.loads(cede("config", "print", "--profile", profile, "-o", "json").out)
    return {s["key"] for s in found["settings"] if s["from"] != "the profile"}


def main():
    t = Suite()
    noticed = set(ELSEWHERE)
    for key, profiles, one, other, objects in ROWS:
        for profile in profiles:
            a, b = plan(profile, objects, one), plan(profile, objects, other)
            if t.true(f"{key} changes the plan in profile {profile}", a != b and a[:1] == b[:1] == "[", f"{a}\n{b}"):
                noticed.add((profile, key))
    noticed |= {(profile, "profile") for profile in PROFILES}
    for profile in PROFILES:
        t.equal(f"profile {profile} lists settings that have an effect there, and no others",
                sorted(k for k in listed(profile) if (profile, k) not in noticed and k not in ELSEWHERE), [])
    with Folder({"objects.yaml": documents(node("n1"))}) as path:
        file = os.path.join(path, "objects.yaml")
        t.equal("--file is -f", cede("show", f"--file={file}", *NOW).out, cede("show", "-f", file, *NOW).out)
    found = [cede("bench", "preempt", "--nodes", "20", "--cycles", "3", f"--queues={n}", "-o", "json") for n in (4, 12)]
    t.true("bench --queues makes queues", all(f.code == 0 for f in found) and [json.loads(f.out).get("queues") for f in found] == [4, 12],
           "".join(f.out + f.err for f in found))
    for key, path in ELSEWHERE.items():
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", path), encoding="utf-8") as f:
            t.true(f"{key} is in {path}", f'{key.split(".")[-1]}:' in f.read())
    t.end()


if __name__ == "__main__":
    main()
