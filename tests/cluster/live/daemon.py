# SPDX-License-Identifier: Apache-2.0
"""cede run as a process of a live test, and questions to the cluster it schedules."""
import datetime
import json
import signal
import subprocess
import time

from common import CEDE
from lab import die_with_parent

CEDE_USER = "system:serviceaccount:kube-system:cede"


class Daemon:
    """with Daemon(lab, "--profile", "kubernetes") as d: ..."""

    def __init__(self, lab, *options, lease="none", name="run"):
        self.lab, self.log = lab, lab.path(name + ".log")
        self.out = open(self.log, "ab")
        self.process = subprocess.Popen([CEDE, "run", "--listen", "none", "--kubeconfig", lab.kubeconfig("cede"), "--lease", lease, "-v", *options],
                                        stdout=self.out, stderr=self.out, preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)

    def end(self, how=signal.SIGTERM, patience=15):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(how)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.out.close()
        return self.process.returncode

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()


def get(lab, name, ns="default", kind="pod"):
    """The object, or None."""
    found = lab.kubectl("get", kind, name, "-n", ns, "-o", "json", "--ignore-not-found")
    return json.loads(found) if found.strip() else None


def node_of(lab, name, ns="default"):
    found = get(lab, name, ns)
    return found["spec"].get("nodeName") if found else None


def condition(lab, name, kind="PodScheduled", ns="default"):
    for c in (get(lab, name, ns) or {}).get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c
    return None


def events(lab, name, reason=None, ns="default"):
    found = json.loads(lab.kubectl("get", "events.events.k8s.io", "-n", ns, "-o", "json"))["items"]
    return [e for e in found if e["regarding"].get("name") == name and (not reason or e["reason"] == reason)]


def bound(lab, *names, ns="default", seconds=40):
    lab.wait(f"{', '.join(names)} bound", lambda: all(node_of(lab, n, ns) for n in names), seconds)
    return [node_of(lab, n, ns) for n in names]


def clear(lab, ns="default"):
    """No pods any more, of nobody."""
    lab.kubectl("delete", "pods", "--all", "-n", ns, "--wait=false", "--grace-period=0", "--force", check=False)
    lab.wait("no pods", lambda: not lab.objects("pods", "-n", ns), 40)


def written(lab, since=0):
    """What cede wrote, as (verb, resource/subresource, name, code), in the server's order."""
    found = []
    for a in lab.audit()[since:]:
        r = a.get("objectRef", {})
        if a["user"]["username"] == CEDE_USER and a["verb"] not in ("get", "list", "watch"):
            sub = "/" + r["subresource"] if r.get("subresource") else ""
            found.append((a["verb"], r.get("resource", "") + sub, r.get("name", ""), a["responseStatus"]["code"]))
    return found


def messages(lab, name):
    """What cede wrote into the pod's condition PodScheduled, in the server's order: also what was true only for a moment."""
    found = []
    for a in lab.audit():
        r = a.get("objectRef", {})
        if a["user"]["username"] == CEDE_USER and (a["verb"], r.get("resource"), r.get("subresource"), r.get("name")) == ("patch", "pods", "status", name):
            found += [c.get("message", "") for c in a.get("requestObject", {}).get("status", {}).get("conditions", []) if c["type"] == "PodScheduled"]
    return found


def deletions(lab, since=0):
    """Pods that cede deleted: name and time."""
    return [(a["objectRef"]["name"], stamp(a["requestReceivedTimestamp"])) for a in lab.audit()[since:]
            if a["user"]["username"] == CEDE_USER and a["verb"] == "delete" and a["objectRef"]["resource"] == "pods" and a["responseStatus"]["code"] == 200]


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def priority(name, value):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def settle(seconds=1.0):
    time.sleep(seconds)
