#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cede run shows: probes, metrics, views and events of a live cluster; and to whom."""
import http.client
import json
import os
import re
import ssl
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CEDE, cede, node, pod, run  # noqa: E402
from lab import free_ports  # noqa: E402
from storm import Scheduler  # noqa: E402


def ask(port, path, method="GET", body=None, token=None, tls=False):
    if tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        c = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    else:
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        c.request(method, path, body, {"Authorization": "Bearer " + token} if token else {})
        answer = c.getresponse()
        return answer.status, answer.read().decode()
    except OSError as why:
        return 0, str(why)
    finally:
        c.close()


def value(text, series):
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.M)
    return float(found[1]) if found else None


def views(lab, suite):
    lab.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    lab.create(*[node(f"n{i}") for i in range(3)])
    port = free_ports(1)[0]
    r = lab.scheduler = Scheduler(CEDE, lab, lab.kubeconfig("cede"), "--lease", "none", "--listen", f"127.0.0.1:{port}").start()
    lab.wait("ready", lambda: ask(port, "/readyz")[0] == 200)
    suite.equal("alive and ready", (ask(port, "/livez"), ask(port, "/readyz")), ((200, "ok\n"), (200, "ok: leads\n")))
    lab.create(*[pod(f"low-{i}", cpu=2) for i in range(6)])
    lab.wait("bound", lambda: all(p["spec"].get("nodeName") for p in lab.objects("pods")))
    lab.create(pod("big", cpu=9), pod("high", cpu=4, priority_class="high"))
    lab.wait("a preemption", lambda: any(p["metadata"]["name"] == "high" and p["spec"].get("nodeName") for p in lab.objects("pods")))
    time.sleep(1)
    _, metrics = ask(port, "/metrics")
    rows = [
        ('scheduler_schedule_attempts_total{result="scheduled",profile="default"}', 7), ('scheduler_cache_size{type="nodes"}', 3),
        ('cede_victims_total{action="displace",queue="root.default"}', 2), ('cede_writes_total{kind="bind",result="ok"}', 7),
        ("cede_synced", 1), ('cede_queue_pods{queue="root.default",state="waiting"}', 1), ("scheduler_preemption_victims_sum", 2),
        ('scheduler_pod_scheduling_attempts_count', 7), ('scheduler_pending_pods{queue="unschedulable"}', 1),
    ]
    for series, expected in rows:
        suite.equal(f"metrics: {series}", value(metrics, series), expected)
    suite.true("metrics: requests by status and method", (value(metrics, 'rest_client_requests_total{code="201",method="POST"}') or 0) >= 7, metrics)
    status, pods = ask(port, "/api/v1/pods?state=running")
    suite.equal("pods that run", (status, json.loads(pods)["total"]), (200, 5))
    status, words = ask(port, "/api/v1/explain/default/big")
    suite.true("explain says why it waits", status == 200 and "big" in json.loads(words)["sentence"], words)
    found = cede("explain", "--server", f"http://127.0.0.1:{port}", "big")
    suite.true("so does cede explain --server", found.code == 0 and "Insufficient cpu" in found.out, found.out + found.err)
    status, plan = ask(port, "/api/v1/plan")
    suite.equal("the plan", (status, json.loads(plan)["summary"]["waiting"]), (200, 1))
    status, decisions = ask(port, "/api/v1/decisions?limit=1000")
    placed = [d["decision"]["pod"] for d in json.loads(decisions)["items"] if d["decision"]["outcome"] == "placed"]
    suite.true("what it decided", {"default/low-0", "default/high"} <= set(placed), decisions)
    status, difference = ask(port, "/api/v1/whatif", "POST", json.dumps({"kind": "WhatIf", "remove": ["default/high"]}))
    suite.true("what if", status == 200 and json.loads(difference)["kind"] == "PlanDifference", difference)
    suite.equal("nothing was changed by asking", sum(bool(p["spec"].get("nodeName")) for p in lab.objects("pods")), 5)
    suite.equal("it ends well", r.end()[0], 0)


def CL_10_to_whom(lab, suite):
    port = free_ports(1)[0]
    lab.kubectl("create", "serviceaccount", "reader", "-n", "default")
    lab.kubectl("create", "serviceaccount", "nobody", "-n", "default")
    lab.kubectl("apply", "-f", os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "packaging", "kubernetes", "reader.yaml"))
    lab.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=cede-reader", "--serviceaccount=default:reader")
    reader, nobody = (lab.kubectl("create", "token", name, "-n", "default").strip() for name in ("reader", "nobody"))
    r = Scheduler(CEDE, lab, lab.kubeconfig("cede"), "--lease", "none", "--listen", f"0.0.0.0:{port}").start()
    lab.wait("ready", lambda: ask(port, "/readyz", tls=True)[0] == 200)
    rows = [("nobody at all", "/metrics", None, 401), ("a token that is none", "/metrics", "x" * 40, 401), ("somebody without the role", "/metrics", nobody, 403),
            ("nor views, though discovery lets everybody get /api/*", "/api/v1/pods", nobody, 403),
            ("somebody with the role", "/metrics", reader, 200), ("and views", "/api/v1/pods", reader, 200), ("probes are open", "/livez", None, 200)]
    for name, path, token, expected in rows:
        suite.equal(f"CL_10 who may read: {name}", ask(port, path, token=token, tls=True)[0], expected)
    suite.true("CL_10 without TLS nobody", ask(port, "/metrics", token=reader)[0] in (0, 400))
    r.end()
    suite.true("CL_10 no token in its log", reader not in r.words() and nobody not in r.words())


run(views, CL_10_to_whom)
