#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run beside the default scheduler, with Deployments and Jobs whose victims come back, nodes that change, `kubectl describe`, gangs of plain pods, and
evictions through the Eviction API."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import CEDE_USER, Daemon, bound, clear, condition, events, get, node_of, priority, written  # noqa: E402
from lab import free_ports  # noqa: E402

YUNIKORN = "yunikorn.apache.org/"


def workload(kind, name, replicas, cpu, scheduler="cede", cls=None):
    spec = pod("x", cpu=cpu, scheduler=scheduler, priority_class=cls)["spec"]
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
                "spec": {"parallelism": replicas, "completions": replicas, "backoffLimit": 100, "template": template}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}}


def pods_of(lab, name):
    return [p for p in lab.objects("pods", "-l", f"app={name}") if not p["metadata"].get("deletionTimestamp")]


def running(lab, name):
    return [p["metadata"]["uid"] for p in pods_of(lab, name) if p["spec"].get("nodeName")]


def waiting(lab, name):
    return [p["metadata"]["name"] for p in pods_of(lab, name) if not p["spec"].get("nodeName")]


def start_kube_scheduler(lab):
    lab.add_certificate_user("scheduler", "/CN=system:kube-scheduler")
    lab.commands["kube-scheduler"] = [lab.program("kube-scheduler"), "--kubeconfig", lab.kubeconfig("scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1",
                                      f"--secure-port={free_ports(1)[0]}", "--authentication-skip-lookup=true"]
    lab.start("kube-scheduler")


def CL_1_beside_the_default_scheduler(lab, suite):
    lab.create(priority("low", 10), priority("high", 1000), node("n0"), node("n1"))
    start_kube_scheduler(lab)
    lab.daemon = Daemon(lab, "--profile", "kubernetes")
    lab.apply(workload("Deployment", "theirs", 2, "1", scheduler="default-scheduler", cls="high"))
    lab.wait("theirs run", lambda: len(running(lab, "theirs")) == 2, 120)
    lab.apply(workload("Deployment", "web", 6, "1", cls="low"))
    lab.wait("ours run", lambda: len(running(lab, "web")) == 6, 120)
    by = {a["objectRef"]["name"]: a["user"]["username"] for a in lab.audit() if a.get("objectRef", {}).get("subresource") == "binding" and a["responseStatus"]["code"] == 201}
    suite.equal("CL_1 each scheduler binds its own", ({by[p["metadata"]["name"]] for p in pods_of(lab, "web")}, {by[p["metadata"]["name"]] for p in pods_of(lab, "theirs")}),
                ({CEDE_USER}, {"system:kube-scheduler"}))
    lab.theirs = running(lab, "theirs")


def CL_9_victims_come_back(lab, suite):
    """The Deployment makes its pods anew; they wait, and say so, until there is room."""
    before = set(running(lab, "web"))
    lab.apply(workload("Job", "batch", 2, "2", cls="high"))
    lab.wait("the job runs", lambda: len(running(lab, "batch")) == 2, 120)
    lab.wait("the victims are made anew", lambda: len(pods_of(lab, "web")) == 6, 120)
    after = set(running(lab, "web"))
    suite.equal("CL_2 four had to go, and nobody who need not", (len(after), len(after & before)), (2, 2))
    lab.wait("the rest says why it waits", lambda: len(waiting(lab, "web")) == 4 and all((condition(lab, n) or {}).get("reason") == "Unschedulable" for n in waiting(lab, "web")), 60)
    suite.equal("CL_2 the pods of the other scheduler, of the same priority, stay", sorted(running(lab, "theirs")), sorted(lab.theirs))
    lab.victim = waiting(lab, "web")[0]
    said = lab.wait("the event", lambda: (lambda t: "FailedScheduling" in t and t)(lab.kubectl("describe", "pod", lab.victim)), 60)
    suite.true("CL_9 kubectl describe: it is pending, by cede, with the sentence", re.search(r"Status: +Pending", said) and re.search(r"PodScheduled +False", said)
               and "Warning  FailedScheduling" in said and "cede" in said.split("Events:")[1] and "0/2 nodes are available: 2 Insufficient cpu." in said, said)
    lab.kubectl("delete", "job", "batch", "--wait=false", "--cascade=background")
    lab.wait("everybody runs again", lambda: len(running(lab, "web")) == 6, 120)
    said = lab.wait("the event", lambda: (lambda t: "Scheduled " in t and t)(lab.kubectl("describe", "pod", lab.victim)), 60)
    suite.true("CL_9 kubectl describe: then it is scheduled", f"Successfully assigned default/{lab.victim} to n" in said.split("Events:")[1], said)
    lab.kubectl("delete", "deployment", "web", "theirs")
    lab.wait("no pods", lambda: not lab.objects("pods"), 60)


def nodes_that_change(lab, suite):
    lab.kubectl("cordon", "n0")
    lab.kubectl("taint", "node", "n1", "busy=yes:NoSchedule")
    lab.create(pod("a", cpu=1, priority_class="high"))
    c = lab.wait("condition", lambda: condition(lab, "a"))
    suite.true("CL_9 neither a cordoned node nor a taint is used, and it is said", "1 node(s) were unschedulable" in c["message"] and "untolerated taint" in c["message"], c["message"])
    lab.kubectl("taint", "node", "n1", "busy-")
    suite.equal("a taint that goes wakes it", bound(lab, "a"), ["n1"])
    lab.kubectl("uncordon", "n0")
    held = pod("held", cpu=4, priority_class="low")
    held["metadata"]["finalizers"] = ["cede.test/hold"]
    lab.create(held)
    bound(lab, "held")
    lab.create(pod("high", cpu=4, priority_class="high"))
    lab.wait("nominated", lambda: get(lab, "high")["status"].get("nominatedNodeName") == "n0", 60)
    lab.kubectl("delete", "node", "n0")
    lab.create(node("n2"))
    suite.equal("CL_3 when the node goes for which it was nominated, it looks for another", bound(lab, "high", seconds=60), ["n2"])
    lab.kubectl("patch", "pod", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}', check=False)
    clear(lab)


def CL_2_through_the_eviction_api(lab, suite):
    lab.daemon.end()
    path = lab.path("evict.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\neviction: {through: eviction}\n")
    lab.kubectl("delete", "node", "n1")
    lab.daemon = Daemon(lab, "--config", path)
    lab.create(pod("kept", cpu=4, priority_class="low", labels={"kept": "yes"}))
    bound(lab, "kept")
    lab.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "kept", "namespace": "default"},
               "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"kept": "yes"}}}})
    lab.wait("the budget's status", lambda: get(lab, "kept", kind="pdb").get("status", {}).get("currentHealthy") == 1)
    time.sleep(1)
    since = len(lab.audit())
    lab.create(pod("high", cpu=4, priority_class="high"))
    asked = lambda: [w[3] for w in written(lab, since) if w[1] == "pods/eviction"]  # noqa: E731
    lab.wait("refused by the budget, twice", lambda: asked().count(429) >= 2, 90)
    suite.true("CL_2 what a budget refuses stays, and is asked again", get(lab, "kept") and not get(lab, "kept")["metadata"].get("deletionTimestamp"), str(asked()))
    lab.kubectl("delete", "pdb", "kept")
    suite.equal("CL_2 when the budget is gone, it goes", bound(lab, "high", seconds=90), ["n2"])
    suite.equal("CL_2 by one eviction that was granted", (asked().count(201), [w for w in written(lab, since) if w[0] == "delete"]), (1, []))
    clear(lab)


