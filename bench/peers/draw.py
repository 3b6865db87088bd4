#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py RESULTS.json OUT.svg: the picture of `make bench-peers`: milliseconds a decision over nodes, both logarithmic, a panel for each peer.

Colours are picked for both light and dark pages and change with the reader's preference; every line is also named where it ends.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

PANEL_W, PANEL_H, LEFT, TOP, GAP = 240, 300, 62, 58, 74
PANELS = [("kube-scheduler", [("exhaustive", "all nodes"), ("as it samples", "sampled")]), ("YuniKorn", [("preemption", "YuniKorn")]), ("KAI", [("actions", "KAI")])]
STYLE = """
svg { font: 12px system-ui, sans-serif; }
.page { fill: #ffffff; } .text { fill: #1f2328; } .soft { fill: #59636e; } .grid { stroke: #d1d9e0; } .halo { stroke: #ffffff; }
.peer { stroke: #b35900; } .peer-text { fill: #b35900; } .cede { stroke: #0550ae; } .cede-text { fill: #0550ae; } .floor { stroke: #59636e; }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; } .dashed { stroke-dasharray: 6 4; } .dotted { stroke-dasharray: 2 4; stroke-width: 2; }
.label { paint-order: stroke; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; } .text { fill: #e6edf3; } .soft { fill: #9198a1; } .grid { stroke: #30363d; } .halo { stroke: #0d1117; }
.peer { stroke: #f0883e; } .peer-text { fill: #f0883e; } .cede { stroke: #6cb6ff; } .cede-text { fill: #6cb6ff; } .floor { stroke: #9198a1; }
}
"""


def ticks(least, most):
    return range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)


def words(ms):
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms" if ms >= 1 else f"{ms * 1000:g} µs"


class Scale:
    def __init__(self, least, most, low, high):
        self.least, self.span, self.low, self.high = math.log10(least), math.log10(most) - math.log10(least), low, high

    def __call__(self, value):
        part = (math.log10(value) - self.least) / self.span if self.span else 0.5  # one value alone stands in the middle
        return self.low + part * (self.high - self.low)


def apart(labels, distance=14):
    """Labels, each (y, text, class), moved so that none covers another."""
    out = []
    for y, text, kind in sorted(labels):
        out.append((max(y, out[-1][0] + distance) if out else y, text, kind))
    return out


def panel(rows, x0, title, ways, across, up):
    out = [f'<text class="text" x="{x0}" y="{TOP - 12}" font-weight="600">{escape(title)}</text>']
    lines = [(way, name, "peer", "" if i == 0 else "dashed") for i, (way, name) in enumerate(ways)]
    lines += [("cede cold", "cede, first", "cede", ""), ("cede warm", "cede, later", "cede", "dashed"), ("floor", "memory", "floor", "dotted")]
    labels = []
    for key, name, kind, dash in lines:
        points = [(across(r["nodes"]) + x0, up(r["ms"][key])) for r in rows if key in r["ms"]]
        if not points:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline class="line {kind} {dash}" points="{path}"/>')
        labels.append((points[-1][1], name, "soft" if kind == "floor" else f"{kind}-text"))
    end = max(across(r["nodes"]) for r in rows) + x0 + 4
    for y, name, kind in apart(labels):
        out.append(f'<text class="{kind} halo label" x="{end:.1f}" y="{y + 4:.1f}">{escape(name)}</text>')
    return out


def draw(rows):
    all_ms = [v for r in rows for v in r["ms"].values()]
    nodes = sorted({r["nodes"] for r in rows})
    powers = ticks(min(all_ms), max(all_ms))
    across, up = Scale(nodes[0], nodes[-1], 0, PANEL_W), Scale(10 ** powers[0], 10 ** powers[-1], TOP + PANEL_H, TOP)
    there = [(t, w) for t, w in PANELS if any(r["peer"] == t for r in rows)]
    width, height = LEFT + len(there) * (PANEL_W + GAP) + 6, TOP + PANEL_H + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="t">',
           '<title id="t">Time of one preemption decision over the number of nodes, cede beside kube-scheduler, YuniKorn and KAI</title>', f"<style>{STYLE}</style>",
           f'<rect class="page" width="{width}" height="{height}"/>',
           f'<text class="text" x="{LEFT}" y="20" font-size="15" font-weight="600">One preemption decision on a full cluster of 30 pods a node</text>']
    for power in powers:
        out.append(f'<text class="soft" x="{LEFT - 8}" y="{up(10 ** power) + 4:.1f}" text-anchor="end">{words(10 ** power)}</text>')
    for i, (title, ways) in enumerate(there):
        x0 = LEFT + i * (PANEL_W + GAP)
        mine = sorted((r for r in rows if r["peer"] == title), key=lambda r: r["nodes"])
        out += [f'<line class="grid" x1="{x0}" x2="{x0 + PANEL_W}" y1="{up(10 ** p):.1f}" y2="{up(10 ** p):.1f}"/>' for p in powers]
        for n in (n for n in nodes if n in (100, 1000, 10000, 100000) or n == nodes[-1]):
            out.append(f'<text class="soft" x="{x0 + across(n):.1f}" y="{TOP + PANEL_H + 18}" text-anchor="middle">{n:,}</text>')
        out.append(f'<text class="soft" x="{x0 + PANEL_W / 2}" y="{TOP + PANEL_H + 38}" text-anchor="middle">nodes</text>')
        out += panel(mine, x0, f"{title} {mine[0]['version'].lstrip('v')}", ways, across, up)
    return "\n".join(out + ["</svg>", ""])


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = json.load(f)
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write(draw(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
