#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SI-5: the journal of cede run, continued by cede simulate: what arrived, ran and went while a daemon decided, under its settings and under others."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, SOURCE, node, pod, run  # noqa: E402
from daemon import Daemon, bound, clear, get, priority  # noqa: E402

LOW_STAYS = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: yunikorn\n"


def cede(*args):
    return subprocess.run([CEDE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def simulate(path, *options):
    done = cede("simulate", "--trace", path, "--format", "journal", "--until", "1h", "-o", "json", *options)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def guaranteed(a, b):
    text = f"""partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {{name: a, resources: {{guaranteed: {{vcore: {a}}}}}}}
    - {{name: b, resources: {{guaranteed: {{vcore: {b}}}}}}}
"""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "kube-system"}, "data": {"queues.yaml": text}}


def queued(name, queue, cpu):
    return pod(name, cpu=cpu, labels={"queue": f"root.{queue}", "applicationId": f"app-{queue}"})


def gone(lab, name):
    lab.wait(f"{name} gone", lambda: not get(lab, name), 40)


def continued(lab, suite):
    path, other = lab.path("journal.db"), lab.path("other.yaml")
    with open(other, "w", encoding="utf-8") as f:
        f.write(LOW_STAYS)
    lab.create(priority("low", 10), priority("high", 1000), node("n0"))
    with Daemon(lab, "--profile", "kubernetes", "--journal", path, "--journal-cluster", "3s") as d:
        time.sleep(2)  # the first cluster is kept: a node, and nobody on it
        lab.create(pod("low", cpu=4, priority_class="low"))
        bound(lab, "low")
        time.sleep(4)  # it is in the next
        lab.create(pod("high", cpu=4, priority_class="high"))
        bound(lab, "high")
        lab.kubectl("delete", "pod", "high", "--grace-period=0", "--force")
        gone(lab, "high")
        lab.create(pod("last", cpu=1, priority_class="low"))
        bound(lab, "last")
        suite.equal("SIGTERM: exit 0", d.end(), 0)
    found = simulate(path)
    totals = found.get("totals", {})
    suite.equal("SI_5 a daemon's journal is continued: who came, who had to go, also who came and went between two clusters, and who came just before the end",
                [found.get("profile")] + [totals.get(k) for k in ("submitted", "evictions")], ["kubernetes", 3, 1])
    found = simulate(path, "--config", other)
    suite.equal("SI_5 and under other settings: YuniKorn takes nothing inside a queue", (found.get("profile"), found.get("totals", {}).get("evictions")), ("yunikorn", 0))
    found = simulate(path, "--now", "2099-01-01T00:00:00Z")
    suite.equal("with --now of later it goes on from the last cluster: one pod runs, and nobody comes", [found.get("totals", {}).get(k) for k in ("submitted", "running")], [1, 1])
    found = cede("simulate", "--trace", path, "--format", "journal", "--now", "2020-01-01T00:00:00Z")
    suite.true("there is none before the first", found.returncode == 2 and "none of its clusters is of 2020-01-01T00:00:00Z or before" in found.stderr, found.stderr)
    shown, state = cede("journal", "show", path), cede("journal", "show", path, "--state")
    suite.true("journal show: the last decisions, and the last cluster", "default/last" in shown.stdout and '"name":"last"' in state.stdout, shown.stdout + state.stdout)
    check, replay, history = cede("journal", "check", path), cede("replay", path), cede("history", path, "-o", "json")
    suite.true("the journal is whole", check.returncode == 0, check.stdout + check.stderr)
    suite.true("replay passes a daemon's runs over, and says so", replay.returncode == 0 and "of a daemon" in replay.stderr, replay.stdout + replay.stderr)
    suite.equal("history has each eviction once", [(r["pod"], r["state"]) for r in json.loads(history.stdout)["evictions"]], [("default/low", "observed")])
    clear(lab)


