#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last steps of docs/tutorial.md, typed as they stand there: a plan of a live cluster, a shadow run beside a real kube-scheduler, and what its journal tells."""
import json
import os
import re
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, SOURCE, node, pod, run  # noqa: E402
from daemon import bound, written  # noqa: E402
from lab import free_ports  # noqa: E402


def commands():
    """Those of the page that need a cluster."""
    with open(os.path.join(SOURCE, "docs", "tutorial.md"), encoding="utf-8") as f:
        text = f.read()
    return re.findall(r"^    (cede .*)$", text[text.index("**9. "):], re.M)


def typed(lab, command):
    words = [CEDE if w == "cede" else lab.kubeconfig("cede") if w == "~/.kube/config" else "default/later" if w == "NS/POD" else w for w in shlex.split(command)]
    return words + (["--listen", "none", "-v"] if words[1] == "run" else [])


def say(lab, command):
    done = subprocess.run(typed(lab, command), cwd=lab.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def start_kube_scheduler(lab):
    lab.add_certificate_user("scheduler", "/CN=system:kube-scheduler")
    lab.commands["kube-scheduler"] = [lab.program("kube-scheduler"), "--kubeconfig", lab.kubeconfig("scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1",
                                      f"--secure-port={free_ports(1)[0]}", "--authentication-skip-lookup=true"]
    lab.start("kube-scheduler")


def shadow(lab, suite):
    plan, explain, follow, parted, history, again = commands()
    lab.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    lab.create(node("n0"), node("n1"))
    lab.create(pod("later", cpu=3, scheduler="default-scheduler"))
    code, out, err = say(lab, plan)
    suite.true(f"{plan}: reads the cluster", code == 0 and out.startswith("Plan at "), out + err)
    code, out, err = say(lab, explain)
    suite.true(f"{explain}: says something of the pod", code == 0 and "default/later" in out, out + err)
    since = len(lab.audit())
    with open(lab.path("shadow.out"), "w+", encoding="utf-8") as screen:
        cede = subprocess.Popen(typed(lab, follow), cwd=lab.folder, stdout=screen, stderr=subprocess.DEVNULL)
        said = lambda: open(lab.path("shadow.out"), encoding="utf-8").read()  # noqa: E731
        lab.wait("a decision about the pod that waits", lambda: "default/later" in said(), 120)
        start_kube_scheduler(lab)
        lab.create(pod("first", cpu=3, scheduler="default-scheduler"))
        bound(lab, "later", "first", seconds=240)
        lab.send("kube-scheduler", signal.SIGSTOP)  # on an idle machine it may be done before anybody else has looked
        lab.create(pod("high", cpu=4, scheduler="default-scheduler", priority_class="high"))
        lab.wait("cede has seen that", lambda: "default/high" in said(), 120)
        lab.send("kube-scheduler", signal.SIGCONT)
        bound(lab, "high", seconds=240)
        cede.send_signal(signal.SIGINT)
        suite.equal(f"{follow}: Ctrl-C ends it", cede.wait(60), 0)
    suite.equal("nothing was written to the cluster", written(lab, since), [])
    code, out, err = say(lab, parted + " -o json")
    counts = json.loads(out or "{}")
    suite.true(f"{parted}: tells where they agree and part", code == 0 and counts.get("kind") == "ShadowHistory" and counts.get("same", 0) + counts.get("otherNode", 0) > 0, out + err)
    code, out, err = say(lab, history)
    suite.equal(f"{history}: can be read", (code, err), (0, ""))
    code, out, err = say(lab, again + " -o json")
    totals = json.loads(out or "{}").get("totals", {})
    suite.equal(f"{again}: the same pods arrive again", (code, totals.get("submitted")), (0, 3))


run(shadow)
