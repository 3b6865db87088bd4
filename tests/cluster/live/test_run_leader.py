#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CL_4: two replicas, one lease. A leader that is stopped past its lease and goes on writes nothing more; one that ends gives the lease up."""
import datetime
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import CEDE_USER, Daemon, bound, get  # noqa: E402


class Replica(Daemon):
    """As another user, so that the audit log tells who wrote."""

    def __init__(self, lab, user, identity):
        real = lab.kubeconfig
        lab.kubeconfig = lambda name="admin": real(user if name == "cede" else name)
        try:
            super().__init__(lab, "--identity", identity, "--profile", "kubernetes", lease="kube-system/cede", name=identity)
        finally:
            lab.kubeconfig = real


def holder(lab):
    lease = get(lab, "cede", ns="kube-system", kind="lease")
    return lease["spec"].get("holderIdentity", "") if lease else ""


def writes_of(lab, user, after):
    return [(a["verb"], a["requestURI"], a["responseStatus"]["code"]) for a in lab.audit()
            if a["user"]["username"] == user and a["verb"] not in ("get", "list", "watch") and a["requestReceivedTimestamp"] > after]


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def CL_4_one_leads(lab, suite):
    lab.create(*[node(f"n{i}", cpu=32) for i in range(4)])
    lab.first = Replica(lab, "cede", "first")
    lab.wait("first leads", lambda: holder(lab) == "first", 60)
    lab.second = Replica(lab, "admin", "second")
    lab.create(*[pod(f"a-{i}", cpu=1) for i in range(5)])
    bound(lab, *[f"a-{i}" for i in range(5)])
    binds = [a["user"]["username"] for a in lab.audit() if a.get("objectRef", {}).get("subresource") == "binding"]
    suite.equal("CL_4 the replica with the lease binds, and nobody else", set(binds), {CEDE_USER})


def CL_4_stopped(lab, suite):
    lab.create(*[pod(f"b-{i}", cpu=1) for i in range(20)])
    lab.first.process.send_signal(signal.SIGSTOP)
    lab.wait("second leads", lambda: holder(lab) == "second", 90)
    bound(lab, *[f"b-{i}" for i in range(20)], seconds=90)
    suite.true("CL_4 the other one takes over and goes on", True, "")
    since = now()
    lab.create(*[pod(f"c-{i}", cpu=1) for i in range(20)])
    lab.first.process.send_signal(signal.SIGCONT)
    bound(lab, *[f"c-{i}" for i in range(20)], seconds=90)
    time.sleep(5)
    suite.equal("CL_4 the one that was stopped writes nothing more", writes_of(lab, CEDE_USER, since), [])
    suite.true("CL_4 and stands by", "it stands by" in lab.first.said() or holder(lab) == "second", lab.first.said()[-2000:])
    once = {}
    for a in lab.audit():
        if a.get("objectRef", {}).get("subresource") == "binding" and a["responseStatus"]["code"] == 201:
            once[a["objectRef"]["name"]] = once.get(a["objectRef"]["name"], 0) + 1
    suite.true("CL_1 nobody was bound twice", set(once.values()) == {1} and len(once) == 45, str(once))


def CL_4_released(lab, suite):
    start = time.monotonic()
    suite.equal("SIGTERM: exit 0", lab.second.end(), 0)
    took = time.monotonic() - start
    suite.true("within ten seconds", took < 10, f"{took:.1f} s")
    lab.wait("first leads again", lambda: holder(lab) == "first", 60)
    suite.true("CL_4 the lease is given up, and the other leads again", True, "")
    lab.create(pod("d-0", cpu=1))
    suite.true("CL_4 and schedules", bound(lab, "d-0", seconds=60), "")
    suite.equal("SIGTERM: exit 0", lab.first.end(), 0)


def CL_4_lost_for_good(lab, suite):
    """Whoever loses the lease looks at everything anew, its settings too: without them it cannot stand by."""
    config = lab.path("settings.yaml")
    with open(config, "w", encoding="utf-8") as f:
        f.write("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n")
    third = Daemon(lab, "--identity", "third", "--config", config, lease="kube-system/cede", name="third")
    lab.wait("third leads", lambda: holder(lab) == "third", 60)
    with open(config, "w", encoding="utf-8") as f:
        f.write("profile: [")
    lease = get(lab, "cede", ns="kube-system", kind="lease")
    lease["spec"].update(holderIdentity="somebody", renewTime=now())
    lab.kubectl("replace", "-f", "-", stdin=json.dumps(lease))
    lab.wait("it ends", lambda: third.process.poll() is not None, 60)
    suite.equal("a lease that is lost while the settings cannot be read: exit 1", third.end(), 1)
    suite.true("and it says so", "it ends, because its settings cannot be read any more" in third.said() and "settings.yaml:2:1" in third.said(), third.said()[-2000:])


run(CL_4_one_leads, CL_4_stopped, CL_4_released, CL_4_lost_for_good)
