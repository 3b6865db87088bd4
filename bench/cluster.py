#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede and kube-scheduler in turn on the same kind of API server: pods a second, decision and write time apart, writes and memory per pod.

    bench/cluster.py CEDE [CASE...] [--only cede|kube-scheduler] [--out FILE]

Each run has a fresh etcd and kube-apiserver (tests/cluster/lab.py), without kubelets and controllers: pods that are bound stay as they are, and pods that are
deleted are gone. All pods that are to be measured wait before the scheduler starts, so that what is measured is the scheduler and the API server, and not who
makes the pods. The clock runs from the scheduler's first write to the last binding, both as the API server's audit log has them: a scheduler that first makes
all the room and then binds is not fast because its bindings come close together. Both schedulers may send as fast as they can. What the processors did for it
(scheduler, API server and etcd apart) is counted too: on a machine that others use, it says more than the clock.
"""
import argparse
import collections
import concurrent.futures
import datetime
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "cluster"))
from lab import Lab, Missing, node, pod  # noqa: E402

AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:kube-system:cede", "system:kube-scheduler"]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
"""
READY = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
CASES = {
    # name: nodes, pods there before (a node each in turn), their cpu, waiting pods, their cpu, class, size of a gang
    "SchedulingBasic/500": dict(nodes=500, there=500, there_cpu="100m", waiting=1000, cpu="100m"),
    "SchedulingBasic/5000": dict(nodes=5000, there=1000, there_cpu="100m", waiting=5000, cpu="100m"),
    "PreemptionBasic/1000": dict(nodes=1000, there=4000, there_cpu="900m", waiting=1000, cpu="3970m", cls="high"),
    "PreemptionBasic/5000": dict(nodes=5000, there=20000, there_cpu="900m", waiting=5000, cpu="3970m", cls="high"),
    "Gangs/100x10": dict(nodes=500, there=0, there_cpu="100m", waiting=1000, cpu="1", gang=10),
}
PATIENCE_S = int(os.environ.get("CEDE_BENCH_PATIENCE") or 600)


class Api:
    """Many requests at once, over connections that are kept."""

    def __init__(self, lab):
        self.lab, self.local, self.context = lab, threading.local(), lab.context()

    def ask(self, method, path, body=None):
        for attempt in range(5):
            try:
                if not getattr(self.local, "connection", None):
                    self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.lab.port, context=self.context, timeout=60)
                self.local.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
                answer = self.local.connection.getresponse()
                said = answer.read()
                if answer.status < 300 or answer.status == 409:
                    return json.loads(said)
                if answer.status not in (429, 500, 503, 504):
                    raise RuntimeError(f"{method} {path}: {answer.status} {said[:300]}")
            except (OSError, http.client.HTTPException):
                self.local.connection = None
            time.sleep(0.2 * (attempt + 1))
        raise RuntimeError(f"{method} {path}: no good answer")

    def create(self, path, objects):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda o: self.ask("POST", path, o), objects, chunksize=20):
                pass

    def follow(self, on_bound, is_over):
        """Calls on_bound(name, time) for every waiting pod that gets a node; a watch that ends is begun anew, with a list."""
        seen = set()

        def see(name, at):
            if name not in seen:
                seen.add(name)
                on_bound(name, at)

        while not is_over.is_set():
            there = self.ask("GET", "/api/v1/namespaces/default/pods?labelSelector=bench%3Dwaiting")
            for x in there["items"]:
                if x["spec"].get("nodeName"):
                    see(x["metadata"]["name"], time.monotonic())
            self.watch(there["metadata"]["resourceVersion"], see, is_over)

    def watch(self, version, see, is_over):
        connection = http.client.HTTPSConnection("127.0.0.1", self.lab.port, context=self.context, timeout=PATIENCE_S + 60)
        rest = b""
        try:
            connection.request("GET", f"/api/v1/namespaces/default/pods?watch=true&labelSelector=bench%3Dwaiting&resourceVersion={version}")
            answer = connection.getresponse()
            while not is_over.is_set() and (data := answer.read1(1 << 20)):
                at = time.monotonic()
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    match = re.search(rb'"name":"([^"]+)"', line)  # the first is the pod's own
                    if match and b'"nodeName":"' in line:
                        see(match[1].decode(), at)
        except (OSError, http.client.HTTPException):
            pass  # begun anew
        finally:
            connection.close()


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1]) * 1024


