#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The console of cede run in a browser: it follows a live cluster, outlives a daemon that is killed, and lets in who has the role."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, SOURCE, node, pod, run  # noqa: E402
from lab import free_ports  # noqa: E402
from storm import Scheduler  # noqa: E402
sys.path.insert(0, os.path.join(SOURCE, "tests", "web"))
from browser import PROGRAM, Browser  # noqa: E402

TILE = "[...document.querySelectorAll('.tile')].some(t => t.querySelector('dt').innerText === '%s' && t.querySelector('.value').innerText === '%s')"
LIVE = "document.getElementById('live').innerText.includes('Live')"


def follows(lab, suite):
    lab.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    lab.create(*[node(f"n{i}") for i in range(2)])
    port = free_ports(1)[0]
    r = Scheduler(CEDE, lab, lab.kubeconfig("cede"), "--lease", "none", "--listen", f"127.0.0.1:{port}").start()
    with Browser() as browser:
        page = browser.open()
        lab.wait("the console is served", lambda: page.go(f"http://127.0.0.1:{port}/") or page.count("#nav"))
        page.wait(TILE % ("This replica", "leads"))
        page.wait(LIVE)
        suite.true("it says who leads, and how fresh the watches are", "Lag of the watches" in page.text(".tiles") and "Everything is listed." in page.text("#verdict"), page.text("main"))
        lab.create(*[pod(f"low-{i}", cpu=2) for i in range(4)])
        page.wait(TILE % ("Running", "4"))
        suite.true("what starts is shown without loading the page", "From the live cluster" in page.text(".heading"))
        lab.create(pod("high", cpu=4, priority_class="high"))
        page.wait("document.querySelector('#evictions') && document.querySelector('#evictions').innerText.includes('default/high')")
        suite.true("so is who had to go, and for whom", "default/low-" in page.text("#evictions") and "priority 0 below 1000" in page.text("#evictions"), page.text("#evictions"))
        page.js("window.isSame = true")
        r.kill()
        page.wait("document.getElementById('live').innerText.includes('Not connected')")
        suite.true("a daemon that was killed is missed, and what was known stays", "Evictions of the last hour" in page.text("main") and "from before" in page.text("#notice"))
        r.start()
        page.wait(LIVE + " && document.getElementById('notice').hidden")
        lab.create(pod("too-large", cpu=64))
        page.wait("[...document.querySelectorAll('.tile')].some(t => t.querySelector('dt').innerText === 'Waiting' && Number(t.querySelector('.value').innerText) > 0)")
        suite.equal("the next one is followed in the same page", page.js("window.isSame"), True)
        page.view("#/nodes/n0")
        suite.true("a node with its pods and what protects them", "default/" in page.text("#pods") and page.count("#pods .badge") > 0, page.text("#pods"))
        suite.equal("nothing was complained about", page.complaints, [])
    suite.equal("it ends well", r.end()[0], 0)


def CL_10_lets_in(lab, suite):
    lab.kubectl("create", "serviceaccount", "looker", "-n", "default")
    lab.kubectl("apply", "-f", os.path.join(SOURCE, "packaging", "kubernetes", "reader.yaml"))
    port = free_ports(1)[0]
    r = Scheduler(CEDE, lab, lab.kubeconfig("cede"), "--lease", "none", "--listen", f"0.0.0.0:{port}").start()
    token = lab.kubectl("create", "token", "looker", "-n", "default").strip()

    def sign_in(page):
        page.wait("document.getElementById('token')")
        page.js("document.getElementById('token').focus()")
        page.type(token)
        page.key("Enter")

    with Browser() as browser:
        page = browser.open()
        lab.wait("the console is served", lambda: page.go(f"https://127.0.0.1:{port}/") or page.count("#nav"))
        sign_in(page)
        page.wait("document.querySelector('.signin') && document.querySelector('.signin').innerText.includes('not for you')")
        suite.true("CL_10 a token without the role is told that it has none", "cede-reader" in page.text("main"))
        lab.kubectl("create", "clusterrolebinding", "looker", "--clusterrole=cede-reader", "--serviceaccount=default:looker")
        page = browser.open(f"https://127.0.0.1:{port}/")
        lab.wait("what was asked before is forgotten", lambda: sign_in(page) or page.wait("document.documentElement.dataset.ready") or page.count("#verdict"))
        suite.true("CL_10 with the role it opens", "This replica" in page.text("main"))
    r.end()
    suite.true("CL_10 no token in its log", token not in r.words())


if not PROGRAM:
    print("ok - the console of a daemon # SKIP there is no chromium here; make test-web installs it")
    sys.exit(0)
run(follows, CL_10_lets_in)
