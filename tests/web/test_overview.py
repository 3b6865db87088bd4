#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The overview: says whether all is well, why work waits, who is below its guarantee and who has to go; and follows what happens."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, Folder, Server, hostile_cluster, is_harmless, open_console, run  # noqa: E402

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, creationTimestamp: "2026-11-15T11:00:00Z"}
spec: {containers: [{name: c, resources: {requests: {cpu: "%s"}}}]}
"""


def example(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server)
        s.equal("its parts", page.texts("main h2"), ["✕\nNot all is well.", "Why work waits", "Below their guarantee", "Who would have to go now"])
        s.true("it says what is not well, in words", "2 queues are below the guarantee while work waits." in page.text("#verdict"))
        tiles = dict(zip(page.texts(".tile dt"), page.texts(".tile .value")))
        s.equal("its numbers", [tiles[k] for k in ("Running", "Waiting", "GPU in use", "Would have to go", "Work that would be lost")], ["18", "5", "100 %", "3", "7h20m"])
        s.equal("work that waits, by reason, most first", page.texts("#waiting tbody tr td:nth-child(2)"), ["3", "1", "1"])
        s.true("with the reason", all(w in page.text("#waiting") for w in (
            "There is room for it: it starts", "Insufficient cpu, memory, nvidia.com/gpu; protected by application, fence, guarantee, priority")), page.text("#waiting"))
        s.equal("who is below the guarantee, by how much; and a queue above it not again", list(zip(page.texts("#below tbody th"), page.texts("#below tbody td:last-child"))),
                [("root.ads.ranking", "4"), ("root.research.language", "4")])
        s.equal("who has to go, the last first", page.texts("#evictions .scroll[data-key=victims] tbody th"), ["vision/sweep-2", "web/crawl-1", "vision/sweep-3"])
        s.true("and why", "root.ads.ranking uses 8 of 12 guaranteed nvidia.com/gpu, root.research.vision 20 of 8" in page.text("#evictions"))
        page.click("#evictions summary")
        s.equal("sums by queue behind it", page.texts("#evictions details tbody th"), ["root.research.vision", "root.default"])
        checks.everywhere(s, page, "overview")
        page.click("#below tbody th a")
        page.wait("document.documentElement.dataset.ready === '#/queues/root.ads.ranking'")
        s.equal("a queue leads to its page", page.texts("h1"), ["root.ads.ranking"])
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def without_nodes(s, browser):
    with Folder({"a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server)
        s.true("a cluster without nodes is not well", "There are no nodes" in page.text("#verdict") and "All is well" not in page.text("#verdict"), page.text("#verdict"))
        page.close()


def well(s, browser):
    with Folder({"a.yaml": NODE}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server)
        s.true("an empty cluster is well", "All is well." in page.text("#verdict"))
        s.equal("and says of each part that there is nothing, and what that means", page.texts(".state-title"), ["Nothing waits.", "Nobody is.", "Nobody has to go."])
        checks.everywhere(s, page, "overview of nothing")
        page.js("document.querySelector('#nav-overview').focus(); window.sameOne = true")
        with open(os.path.join(folder, "a.yaml"), "a", encoding="utf-8") as f:
            f.write(POD % ("too-large", "64") + POD % ("fits", "1"))
        server.read_anew()
        page.wait("[...document.querySelectorAll('.tile')].some(t => t.innerText.includes('Waiting') && t.querySelector('.value').innerText === '2')")
        s.equal("what comes is shown without loading the page, and the focus stays", page.js("[window.sameOne, document.activeElement.id]"), [True, "nav-overview"])
        s.true("with why it waits", "Insufficient cpu" in page.text("#waiting"), page.text("#waiting"))
        page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server)
        s.true("names that are markup are text", HOSTILE in page.text("main") and is_harmless(page), page.text("main")[:1500])
        s.equal("and nothing is complained about", page.complaints, [])
        checks.everywhere(s, page, "overview of hostile names", widths=(400, 1400))
        page.close()


if __name__ == "__main__":
    run(example, without_nodes, well, hostile)
