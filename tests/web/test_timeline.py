#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline: evictions, placements and waits, who displaced whom in both directions, filters, and a link to each moment."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, SOURCE, Folder, Server, hostile_cluster, is_harmless, open_console, run  # noqa: E402
from harness import cede  # noqa: E402

LIST = "#what .decision"
PODS = "#what .decision .sentence a.name:first-of-type"


def node(name):
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "4", memory: 64Gi, pods: "20"}}}}
---"""


def pod(name, priority, on=None, user="ann"):
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: a, creationTimestamp: "2026-11-15T11:00:00Z", annotations: {{yunikorn.apache.org/user.info: '{{"user": "{user}"}}'}}}}
spec: {{priority: {priority}, {"nodeName: " + on + "," if on else ""} containers: [{{name: c, resources: {{requests: {{cpu: "4"}}}}}}]}}
status: {{phase: {"Running, startTime: 2026-11-15T11:30:00Z" if on else "Pending"}}}
---"""


STATES = [
    ("12:00:00", node("n1") + pod("low", 1, "n1") + pod("middle", 10, user="bob")),
    ("12:10:00", node("n1") + pod("low", 1) + pod("middle", 10, "n1", "bob") + pod("high", 100, user="cid")),
    ("12:20:00", node("n1") + node("n2") + pod("low", 1) + pod("middle", 10, user="bob") + pod("high", 100, "n1", "cid")),
    ("12:30:00", node("n1") + node("n2") + node("n3") + pod("low", 1) + pod("middle", 10, "n2", "bob") + pod("high", 100, "n1", "cid")),
]


def journal(folder):
    """Three who displace each other: middle takes low's place, high takes middle's; both come back later."""
    path = os.path.join(folder, "journal.db")
    for at, text in STATES:
        with Folder({"a.yaml": text}) as files:
            cede("plan", "-f", files, "--now", f"2026-11-15T{at}Z", "--journal", path)
    return path


