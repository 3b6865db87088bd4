#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tables.py RESULTS_DIR [PAGE.md]: what `make bench`, `make bench-growth` and `make bench-peers` wrote, as the tables of docs/benchmarks.md.

Prints them; with PAGE.md puts each between the page's lines <!-- table NAME --> and <!-- end -->. A table whose results are not there stays as it is. What misses
its aim is in bold.
"""
import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import run as peers  # noqa: E402


def short(x):
    """Three digits of it."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}" if x >= 0.1 else f"{x:.3f}"


def held(value, aim, text=None):
    """In bold if it is more than it should be."""
    text = text or short(value)
    return f"**{text}**" if aim is not None and value > aim * 1.005 else text


def table(columns, rows):
    """Columns whose title begins with < are of words."""
    yield "| " + " | ".join(c.lstrip("<") for c in columns) + " |"
    yield "|" + "|".join("---" if c[0] == "<" else "--:" for c in columns) + "|"
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def size_of(r):
    queues = f", {r['queues']:,} queues" if r["profile"] != "kubernetes" else ""
    return f"{r['nodes']:,} × {r['podsPerNode']}{queues}"


# By row and what waits: the aim for a decision, or for all of them.
LIVE_EACH = {("default", 100): 1, ("default-queues", 100): 1.2, ("yunikorn", 100): 1, ("kubernetes", 100): 0.5, ("kai", 100): 2}
LIVE_ALL = {("kai-queues", 100): 1000, ("kai-gangs-50", 50): 1000, ("kai-gangs-100", 100): 1000, ("kai-gangs-200", 200): 1000, ("default-large", 1000): 5000}
LIVE_FIRST = {"affinity": (10, 1), "spread": (10, 1)}


def live_row(r):
    key, each = (r["row"], r["waiting"]), r["ms"] / r["waiting"]
    later = (r["ms"] - r["firstMs"]) / (r["waiting"] - 1) if r["firstMs"] and r["waiting"] > 1 else None
    first_aim, later_aim = LIVE_FIRST.get(r["row"], (None, None))
    aims = [f"{LIVE_EACH[key]} each"] if key in LIVE_EACH else [f"{LIVE_ALL[key]:,} in all"] if key in LIVE_ALL else [f"first {first_aim}, later {later_aim}"] if first_aim else [""]
    return [r["row"], r["profile"], size_of(r), f"{r['waiting']:,}", held(r["firstMs"], first_aim) if r["firstMs"] else "", held(later, later_aim) if later else "",
            held(each, LIVE_EACH.get(key)), held(r["ms"], LIVE_ALL.get(key)), aims[0]]


def live(results):
    return table(["<row", "<profile", "<cluster", "waiting", "first", "each later", "each", "all", "<aim"], map(live_row, results))


def trace(results):
    return table(["<profile", "<", "nodes", "running", "waiting", "each", "first"],
                 ([r["profile"], "live" if r["live"] else "plan", f"{r['nodes']:,}", f"{r['running']:,}", f"{r['waiting']:,}", short(r["ms"] / r["decisions"]), short(r["firstMs"]) if r["live"] else ""]
                  for r in results))


def first(results):
    def row(r):
        times, wall = (r["makeMs"] + r["firstMs"]) / r["floorMs"], r["wallMs"] / r["twoThreadsWallMs"]
        return [f"{r['nodes']:,} × {r['podsPerNode']}", short(r["floorMs"]), short(r["makeMs"]), short(r["firstMs"]), held(times, 8), short(r["wallMs"]), short(r["twoThreadsWallMs"]), f"{wall:.2f}"]
    return table(["<cluster", "floor", "engine", "first decision", "both, × floor (aim 8)", "wall", "wall, two threads", "×"], map(row, results))


EXPLAINED = {"held": "a pod held back by law 4 and priority", "held-100": "the same", "held-queues": "the same", "windows": "a pod, everybody inside a minimum runtime", "windows-100": "the same",
             "gang": "a gang of 8, likewise", "gang-12": "the same, 13 gangs", "queue-100": "a queue", "yunikorn-100": "a pod", "kubernetes-100": "a pod", "kai": "a pod", "kai-100": "the same"}


def explain(results):
    return table(["<asked about", "<profile", "<cluster", "waiting", "ms (aim 50)", "of it the plan"],
                 ([EXPLAINED[r["row"]], r["profile"], size_of(r), r["waiting"], held(r["ms"], 50), short(r["planMs"])] for r in results))


KAI = {"singles": "single pods, 24 sizes", "queues": "single pods, 24 sizes", "gangs": "gangs of 20, 5 departments", "apart": "a gang of one more than nodes that keeps apart", "gpus": "a gang of a tenth of the nodes, whole nodes of GPUs"}
KAI_AIM = {("gangs", 200): 1000, ("apart", 400): 200, ("queues", 5000): 1000, ("singles", 5000): 200}


