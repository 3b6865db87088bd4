#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/v1/queues: what each queue deserves where shares decide, hours that protect its work, and what there is to share."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import NOW, Folder, Suite, cede  # noqa: E402
from server import Server  # noqa: E402

t = Suite()
QUEUE = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: %s, annotations: {%s}}
spec: {resources: {gpu: {quota: 2, limit: -1, overQuotaWeight: %d}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}
---
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "64", memory: 64Gi, pods: "110", nvidia.com/gpu: "8"}, conditions: [{type: Ready, status: "True"}]}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s-%d, namespace: default, labels: {"kai.scheduler/queue": %s}, creationTimestamp: "2026-11-15T11:00:00Z"}
spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: "1"}}}]}
---
"""
SHARES = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nactions: {reclaim: {by: fair-share}}\n---\n"
CLUSTER = NODE + QUEUE % ("a", "", 1) + QUEUE % ("b", "", 3) + "".join(POD % (q, i, q) for q in "ab" for i in range(8))


def ask(path, *args):
    with Server(*args) as s:
        return s.get(path)


def gpus(found):
    return {q["queue"]: q.get("fairShare", {}).get("nvidia.com/gpu") for q in found["items"]}


def main():
    with Folder({"c.yaml": CLUSTER, "by/c.yaml": SHARES}) as folder:
        path = os.path.join(folder, "c.yaml")
        rows = [
            ("profile kai: quota, then what is left by weight: 2 + 1 and 2 + 3 of 8", ["--profile", "kai"], "3", "5"),
            ("profile default by fair share: the same", ["-f", os.path.join(folder, "by")], "3", "5"),
            ("where guarantees decide nothing is said of shares", [], None, None),
        ]
        for name, more, a, b in rows:
            found = gpus(ask("/api/v1/queues", "-f", path, *more, *NOW))
            t.equal(name, (found["root.a"], found["root.b"]), (a, b))
        found = ask("/api/v1/queues", "-f", path, *NOW)
        t.equal("what there is to share", (found["capacity"]["nvidia.com/gpu"], found["capacity"]["cpu"]), ("8", "64"))
        t.equal("asking for shares changes nothing", ask("/api/v1/plan", "-f", path, "--profile", "kai", *NOW),
                json.loads(cede("plan", "-f", path, "--profile", "kai", *NOW, "-o", "json").out))
    hours = '"cede.dev/protected-hours": "Sun 09:00-17:00 Z"'
    with Folder({"c.yaml": NODE + QUEUE % ("a", hours, 1)}) as folder:
        found = {q["queue"]: q["settings"] for q in ask("/api/v1/queues", "-f", folder, *NOW)["items"]}["root.a"]
        t.equal("hours that protect its work, and until when if it is now (a Sunday at noon)", (found.get("protectedHours"), found.get("protectedUntil")), ("Sun 09:00-17:00 Z", "2026-11-15T17:00:00Z"))
    t.end()


main()
