#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Volumes: which node, which volume, who has to go for one, and what is told of it."""
import itertools
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Folder, Suite, cede  # noqa: E402

STORAGE = "tests/cli/clusters/storage.yaml"
PROFILES = ("default", "kubernetes", "yunikorn", "kai")


# ---- clusters ----

def node(name, cpu=4, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"host": name, **labels}},
            "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}}


def pod(name, *claims, cpu=1, priority=0, on=None, **meta):
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}],
            "volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", "creationTimestamp": "2026-11-15T10:00:00Z", **meta},
            "spec": spec, "status": {"phase": "Running", "startTime": "2026-11-15T11:00:00Z"} if on else {}}


def claim(name, size="5Gi", cls="local", modes=("ReadWriteOnce",), **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "ns", "uid": "u-" + name},
            "spec": {"accessModes": list(modes), "storageClassName": cls, "resources": {"requests": {"storage": size}}, **spec}}


def bound(one, volume):
    one["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    one["spec"]["volumeName"] = volume
    return one


def volume(name, size="10Gi", cls="local", hosts=None, **spec):
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "host", "operator": "In", "values": hosts}]}]}}} if hosts else {}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls, **affinity, **spec},
            "status": {"phase": "Available"}}


def storage_class(name="local", provisioner="kubernetes.io/no-provisioner", wait=True):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer" if wait else "Immediate"}


def group(name, n):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"minMember": n}}


def plan(objects, profile, *args):
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    found = cede("plan", "-f", "-", *NOW, "--profile", profile, "-o", "json", *args, stdin=whole.encode())
    assert found.code == 0, found.err
    return json.loads(found.out)["decisions"]


def got(decisions):
    """{pod: (outcome, node, {claim: volume})} by its last decision."""
    def what(v):
        return v.get("volume", "new")
    return {d["pod"]: (d["outcome"], d.get("node"), {v["claim"]: what(v) for v in d.get("volumes", [])}) for d in decisions if "pod" in d}


# ---- what is told ----

def goldens(t):
    for profile in PROFILES:
        t.golden(f"VO_1 plan in profile {profile}", f"plan-storage-{profile}.json",
                 cede("plan", "-f", STORAGE, *NOW, "--profile", profile, "-o", "json").out)
    for format, ending in (("text", "txt"), ("wide", "wide.txt")):
        t.golden(f"VO_1 plan as {format}", f"plan-storage.{ending}", cede("plan", "-f", STORAGE, *NOW, "-o", format).out)
    for name in ("worker-0", "worker-2", "loader", "ledger-new", "reporter", "auditor"):
        t.golden(f"VO_1 explain {name}", f"explain-storage-{name}.txt",
                 cede("explain", "-f", STORAGE, *NOW, "--profile", "kubernetes", f"bank/{name}").out)
    t.golden("VO_1 lint finds claims that cannot be had", "lint-storage.txt", cede("lint", "-f", STORAGE).out)
    t.golden("VO_1 show", "show-storage.txt", cede("show", "-f", STORAGE, *NOW).out)
    written = cede("show", "-f", STORAGE, *NOW, "--manifests").out
    t.golden("VO_1 what was read is written", "manifests-storage.yaml", written)
    with Folder({"again.yaml": written}) as path:
        t.equal("VO_1 and reads back as the same", cede("show", "-f", path, *NOW, "--manifests").out, written)
        for profile in PROFILES:
            t.equal(f"VO_1 and plans the same in profile {profile}",
                    cede("plan", "-f", path, *NOW, "--profile", profile, "-o", "json").out,
                    cede("plan", "-f", STORAGE, *NOW, "--profile", profile, "-o", "json").out)


def replays(t):
    with Folder({}) as path:
        journal = os.path.join(path, "j")
        cede("plan", "-f", STORAGE, *NOW, "--journal", journal)
        found = cede("replay", journal)
        t.equal("VO_1 a plan with volumes is replayed to the byte", (found.code, found.err), (0, ""))


# ---- nobody gets a volume twice ----

def shared(t):
    """Three pods, two volumes; the third waits or is told to."""
    objects = [storage_class(), node("n1"), node("n2"), volume("v1", "6Gi"), volume("v2", "7Gi", hosts=["n2"]),
               *[claim(f"c{i}") for i in range(3)], *[pod(f"p{i}", f"c{i}") for i in range(3)]]
    for profile in PROFILES:
        found = got(plan(objects, profile))
        volumes = [v for _, _, by in found.values() for v in by.values()]
        t.equal(f"VO_2 two volumes for three pods in profile {profile}", (sorted(volumes), found["ns/p2"][0]), (["v1", "v2"], "waiting"))
        later = got(plan(objects, profile, "--cycles", "3"))
        t.equal(f"VO_2 nor in later cycles, in profile {profile}", later["ns/p2"][0], "waiting")


def gangs(t):
    """A gang of two needs two volumes; one is not enough for it, and then it takes none."""
    def cluster(n, **annotation):
        pods = [pod(f"g{i}", f"c{i}", annotations={"pod-group-name": "g"}) for i in range(2)]
        return [storage_class(), node("n1"), node("n2"), *[volume(f"v{i}", f"{6 + i}Gi") for i in range(n)], group("g", 2),
                *[claim(f"c{i}") for i in range(3)], *pods, pod("single", "c2", priority=-1)]
    for profile in ("default", "kai"):
        found = got(plan(cluster(3), profile))
        t.equal(f"VO_2 a gang gets its volumes in profile {profile}", sorted(v for p in ("ns/g0", "ns/g1") for v in found[p][2].values()),
                ["v0", "v1"])
        t.equal(f"VO_2 and others what is left, in profile {profile}", found["ns/single"][2], {"ns/c2": "v2"})
        found = got(plan(cluster(1), profile))
        t.equal(f"VO_2 a gang without enough volumes holds none, in profile {profile}",
                (found["ns/g0"][0], found["ns/g1"][0], found["ns/single"][2]), ("waiting", "waiting", {"ns/c2": "v0"}))