def processor_seconds(pid):
    """Of all its threads, so far; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def kube_scheduler(lab, port):
    lab.add_certificate_user("scheduler", "/CN=system:kube-scheduler")
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
              "clientConnection": {"kubeconfig": lab.kubeconfig("scheduler"), "qps": 5000, "burst": 5000}}
    with open(lab.path("scheduler.yaml"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    return [lab.program("kube-scheduler"), "--config", lab.path("scheduler.yaml"), "--bind-address=127.0.0.1", f"--secure-port={port}",
            "--authentication-skip-lookup=true", "--authorization-always-allow-paths=/metrics,/healthz,/livez,/readyz"]


def cede_run(program, lab, port):
    has_server = b"--listen" in subprocess.run([program, "run", "--help"], stdout=subprocess.PIPE, check=False).stdout
    return [program, "run", "--kubeconfig", lab.kubeconfig("cede"), "--lease", "none", "--profile", "kubernetes",
            *(["--listen", f"127.0.0.1:{port}"] if has_server else [])]


def read_metrics(lab, is_cede, port):
    """Sums of what the scheduler says of itself."""
    try:
        if is_cede:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        else:
            import ssl
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            c = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
        c.request("GET", "/metrics")
        text = c.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        return {}
    sums = {}
    for name, value in re.findall(r"^([a-z_]+_(?:sum|count))(?:\{[^}]*\})? ([0-9.e+-]+)$", text, re.M):
        sums[name] = sums.get(name, 0) + float(value)
    return sums


def waiting_pods(case, scheduler):
    for i in range(case["waiting"]):
        extra = {}
        if case.get("gang"):
            extra["annotations"] = {"cede.dev/gang": f"gang-{i // case['gang']}", "cede.dev/min-member": str(case["gang"])}
        yield pod(f"w-{i}", cpu=case["cpu"], scheduler=scheduler, priority_class=case.get("cls"), labels={"bench": "waiting"}, **extra)


def prepare(lab, case, scheduler):
    api = Api(lab)
    api.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    nodes = [node(f"n-{i}", cpu=4, memory="32Gi") for i in range(case["nodes"])]
    for n in nodes:
        n["status"]["conditions"] = READY
    api.create("/api/v1/nodes", nodes)
    api.create("/api/v1/namespaces/default/pods",
               (pod(f"t-{i}", cpu=case["there_cpu"], scheduler=scheduler, node_name=f"n-{i % case['nodes']}") for i in range(case["there"])))
    api.create("/api/v1/namespaces/default/pods", waiting_pods(case, scheduler))
    return api


def measure(program, name, is_cede, folder=None):
    case = CASES[name]
    who = "cede" if is_cede else "kube-scheduler"
    user = "system:serviceaccount:kube-system:cede" if is_cede else "system:kube-scheduler"
    with Lab(folder=folder, with_controllers=False, with_kwok=False, audit_policy=AUDIT) as lab:
        api = prepare(lab, case, "cede" if is_cede else "default-scheduler")
        times, is_over, all_bound = [], threading.Event(), threading.Event()

        def on_bound(_, at):
            times.append(at)
            if len(times) == case["waiting"]:
                all_bound.set()

        threading.Thread(target=api.follow, args=(on_bound, is_over), daemon=True).start()
        time.sleep(1)
        port = free_port()
        command = cede_run(program, lab, port) if is_cede else kube_scheduler(lab, port)
        with open(lab.path(who + ".log"), "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        began = time.monotonic()
        watched = {"scheduler": process.pid, **{name: lab.processes[name].pid for name in ("kube-apiserver", "etcd")}}
        before = {name: processor_seconds(pid) if name != "scheduler" else 0 for name, pid in watched.items()}
        try:
            while not all_bound.wait(1) and time.monotonic() - began < PATIENCE_S and process.poll() is None:
                pass
            spent = {name: round(processor_seconds(pid) - before[name], 2) for name, pid in watched.items()}
            rss = memory(process.pid) if process.poll() is None else 0
            sums = read_metrics(lab, is_cede, port)
        finally:
            is_over.set()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        time.sleep(0.5)
        writes = [e for e in lab.audit() if e.get("objectRef") and e["user"]["username"] == user and e["objectRef"].get("resource") != "leases"]
        return {**result(name, who, case, times, began, writes, rss, sums, is_cede), "processorSeconds": spent}


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def span_of(writes):
    """From the first write to the last binding."""
    bindings = [stamp(e["stageTimestamp"]) for e in writes if e["objectRef"].get("subresource") == "binding" and e["responseStatus"].get("code") == 201]
    return max(bindings) - min(stamp(e["requestReceivedTimestamp"]) for e in writes) if bindings else 0


def kind_of(e):
    o = e["objectRef"]
    return " ".join(filter(None, (e["verb"], o["resource"], o.get("subresource"), str(e["responseStatus"].get("code")))))


def result(name, who, case, times, began, writes, rss, sums, is_cede):
    span = span_of(writes)
    pods = case["there"] + case["waiting"]
    found = {"case": name, "scheduler": who, "nodes": case["nodes"], "waiting": case["waiting"], "bound": len(times), "finished": len(times) == case["waiting"],
             "seconds": round(span, 3), "secondsFromStart": round(times[-1] - began, 3) if times else None,
             "secondsFromFirstToLastBinding": round(times[-1] - times[0], 3) if times else None,
             "podsPerSecond": round(len(times) / span, 1) if span else None, "writesPerPod": round(len(writes) / max(len(times), 1), 2),
             "writes": dict(sorted(collections.Counter(map(kind_of, writes)).items())),
             "residentBytes": rss, "residentBytesPerPod": round(rss / pods)}
    algorithm = sums.get("scheduler_scheduling_algorithm_duration_seconds_sum")
    if algorithm is not None:
        found["decisionSeconds"] = round(algorithm, 3)
    requests = sums.get("rest_client_request_duration_seconds_sum" if not is_cede else "cede_write_duration_seconds_sum")
    if requests is not None:
        found["writeSeconds"] = round(requests, 3)
    return found


def table(results):
    print(f"{'CASE':22} {'SCHEDULER':15} {'BOUND':>6} {'PODS/S':>8} {'SECONDS':>8} {'DECIDING':>9} {'WRITES/POD':>10} {'RSS':>8} {'CPU':>8} {'SERVER':>8}")
    for r in results:
        print(f"{r['case']:22} {r['scheduler']:15} {r['bound']:>6} {r['podsPerSecond'] or '-':>8} {r['seconds']:>8} {r.get('decisionSeconds', '-'):>9} "
              f"{r['writesPerPod']:>10} {r['residentBytes'] >> 20:>6}Mi {r['processorSeconds']['scheduler']:>8} {r['processorSeconds']['kube-apiserver'] + r['processorSeconds']['etcd']:>8.2f}"
              f"{'' if r['finished'] else '  not finished'}", flush=True)


def keep(path, results):
    """In the place of what was measured of the same cases before; the others stay."""
    before = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            before = json.load(f)["results"]
    mine = {(r["case"], r["scheduler"]) for r in results}
    every = [r for r in before if (r["case"], r["scheduler"]) not in mine] + results
    every.sort(key=lambda r: (list(CASES).index(r["case"]), r["scheduler"]))
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"kind": "ClusterBenchmark", "processors": os.cpu_count(), "results": every}, f, indent=1)
        f.write("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cede")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--only", choices=("cede", "kube-scheduler"))
    parser.add_argument("--out")
    o = parser.parse_args()
    results = []
    try:
        for name in o.cases or CASES:
            for is_cede in (True, False):
                if not is_cede and CASES[name].get("gang"):
                    continue  # kube-scheduler has no gangs of pods without its own PodGroups
                if o.only and is_cede != (o.only == "cede"):
                    continue
                results.append(measure(os.path.abspath(o.cede), name, is_cede))
                table(results[-1:])
                if o.out:
                    keep(o.out, results)
    except Missing as why:
        print(f"bench-cluster: skipped: {why}")
        return 0
    print()
    table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
