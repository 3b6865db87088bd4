#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py BUILD_DIR [--rows default,kubernetes] [--out FILE]: how the time of a decision grows with nodes, waiting pods and queues.

Each row of bench_live is run in several sizes. The exponent between two sizes is log(t2/t1) / log(n2/n1), of the whole plan when pods wait (1 is linear in
them) and of one decision when nodes or queues grow. Time of the processor, making the cluster not counted.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

PATIENCE_S = int(os.environ.get("CEDE_BENCH_PATIENCE") or 600)
PODS = 30
# what grows: (nodes, queues, waiting) for each size
SERIES = {
    "nodes": [(1000, 2, 100), (10000, 2, 100), (100000, 2, 100)],
    "waiting": [(1000, 2, 10), (1000, 2, 100), (1000, 2, 1000), (1000, 2, 10000)],
    "queues": [(1000, 2, 100), (1000, 20, 100), (1000, 200, 100), (1000, 2000, 100)],
}
WHICH = {"nodes": 0, "queues": 1, "waiting": 2}
ROWS = ("default", "yunikorn", "kubernetes", "kai", "default-live", "kubernetes-live", "affinity", "spread")
SAID = re.compile(r"([\d.]+) ms each.*all +([\d.]+) ms")


def measure(build_dir, row, nodes, queues, waiting):
    """Milliseconds of one decision and of all; None: not in time."""
    command = [os.path.join(build_dir, "bench", "bench_live"), "-", row, str(nodes), str(PODS), str(queues), str(waiting)]
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE_S).stdout
    except subprocess.TimeoutExpired:
        return None
    each, total = SAID.search(said).groups()
    return float(each), float(total)


def follow(build_dir, row, what):
    """One row over one series; stops where it takes too long."""
    points = []
    for size in SERIES[what]:
        found = measure(build_dir, row, *size)
        points.append({"size": size[WHICH[what]], "msEach": found and found[0], "msAll": found and found[1]})
        if not found:
            break
    return points


def exponents(points, what):
    key, out = "msAll" if what == "waiting" else "msEach", []
    for a, b in zip(points, points[1:]):
        out.append(math.log(b[key] / a[key]) / math.log(b["size"] / a["size"]) if b[key] else None)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build_dir")
    p.add_argument("--rows", default=",".join(ROWS))
    p.add_argument("--what", default=",".join(SERIES))
    p.add_argument("--most", type=int, default=100000, help="nodes at most")
    p.add_argument("--out")
    o = p.parse_args()
    SERIES["nodes"] = [s for s in SERIES["nodes"] if s[0] <= o.most]
    results = []
    for row in o.rows.split(","):
        for what in o.what.split(","):
            points = follow(o.build_dir, row, what)
            found = exponents(points, what)
            results.append({"row": row, "grows": what, "points": points, "exponents": found})
            shown = ", ".join(f"{x['size']:,}: {x['msEach']:.3f} ms" if x["msEach"] is not None else f"{x['size']:,}: not in {PATIENCE_S} s" for x in points)
            print(f"{row:<16} {what:<8} {shown}; exponents {', '.join('-' if e is None else f'{e:.2f}' for e in found)}", flush=True)
            if o.out:
                with open(o.out, "w", encoding="utf-8") as f:
                    json.dump(results, f, indent=1)
                    f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