def killed(lab, suite):
    path, none = lab.path("killed.db"), lab.path("none.db")
    lab.create(pod("early", cpu=1, priority_class="low"))
    with Daemon(lab, "--profile", "kubernetes", "--journal", path) as d:
        bound(lab, "early")
        time.sleep(2)
        lab.create(pod("late", cpu=1, priority_class="low"))
        bound(lab, "late")
        time.sleep(1)
        d.end(signal.SIGKILL)
    found = cede("simulate", "--trace", path, "--format", "journal", "--until", "1h")
    suite.true("after a kill it goes on from the cluster that was kept, and says who is missing",
               found.returncode == 0 and "left out: 1 pods that were decided upon and are in no cluster" in found.stdout, found.stdout + found.stderr)
    with Daemon(lab, "--profile", "kubernetes", "--journal", none, "--journal-cluster", "none") as d:
        lab.create(pod("later", cpu=1, priority_class="low"))
        bound(lab, "later")
        d.end()
    found = cede("simulate", "--trace", none, "--format", "journal")
    suite.true("a journal without clusters is told", found.returncode == 2 and "runs kept its cluster" in found.stderr, found.stderr)
    clear(lab)


def queues(lab, suite):
    path = lab.path("queues.db")
    lab.apply(guaranteed(1, 3))
    with Daemon(lab, "--journal", path) as d:
        lab.create(queued("b-0", "b", 4))
        bound(lab, "b-0")
        time.sleep(1)
        lab.apply(guaranteed(4, 0))  # the next cluster is kept with these
        lab.wait("new settings", lambda: "new settings are in force" in d.said())
        time.sleep(3)
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lab.create(queued("a-0", "a", 4))
        bound(lab, "a-0")
        suite.equal("SIGTERM: exit 0", d.end(), 0)
    first, then = simulate(path), simulate(path, "--now", at)
    suite.equal("SI_5 queues change when a later cluster shows it: a gets what it is guaranteed by then", [first.get("profile")] + [first.get("totals", {}).get(k) for k in ("submitted", "evictions")],
                ["default", 2, 1])
    suite.equal("SI_5 from the cluster with the new settings on, a gets what it is guaranteed", [then.get("totals", {}).get(k) for k in ("submitted", "evictions")], [2, 1])
    clear(lab)


def kai_queue(name, cpu, parent=None):
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"resources": {"gpu": free, "memory": free, "cpu": {**free, "quota": cpu * 1000}}, **({"parentQueue": parent} if parent else {})}}


def gang(name, queue, members, cpu):
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": "default"}, "spec": {"queue": queue, "minMember": members}}
    return [group] + [pod(f"{name}-{i}", cpu=cpu, annotations={"pod-group-name": name}) for i in range(members)]


def gangs(lab, suite):
    path = lab.path("kai.db")
    lab.kubectl("apply", "-k", os.path.join(SOURCE, "packaging", "kubernetes", "crds"))
    for name in ("queues.scheduling.run.ai", "podgroups.scheduling.run.ai"):
        lab.kubectl("wait", "--for=condition=Established", "crd", name, "--timeout=60s")
    lab.create(node("n1"), kai_queue("top", 8), kai_queue("a", 4, "top"), kai_queue("b", 4, "top"))
    with Daemon(lab, "--profile", "kai", "--journal", path) as d:
        time.sleep(2)
        lab.create(*gang("train", "b", 3, 2))
        bound(lab, "train-0", "train-1", "train-2")
        time.sleep(1)
        lab.create(*gang("serve", "a", 1, 4))
        bound(lab, "serve-0")
        suite.equal("SIGTERM: exit 0", d.end(), 0)
    found = simulate(path)
    suite.equal("SI_5 gangs that came later arrive as gangs, in their queues: the one over its share goes as a whole", [found.get("profile")] + [found.get("totals", {}).get(k) for k in ("submitted", "evictions")],
                ["kai", 4, 3])


run(continued, killed, queues, gangs)
