#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One pod or group in the console: the full explanation, with nodes, protectors and what it would take."""
import os
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, SOURCE, Folder, Server, hostile_cluster, is_harmless, open_console, run  # noqa: E402
from harness import cede  # noqa: E402

GANG = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 64Gi, pods: "20"}}
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: a, annotations: {cede.dev/gang: train, cede.dev/min-member: "2"}}
spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: train-1, namespace: a, annotations: {cede.dev/gang: train, cede.dev/min-member: "2"}}
spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
status: {phase: Pending}
"""


def waits(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/pod/vision/sweep-4")
        s.equal("its name", page.texts("h1"), ["vision/sweep-4"])
        s.true("why it waits, in a sentence", page.text(".verdict-line .big").startswith("vision/sweep-4 waits: 0/6 nodes are available"))
        s.true("what it is", all(w in page.text("#facts") for w in ("waiting", "root.research.vision", "4 GPU", "100")), page.text("#facts"))
        rules = page.js("[...document.querySelectorAll('#protected tbody th .badge')].map(n => n.lastChild.textContent)")
        s.equal("who is protected from it, by rule", sorted(rules), ["application", "fence", "fence", "guarantee", "priority"])
        s.true("with the law", all(w in page.text("#protected") for w in ("outside the fence of root.research (law 7)", "ads/ranker-exec-0", "12 running pods")), page.text("#protected"))
        s.true("every node, those that say the same together", page.count("#nodes tbody tr") == 2 and "a100-1, a100-2, a100-3, a100-4, l4-1" in page.text("#nodes"), page.text("#nodes"))
        s.true("what it would take", all(w in page.text("#remedies") for w in ("priority 101 (now 100)", "leaving out the rule guarantee", "2 pods would have to go")), page.text("#remedies"))
        s.true("when it will start", "Time alone does not let it start" in page.text("#forecast"))
        page.click(".verdict-line summary")
        words = cede("explain", *EXAMPLE, "vision/sweep-4", "-o", "wide").out.splitlines()[0][:60]
        page.wait(f"document.querySelector('.words').innerText.includes({words!r})")
        s.true("and cede explain's own words, when asked for", True)
        s.true("a node is a link to it", page.js("[...document.querySelectorAll('#nodes a')].some(a => a.getAttribute('href') === '#/nodes/a100-1')"))
        checks.everywhere(s, page, "a waiting pod")
        page.click("#protected a[href='#/pod/vision/notebook-ann']")
        page.wait("document.documentElement.dataset.ready === '#/pod/vision/notebook-ann' && document.querySelector('.verdict-line .big')")
        s.true("from there to who is protected: it stays, and from whom", "stays on a100-3" in page.text(".verdict-line") and
               page.texts("#spared tbody th") == ["ads/ranker-retrain-0, language/eval-0", "vision/sweep-4"], page.text("main"))
        page.view("#/pod/ads/ranker-retrain-0")
        s.true("who has to go for it, and why", all(w in page.text("#victims") for w in ("vision/sweep-3", "2h50m", "uses 8 of 12 guaranteed")), page.text("main"))
        page.view("#/pod/vision/sweep-3")
        s.true("of a victim, for whom it goes", "It has to go for ads/ranker-retrain-0" in page.text(".verdict-line"), page.text(".verdict-line"))
        checks.everywhere(s, page, "a victim", widths=(400, 1400))
        page.view("#/pod/vision/sweep-99")
        s.true("a pod that is not there", "not in the cluster now" in page.text("main") and "Nothing is known of it" in page.text("main"))
        s.equal("nothing to complain about then", checks.complaints(page), [])
        page.view("#/pod/vision/sweep-44")
        s.true("a name nearly right: did you mean", "Did you mean vision/sweep-4?" in page.text("main") and page.count("a[href='#/pod/vision/sweep-4']") == 1, page.text("main"))
        page.view("#/pod")
        s.equal("who does not know a name is shown what waits", page.texts("#waiting tbody th"), ["ads/ranker-retrain-0", "language/eval-0", "vision/sweep-4", "web/mirror-0", "web/report-0"])
        checks.everywhere(s, page, "explain, with nothing asked yet", widths=(400, 1000))
        page.js("document.querySelector('#find-pod').focus()")
        page.type("vision/sweep-4")
        page.key("Enter")
        page.wait("document.documentElement.dataset.ready === '#/pod/vision/sweep-4' && document.querySelector('.verdict-line .big')")
        s.equal("found by its name", page.texts("h1"), ["vision/sweep-4"])
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def group(s, browser):
    with Folder({"a.yaml": GANG}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/group/a/train")
        s.true("a group: the sentence and its pods", page.texts("h1") == ["a/train"] and page.texts("#members tbody th") == ["a/train-0", "a/train-1"], page.text("main"))
        s.true("why it waits", "needs 2 pods at once; 1 fits" in page.text(".verdict-line"), page.text(".verdict-line"))
        checks.everywhere(s, page, "a group", widths=(400, 1400))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()
    with Server("-f", "examples/kai-cluster", "--profile", "kai", *NOW) as server:
        page = open_console(browser, server, "#/group/ml/sweep")
        s.equal("a group that runs: where each of it is, and no columns that nobody fills", (page.texts("#members thead th"), page.texts("#members tbody td:last-child")),
                (["Pod", "State", "Node"], ["gpu-0"] * 4 + ["gpu-1"] * 2))
        s.equal("it is found under Explain", page.texts("#nav [aria-current]"), ["Explain"])
        page.close()


def past(s, browser):
    """A pod of a simulation that has ended: what happened to it is still known."""
    with Server("--simulation", os.path.join(SOURCE, "examples/scenario/day.yaml")) as server:
        page = open_console(browser, server, "#/timeline?show=evictions")
        name = page.texts("#what .victims a.name")[0]
        page.view("#/pod/" + name)
        s.true("gone, with what happened to it", "not in the cluster now" in page.text("main") and page.count("#history .decision") >= 1, page.text("main"))
        page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        name = urllib.parse.quote(HOSTILE, safe="")
        page = open_console(browser, server, f"#/pod/{name}/{name}2")
        s.true("hostile names are text", is_harmless(page) and HOSTILE in page.text("h1"), page.text("main"))
        s.equal("nothing ran", page.complaints, [])
        page.close()


if __name__ == "__main__":
    run(waits, group, past, hostile)