def reserved(t):
    """Who waits for its victims holds its volume against everybody, but in profile kubernetes."""
    objects = [storage_class(), node("n1", 2), node("n2", 2), volume("v1", hosts=["n1", "n2"]), claim("c0"), claim("c1"),
               pod("old", cpu=2, on="n1"), pod("other", cpu=2, on="n2", priority=50), pod("first", "c0", cpu=2, priority=9),
               pod("second", "c1", cpu=0, priority=1)]
    found = got(plan(objects, "default"))
    t.equal("VO_2 reserved room holds its volume", found, {"ns/first": ("nominated", "n1", {"ns/c0": "v1"}), "ns/second": ("waiting", None, {})})
    found = got(plan(objects, "kubernetes"))
    t.equal("VO_2 a nomination of Kubernetes' holds none", found["ns/second"][2], {"ns/c1": "v1"})


# ---- preemption ----

def preemption(t):
    used = bound(claim("only", modes=("ReadWriteOncePod",)), "v")
    objects = [storage_class(), node("n1"), node("n2"), volume("v", claimRef={"namespace": "ns", "name": "only", "uid": "u-only"}), used,
               pod("user", "only", on="n1"), pod("wants", "only", priority=5)]
    for profile in ("default", "kubernetes"):
        d = [x for x in plan(objects, profile) if x["pod"] == "ns/wants"][-1]
        t.equal(f"VO_1 who has the claim goes for who wants it, in profile {profile}",
                (d["outcome"], d["node"], [v["pod"] for v in d["victims"]]), ("nominated", "n1", ["ns/user"]))
    limits = [{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": n},
               "spec": {"drivers": [{"name": "d", "nodeID": n, "allocatable": {"count": 1}}]}} for n in ("n1", "n2")]
    disks = [volume(f"v{i}", csi={"driver": "d", "volumeHandle": f"h{i}"}, claimRef={"namespace": "ns", "name": f"c{i}", "uid": f"u-c{i}"})
             for i in range(3)]
    objects = [storage_class(), node("n1"), node("n2"), *limits, *disks, *[bound(claim(f"c{i}"), f"v{i}") for i in range(3)],
               pod("high", "c0", on="n1", priority=9), pod("low", "c1", on="n2"), pod("wants", "c2", priority=5)]
    for profile in ("default", "kubernetes"):
        d = [x for x in plan(objects, profile) if x["pod"] == "ns/wants"][-1]
        t.equal(f"VO_1 a victim frees what may be attached, in profile {profile}",
                (d["outcome"], d["node"], [v["pod"] for v in d["victims"]]), ("nominated", "n2", ["ns/low"]))


# ---- any order, any number of threads ----

def orders(t):
    objects = [storage_class(), node("n1"), node("n2"), volume("v1", "6Gi"), volume("v2", "7Gi", hosts=["n2"]), claim("c0"), claim("c1"),
               pod("p0", "c0"), pod("p1", "c1")]
    first = got(plan(objects, "default"))
    same = all(got(plan(list(order), "default")) == first for order in itertools.islice(itertools.permutations(objects), 0, 40320, 1009))
    t.true("VO_2 the order of documents does not matter", same)


# ---- bad input ----

def refusals(t):
    rows = (
        ("a size that is none", volume("v", "big"), "spec.capacity.storage: expected a quantity such as 500m or 16Gi, found \"big\""),
        ("a mode that is none", claim("c", modes=("Often",)),
         "spec.accessModes[0]: expected ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod, found \"Often\""),
        ("a binding mode that is none", {**storage_class(), "volumeBindingMode": "Never"},
         "volumeBindingMode: expected Immediate or WaitForFirstConsumer, found \"Never\""),
        ("a phase that is none", {**volume("v"), "status": {"phase": "Gone"}},
         "status.phase: expected Pending, Available, Bound, Released or Failed, found \"Gone\""),
        ("a limit below nothing", {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n"},
                                   "spec": {"drivers": [{"name": "d", "allocatable": {"count": -1}}]}},
         "spec.drivers[0].allocatable.count: expected a number from 0 to 2147483647, found -1"),
        ("a claim without a name", pod("p", ""), "spec.volumes[0].persistentVolumeClaim.claimName: expected the name of a claim, found \"\""),
    )
    for says, one, wanted in rows:
        found = cede("plan", "-f", "-", *NOW, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [one]}).encode())
        t.true(f"VO_1 {says} is refused where it stands", found.code == 2 and wanted in found.err, found.err)
    found = cede("plan", "-f", "-", *NOW, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("n"), pod("p", "c")]}).encode())
    t.true("VO_1 claims that nobody read are noted", "it has claims, but no PersistentVolumeClaim was read: it waits" in found.err, found.err)


def main():
    t = Suite()
    for test in (goldens, replays, shared, gangs, reserved, preemption, orders, refusals):
        test(t)
    t.end()


main()
