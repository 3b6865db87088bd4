#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes cede run on a cluster in which something happens: all numbers of the dashboard are there and say what happened."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, SOURCE, node, pod, run  # noqa: E402
from daemon import bound  # noqa: E402
from lab import free_ports  # noqa: E402
from storm import Scheduler  # noqa: E402
sys.path.insert(0, os.path.join(SOURCE, "tests", "packaging"))
from prometheus import Prometheus, ask, check, get, wait_for  # noqa: E402

QUEUES = """partitions:
- name: default
  queues:
  - name: root
    queues:
    - {name: a, resources: {guaranteed: {vcore: 4}}}
    - {name: b, resources: {max: {vcore: 100}}}
"""
IN_A, IN_B = ({"yunikorn.apache.org/queue": f"root.{q}", "yunikorn.apache.org/app-id": f"of-{q}"} for q in "ab")
# Numbers that must be what happened: b takes both nodes, a gets one back.
ROWS = [
    ("a used its guarantee", 'cede_queue_used{queue="root.a",resource="cpu"}', "4"),
    ("b lost one pod", 'sum(cede_victims_total{queue="root.b"})', "1"),
    ("by reclaim", 'sum(cede_victims_total{action="reclaim"})', "1"),
    ("it leads", "leader_election_master_status", "1"),
    ("it knows the cluster", "cede_synced", "1"),
    ("three pods were bound", 'cede_writes_total{kind="bind",result="ok"}', "3"),
]


def scraped(lab, suite):
    if not shutil.which("prometheus"):
        suite.skip("a Prometheus scrapes cede run", "there is none (make test-packages installs it)")
        return
    lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "kube-system"}, "data": {"queues.yaml": QUEUES}})
    lab.create(node("n0"), node("n1"))
    port = free_ports(1)[0]
    daemon = Scheduler(CEDE, lab, lab.kubeconfig("cede"), "--lease", "kube-system/cede", "--listen", f"127.0.0.1:{port}").start()
    try:
        with Prometheus(port) as its_port:
            suite.true("Prometheus is ready", its_port)
            suite.true("cede leads", wait_for(lambda: 'leader_election_master_status{name="cede"} 1' in get(port, "/metrics")), daemon.words())
            lab.create(pod("b-0", cpu=4, annotations=IN_B), pod("b-1", cpu=4, annotations=IN_B))
            bound(lab, "b-0", "b-1", seconds=120)
            # A delay of 30 seconds is usual before anything is reclaimed.
            lab.create(pod("a-0", cpu=4, annotations=IN_A))
            bound(lab, "a-0", seconds=240)
            # b-2 waits: b is guaranteed nothing, so a's pod is protected from it.
            lab.create(pod("b-2", cpu=4, annotations={**IN_B, "yunikorn.apache.org/app-id": "another"}))
            wait_for(lambda: "cede_protected_total{" in get(port, "/metrics"))
            check(its_port, get(port, "/metrics"), suite.report, is_daemon=True)
            for sentence, question, expected in ROWS:
                found = wait_for(lambda: [r["value"][1] for r in ask(its_port, "query", query=question)["result"]] == [expected], 30)
                suite.true(f"Prometheus says that {sentence}", found, f"{question}: {ask(its_port, 'query', query=question)['result']}")
    finally:
        daemon.end()


run(scraped)
