#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan, explain, show and lint from a running cluster: the same answers as from files, and clear words when it cannot be read."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from api_server import ApiServer, status  # noqa: E402
from harness import CEDE, NOW, SOURCE, Folder, Suite, cede, environment  # noqa: E402

EXAMPLE = os.path.join(SOURCE, "examples", "gpu-cluster")
suite = Suite()


def example():
    """The example cluster as the server has it: queues as the ConfigMap they are in a cluster."""
    shown = cede("show", "--manifests", "-o", "json", "-q", "-f", EXAMPLE, *NOW)
    objects = json.loads(shown.out)["items"]
    for o in objects:
        if o["kind"] == "ConfigMap":
            o["metadata"]["namespace"] = "kube-system"
    return objects


def same_answers(objects):
    with ApiServer(objects) as server, Folder({"all.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})}) as files:
        for command in (["plan"], ["plan", "-o", "json"], ["show"], ["lint"], ["explain", "vision/notebook-ann"], ["config", "print", "-o", "json"]):
            now = [] if command[0] == "config" else NOW
            live = cede(*command, "--kubeconfig", server.kubeconfig(), *now)
            file = cede(*command, "-f", files, *now)
            if command[0] == "config":
                suite.equal("config print: same settings", [live.code, len(live.out) > 0], [file.code, len(file.out) > 0])
            else:
                suite.equal(" ".join(command) + ": the same from a cluster as from files", [live.code, live.out], [file.code, file.out])
        suite.true("pages are asked for one after the other", any("continue=" not in p and "limit=500" in p for _, p, _ in server.asked))
        suite.equal("CL_10 nothing but GET is said", {m for m, _, _ in server.asked}, {"GET"})
        suite.true("who asks is said", all(h.get("Authorization") == "Bearer hush-hush" for _, _, h in server.asked))


def many_pages():
    objects = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"},
                "status": {"allocatable": {"cpu": "1", "pods": "1"}, "conditions": [{"type": "Ready", "status": "True"}]}} for i in range(1203)]
    with ApiServer(objects) as server:
        live = cede("show", "-o", "json", "-q", "--kubeconfig", server.kubeconfig(), *NOW)
        suite.equal("1203 nodes come in three pages", len(json.loads(live.out)["nodes"]), 1203)
        suite.equal("and nobody asks for a fourth", sum("/nodes?" in p for _, p, _ in server.asked), 3)


def odd_servers(objects):
    def fails(name, prepare, *words, code=2, **options):
        with ApiServer(objects, **options) as server:
            path = prepare(server) or server.kubeconfig()
            live = cede("plan", "--kubeconfig", path, *NOW)
            good = live.code == code and all(w in live.err for w in words) and "hush" not in live.err + live.out
            suite.true(name, good, f"exit {live.code}\n{live.err}")

    def answers(path, *said):
        return lambda server: server.answers.update({path: list(said)})

    fails("no server at all", lambda s: s.kubeconfig(server="http://127.0.0.1:9"), "GET http://127.0.0.1:9/", "connect")
    fails("pods may not be listed", answers("/api/v1/pods", (403, status(403, "pods is forbidden: nobody may"))), "pods is forbidden: nobody may")
    fails("jobs may not be listed: a note", answers("/apis/batch/v1/jobs", (403, status(403, "jobs is forbidden"))), "note: jobs not read",
          "jobs is forbidden", code=0)
    fails("a list that is none", answers("/api/v1/nodes", (200, b'{"kind":"Status"}')), "/api/v1/nodes?limit=500: expected a list")
    fails("half a JSON", answers("/api/v1/nodes", (200, b'{"kind":"NodeList","items":[{')), "/api/v1/nodes?limit=500:1:")
    fails("garbage", answers("/api/v1/nodes", (200, b"<html>")), "/api/v1/nodes?limit=500:1:1")
    fails("a busy server is asked again", answers("/api/v1/nodes", (429, b"{}", {"Retry-After": "0"}), (500, b"{}"), (503, b"{}")), code=0)
    fails("a list that changes too fast", lambda s: s.answers.update({"/api/v1/nodes": [
        (200, b'{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"x"},"items":[]}'), (410, status(410, "too old"))]}), "try again")
    fails("a token that the server does not take", answers("/apis/scheduling.k8s.io/v1/priorityclasses", *[(401, status(401, "Unauthorized"))] * 9),
          "401", "Unauthorized")
    fails("without KAI's kinds", lambda s: None, code=0, with_kai=False)
    fails("a context that is not there", lambda s: s.kubeconfig() + "x", "No such file")


