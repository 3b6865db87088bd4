#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run in a preemption storm while everything goes wrong, judged by the API server's audit log alone: kill -9 at random and at every kind of write,
a proxy that cuts, delays, lies and hangs, restarts of the API server and of etcd.

CEDE_KILLS says how many kills (200), CEDE_FAULT_SECONDS how long the proxy makes trouble (60).
"""
import os
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, run  # noqa: E402
from fault_proxy import ALL, FaultProxy  # noqa: E402
from judge import POLICY, Case, judge  # noqa: E402
from storm import Scheduler, Storm  # noqa: E402

KILLS = int(os.environ.get("CEDE_KILLS") or 200)
SECONDS = int(os.environ.get("CEDE_FAULT_SECONDS") or 60)
SEED = int(os.environ.get("CEDE_SEED") or 7)
USER = "system:serviceaccount:kube-system:cede"
ALONE = ("--lease", "none")


def verdict(lab, suite, name, storm, scheduler):
    """After the trouble: everybody who fits is bound, and the log has nothing against it."""
    waiting = storm.settle()
    suite.equal(f"CL_3 {name}: every pod that fits is bound in the end", waiting[:10], [])
    code, took = scheduler.end()
    suite.equal(f"{name}: SIGTERM ends it with 0 within 10 s", (code, took < 10), (0, True))
    found, counts = judge(lab.audit(), Case(USER, protected=storm.protected))
    suite.equal(f"CL_1 CL_2 {name}: the audit log has nothing against it", "\n".join(found[:20]), "")
    suite.true(f"{name}: there was something to judge: {counts}", counts.get("binds", 0) > 50 and counts.get("deletes", 0) > 10, str(counts))


def new_storm(lab):
    if not hasattr(lab, "storm"):
        lab.storm = Storm(lab)
    return lab.storm


def killed_at_random(lab, suite):
    rng, storm = random.Random(SEED), new_storm(lab)
    scheduler = Scheduler(CEDE, lab, lab.kubeconfig("cede"), *ALONE).start()
    with storm:
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.2, 1.8))
            if scheduler.process.poll() is not None:
                suite.true("it does not end by itself", False, scheduler.words()[-3000:])
                break
            scheduler.restart()
    verdict(lab, suite, f"killed {scheduler.n_starts - 1} times at random", storm, scheduler)


def killed_at_writes(lab, suite):
    """Right before a write reaches the server, and after it was carried out but before the answer comes back."""
    storm, rounds = new_storm(lab), []
    with FaultProxy(lab) as proxy:
        scheduler = Scheduler(CEDE, lab, proxy.kubeconfig("cede"), *ALONE).start()
        with storm:
            for kind in ("bind", "condition", "delete", "status", "event"):
                for when in ("before", "after"):
                    for nth in (1, 4, 9):
                        rounds.append((kind, when, nth, kill_at(proxy, scheduler, kind, when, nth)))
        proxy.calm()
        missed = [r[:3] for r in rounds if not r[3]]
        suite.equal("every kind of write was there to be killed at", missed, [])
        verdict(lab, suite, f"killed at {len(rounds)} writes", storm, scheduler)


def kill_at(proxy, scheduler, kind, when, nth, seconds=180):
    """Kills it at the nth write of this kind and starts it again; False: there was none."""
    hit, seen = threading.Event(), []

    def see(what, moment):
        if (what, moment) == (kind, when) and not hit.is_set():
            seen.append(1)
            if len(seen) == nth:
                scheduler.kill()
                hit.set()

    proxy.on_write = see
    happened = hit.wait(seconds)
    proxy.on_write = None
    if happened:
        scheduler.start()
    return happened


def lied_to(lab, suite):
    storm = new_storm(lab)
    faults = {"delay": 0.05, "409": 0.03, "410": 0.05, "429": 0.03, "500": 0.03, "503": 0.03, "garbage": 0.02, "half": 0.02, "hang": 0.01, "cut": 0.03, "watch": 0.3}
    with FaultProxy(lab, faults, seed=SEED) as proxy:
        scheduler = Scheduler(CEDE, lab, proxy.kubeconfig("cede"), *ALONE).start()
        with storm:
            time.sleep(SECONDS)
        suite.true("it has not ended", scheduler.process.poll() is None, scheduler.words()[-3000:])
        suite.equal("CL_6 every kind of trouble was made", sorted(set(ALL) - {fault for _, fault in proxy.counts}), [])
        proxy.calm()
        verdict(lab, suite, f"lied to for {SECONDS} s", storm, scheduler)


def server_restarts(lab, suite):
    storm = new_storm(lab)
    scheduler = Scheduler(CEDE, lab, lab.kubeconfig("cede"), *ALONE).start()
    with storm:
        for name in ("kube-apiserver", "etcd", "kube-apiserver", "etcd"):
            time.sleep(4)
            lab.restart(name)
        time.sleep(4)
    suite.true("it has not ended", scheduler.process.poll() is None, scheduler.words()[-3000:])
    verdict(lab, suite, "two restarts of the API server and two of etcd", storm, scheduler)


# A clock on the wall that somebody sets: the number of seconds in a file is added to it.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	char buf[32] = "";
	int rc, fd;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(id, t);
	if (id == CLOCK_REALTIME && (fd = open(getenv("CLOCK_FILE"), O_RDONLY | O_CLOEXEC)) >= 0) {
		if (read(fd, buf, sizeof(buf) - 1) > 0)
			t->tv_sec += atoll(buf);
		close(fd);
	}
	return rc;
}
"""


def clock_jumps(lab, suite):
    """The clock of its machine goes an hour forth and back, and a day back, while it works."""
    with open(lab.path("clock.c"), "w", encoding="utf-8") as f:
        f.write(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", lab.path("clock.so"), lab.path("clock.c"), "-ldl"], check=True)
    storm = new_storm(lab)
    scheduler = Scheduler(CEDE, lab, lab.kubeconfig("cede"), *ALONE)
    scheduler.env = {**os.environ, "LD_PRELOAD": lab.path("clock.so"), "CLOCK_FILE": lab.path("clock")}
    scheduler.start()
    with storm:
        for offset in (0, 3600, 0, -3600, -86400, 60, 0):
            with open(lab.path("clock.new"), "w", encoding="utf-8") as f:
                f.write(str(offset))
            os.rename(lab.path("clock.new"), lab.path("clock"))
            time.sleep(4)
    suite.true("it has not ended", scheduler.process.poll() is None, scheduler.words()[-3000:])
    verdict(lab, suite, "the clock was set six times", storm, scheduler)


run(killed_at_random, killed_at_writes, lied_to, server_restarts, clock_jumps, audit_policy=POLICY)
