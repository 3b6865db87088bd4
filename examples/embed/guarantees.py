#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many GPUs should the ranking team be guaranteed? A notebook without the notebook: load a cluster, change one queue, look at what changes.

    CEDE_LIBRARY=../../build/libcede.so ./guarantees.py ../gpu-cluster
"""
import glob
import os
import sys

import cede

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "gpu-cluster")

# %% Load the cluster
cluster = cede.Cluster(now="2026-11-15T12:00:00Z")
for path in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
    with open(path, encoding="utf-8") as file:
        cluster.apply(file.read(), name=os.path.basename(path))
print(f"cede {cede.version()}: {len(cluster)} objects")

# %% What would happen now
today = cluster.plan()
print("today:", today["summary"])
for decision in today["decisions"]:
    for victim in decision["victims"]:
        print(f"  {victim['pod']} goes for {decision.get('pod', decision.get('queue'))}, {victim['lostSeconds'] / 3600:.1f} h lost")

# %% The same with other guarantees
QUEUE, TYPE = "root.ads.ranking", "nvidia.com/gpu"
print(f"\n{'guaranteed':>10} {'placed':>7} {'waiting':>8} {'victims':>8} {'hours lost':>11}")
for gpus in (0, 4, 8, 12):
    cluster.set(f"queue.{QUEUE}.guaranteed.{TYPE}={gpus}")
    plan = cluster.plan()
    lost = sum(v["lostSeconds"] for d in plan["decisions"] for v in d["victims"]) / 3600
    print(f"{gpus:>10} {plan['summary']['placed'] + plan['summary']['nominated']:>7} {plan['summary']['waiting']:>8} "
          f"{plan['summary']['victims']:>8} {lost:>11.1f}")

# %% What exactly is different with 8
cluster.set(f"queue.{QUEUE}.guaranteed.{TYPE}=8")
then = cluster.plan()
print("\n" + cluster.difference(today, then, f"guarantee {QUEUE} 8 {TYPE}", text=True))

# %% And who would still wait, in the words an operator gets
for decision in then["decisions"]:
    if decision["outcome"] == "waiting":
        print(cluster.explain(decision["pod"], text=True).split("\n\n")[0])