def exponents(results, key, size="nodes", value="ms"):
    before = {}
    for r in results:
        b = before.get(r[key])
        yield math.log(r[value] / b[value]) / math.log(r[size] / b[size]) if b else None
        before[r[key]] = r


def kai(results):
    return table(["<what waits", "<cluster", "waiting", "ms, all", "<aim", "growth", "victims"],
                 ([KAI[r["shape"]], f"{r['nodes']:,} × {r['podsPerNode']}, {r['queues']} queues", r["waiting"], held(r["ms"], KAI_AIM.get((r["shape"], r["nodes"]))),
                   f"{KAI_AIM[(r['shape'], r['nodes'])]:,}" if (r["shape"], r["nodes"]) in KAI_AIM else "", f"N^{x:.2f}" if x is not None else "", f"{r['victims']:,}"]
                  for r, x in zip(results, exponents(results, "shape"))))


def groups(results):
    runs = results["runs"]
    return table(["<shape", "nodes", "ms", "growth", "victims"],
                 ([r["kind"], f"{r['nodes']:,}", short(r["ms"]), f"N^{x:.2f}" if x is not None else "", f"{r['victims']:,}"] for r, x in zip(runs, exponents(runs, "kind"))))


def plan(results):
    words = {"show": "`cede show`: reading and a summary", "plan": "`cede plan`", "later": "`cede plan` a year later"}
    return table(["<", "s of the processor (aim of plans 1.5)", "s of the clock", "MB"],
                 ([words[r["row"]], held(r["seconds"], 1.5), short(r["wallSeconds"]), short(r["megabytes"])] for r in results))


SIM = {"openb": "OpenB, arrivals compressed 100 times", "philly": "Philly, nodes for its mean demand and a quarter more", "philly-roomy": "Philly, a third more nodes"}


def sim(results):
    aims, rows, before = {"openb": 1, "philly": 5}, [], None
    for r in results:
        made, each = r["name"].startswith("made"), r["seconds"] / r["events"]
        grown = f"{math.log(each / (before['seconds'] / before['events'])) / math.log(r['nodes'] / before['nodes']):.2f}" if made and before else ""
        rows.append([SIM.get(r["name"], "made load"), f"{r['nodes']:,}", f"{r['jobs']:,}", f"{r['events']:,}", f"{r['decisions']:,}", f"{r['evictions']:,}", held(r["seconds"], aims.get(r["name"])), f"{r['events'] / r['seconds']:,.0f}", short(r["megabytes"]),
                     aims.get(r["name"], ""), grown])
        before = r if made else None
    return table(["<load", "nodes", "jobs", "events", "decisions", "evictions", "s", "events/s", "MB", "aim, s", "growth"], rows)


def growth(results):
    def row(r):
        points = [p for p in r["points"] if p["msEach"] is not None]
        shown = " / ".join(held(x, 1.15, f"{x:.2f}") for x in r["exponents"] if x is not None)
        return [r["row"], r["grows"], " / ".join(f"{p['size']:,}" for p in points), " / ".join(short(p["msEach"]) for p in points), shown]
    return table(["<row", "<grows", "<sizes", "<ms each", "<exponents (aim 1.15)"], map(row, results))


def preempt(results):
    return table(["<shape", "<nodes × pods", "decisions", "first", "p50", "p99"],
                 ([r["shape"], f"{r['nodes']:,} × {r['podsPerNode']}", f"{r['decisions']:,}", short(r["cpuMs"]["first"]), short(r["cpuMs"]["p50"]), short(r["cpuMs"]["p99"]) if r["cpuMs"].get("p99") else "–"]
                  for r in results["runs"]))


TABLES = {f.__name__: f for f in (live, trace, first, explain, kai, groups, plan, sim, growth, preempt)} | {"peers": peers.markdown}


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    page = open(sys.argv[2], encoding="utf-8").read() if len(sys.argv) == 3 else None
    for name, make in TABLES.items():
        path = os.path.join(sys.argv[1], f"{name}.json")
        if not os.path.exists(path):
            print(f"tables: no {path}: as it was", file=sys.stderr)
            continue
        with open(path, encoding="utf-8") as f:
            lines = "\n".join(make(json.load(f)))
        if page is None:
            print(f"== {name}\n{lines}\n")
        else:
            page = re.sub(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", lambda m, lines=lines: f"{m[1]}{lines}\n{m[2]}", page, flags=re.S)
    if page is not None:
        with open(sys.argv[2], "w", encoding="utf-8") as f:
            f.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
