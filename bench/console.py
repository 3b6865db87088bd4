#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a look into the console takes at 5,000 nodes and 150,000 pods: from opening it to the first view, each view after it, and how long the page was busy.

    bench/console.py CEDE [--nodes 5000] [--pods-per-node 30] [--waiting 100] [--runs 5] [--out FILE]

The browser, the server and this program share one machine. "ms" is what somebody waits, from the request to the drawn view; "cpuMs" what the page's thread
computed in it, scripts, layout and paint; "longestMs" the longest time in which it could not have answered a key. Best, median and worst of the runs.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "web"))
VIEWS = ["#/queues", "#/nodes", "#/nodes?by=queue", "#/nodes/a100-00000", "#/queues/root.ads.train", "#/overview"]
READY = "new Promise(done => { const look = () => document.documentElement.dataset.ready ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 1); look(); })"


def busy(page):
    """Seconds of its thread so far."""
    return {m["name"]: m["value"] for m in page.call("Performance.getMetrics")["metrics"]}["TaskDuration"]


def watch(page):
    page.js("window.longest = 0; new PerformanceObserver(l => l.getEntries().forEach(e => { longest = Math.max(longest, e.duration); })).observe({type: 'longtask', buffered: true})")


def look(page, view):
    """ms until it is drawn, measured in the page."""
    page.js("window.longest = 0")
    before = busy(page)
    ms = page.js(f"""(() => {{ const began = performance.now(); location.hash = {json.dumps(view)};
        return new Promise(done => {{ const look = () => document.documentElement.dataset.ready === {json.dumps(view)} ?
            requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began))) : setTimeout(look, 1); setTimeout(look, 1); }}); }})()""")
    return {"ms": ms, "cpuMs": (busy(page) - before) * 1000, "longestMs": page.js("window.longest")}


def run(browser, server, found):
    page = browser.open()
    page.call("Performance.enable", timeDomain="threadTicks")
    before = busy(page)
    page.call("Page.navigate", url=server.url + "/")
    page.wait("document.readyState !== 'loading' && location.href !== 'about:blank'")
    first = page.js(READY)
    watch(page)
    found.setdefault("first view", []).append({"ms": first, "cpuMs": (busy(page) - before) * 1000, "longestMs": page.js("new Promise(done => setTimeout(() => done(window.longest), 50))")})
    for view in VIEWS:
        found.setdefault(view, []).append(look(page, view))
    page.close()


def summary(rows):
    return {key: {"min": round(min(r[key] for r in rows)), "median": round(statistics.median(r[key] for r in rows)), "max": round(max(r[key] for r in rows))} for key in rows[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cede")
    for name, default in (("nodes", 5000), ("pods-per-node", 30), ("waiting", 100), ("runs", 5)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--out")
    o = parser.parse_args()
    os.environ["CEDE"] = os.path.abspath(o.cede)
    import big
    from console import NOW, Browser, Server
    found = {}
    with tempfile.TemporaryDirectory(prefix="cede-bench-") as folder:
        path = os.path.join(folder, "c.yaml")
        big.write(path, o.nodes, o.pods_per_node, o.waiting)
        began = time.monotonic()
        with Browser() as browser, Server("-f", path, *NOW) as server:
            loaded = time.monotonic() - began
            for _ in range(o.runs):
                run(browser, server, found)
    result = {"nodes": o.nodes, "pods": o.nodes * o.pods_per_node, "waiting": o.waiting, "runs": o.runs, "secondsToLoad": round(loaded, 1), "views": {k: summary(v) for k, v in found.items()}}
    print(f"{o.nodes} nodes, {o.nodes * o.pods_per_node} pods, {o.waiting} waiting; median of {o.runs}, worst in brackets, ms")
    print(f"{'view':28} {'drawn':>14} {'computed':>14} {'longest task':>14}")
    for name, s in result["views"].items():
        print(f"{name:28}" + "".join(f"{s[k]['median']:>8} ({s[k]['max']})".rjust(15) for k in ("ms", "cpuMs", "longestMs")))
    if o.out:
        with open(o.out, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
