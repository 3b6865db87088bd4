#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run --journal: what was decided and what came of it, also over kills; --shadow: where cede and another scheduler part."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, node, pod, run  # noqa: E402
from daemon import Daemon, bound, clear, priority, written  # noqa: E402


def history(path, *options):
    done = subprocess.run([CEDE, "history", path, "-o", "json", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def CL_3_journal(lab, suite):
    lab.journal = lab.path("journal.db")
    lab.create(priority("low", 10), priority("high", 1000), node("n0"))
    with Daemon(lab, "--profile", "kubernetes", "--journal", lab.journal) as d:
        lab.create(pod("low", cpu=4, priority_class="low"))
        bound(lab, "low")
        lab.create(pod("high", cpu=4, priority_class="high"))
        lab.wait("deleted", lambda: ("delete", "pods", "low", 200) in written(lab))
        d.end(signal.SIGKILL)  # at once: what was done is on the disk
    found = history(lab.journal)
    rows = found.get("evictions", [])
    suite.true("CL_2 an eviction that was carried out is in the journal, however soon the daemon is killed", len(rows) == 1 and rows[0]["pod"] == "default/low", json.dumps(found))
    with Daemon(lab, "--profile", "kubernetes", "--journal", lab.journal) as d:
        bound(lab, "high")
        lab.wait("what came of it", lambda: [r["state"] for r in history(lab.journal).get("evictions", [])] == ["observed"])
        suite.equal("SIGTERM: exit 0", d.end(), 0)
    rows = history(lab.journal).get("evictions", [])
    suite.true("CL_3 after a kill the next daemon goes on in it, and says what came of what was open", len(rows) == 1 and rows[0]["state"] == "observed", json.dumps(rows))
    clear(lab)


def CL_10_shadow(lab, suite):
    since = len(lab.audit())
    path = lab.path("shadow.db")
    with Daemon(lab, "--profile", "kubernetes", "--shadow", "other", "--journal", path) as d:
        lab.create(node("n1"))
        time.sleep(2)
        lab.create(pod("same", cpu=3, scheduler="other"))
        time.sleep(2)
        line = [x for x in d.said().splitlines() if "default/same: placed on" in x]
        suite.true("another scheduler's pod is decided", line, d.said())
        ours = line[-1].split()[-1]
        bind = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "same", "namespace": "default"}, "target": {"apiVersion": "v1", "kind": "Node", "name": ours}}
        lab.kubectl("create", "--raw", "/api/v1/namespaces/default/pods/same/binding", "-f", "-", stdin=json.dumps(bind))
        lab.create(pod("apart", cpu=3, scheduler="other"))
        time.sleep(2)
        bind["metadata"]["name"] = "apart"  # where cede would not have put it
        lab.kubectl("create", "--raw", "/api/v1/namespaces/default/pods/apart/binding", "-f", "-", stdin=json.dumps(bind))
        time.sleep(2)
        suite.equal("SIGTERM: exit 0", d.end(), 0)
    found = history(path, "--shadow")
    suite.equal("history --shadow: where they agree and where they part", (found.get("kind"), found.get("same"), found.get("otherNode")), ("ShadowHistory", 1, 1))
    suite.equal("CL_10 a shadow writes nothing", written(lab, since), [])


run(CL_3_journal, CL_10_shadow)