def tls(objects):
    if not shutil.which("openssl"):
        suite.skip("TLS", "openssl is not installed")
        return
    with ApiServer(objects, with_tls=True) as server:
        ca = os.path.join(server.folder, "s.crt")

        def plan(name, code, words, **cluster):
            live = cede("plan", "--kubeconfig", server.kubeconfig(**cluster), *NOW)
            suite.true(name, live.code == code and words in live.err and "hush" not in live.err, f"exit {live.code}\n{live.err}")

        plan("a server nobody vouches for is not spoken to", 2, "SSL")
        plan("a certificate for another name is not taken", 2, "127.0.0.1", **{"certificate-authority": ca})
        plan("tls-server-name is the name that counts", 0, "", **{"certificate-authority": ca, "tls-server-name": "api.test"})
        plan("insecure-skip-tls-verify asks for nothing", 0, "", **{"insecure-skip-tls-verify": True})
        asked = server.asked[-1][2]
        suite.equal("the host that is asked is the server's own", asked["Host"], server.url.removeprefix("https://"))


def options(objects):
    none = cede("plan", env=environment(HOME="/nonexistent", KUBECONFIG=""))
    suite.true("without anything to read both ways are told", none.code == 2 and "-f FILE" in none.err and "--kubeconfig FILE" in none.err, none.err)
    lost = cede("plan", "--context", "prod", env=environment(HOME="/nonexistent", KUBECONFIG=""))
    suite.true("--context alone looks where kubectl looks", lost.code == 2 and "$KUBECONFIG" in lost.err, lost.err)
    with ApiServer(objects) as server:
        found = cede("plan", "--context", "c", *NOW, env=environment(KUBECONFIG=server.kubeconfig()))
        suite.equal("$KUBECONFIG is read", found.code, 0)
        both = cede("plan", "--kubeconfig", server.kubeconfig(), "-f", EXAMPLE, *NOW)
        suite.true("an object that is there and in a file is told with both places", both.code == 2 and "already defined at /api" in both.err, both.err)


def dry_run(objects):
    suite.golden("cede run --help", "help-run.txt", cede("run", "--help").out)
    for args, words in ((["--lease", "here"], "neither NAMESPACE/NAME nor none"), (["--shadow", ","], "which scheduler's pods?"), (["now"], "is not an option"),
                        (["--journal", "j", "--journal-cluster", "often"], "--journal-cluster: expected a duration of at least a second such as 1h, or none, found 'often'"),
                        (["--journal", "j", "--journal-cluster", "1ms"], "found '1ms'"), (["--journal", "j", "--journal-keep", "much"], "--journal-keep: expected an age such as 30d"),
                        (["--journal-cluster", "1h"], "of which journal? --journal FILE is missing")):
        bare = cede("run", *args)
        suite.true(f"cede run {' '.join(args)} is refused, and says why", bare.code == 2 and words in bare.err, bare.err)
    lost = cede("run", "--dry-run", env=environment(HOME="/nonexistent", KUBECONFIG="", KUBERNETES_SERVICE_HOST=""))
    suite.true("without a cluster it is told where one was looked for", lost.code == 2 and "$KUBECONFIG" in lost.err, lost.err)
    with ApiServer(objects) as server, Folder({"bad.yaml": "kind: CedeConfiguration\nprofil: x\n"}) as folder:
        bad = cede("run", "--dry-run", "--kubeconfig", server.kubeconfig(), "--config", os.path.join(folder, "bad.yaml"))
        suite.true("settings that are wrong are told before anything begins", bad.code == 2 and "bad.yaml:" in bad.err, bad.err)
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
            run = subprocess.Popen([CEDE, "run", "--listen", "none", "--shadow", "default-scheduler", "--log", "json", "--kubeconfig", server.kubeconfig()], stdout=subprocess.PIPE,
                                   stderr=log, env=environment(), text=True)
            first = json.loads(run.stdout.readline())
            run.terminate()
            run.communicate(timeout=20)
            log.seek(0)
            err = log.read()
        suite.true("a server that knows no watches is listed, and its pods are decided", "outcome" in first and "pod" in first, str(first))
        suite.true("SIGTERM: exit 0, and no secret on the way", run.returncode == 0 and "hush" not in err, f"{run.returncode}\n{err}")
        suite.equal("CL_10 nothing but GET is said by a dry run", {m for m, _, _ in server.asked}, {"GET"})


