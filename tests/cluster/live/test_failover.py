#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two replicas of cede run in a preemption storm: the leader is stopped past its lease and goes on, is killed, and ends; judged by the audit log.

The replicas have tokens of their own, by which the log tells them apart.
"""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, run  # noqa: E402
from judge import POLICY, Case, judge  # noqa: E402
from storm import Scheduler, Storm  # noqa: E402

USER = "system:serviceaccount:kube-system:cede"
LEASE = ("kube-system", "cede")
ROUNDS = int(os.environ.get("CEDE_STOPS") or 2)


def replica(lab, name):
    token = lab.path(name + ".token")
    with open(token, "w", encoding="utf-8") as f:
        f.write(lab.kubectl("create", "token", "cede", "-n", "kube-system", "--duration=24h"))
    lab.write_kubeconfig(name, {"tokenFile": token})
    return Scheduler(CEDE, lab, lab.kubeconfig(name), "--identity", name, log=name + ".log").start()


def holder(storm):
    return storm.api.must("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cede").get("spec", {}).get("holderIdentity")


def wait_other(lab, storm, than):
    return lab.wait("another leader", lambda: (h := holder(storm)) and h != than and h, 60)


def CL_4_stopped_past_the_lease(lab, suite):
    storm = Storm(lab)
    replicas = {name: replica(lab, name) for name in ("one", "two")}
    with storm:
        for i in range(ROUNDS):
            leader = wait_other(lab, storm, None)
            time.sleep(3)
            replicas[leader].process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            other = wait_other(lab, storm, leader)
            suite.true(f"CL_4 round {i + 1}: the other takes over when the lease is over, and not before", 10 < time.monotonic() - began < 40,
                       f"{time.monotonic() - began}")
            time.sleep(2)
            replicas[leader].process.send_signal(signal.SIGCONT)
            time.sleep(4)
            suite.equal(f"CL_4 round {i + 1}: who was stopped stands by", holder(storm), other)
        leader = holder(storm)
        replicas[leader].kill()
        other = wait_other(lab, storm, leader)
        replicas[leader].start()
        time.sleep(3)
        began = time.monotonic()
        code, took = replicas[other].end()
        suite.equal("SIGTERM: 0, within 10 s", (code, took < 10), (0, True))
        wait_other(lab, storm, other)
        suite.true("CL_4 a lease that is given back is taken at once", time.monotonic() - began < 12, f"{time.monotonic() - began}")
    waiting = storm.settle()
    suite.equal("CL_3 every pod that fits is bound in the end", waiting[:10], [])
    replicas[leader].end()
    found, counts = judge(lab.audit(), Case(USER, lease=LEASE, protected=storm.protected))
    suite.equal("CL_1 CL_2 CL_4 the audit log has nothing against them", "\n".join(found[:20]), "")
    suite.true(f"there was something to judge: {counts}", counts.get("binds", 0) > 50 and counts.get("deletes", 0) > 10, str(counts))


run(CL_4_stopped_past_the_lease, audit_policy=POLICY)
