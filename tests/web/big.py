# SPDX-License-Identifier: Apache-2.0
"""A large cluster for the console: nodes of three kinds, tenants with guarantees, pods that run, wait and are protected. The same numbers give the same bytes.

    big.py FILE [NODES [PODS_PER_NODE [WAITING]]]
"""
import datetime
import json
import random
import sys

KINDS = [("a100", {"cpu": "128", "memory": "1024Gi", "pods": "110", "nvidia.com/gpu": "8"}), ("l4", {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "4"}),
         ("cpu", {"cpu": "96", "memory": "384Gi", "pods": "110"})]
TEAMS = ["ads", "research", "serving", "search", "speech", "robotics", "finance", "platform", "video", "maps"]
PARTS = ["train", "batch", "notebooks", "eval"]
CLASSES = [("low", 10), ("batch", 100), ("normal", 500), ("high", 1000)]
NOON = datetime.datetime(2026, 11, 15, 12)


def started(rng):
    return (NOON - datetime.timedelta(minutes=rng.randrange(1, 3000))).strftime("%Y-%m-%dT%H:%M:%SZ")


def queues(n_nodes):
    children = [{"name": t, "resources": {"guaranteed": {"nvidia.com/gpu": str(n_nodes // 2 + 7 * i)}},
                 "queues": [{"name": p, "resources": {"guaranteed": {"nvidia.com/gpu": str(n_nodes // 10 + i)}},
                             "properties": {"preemption.policy": "fence"} if (i + k) % 7 == 0 else {}} for k, p in enumerate(PARTS)]} for i, t in enumerate(TEAMS)]
    return {"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": children}]}]}


def node(i):
    kind, has = KINDS[0 if i % 10 < 6 else 1 if i % 10 < 8 else 2]
    spec = {"unschedulable": True} if i % 97 == 13 else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{kind}-{i:05d}", "labels": {"topology.kubernetes.io/zone": f"hall-{i % 8}"}}, "spec": spec,
            "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "False" if i % 211 == 17 else "True"}]}}


def pod(rng, name, at=None, kind="cpu", more=None):
    team, part = rng.choice(TEAMS), rng.choice(PARTS)
    requests = {"cpu": f"{rng.randrange(500, 3500)}m", "memory": f"{rng.randrange(1, 8)}Gi", **(more or {})}
    meta = {"name": name, "namespace": team, "labels": {"queue": f"root.{team}.{part}", "applicationId": f"{part}-{rng.randrange(200)}"},
            "creationTimestamp": started(rng)}
    spec = {"priorityClassName": rng.choice(CLASSES)[0], "containers": [{"name": "main", "resources": {"requests": requests}}]}
    status = {"phase": "Pending"}
    if at:
        spec["nodeName"] = at
        status = {"phase": "Running", "startTime": meta["creationTimestamp"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def cluster(n_nodes=5000, per_node=30, waiting=2000, seed=1):
    rng = random.Random(seed)
    for name, value in CLASSES:
        yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for i in range(n_nodes):
        n = node(i)
        gpus = int(n["status"]["allocatable"].get("nvidia.com/gpu", 0))
        yield n
        for k in range(per_node):
            takes = {"nvidia.com/gpu": "1"} if k < gpus and rng.random() < 0.95 else None
            yield pod(rng, f"run-{i:05d}-{k:02d}", n["metadata"]["name"], more=takes)
    for i in range(waiting):
        yield pod(rng, f"wait-{i:05d}", more={"nvidia.com/gpu": str(rng.choice([1, 1, 2, 4, 8, 16]))})


def write(path, *args, **more):
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps(queues(args[0] if args else 5000)) + "\n")
        for o in cluster(*args, **more):
            f.write("---\n" + json.dumps(o) + "\n")


if __name__ == "__main__":
    write(sys.argv[1], *map(int, sys.argv[2:]))
