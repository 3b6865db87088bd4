#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces under profile kubernetes, against a second source: a slow, obvious model of kube-scheduler's preemption in virtual time.

The model shares nothing with cede but the rules that the trace's own notes state (priorities by the seed, a pod up to 8 GPUs). It is compared
aggregate for aggregate on a made-up trace, and on small windows of the Philly trace where that is at hand. Jobs of more than one pod are left out:
profile kubernetes knows no gangs.
"""
import csv
import datetime
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import Folder, SOURCE, Suite, cede  # noqa: E402

MADE_UP = os.path.join(SOURCE, "tests", "sim", "traces", "made-up.csv")
PHILLY = os.path.join(SOURCE, "..", "shared", "traces", "philly", "philly_sia.csv")
GRACE = 30
ROOM = {"gpu": 8, "pods": 110, "cpu": 96000, "memory": 768 << 30}
ASSUMED = {"cpu": 100, "memory": 200 << 20}  # what scores take a pod for that asks for neither
MASK = (1 << 64) - 1


def assigned_priority(seed, line):
    """As the notes of a simulation say: one in ten 100, three in ten 50; by a hash of seed and line."""
    tenth = hash_mix(hash_u64(seed), line) % 10
    return 100 if tenth == 0 else 50 if tenth <= 3 else 0


ODD = (0xa24baed4963ee407, 0x9fb21c651e98df25, 0xd6e8feb86659fd93)


def hash_u64(x):
    x = x + ODD[0] & MASK
    x = (x ^ x >> 32) * ODD[1] & MASK
    x = (x ^ x >> 29) * ODD[2] & MASK
    return x ^ x >> 32


def rotate(x, n):
    return (x << n | x >> 64 - n) & MASK


def hash_mix(h, x):
    x = rotate(x * ODD[1] & MASK, 31) * ODD[0] & MASK
    return rotate(h ^ x, 27) * ODD[2] + ODD[1] & MASK


class Pod:
    def __init__(self, job, made, now):
        self.job, self.made, self.created = job, made, now
        self.name = job.name if made == 0 else f"{job.name}-r{made}"
        self.node = self.started = self.nominated = self.gone_at = None

    def order(self):
        """Of those that wait: by priority, age, namespace and name."""
        return (-self.job.priority, self.created, self.job.queue, self.name)

    def importance(self):
        """Who is more important stays: higher priority, then longer running."""
        return (-self.job.priority, self.started, self.job.queue, self.name)


class Job:
    def __init__(self, line, at, runs, gpus, queue, seed):
        self.name, self.at, self.runs, self.gpus, self.queue = f"job-{line}", at, runs, gpus, queue
        self.priority = assigned_priority(seed, line)
        self.evictions = 0


class Model:
    def __init__(self, jobs, n_nodes):
        self.jobs = sorted(jobs, key=lambda j: j.at)  # in the order of the file where times are alike
        self.nodes = [[] for _ in range(n_nodes)]  # pods that run there or are leaving
        self.waiting = []
        self.now = self.jobs[0].at
        self.finished = self.evictions = self.repeated = self.useful = self.lost = 0
        self.used = 0.0
        self.waits = []

    # what is there

    def free(self, node, without=()):
        return ROOM["gpu"] - sum(p.job.gpus for p in self.nodes[node] if p not in without)

    def reserved(self, node, pod):
        """To nominated pods that this one has to respect."""
        return sum(p.job.gpus for p in self.waiting if p is not pod and p.nominated == node and p.job.priority >= pod.job.priority)

    def fits(self, pod, node, without=()):
        return self.free(node, without) - self.reserved(node, pod) >= pod.job.gpus

    def score(self, node):
        n = len(self.nodes[node]) + 1
        return sum((ROOM[t] - n * ASSUMED[t]) * 100 // ROOM[t] for t in ASSUMED) // len(ASSUMED)

    # decisions

    def victims_on(self, pod, node):
        """All of lower priority go; then as many as possible are let off, the more important first. None: it would not help."""
        lower = [p for p in self.nodes[node] if p.job.priority < pod.job.priority]
        if not lower or not self.fits(pod, node, lower):
            return None
        gone = list(lower)
        for p in sorted(lower, key=Pod.importance):
            gone.remove(p)
            if not self.fits(pod, node, gone):
                gone.append(p)
        return gone

    @staticmethod
    def cost(victims):
        highest = max(p.job.priority for p in victims)
        latest = min(p.started for p in victims if p.job.priority == highest)
        return (highest, sum(p.job.priority + (1 << 31) for p in victims), len(victims), -latest)

    def decide(self, pod):
        """True: something moved; "evicts" if somebody has to go."""
        if pod.nominated is not None and self.fits(pod, pod.nominated):
            return self.start(pod, pod.nominated)
        feasible = [n for n in range(len(self.nodes)) if self.fits(pod, n)]
        if feasible:
            return self.start(pod, max(feasible, key=lambda n: (self.score(n), -n)))
        if pod.nominated is not None and any(p.gone_at is not None and p.job.priority < pod.job.priority for p in self.nodes[pod.nominated]):
            return False  # it waits for those
        found = [(self.cost(v), n, v) for n in range(len(self.nodes)) if (v := self.victims_on(pod, n))]
        if not found:
            pod.nominated = None
            return False
        _, node, victims = min(found, key=lambda f: f[:2])
        for p in self.waiting:
            if p.nominated == node and p.job.priority < pod.job.priority:
                p.nominated = None
        pod.nominated = node
        for p in victims:
            if p.gone_at is None:
                self.evict(p)
        return "evicts"

    def decide_all(self):
        moved = True
        while moved:
            moved = False
            for pod in sorted(self.waiting, key=lambda p: (p.nominated is not None, *p.order())):
                did = self.decide(pod)
                moved = moved or bool(did)
                if did == "evicts":
                    break

    # lives

    def start(self, pod, node):
        self.waits.append(self.now - pod.created)
        self.waiting.remove(pod)
        self.nodes[node].append(pod)
        pod.node, pod.started, pod.nominated = node, self.now, None
        return True

    def evict(self, pod):
        job = pod.job
        job.evictions += 1
        self.evictions += 1
        self.repeated += job.evictions > 1
        self.lost += self.now - pod.started
        pod.gone_at = self.now + GRACE
        self.waiting.append(Pod(job, pod.made + 1, self.now))

    def ends(self, pod):
        return pod.gone_at if pod.gone_at is not None else pod.started + pod.job.runs

    def happen(self):
        for pods in self.nodes:
            for p in [p for p in pods if self.ends(p) <= self.now]:
                pods.remove(p)
                if p.gone_at is None:
                    self.finished += 1
                    self.useful += p.job.runs
        while self.jobs and self.jobs[0].at <= self.now:
            self.waiting.append(Pod(self.jobs.pop(0), 0, self.now))

    def run(self):
        submitted, begun = len(self.jobs), self.now
        while True:
            self.happen()
            self.decide_all()
            times = [self.ends(p) for pods in self.nodes for p in pods] + [j.at for j in self.jobs[:1]]
            if not self.jobs and not any(p.gone_at is None for pods in self.nodes for p in pods) and not self.waiting:
                break
            then = min(times)
            self.used += (then - self.now) * sum(p.job.gpus for pods in self.nodes for p in pods)
            self.now = then
        whole = (self.now - begun) * ROOM["gpu"] * len(self.nodes)
        return {"submitted": submitted, "finished": self.finished, "evictions": self.evictions, "repeatedEvictions": self.repeated,
                "usefulSeconds": self.useful, "lostSeconds": self.lost, "waited": round(sum(self.waits) / len(self.waits), 1),
                "longest": max(self.waits), "used": round(self.used / whole, 4), "seconds": self.now - begun}


def rows_of(path):
    """(line, row) of jobs that are one pod and run for a while, in order of time."""
    with open(path, encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f) if int(r["num_gpus"]) <= ROOM["gpu"] and float(r["duration"]) > 0]
    return sorted(rows, key=lambda r: r["timestamp"])


def seconds(stamp):
    return int(datetime.datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc).timestamp())


def whole(text):
    return int(float(text))


def modelled(rows, nodes, seed):
    jobs = [Job(i + 2, seconds(r["timestamp"]), whole(r["duration"]), int(r["num_gpus"]), r["cluster"], seed) for i, r in enumerate(rows)]
    return Model(jobs, nodes).run()


def simulated(rows, nodes, seed):
    text = "timestamp,duration,num_gpus,gpu_time,cluster\n" + "".join(
        f"{r['timestamp']},{whole(r['duration'])}.0,{r['num_gpus']},{r['gpu_time']},{r['cluster']}\n" for r in rows)
    with Folder({"w.csv": text}) as folder:
        done = cede("simulate", "--trace", os.path.join(folder, "w.csv"), "--format", "philly", "--profile", "kubernetes", "--nodes", str(nodes),
                    "--seed", str(seed), "-o", "json")
    data = json.loads(done.out)
    t = data["totals"]
    found = {k: t[k] for k in ("submitted", "finished", "evictions", "repeatedEvictions", "usefulSeconds", "lostSeconds")}
    return {**found, "waited": round(t["waitSeconds"]["mean"], 1), "longest": t["waitSeconds"]["max"],
            "used": round(t["utilisation"]["nvidia.com/gpu"], 4), "seconds": seconds(data["to"].replace("T", " ").rstrip("Z")) - seconds(rows[0]["timestamp"])}


def compare(s, what, rows, nodes, seed):
    found, expected = simulated(rows, nodes, seed), modelled(rows, nodes, seed)
    for key in ("waited", "longest"):  # five digits are printed
        if abs(found[key] - expected[key]) <= 1e-4 * expected[key]:
            found[key] = expected[key]
    s.equal(f"SI_4: {what}, {nodes} nodes, seed {seed}: as the model has it ({expected['evictions']} evictions)", found, expected)
    return expected["evictions"]


def main():
    s = Suite()
    made_up = rows_of(MADE_UP)
    evictions = sum(compare(s, "the made-up trace", made_up, nodes, seed) for nodes, seed in ((4, 1), (5, 2), (6, 3), (3, 4)))
    s.true("the made-up trace makes pods go", evictions > 20, str(evictions))
    if not os.path.exists(PHILLY):
        s.skip("SI_4: windows of Philly", "the trace is not there")
        s.end()
        return
    philly = rows_of(PHILLY)
    for start, nodes, seed in ((0, 8, 1), (5000, 3, 2), (20000, 12, 3), (50000, 4, 4)):
        compare(s, f"150 jobs of Philly from number {start} on", philly[start:start + 150], nodes, seed)
    s.end()


if __name__ == "__main__":
    main()
