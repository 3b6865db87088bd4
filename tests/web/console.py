# SPDX-License-Identifier: Apache-2.0
"""cede serve and a browser that looks at it, for the tests of the console."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import CEDE, NOW, SOURCE, Folder, Suite, cede, environment  # noqa: E402,F401
from server import EXAMPLE, Server  # noqa: E402,F401
from browser import PROGRAM, Broken, Browser  # noqa: E402,F401

HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;b"


def hostile_cluster():
    """Everything that somebody else names is markup: nodes, queues, pods, namespaces, classes, taints, annotations."""
    name = json.dumps(HOSTILE)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": HOSTILE, "namespace": HOSTILE, "labels": {"kai.scheduler/queue": HOSTILE, "applicationId": HOSTILE},
                                                           "annotations": {"yunikorn.apache.org/app-id": HOSTILE}, "creationTimestamp": "2026-11-15T11:00:00Z"},
           "spec": {"nodeName": HOSTILE, "priorityClassName": HOSTILE, "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]},
           "status": {"phase": "Running", "startTime": "2026-11-15T11:00:00Z"}}
    waiting = json.loads(json.dumps(pod))
    waiting["metadata"]["name"] += "2"
    waiting["spec"].pop("nodeName")
    waiting["status"] = {"phase": "Pending"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": HOSTILE, "labels": {"a": HOSTILE}}, "spec": {"taints": [{"key": "b", "value": HOSTILE, "effect": "PreferNoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}
    unlimited = {"quota": 6000, "limit": -1, "overQuotaWeight": 1}
    queues = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": HOSTILE}, "spec": {"resources": {r: unlimited for r in ("cpu", "memory", "gpu")}}}
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": HOSTILE}, "value": 7}
    return {"a.yaml": "\n---\n".join(json.dumps(o) for o in (queues, priority, node, pod, waiting)) + "\n", "name.txt": name}


def is_harmless(page):
    """No name has become an element, a handler or an address."""
    return page.js("""!document.querySelector('img:not([alt])') && !document.querySelector('img[src="x"]') && !document.querySelector('[onerror]') &&
        ![...document.querySelectorAll('a')].some(a => !/^#/.test(a.getAttribute('href')))""")


def open_console(browser, server, hash="#/overview", **more):
    page = browser.open(**more)
    page.go(f"{server.url}/{hash}")
    page.wait("document.documentElement.dataset.ready && !document.querySelector('main [aria-busy=true]')")
    return page


def run(*tests):
    """Each test gets (suite, browser)."""
    s = Suite()
    if not PROGRAM:
        s.skip("the console in a browser", "there is no chromium here; make test-web installs it")
        s.end()
    with Browser() as browser:
        for test in tests:
            try:
                test(s, browser)
            except (Broken, RuntimeError) as error:
                s.report(False, test.__name__, str(error))
    s.end()
