#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of simulations in the console: those of the server, and files."""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, SOURCE, Server, is_harmless, open_console, run  # noqa: E402
from harness import cede  # noqa: E402

SCENARIO = os.path.join(SOURCE, "examples/scenario/day.yaml")
TRACE = ["--trace", "examples/trace/jobs.csv", "--format", "philly"]


def choose(page, path):
    """As if somebody had chosen the file."""
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    field = page.call("DOM.querySelector", nodeId=root, selector="#report-file")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=field, files=[path])


def served(s, browser):
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder:
        compared, advised = os.path.join(folder, "compared.html"), os.path.join(folder, "advised.html")
        cede("compare", *TRACE, "--profile", "default,kubernetes", "--seeds", "2", "--report", compared)
        cede("advise", "queue.*.reclaimMinRuntime", "--values", "0s,1h", *TRACE, "--seeds", "2", "--report", advised)
        with Server("--simulation", SCENARIO, "--report", compared, "--report", advised) as server:
            page = open_console(browser, server, "#/reports")
            s.equal("the simulation's own, and those that were given", page.texts("#list tbody td:nth-of-type(2)"), ["this simulation", "compared.html", "advised.html"])
            checks.everywhere(s, page, "reports")
            page.click("#list tbody th a")
            page.wait("document.querySelector('.report section')")
            s.equal("a simulation has its parts", [i for i in ("use", "guarantees", "waiting", "evictions", "lost", "flows", "queues") if not page.count("#" + i)], [])
            data = page.js("fetch('/api/v1/reports/1').then(r => r.json()).then(d => d.totals.evictions)")
            s.equal("a dot for each eviction", page.count(".report .dot"), data)
            page.js("document.querySelector('.report .contents a[href=\"#flows\"]').focus()")
            page.key("Enter")
            s.equal("its contents lead to the parts, and the address stays", page.js("[document.activeElement.id, location.hash]"), ["flows", "#/reports/1"])
            checks.everywhere(s, page, "a simulation", widths=(400, 1400))
            page.view("#/reports/2")
            s.equal("a comparison has its parts", [i for i in ("totals", "parting", "queues-B") if not page.count("#" + i)], [])
            checks.everywhere(s, page, "a comparison", widths=(400, 1400))
            page.view("#/reports/3")
            s.equal("an advice has its parts", [i for i in ("values", "trends", "trade") if not page.count("#" + i)], [])
            checks.everywhere(s, page, "an advice", widths=(400, 1400))
            page.view("#/reports/9")
            s.true("a report that is not there", "There is no such" in page.text("main"))
            s.equal("nothing was complained about, and nothing asked of others", (page.complaints, [u for u in page.requests if not u.startswith((server.url, "data:", "about:"))]), ([], []))
            page.close()


def files(s, browser):
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder, Server(*EXAMPLE) as server:
        path, bad, hostile = (os.path.join(folder, n) for n in ("report.html", "bad.html", "hostile.html"))
        cede("simulate", *TRACE, "--report", path)
        text = open(path, encoding="utf-8").read()
        data = re.search(r'id="data">(.*?)</script>', text, re.S)[1]
        page = open_console(browser, server, "#/reports")
        s.true("a server without reports says so, and how to get some", "has no reports" in page.text("#list"))
        with open(bad, "w", encoding="utf-8") as f:
            f.write("<html><script>document.title = 'owned'</script></html>")
        choose(page, bad)
        page.wait("document.querySelector('#open-say').innerText.includes('no page that cede wrote')")
        s.true("a file that is no report is refused, and its scripts do not run", page.js("document.title") != "owned")
        choose(page, path)
        page.wait("document.querySelectorAll('.report section').length > 5")
        s.true("a file is opened", "stays on this computer" in page.text("main"), page.text("main")[:300])
        s.equal("and nothing of it is sent", [u for u in page.requests if "report" in u and not re.search(r"/report/\w+\.js|/api/v1/reports$|views/reports.js|report_draw.js", u)], [])
        worse = json.loads(data)
        worse["title"] += HOSTILE
        for q in worse["queues"]:
            q["queue"] += HOSTILE
        worse["evictions"]["words"] = [w and w + HOSTILE for w in worse["evictions"]["words"]]
        with open(hostile, "w", encoding="utf-8") as f:
            json.dump(worse, f)
        page.view("#/overview")
        page.view("#/reports")
        choose(page, hostile)
        page.wait("document.querySelectorAll('.report section').length > 5")
        s.true("hostile names in it are text", HOSTILE in page.text("h1") and page.count("img:not([alt])") == 0 and page.count("[onerror]") == 0, page.text("h1"))
        s.true("they harm nobody", is_harmless(page))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def at_once(s, browser):
    """A busy browser may make no frame for a long time; a page that says it is ready has its charts all the same."""
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder:
        path = os.path.join(folder, "report.html")
        cede("simulate", *TRACE, "--report", path)
        page = browser.open()
        page.call("Page.addScriptToEvaluateOnNewDocument", source="window.requestAnimationFrame = () => 0; window.ResizeObserver = class { observe() {} };")
        page.go(f"file://{path}")
        s.equal("drawn without a frame: ready, and a chart in each figure",
                page.js("[document.documentElement.dataset.ready, document.querySelectorAll('figure:not(:has(svg))').length]"), ["yes", 0])
        s.true("drawn without a frame: a dot for each eviction",
               page.count(".dot") == page.js("JSON.parse(document.getElementById('data').textContent).totals.evictions") > 0, f'{page.count(".dot")} dots')
        page.close()


if __name__ == "__main__":
    run(served, files, at_once)
