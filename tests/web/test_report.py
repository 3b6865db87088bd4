#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages that cede writes, in a real browser: everything is drawn, nothing that was named becomes markup, nothing is asked for.

Needs chromium (`make test-web` installs it); without one every test is skipped and says so.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import Folder, Suite, cede  # noqa: E402

TRACE = ["--trace", "examples/trace/jobs.csv", "--format", "philly"]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--virtual-time-budget=4000", "--enable-logging=stderr"]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&lt;b"


def browse(path, *flags, query=""):
    """What the page has become once its script is done, and what it complained about."""
    with tempfile.TemporaryDirectory(prefix="cede-web-") as profile:
        done = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, f"file://{path}{query}"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=240)
    complaints = [x for x in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in x]
    return done.stdout.decode("utf-8", "replace"), complaints


def dom(path, query=""):
    return browse(path, "--dump-dom", query=query)


def page(folder, name, *args):
    path = os.path.join(folder, name)
    found = cede(*args, "--report", path)
    return path if found.code == 0 else None


def drawn(s, name, path, ids):
    html, complaints = dom(path)
    s.equal(f"{name}: nothing is complained about", complaints, [])
    s.true(f"{name}: it is drawn to the end", 'data-ready="yes"' in html)
    s.equal(f"{name}: has its parts", [i for i in ids if f'id="{i}"' not in html], [])
    return html


def simulation(s, folder):
    path = page(folder, "s.html", "simulate", *TRACE)
    html = drawn(s, "simulation", path, ["use", "guarantees", "waiting", "evictions", "lost", "flows", "queues", "rules"])
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])
    s.equal("simulation: a dot for each eviction", html.count('class="dot"'), data["totals"]["evictions"])
    s.true("simulation: every chart speaks to screen readers", html.count("<svg") == len(re.findall(r'<svg[^>]*aria-label="[^"]+"', html)) > 5)
    s.true("simulation: every chart can be reached by keyboard", len(re.findall(r'<svg[^>]*tabindex="0"', html)) == html.count("<svg"))
    s.equal("simulation: a table behind each chart", [i for i in ("use", "guarantees", "waiting", "evictions", "lost", "flows")
            if not re.search(rf'<section id="{i}".*?<details>', html, re.S)], [])
    for theme in ("light", "dark"):
        themed, _ = dom(path, f"?theme={theme}")
        s.true(f"simulation: theme {theme}", f'data-theme="{theme}"' in themed and f"Theme: {theme}" in themed)
    for width in (1400, 400):
        shot = os.path.join(folder, f"{width}.png")
        browse(path, f"--screenshot={shot}", f"--window-size={width},1200")
        s.true(f"simulation: a picture at {width} pixels", os.path.exists(shot) and os.path.getsize(shot) > 10000)
    pdf = os.path.join(folder, "s.pdf")
    browse(path, f"--print-to-pdf={pdf}")
    s.true("simulation: prints", os.path.exists(pdf) and os.path.getsize(pdf) > 10000)


def others(s, folder):
    path = page(folder, "c.html", "compare", *TRACE, "--profile", "default,kubernetes", "--seeds", "2")
    drawn(s, "comparison", path, ["totals", "parting", "queues-B", "rules"])
    path = page(folder, "a.html", "advise", "queue.*.reclaimMinRuntime", "--values", "0s,1h", *TRACE, "--seeds", "2")
    drawn(s, "advice", path, ["values", "trends", "trade", "rules"])


def poison(value):
    """Every string of the data, but for the kind."""
    if isinstance(value, dict):
        return {k: (v if k in ("kind", "version", "unit", "key", "direction", "verdict") else poison(v)) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v) for v in value]
    return value + HOSTILE if isinstance(value, str) else value


def hostile(s, folder):
    source = open(os.path.join(folder, "s.html"), encoding="utf-8").read()
    head, data, tail = re.split(r'(?<=id="data">)(.*?)(?=</script>)', source, maxsplit=1, flags=re.S)
    words = json.dumps(poison(json.loads(data)))
    for c in "<>&":
        words = words.replace(c, f"\\u{ord(c):04x}")
    path = os.path.join(folder, "hostile.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + words + tail)
    html, complaints = dom(path)
    s.true("hostile names: it is drawn to the end", 'data-ready="yes"' in html, str(complaints)[:300])
    s.true("hostile names: none of them is markup", "<img" not in html and "&lt;img src=x onerror=alert(1)&gt;" in html)
    raw = os.path.join(folder, "raw.html")
    with open(raw, "w", encoding="utf-8") as f:
        f.write(source.replace("</main>", "<script>document.title='owned'</script><img src='http://127.0.0.1:9/x'></main>"))
    html, complaints = dom(raw)
    s.true("a script from elsewhere does not run, and nothing is asked for", "<title>owned" not in html and
           any("Content Security Policy" in x for x in complaints), str(complaints)[:500])


def many(s, folder):
    """82,000 jobs make no larger page: as many evictions and steps as there may be."""
    source = open(os.path.join(folder, "s.html"), encoding="utf-8").read()
    head, data, tail = re.split(r'(?<=id="data">)(.*?)(?=</script>)', source, maxsplit=1, flags=re.S)
    big = json.loads(data)
    rows = big["evictions"]["rows"]
    big["evictions"]["rows"] = [[big["start"] + (big["end"] - big["start"]) * i / 4000, *rows[i % len(rows)][1:]] for i in range(4000)]
    big["evictions"]["total"] = 82000
    path = os.path.join(folder, "many.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + json.dumps(big) + tail)
    html, _ = dom(path)
    s.equal("4,000 evictions are drawn", ('data-ready="yes"' in html, html.count('class="dot"')), (True, 4000))


def main():
    s = Suite()
    if not BROWSER:
        s.skip("pages in a browser", "there is no chromium here; make test-web installs it")
        s.end()
    with Folder({}) as folder:
        for test in (simulation, others, hostile, many):
            test(s, folder)
    s.end()


if __name__ == "__main__":
    main()