def CL_8_gangs_of_plain_pods(lab, suite):
    lab.daemon.end()
    lab.daemon = Daemon(lab)
    lab.create(pod("l-0", cpu=1, labels={"cede.dev/gang": "l", "cede.dev/min-member": "2"}))
    lab.wait("condition", lambda: condition(lab, "l-0"))
    suite.true("CL_8 a gang said in labels waits until it is complete", not node_of(lab, "l-0"))
    lab.create(pod("l-1", cpu=1, labels={"cede.dev/gang": "l", "cede.dev/min-member": "2"}))
    suite.equal("CL_8 and starts together", len(bound(lab, "l-0", "l-1")), 2)
    task = lambda name, **more: pod(name, cpu=1, labels={"applicationId": "app"}, annotations={YUNIKORN + "task-group-name": "w", **more})  # noqa: E731
    lab.create(task("t-0", **{YUNIKORN + "task-groups": '[{"name": "w", "minMember": 2}]'}))
    lab.wait("condition", lambda: condition(lab, "t-0"))
    suite.true("CL_8 so does a task group of YuniKorn's", not node_of(lab, "t-0"))
    lab.create(task("t-1"))
    suite.equal("CL_8 of the pods themselves, without placeholders", (len(bound(lab, "t-0", "t-1")), len(lab.objects("pods"))), (2, 4))
    clear(lab)


def CL_7_objects_and_settings(lab, suite):
    """Settings in ConfigMap cede; a disruption budget nobody can read."""
    settings = lambda text: lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cede", "namespace": "kube-system"}, "data": {"cede.yaml": text}})  # noqa: E731
    settings("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nschedulerNames: [cede, second]\n")
    lab.create(pod("s", cpu=1, scheduler="second"))
    suite.equal("CL_7 a scheduler name that is added is served without a restart", bound(lab, "s", seconds=60), ["n2"])
    settings("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nschedulerNames: 7\n")
    e = lab.wait("event", lambda: events(lab, "cede", "ConfigurationRefused", ns="kube-system"), 60)
    suite.true("CL_7 a bad one is refused with a Warning on the ConfigMap that says where", e[0]["type"] == "Warning" and "schedulerNames" in e[0]["note"], str(e))
    lab.create(pod("s-2", cpu=1, scheduler="second"))
    suite.equal("CL_7 and what was in force stays in force", bound(lab, "s-2", seconds=60), ["n2"])


def ending(lab, suite):
    suite.equal("SIGTERM: exit 0", lab.daemon.end(), 0)
    refused = [(a["verb"], a["requestURI"]) for a in lab.audit() if a["user"]["username"] == CEDE_USER and a["responseStatus"]["code"] == 403]
    suite.equal("CL_10 nothing was forbidden under the shipped role", refused, [])


run(CL_1_beside_the_default_scheduler, CL_9_victims_come_back, nodes_that_change, CL_2_through_the_eviction_api, CL_8_gangs_of_plain_pods, CL_7_objects_and_settings, ending)
