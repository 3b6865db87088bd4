#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The nodes: a map that is read with the mouse and the keyboard, also of five thousand; and one node with what protects its pods, and until when."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import big  # noqa: E402
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, Folder, Server, hostile_cluster, is_harmless, open_console, run  # noqa: E402

PAINTED = "document.querySelector('.map').dataset.painted"
PIXEL = """((x, y) => { const c = document.querySelector('.map canvas'), copy = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true});
    copy.drawImage(c, 0, 0); return [...copy.getImageData(x, y, 1, 1).data].join(); })"""
WINDOW = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {preemptMinRuntime: 2h, resources: {gpu: {quota: 0, limit: -1, overQuotaWeight: 1}, cpu: {quota: 0, limit: -1, overQuotaWeight: 1}, memory: {quota: 0, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 90
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: young, namespace: default, labels: {"kai.scheduler/queue": team}, creationTimestamp: "2026-11-15T11:00:00Z"}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
status: {phase: Running, startTime: "2026-11-15T11:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: wants, namespace: default, labels: {"kai.scheduler/queue": team}, creationTimestamp: "2026-11-15T11:30:00Z"}
spec: {priorityClassName: high, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
"""


def the_map(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/nodes")
        page.wait(f"{PAINTED} === '6'")
        s.equal("a list of the same beside the map", page.texts("#list tbody th"), ["a100-1", "a100-2", "a100-3", "a100-4", "cpu-1", "l4-1"])
        s.equal("free room of each, and where there is none of a kind", page.texts("#list tbody tr:nth-child(5) td")[2:5], ["–", "9 %", "13 %"])
        full, none = page.js(PIXEL + "(20, 60)"), page.js(PIXEL + "(4 * 136 + 20, 60)")
        s.true("a full node is painted in another colour than one without GPUs", full != none, f"{full} {none}")
        page.click("[data-key='resource-cpu']")
        page.wait(f"{PIXEL}(20, 60) !== '{full}'")
        s.true("filled by another resource", True)
        page.click("[data-key='by-queue']")
        page.wait("document.querySelector('#map .legend').innerText.includes('root.serving')")
        s.equal("coloured by queue: a legend with names and numbers", sorted(page.texts("#map .legend li .name")), ["root.ads.ranking", "root.default", "root.research.vision", "root.serving"])
        page.click("[data-key='by-priority']")
        page.wait("document.querySelector('#map .legend').innerText.includes('priority 1,000')")
        s.equal("or by priority; the address knows it", page.js("location.hash"), "#/nodes?by=priority&resource=cpu")
        page.js("document.querySelector('.map canvas').focus()")
        page.key("ArrowRight")
        page.key("ArrowRight")
        s.equal("arrow keys read it aloud", page.text("#map-reading"), "a100-2: 2 pods, GPU 0 % free, CPU 75 % free, Memory 78 % free, mostly root.research.vision, highest priority 100")
        page.key("Enter")
        page.wait("document.documentElement.dataset.ready === '#/nodes/a100-2'")
        s.equal("Enter opens", page.texts("h1"), ["a100-2"])
        page.view("#/nodes")
        page.wait(f"{PAINTED} === '6'")
        page.hover(".map canvas", 60, 60)
        page.wait("!document.getElementById('tip').hidden")
        s.true("the mouse reads it", "a100-1: 2 pods" in page.text("#tip"))
        page.click(".map canvas", at=(60, 60))
        page.wait("document.documentElement.dataset.ready === '#/nodes/a100-1'")
        s.equal("a click opens", page.texts("h1"), ["a100-1"])
        page.view("#/nodes")
        page.js("document.querySelector('[data-key=find]').focus()")
        page.type("l4")
        page.wait("document.querySelectorAll('#list tbody tr').length === 1")
        s.equal("found by name, while typing", page.js("[document.activeElement.dataset.key, document.activeElement.value]"), ["find", "l4"])
        page.view("#/nodes?order=free&resource=cpu")
        s.equal("least free first", page.texts("#list tbody th")[0], "cpu-1")
        page.view("#/nodes")
        checks.everywhere(s, page, "nodes")
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def one(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/nodes/a100-3")
        s.equal("its pods", page.texts("#pods tbody th"), ["language/finetune-0", "language/finetune-1", "vision/notebook-ann", "vision/pretrain-0"])
        s.true("what protects each, and why", "protected: guarantee" in page.text("#pods") and "root.research.language uses 4 of 8 guaranteed nvidia.com/gpu" in page.text("#pods"))
        s.true("who is spared, and who may go for whom", "spared: opt-out" in page.text("#pods") and "may go" in page.text("#pods tbody tr:last-child"))
        s.true("its room and its taints", "nvidia.com/gpu=present:NoSchedule" in page.text("#taints") and page.texts("#room tbody th")[:3] == ["GPU", "CPU", "Memory"])
        checks.everywhere(s, page, "a node")
        page.view("#/nodes/nowhere")
        s.true("a node that is not there", "There is no node nowhere." in page.text("main"), page.text("main"))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def until(s, browser):
    with Folder({"a.yaml": WINDOW}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/nodes/n1")
        text = page.text("#pods")
        s.true("a minimum runtime protects, and until when is said", "protected: min-runtime" in text and "for 1h more (until 2026-11-15 13:00:00)" in text, text)
        page.close()


def many(s, browser):
    with Folder({}) as folder:
        path = os.path.join(folder, "c.yaml")
        big.write(path, 5000, 1, 3)
        with Server("-f", path, *NOW) as server:
            page = open_console(browser, server, "#/nodes?by=queue")
            page.wait(f"{PAINTED} === '5000'")
            s.true("5,000 nodes are painted, 25 are in the list", page.count("#list tbody tr") == 25 and "Showing 25 of 5,000 nodes" in page.text("#list"))
            s.true("as squares, not as elements", page.count("#map *") < 200)
            s.true("more queues than colours: those above them", "root.ads" in page.texts("#map .legend li .name"), str(page.texts("#map .legend li")))
            page.click("[data-key=nodes-more]")
            page.wait("document.querySelectorAll('#list tbody tr').length === 50")
            s.true("what is out of order is said", "not ready" in page.js("fetch('/api/v1/nodes/map').then(() => document.body.innerText)") or "need a look" in page.text(".heading"))
            for width in (400, 2000):
                page.size(width)
                page.wait("Math.abs(document.querySelector('.map canvas').clientWidth - document.querySelector('.map').clientWidth) < 2")
            s.true("it is painted anew for another width", True)
            page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/nodes?by=queue")
        s.true("names that are markup are text", HOSTILE in page.text("#list") and is_harmless(page), page.text("#list"))
        page.js("document.querySelector('.map canvas').focus()")
        page.key("ArrowRight")
        s.true("in what is read aloud too", HOSTILE in page.text("#map-reading") and is_harmless(page))
        page.js("document.querySelector('#list tbody th a').click()")
        page.wait("document.documentElement.dataset.ready.includes('img')")
        s.true("and on the node's own page", HOSTILE in page.text("h1") and HOSTILE in page.text("#pods") and is_harmless(page))
        s.equal("nothing is complained about", page.complaints, [])
        checks.everywhere(s, page, "a node of hostile names", widths=(400, 1400))
        page.close()


if __name__ == "__main__":
    run(the_map, one, until, many, hostile)