def listed(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/timeline")
        s.equal("every decision, newest first", page.texts(PODS), ["vision/sweep-4", "language/eval-0", "web/mirror-0", "web/report-0", "ads/ranker-retrain-0"])
        s.true("an eviction says who goes, from where, what is lost and why", all(w in page.text("#what .decision:last-child") for w in (
            "vision/sweep-3", "root.research.vision", "a100-2", "2h50m of work lost", "root.ads.ranking uses 8 of 12 guaranteed nvidia.com/gpu")), page.text("#what"))
        s.true("a wait says why", "6 Insufficient nvidia.com/gpu" in page.text(LIST + ":first-child"))
        for kind, expected in (("evictions", 3), ("placements", 4), ("waits", 1), ("all", 5)):
            page.click(f"[data-key='show-{kind}']")
            page.wait(f"document.querySelectorAll('{LIST}').length === {expected}")
        s.true("evictions, placements, waits, each alone and all", True)
        page.js("(() => { const n = document.querySelector('[data-key=filter-queue]'); n.focus(); n.value = 'root.research.vision'; n.dispatchEvent(new Event('change')); })()")
        page.wait(f"document.querySelectorAll('{LIST}').length === 3")
        s.equal("by queue: its own, and those that take from it", page.texts(PODS), ["vision/sweep-4", "language/eval-0", "ads/ranker-retrain-0"])
        s.equal("the filter has kept the focus, and stands in the address", page.js("[document.activeElement.dataset.key, location.hash]"), ["filter-queue", "#/timeline?queue=root.research.vision"])
        page.js("(() => { const n = document.querySelector('[data-key=filter-rule]'); n.value = 'policy'; n.dispatchEvent(new Event('change')); })()")
        page.wait(f"document.querySelectorAll('{LIST}').length === 1")
        s.equal("by rule as well", page.texts(PODS), ["ads/ranker-retrain-0"])
        page.reload()
        s.equal("and after a reload", page.texts(PODS), ["ads/ranker-retrain-0"])
        page.click("[data-key='filter-clear']")
        page.wait(f"document.querySelectorAll('{LIST}').length === 5")
        page.js("document.querySelector('[data-key=filter-pod]').focus()")
        page.type("sweep-3")
        page.key("Enter")
        page.wait(f"document.querySelectorAll('{LIST}').length === 1")
        s.equal("by a part of a name, with the keyboard: victims too", page.texts(PODS), ["ads/ranker-retrain-0"])
        page.view("#/timeline?user=nobody")
        s.true("nothing found is said, with a way out", "Nothing like that was decided" in page.text("#what") and page.count("#what .state button") == 1)
        page.view("#/timeline")
        checks.everywhere(s, page, "timeline")
        server.read_anew()
        page.wait(f"document.querySelectorAll('{LIST}').length === 10")
        s.true("what happens appears by itself", True)
        page.view("#/timeline?id=5")
        s.true("a moment that is no longer kept", "no longer kept" in page.text("#chain"))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def chains(s, browser):
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder, Server("--journal", journal(folder)) as server:
        page = open_console(browser, server, "#/timeline?show=evictions")
        s.equal("evictions of a journal, newest first", page.texts(PODS), ["a/high", "a/middle"])
        page.js("document.querySelectorAll('#what .moment')[0].focus()")
        page.key("Enter")
        page.wait("document.querySelector('#chain .decision.current')")
        s.equal("who came because of it: middle had to go, and got a place later", page.texts("#chain .decision .sentence a.name:first-of-type"), ["a/high", "a/middle"])
        s.true("and it is said", "What became of a/middle" in page.text("#chain"), page.text("#chain"))
        page.click("#chain .decision:last-child .moment")
        page.wait("document.querySelector('#chain .decision.current .sentence').innerText.includes('a/middle starts on n2')")
        s.equal("followed back from there: why it is here", page.texts("#chain .decision .sentence a.name:first-of-type"), ["a/high", "a/middle"])
        page.click("#chain .decision:first-child .moment")
        page.wait("document.querySelector('#chain .decision.current .sentence').innerText.includes('a/high gets room')")
        s.true("and forward again", "Who came because of it" in page.text("#chain"))
        link = page.js("[...document.querySelectorAll('#chain a')].find(a => a.innerText === 'Link to this moment').getAttribute('href')")
        here = page.js("document.querySelector('#chain .decision.current').dataset.id")
        other = open_console(browser, server, link)
        s.equal("a link to the moment opens it", other.js("document.querySelector('#chain .decision.current').dataset.id"), here)
        other.close()
        checks.everywhere(s, page, "a chain")
        page.click("[data-key='chain-close']")
        page.wait("!document.querySelector('#chain')")
        s.equal("closed, it is gone from the address", page.js("location.hash"), "#/timeline?show=evictions")
        page.view("#/timeline?user=bob")
        s.equal("by user: bob's own, and those that take from bob", sorted(set(page.texts(PODS))), ["a/high", "a/middle"])
        page.view("#/timeline")
        total = page.count(LIST)
        page.js("document.querySelector('.histogram').focus()")
        page.key("Home")
        page.wait("document.querySelector('#when .reading').innerText.startsWith('2026-11-15 12:00:00')")
        s.true("the picture reads its numbers to the keyboard", "1 eviction," in page.text("#when .reading") or "1 placement," in page.text("#when .reading"), page.text("#when .reading"))
        page.key("Enter")
        page.wait("document.querySelector('[data-key=whole-time]')")
        s.true("a part of the time alone", 0 < page.count(LIST) < total, f"{page.count(LIST)} of {total}")
        page.click("[data-key='whole-time']")
        page.wait(f"document.querySelectorAll('{LIST}').length === {total}")
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def many(s, browser):
    """A simulation has hundreds: pages, and steps of time."""
    with Server("--simulation", os.path.join(SOURCE, "examples/scenario/day.yaml")) as server:
        page = open_console(browser, server, "#/timeline")
        s.equal("the first page", page.count(LIST), 50)
        page.click("[data-key='more']")
        page.wait(f"document.querySelectorAll('{LIST}').length === 150")
        s.equal("more of them, and the button keeps the focus", page.js("document.activeElement.dataset.key"), "more")
        page.click(".histogram", at=(40, 60))
        page.wait("document.querySelector('[data-key=whole-time]')")
        s.true("a click on the picture", "from=2026-11-16T" in page.js("location.hash"), page.js("location.hash"))
        page.view("#/timeline")
        checks.everywhere(s, page, "a long timeline", widths=(400, 2000))
        page.close()


def nothing(s, browser):
    with Folder({"a.yaml": node("n1")}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/timeline")
        s.true("nothing decided yet is said", "Nothing was decided yet" in page.text("#what"))
        s.equal("nothing to complain about when empty", checks.complaints(page), [])
        page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/timeline")
        s.true("hostile names are text", is_harmless(page) and HOSTILE in page.text("#what"), page.text("#what"))
        page.js("document.querySelector('#what .moment').click()")
        page.wait("document.querySelector('#chain')")
        s.true("in the chain too", is_harmless(page) and HOSTILE in page.text("#chain"))
        page.view("#/timeline?queue=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E" + "&pod=%22%3E%3Cscript%3E&id=%3Cb%3E")
        s.true("in the address too", is_harmless(page) and page.count("script:not([src])") == 0)
        s.equal("nothing ran", page.complaints, [])
        page.close()


if __name__ == "__main__":
    run(listed, chains, many, nothing, hostile)
