#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster as they are: names without end, two kinds of GPUs, nodes out of order, hundreds that wait for one reason; and somebody who types while it changes."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import NOW, Folder, Server, open_console, run  # noqa: E402

TEAM = "root.company.machine-learning-platform.recommendations-and-personalisation-research"
NODE = "ip-10-0-%d-17.eu-central-1.compute.internal"
WAITING = 12
QUEUES = """
partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - name: company
      properties: {preemption.policy: fence}
      queues:
      - name: machine-learning-platform
        resources: {guaranteed: {nvidia.com/gpu: 30}, max: {nvidia.com/gpu: 88}}
        queues:
        - name: recommendations-and-personalisation-research
          resources: {guaranteed: {nvidia.com/gpu: 20}, max: {memory: 900G}}
          properties: {cede.dev/protected-hours: "Mon-Sun 09:00-17:00 +01:00"}
        - name: speech
          resources: {guaranteed: {nvidia.com/gpu: 10, vcore: 40}}
    - name: default
"""


def node(i, gpu):
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {NODE % i}}}
spec: {{unschedulable: {"true" if i == 2 else "false"}}}
status: {{allocatable: {{cpu: 95500m, memory: 1031797Mi, pods: "110", {gpu}: "8"}}, conditions: [{{type: Ready, status: "{"False" if i == 3 else "True"}"}}]}}
---"""


def pod(name, queue, on=None, cpu="7500m", memory="93421Mi", gpu=2):
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: recommendations-production, creationTimestamp: "2026-11-15T08:00:00Z", labels: {{queue: {queue}, applicationId: {name}}}}}
spec: {{priority: 100, {"nodeName: " + on + "," if on else ""} containers: [{{name: c, resources: {{requests: {{cpu: {cpu}, memory: {memory}, nvidia.com/gpu: "{gpu}"}}}}}}]}}
status: {{phase: {"Running, startTime: 2026-11-15T09:00:00Z" if on else "Pending"}}}
---"""


