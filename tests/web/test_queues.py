#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queues: the tree with what each uses and is entitled to, and one queue with its pods, its settings, its history and what would be decided."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import big  # noqa: E402
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, Folder, Server, cede, hostile_cluster, is_harmless, open_console, run  # noqa: E402

NAMES = "#tree tbody th .name"
KAI = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team, annotations: {"cede.dev/protected-hours": "Sun 09:00-17:00 Z"}}
spec:
  priority: 200
  preemptMinRuntime: 30m
  reclaimMinRuntime: 2h
  resources: {gpu: {quota: 4, limit: 8, overQuotaWeight: 1}, cpu: {quota: 8000, limit: 16000, overQuotaWeight: 1}, memory: {quota: 1000, limit: 2000, overQuotaWeight: 1}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "64", memory: 64Gi, pods: "110", nvidia.com/gpu: "8"}, conditions: [{type: Ready, status: "True"}]}
"""


def tree(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/queues")
        s.equal("all queues, children below their parents", page.texts(NAMES), ["root", "ads", "ranking", "default", "research", "language", "vision", "serving"])
        s.equal("a bar for each of the main resources", page.texts("#tree thead th"), ["Queue", "Running", "Waiting", "GPU", "CPU", "Memory"])
        words = page.js("[...document.querySelectorAll('#tree svg.entitlement')].map(n => n.getAttribute('aria-label'))")
        s.true("each bar says its numbers", "root.research.vision: 20 used of 8 guaranteed gpu, 12 above it, at most 24, 4 waited for." in words, "\n".join(words))
        s.true("and what is short", "root.ads: 8 used of 12 guaranteed gpu, 4 below it while work waits, 4 waited for." in words)
        part = page.js("""(() => { const b = [...document.querySelectorAll('#tree svg.entitlement')].find(n => n.getAttribute('aria-label').startsWith('root.research.vision: 20'));
            const w = c => parseFloat(b.querySelector(c).getAttribute('width')); return [w('.used'), w('.over'), w('.wanted')]; })()""")
        s.equal("used, above and waited for are drawn to scale: 8, 12 and 4 of 24", [round(p, 1) for p in part], [33.3, 50.0, 16.7])
        s.equal("fences and queues nobody is taken from are marked", page.texts("#tree .chip"), ["fence", "nobody has to go"])
        page.js("document.querySelector('#tree [data-key=\"fold root.research\"]').focus()")
        page.key("Enter")
        s.equal("a branch is folded, with the keyboard", page.texts(NAMES), ["root", "ads", "ranking", "default", "research", "serving"])
        s.equal("the focus stays on it, and it says so", page.js("[document.activeElement.dataset.key, document.activeElement.getAttribute('aria-expanded')]"), ["fold root.research", "false"])
        page.click("[data-key='resource-cpu']")
        s.equal("one resource alone", page.texts("#tree thead th"), ["Queue", "Running", "Waiting", "CPU"])
        s.equal("what was chosen stands in the address", page.js("location.hash"), "#/queues?resource=cpu&fold=root.research")
        page.reload()
        s.equal("and is there after a reload", page.texts(NAMES), ["root", "ads", "ranking", "default", "research", "serving"])
        page.view("#/queues")
        checks.everywhere(s, page, "queues")
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def one(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/queues/root.research")
        s.true("how it stands, in words", "above its guarantee in gpu" in page.text(".heading"))
        s.equal("what it uses, is guaranteed and may use", page.texts("#entitled tbody tr:first-child td")[1:], ["24", "16", page.texts("#entitled tbody tr:first-child td")[3], "no limit", "8"])
        s.true("the fence that applies", "Work below this queue takes room only from inside of it" in page.text("#applies"))
        s.equal("queues below it", page.texts("#children tbody th"), ["language", "vision"])
        s.equal("its waiting pods, and those of queues below it", page.texts("#waiting tbody th"), ["language/eval-0", "vision/sweep-4"])
        s.equal("its running pods", page.count("#running tbody tr"), 8)
        s.equal("their nodes are links", page.js("document.querySelector('#running tbody td a').getAttribute('href')"), "#/nodes/a100-3")
        page.click("#why button")
        page.wait("document.querySelector('#why').innerText.includes('Queue root.research is not short')")
        s.true("a plan when asked for: what keeps its work waiting, and what it would take", all(w in page.text("#why") for w in ("fence", "law 7", "What it would take", "priority 101")), page.text("#why"))
        checks.everywhere(s, page, "a queue")
        page.click(".crumbs a:nth-of-type(2)")
        page.wait("document.documentElement.dataset.ready === '#/queues/root'")
        s.equal("the way up", page.texts("h1"), ["root"])
        page.view("#/queues/root.nowhere")
        s.true("a queue that is not there", "There is no such" in page.text("main"))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def windows(s, browser):
    with Folder({"a.yaml": KAI}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/queues/root.team")
        text = page.text("#applies")
        s.true("minimum runtimes that apply", "A pod runs 30m before work of its own queue may take its room." in text and "A pod runs 2h before another queue may reclaim its room." in text, text)
        s.true("hours that protect its work, and that it is now", "Sun 09:00-17:00 Z; that is now, until 2026-11-15 17:00:00 UTC" in text, text)
        s.equal("a queue without work says so", page.texts("#waiting .say, #running .say"), ["Nothing waits here.", "Nothing runs here."])
        s.true("a history of one moment is none", "Nothing was seen of it over time yet." in page.text("#history"))
        page.close()


def shares(s, browser):
    """Two queues with a quota of 2 each and weights 1 and 3 ask for all of 8: what is left is divided 1 to 3."""
    queue = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %s}\nspec: {resources: {gpu: {quota: 2, limit: -1, overQuotaWeight: %d}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}\n---\n"
    pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s-%d, namespace: default, labels: {"kai.scheduler/queue": %s}}\nspec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: "1"}}}]}\n---\n'
    node = KAI[KAI.index("apiVersion: v1"):]
    with Folder({"a.yaml": queue % ("a", 1) + queue % ("b", 3) + "".join(pod % (q, i, q) for q in "ab" for i in range(8)) + node}) as folder, Server("-f", folder, "--profile", "kai", *NOW) as server:
        page = open_console(browser, server, "#/queues")
        words = page.js("[...document.querySelectorAll('#tree svg.entitlement')].map(n => n.getAttribute('aria-label'))")
        s.true("fair shares where they decide", any(w.startswith("root.b: ") and "fair share 5" in w for w in words) and any(w.startswith("root.a: ") and "fair share 3" in w for w in words), "\n".join(words))
        s.true("drawn with a mark of their own, which the legend names", page.count("#tree tbody .fair") >= 2 and "fair share" in page.texts("#tree .legend li"))
        page.close()


def history(s, browser):
    """Two runs in a journal are two moments."""
    with Folder({}) as folder:
        path = os.path.join(folder, "j.db")
        for moment in ("12:00:00", "12:05:00"):
            cede("plan", "-f", "examples/gpu-cluster", "--now", f"2026-11-15T{moment}Z", "--journal", path)
        with Server("--journal", path) as server:
            page = open_console(browser, server, "#/queues/root.ads")
            s.equal("lines of what was used and guaranteed, and of pods", page.count("#history .chart"), 2)
            page.js("document.querySelector('[data-key=history-use]').focus()")
            page.key("Home")
            s.equal("keys read it", page.text("#history .reading"), "2026-11-15 12:00:00: used 8, guaranteed 12")
            page.key("End")
            s.true("to its end", page.text("#history .reading").startswith("2026-11-15 12:05:00"))
            page.click("#history details summary")
            page.wait("document.querySelectorAll('#history details tbody tr').length === 2")
            s.equal("a table behind it, the last first", page.texts("#history details tbody tr:first-child td"), ["8", "12"])
            page.click("[data-key='history-resource-cpu']")
            page.wait("document.querySelector('[data-key=history-use]').getAttribute('aria-label').startsWith('CPU')")
            s.true("another resource", True)
            checks.everywhere(s, page, "a queue with a history")
            s.equal("nothing was complained about", page.complaints, [])
            page.close()


def pages(s, browser):
    with Folder({}) as folder:
        path = os.path.join(folder, "c.yaml")
        big.write(path, 40, 20, 60)
        with Server("-f", path, *NOW) as server:
            page = open_console(browser, server, "#/queues")
            s.equal("51 queues", page.count("#tree tbody tr"), 51)
            page.view("#/queues/root")
            s.equal("50 of 800 pods at first", page.count("#running tbody tr"), 50)
            page.click("[data-key=running-more]")
            page.wait("document.querySelectorAll('#running tbody tr').length === 100")
            s.true("more when asked for, and how many there are", "Showing 100 of 800 pods" in page.text("#running"))
            s.equal("the focus stays on the button", page.js("document.activeElement.dataset.key"), "running-more")
            page.close()


def many(s, browser):
    """A history is kept of a thousand queues."""
    queues = "".join(f"\n- apiVersion: scheduling.run.ai/v2\n  kind: Queue\n  metadata: {{name: q{i:04}}}\n  spec: {{}}" for i in range(1001))
    with Folder({"a.yaml": "apiVersion: v1\nkind: List\nitems:" + queues}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/queues/root.q1000")
        said = "Only the first 1,000 queues that were seen have a history, and root.q1000 is not among them."
        s.true("a queue beyond them says that its history is not kept", "Its history is not kept." in page.text("#history") and said in page.text("#history"), page.text("#history"))
        page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/queues")
        s.true("names that are markup are text in the tree", HOSTILE in page.text("#tree") and is_harmless(page), page.text("#tree"))
        queue = page.js("[...document.querySelectorAll('#tree tbody th a')].map(a => a.getAttribute('href')).find(h => h.includes('img'))")
        page.view(queue)
        s.true("and on the queue's own page", HOSTILE in page.text("h1") and HOSTILE in page.text("main") and is_harmless(page))
        page.click("#why button")
        page.wait("document.querySelector('#why').innerText.includes('Plan again')")
        s.true("and in what is explained", is_harmless(page) and HOSTILE in page.text("#why"), page.text("#why"))
        s.equal("nothing is complained about", page.complaints, [])
        checks.everywhere(s, page, "a queue of hostile names", widths=(400, 1400))
        page.close()


if __name__ == "__main__":
    run(tree, one, windows, shares, history, many, pages, hostile)
