# SPDX-License-Identifier: Apache-2.0
"""A preemption storm: pods of high priority come and go in a full cluster, and low ones take the room again; for as long as the block.

    with Storm(lab, nodes=20) as storm:
        ...                      # make trouble for the scheduler
    storm.settle()               # the trouble is over: everything that fits has to be bound
"""
import http.client
import json
import random
import subprocess
import threading
import time

from lab import die_with_parent, node, pod

CLASSES = {"storm-low": 10, "storm-high": 1000, "storm-vip": 100000}


class Api:
    """Requests of an administrator, one after the other, whatever thread they come from."""

    def __init__(self, lab):
        self.lab, self.connection, self.lock = lab, None, threading.Lock()

    def ask(self, method, path, body=None):
        """The status and what was answered; None where the server is not there."""
        with self.lock:
            try:
                if not self.connection:
                    self.connection = http.client.HTTPSConnection("127.0.0.1", self.lab.port, context=self.lab.context(), timeout=30)
                self.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                return answer.status, json.loads(answer.read() or b"{}")
            except (OSError, http.client.HTTPException, ValueError):
                self.connection = None
                return None, {}

    def must(self, method, path, body=None, good=(200, 201, 404, 409), seconds=120):
        end = time.monotonic() + seconds
        while True:
            status, answer = self.ask(method, path, body)
            if status in good:
                return answer
            if time.monotonic() > end:
                raise RuntimeError(f"{method} {path}: {status} {answer}")
            time.sleep(0.2)

    def pods(self, ns="default"):
        return self.must("GET", f"/api/v1/namespaces/{ns}/pods", good=(200,))["items"]


class Storm:
    def __init__(self, lab, nodes=20, seed=7, pace=0.15, prefix="s", **pod_fields):
        self.lab, self.n, self.pace, self.prefix, self.pod_fields = lab, nodes, pace, prefix, pod_fields
        self.rng = random.Random(seed)
        self.api = Api(lab)
        self.number = 0
        self.protected = set()

    def make(self, kind, cpu, priority_class, **more):
        self.number += 1
        name = f"{self.prefix}-{kind}-{self.number}"
        body = pod(name, cpu=cpu, priority_class=priority_class, labels={"storm": kind}, **self.pod_fields, **more)
        return self.api.must("POST", "/api/v1/namespaces/default/pods", body)

    def names(self, kind):
        return [p["metadata"]["name"] for p in self.api.pods() if p["metadata"]["labels"].get("storm") == kind]

    def delete(self, name):
        self.api.must("DELETE", f"/api/v1/namespaces/default/pods/{name}", {"gracePeriodSeconds": 0})

    def prepare(self):
        for name, value in CLASSES.items():
            self.api.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                          {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        for i in range(self.n):
            self.api.must("POST", "/api/v1/nodes", node(f"{self.prefix}{i}", cpu=4))
        # Who must never go: one that is more important than everybody, and one that a budget holds.
        for i in range(3):
            self.protected.add(self.make("vip", "1", "storm-vip", node_name=f"{self.prefix}{i}")["metadata"]["uid"])
        for i in range(3, 6):
            self.protected.add(self.make("budget", "1", "storm-low", node_name=f"{self.prefix}{i}")["metadata"]["uid"])
        self.api.must("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                      {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "storm"},
                       "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"storm": "budget"}}}})
        self.lab.wait("the budget's status", lambda: self.api.must(
            "GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/storm", good=(200,)).get("status", {}).get("currentHealthy") == 3)

    def turn(self):
        low, high = self.names("low"), self.names("high")
        for _ in range(min(4 * self.n - len(low), 12)):
            self.make("low", "900m", "storm-low")
        if len(high) < self.n // 2:
            self.make("high", self.rng.choice(["2", "3", "3500m"]), "storm-high")
        else:
            for name in self.rng.sample(high, len(high) // 2):
                self.delete(name)

    def rage(self):
        while not self.is_over.wait(self.pace):
            try:
                self.turn()
            except Exception as why:  # told by whoever ends the storm
                self.trouble = why
                return

    def __enter__(self):
        if not self.protected:
            self.prepare()
        self.is_over, self.trouble = threading.Event(), None
        self.thread = threading.Thread(target=self.rage, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        if self.trouble:
            raise self.trouble

    def settle(self, seconds=120):
        """Makes room for everybody who is left, and waits until nobody waits: those who do not get a place in time."""
        for name in self.names("high"):
            self.delete(name)
        low = self.names("low")
        for name in low[2 * self.n:]:
            self.delete(name)
        end = time.monotonic() + seconds
        while True:
            waiting = [p["metadata"]["name"] for p in self.api.pods() if not p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp")]
            if not waiting or time.monotonic() > end:
                return waiting
            time.sleep(0.3)


class Scheduler:
    """cede run, to be killed."""

    def __init__(self, program, lab, kubeconfig, *options, log="run.log"):
        quiet = () if "--listen" in options else ("--listen", "none")
        self.command = [program, "run", "--kubeconfig", kubeconfig, *quiet, *options]
        self.lab, self.log = lab, lab.path(log)
        self.process, self.env = None, None
        self.n_starts = 0

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env, preexec_fn=die_with_parent)
        self.n_starts += 1
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def end(self):
        """By SIGTERM; how it ended and how long that took."""
        began = time.monotonic()
        self.process.terminate()
        code = self.process.wait(60)
        return code, time.monotonic() - began

    def words(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()