def cluster():
    long_name = "two-tower-candidate-generation-with-a-very-long-name-%d"
    text = "".join(node(i, "nvidia.com/gpu") for i in range(5)) + node(9, "amd.com/gpu")
    text += "".join(pod(long_name % i, TEAM, NODE % (i // 4)) for i in range(8))
    text += "".join(pod(f"waits-for-memory-{i}", TEAM, memory="%dGi" % (200 + i)) for i in range(WAITING)) + pod("asr-large-0", TEAM.rsplit(".", 1)[0] + ".speech", gpu=8)
    return {"queues.yaml": QUEUES, "objects.yaml": text}


def wide(s, browser):
    with Folder(cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server)
        s.equal("of two kinds of GPUs the one there is most of", page.texts(".tile dt")[2], "nvidia.com/gpu in use")
        s.true("the same limit is one reason, whatever each asks for", f"Queue {TEAM} may use at most" in page.text("#waiting") and
               [t for t in page.texts("#waiting tbody td:nth-child(2)") if t == str(WAITING)], page.text("#waiting"))
        for name, view in (("overview", "#/overview"), ("queues", "#/queues"), ("a queue", f"#/queues/{TEAM}"), ("nodes", "#/nodes"), ("a node", f"#/nodes/{NODE % 0}"), ("timeline", "#/timeline"),
                           ("a pod", "#/pod/recommendations-production/waits-for-memory-0"), ("what if", f"#/whatif?drain={NODE % 0}")):
            page.view(view, "!document.querySelector('#difference .spinner')")
            checks.everywhere(s, page, f"long names: {name}")
        page.view("#/nodes")
        s.equal("two kinds of GPUs have two names", page.texts("[aria-label='Fill by'] button")[:2], ["amd.com/gpu", "nvidia.com/gpu"])
        s.equal("and what most nodes have is shown first", page.texts("[aria-label='Fill by'] button[aria-pressed=true]"), ["nvidia.com/gpu"])
        page.view(f"#/queues/{TEAM}")
        s.true("a fence above applies to it", "only from inside of root.company, which has a fence" in page.text("#applies"), page.text("#applies"))
        s.true("so do hours that protect it", "until 2026-11-15 16:00:00 UTC" in page.text("#applies"))
        s.true("amounts are read, not computed", "2 GPU, 7.5 CPU, 91Gi memory" in page.text("#running").replace("\u00a0", " "), page.text("#running"))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def same_reason(s, browser):
    with Folder({**cluster(), "more.yaml": "".join(pod(f"same-{i:02d}", TEAM, memory="500Gi") for i in range(9))}) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/timeline?pod=same-")
        s.equal("those that wait for the same reason stand together", (page.count("#what .decision"), page.texts("#what .bundle summary")), (2, ["8 more wait for the same reason"]))
        s.true("and are counted one by one", "Showing 9 of 9 decisions" in page.text("#what"))
        page.js("document.querySelector('#what .bundle summary').focus()")
        page.key("Enter")
        page.wait("document.querySelectorAll('#what .bundle .decision').length === 8")
        server.read_anew()
        page.wait("document.querySelector('#what .pager').innerText.includes('of 18')")
        s.true("opened, they stay so while others come", page.js("[...document.querySelectorAll('#what .bundle details')].some(d => d.open)"))
        moment = page.js("document.querySelector('#what .bundle .moment').getAttribute('href')")
        page.view(moment)
        s.true("one of them has its own moment", page.count("#chain .decision.current") == 1 and page.count("#what .decision.current") == 1)
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def typing(s, browser):
    with Folder(cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/timeline")
        page.js("document.querySelector('[data-key=filter-user]').focus()")
        page.type("caroline")
        page.js("document.activeElement.setSelectionRange(3, 3); window.before = document.activeElement")
        server.read_anew()
        page.wait("document.activeElement !== window.before && document.activeElement.dataset.key === 'filter-user'")
        s.equal("what somebody types is there after a refresh, and so is the cursor", page.js("[document.activeElement.value, document.activeElement.selectionStart]"), ["caroline", 3])
        page.view("#/nodes")
        page.js("document.querySelector('[data-key=find]').focus()")
        for letter in "ip-10-0-9":
            page.type(letter)
        s.equal("letter by letter, each in its place", page.js("[document.activeElement.value, document.querySelectorAll('#list tbody tr').length]"), ["ip-10-0-9", 1])
        page.view("#/timeline")
        page.js("window.chosen = document.querySelector('[data-key=filter-queue]'); chosen.focus(); window.refreshed = 0; "
                "new MutationObserver(() => refreshed++).observe(document.querySelector('main'), {childList: true, subtree: true})")
        page.key("Shift")
        server.read_anew()
        page.js("new Promise(done => setTimeout(done, 2500))")
        s.equal("while somebody is at a list of choices it is not drawn anew", page.js("[refreshed, document.activeElement === chosen]"), [0, True])
        page.js("document.activeElement.blur()")
        page.wait("refreshed > 0")
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def emptied(s, browser):
    with Folder(cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/whatif?resource=memory")
        field = f"[data-key='edit-queue.{TEAM}.max.memory']"
        page.js(f"(() => {{ const n = document.querySelector({field!r}); n.focus(); n.value = ''; n.dispatchEvent(new Event('change', {{bubbles: true}})); }})()")
        page.wait("document.querySelector('.changes')")
        s.equal("a maximum that is emptied is none", page.texts(".changes code"), [f"queue.{TEAM}.max.memory = none"])
        page.click("#plan")
        page.wait("document.querySelector('#difference .card')")
        s.true("and what waited for it gets room", "Other answers" in page.text("#difference"), page.text("#difference"))
        page.close()


if __name__ == "__main__":
    run(wide, same_reason, typing, emptied)