class Running:
    """cede run --dry-run, and what it says to standard error."""
    def __init__(self, server, folder, *args):
        self.path = os.path.join(folder, "log")
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([CEDE, "run", "--dry-run", "-v", "--listen", "none", "--kubeconfig", server.kubeconfig(), *args], stdout=subprocess.DEVNULL, stderr=log, env=environment())

    def said(self):
        with open(self.path, encoding="utf-8") as log:
            return log.read()

    def waits_for(self, words, seconds=60):
        end = time.monotonic() + seconds
        while words not in self.said() and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.05)
        return words in self.said()

    def end(self):
        self.process.terminate()
        return self.process.wait(20)


def self_check_after_a_refusal(objects):
    """SIGUSR1 where what is there now was refused: the cluster is compared with the settings that are in force."""
    known = "self check: the cluster is known as it is"

    def checks(name, running, spoil):
        suite.true(f"CL_7 {name}: settings are in force", running.waits_for("new settings are in force"), running.said())
        spoil()
        suite.true(f"CL_7 {name}: a mistake is refused", running.waits_for("settings refused, those before stay in force"), running.said())
        running.process.send_signal(signal.SIGUSR1)
        suite.true(f"CL_6 {name}: the self check is made all the same", running.waits_for(known, 15), running.said())
        suite.equal(f"{name}: SIGTERM: exit 0", running.end(), 0)

    queues = next(o for o in objects if o["kind"] == "ConfigMap")
    with ApiServer(objects, with_watches=True) as server, Folder({}) as folder:
        def spoil():
            meta = {**queues["metadata"], "resourceVersion": "78", "uid": "u-" + queues["metadata"]["name"]}
            server.news[meta["name"]] = {**queues, "metadata": meta, "data": {"queues.yaml": "partitions: 7"}}
        checks("ConfigMap", Running(server, folder), spoil)
    objects = [o for o in objects if o is not queues]
    with ApiServer(objects, with_watches=True) as server, Folder({"conf/queues.yaml": queues["data"]["queues.yaml"]}) as folder:
        running, config = Running(server, folder, "--config", os.path.join(folder, "conf")), os.path.join(folder, "conf", "queues.yaml")

        def spoil():
            with open(config, "w", encoding="utf-8") as f:
                f.write("partitions: 7")
            running.process.send_signal(signal.SIGHUP)
        while not server.asked and running.process.poll() is None:  # signals are caught before anything is asked
            time.sleep(0.05)
        running.process.send_signal(signal.SIGHUP)
        checks("files", running, spoil)


def self_check_while_a_group_starts(objects):
    """Another scheduler stamps a group while the self check lists: for both that is not of the future."""
    path = "/apis/scheduling.run.ai/v2alpha2/podgroups"
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
             "metadata": {"name": "starts", "namespace": "vision", "uid": "u-starts"}, "spec": {"minMember": 1}}
    objects = [*objects, group]
    with ApiServer(objects, with_watches=True) as server, Folder({}) as folder:
        running = Running(server, folder)
        suite.true("a group that starts: everything is listed", running.waits_for("everything is listed"), running.said())
        server.pauses[path] = 3
        running.process.send_signal(signal.SIGUSR1)
        time.sleep(1.2)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        started = {**group, "metadata": {**group["metadata"], "resourceVersion": "78", "annotations": {"kai.scheduler/last-start-timestamp": stamp}}}
        server.objects[server.objects.index(group)] = server.news[path] = started
        suite.true("CL_6 a group that starts during the self check is known as it is", running.waits_for("self check: the cluster is known as it is", 20),
                   running.said())
        suite.equal("a group that starts: SIGTERM: exit 0", running.end(), 0)


def main():
    objects = example()
    same_answers(objects)
    many_pages()
    odd_servers(objects)
    tls(objects)
    options(objects)
    dry_run(objects)
    self_check_after_a_refusal(objects)
    self_check_while_a_group_starts(objects)
    suite.end()


main()
