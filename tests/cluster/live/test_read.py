#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan, explain, show and lint straight from a real cluster, under the role that cede ships with."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Folder, cede, node, pod, run  # noqa: E402

KINDS = "nodes,namespaces,pods,pdb,priorityclasses,services,deployments,replicasets,statefulsets,daemonsets,jobs"


def same_as_kubectl(lab, suite):
    lab.create(*[node(f"n{i}") for i in range(3)])
    lab.wait("service accounts", lambda: lab.kubectl("get", "sa", "default", check=False))
    lab.create(*[pod(f"run-{i}", cpu=3, node_name=f"n{i}") for i in range(3)], *[pod(f"wait-{i}", cpu=2) for i in range(3)],
               {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
                "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                         "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu="500m")["spec"] | {"terminationGracePeriodSeconds": 30}}}})
    lab.wait("the deployment's pods", lambda: len(lab.objects("pods", "-l", "app=web")) == 2)
    lab.wait("running pods", lambda: sum(p["status"]["phase"] == "Running" for p in lab.objects("pods")) == 3)
    with Folder({"all.json": lab.kubectl("get", KINDS, "-A", "-o", "json")}) as files:
        now = ["--now", "2030-01-01T00:00:00Z"]
        for command in (["plan", "-o", "json"], ["show", "-o", "json"], ["lint"], ["explain", "default/wait-1"]):
            live = cede(*command, "--kubeconfig", lab.kubeconfig("cede"), *now)
            file = cede(*command, "-f", files, *now)
            suite.equal(f"{' '.join(command)}: the same as from kubectl's words", [live.code, live.out], [file.code, file.out])
    placed = json.loads(cede("plan", "-o", "json", "--kubeconfig", lab.kubeconfig("cede")).out)
    suite.equal("what waits is decided", len(placed["decisions"]), 5)


def CL_10_only_the_shipped_rights(lab, suite):
    ours = [a for a in lab.audit() if a["user"]["username"] == "system:serviceaccount:kube-system:cede"]
    suite.true("it was seen in the audit log", len(ours) > 20)
    suite.equal("CL_10 nothing was refused", [a["requestURI"] for a in ours if a["responseStatus"]["code"] == 403], [])
    suite.equal("CL_10 nothing was written", {a["verb"] for a in ours} - {"get", "list"}, set())


def ConfigMap_is_read(lab, suite):
    settings = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n"
    lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cede", "namespace": "kube-system"}, "data": {"cede.yaml": settings}})
    plan = json.loads(cede("plan", "-o", "json", "--kubeconfig", lab.kubeconfig("cede")).out)
    suite.equal("settings come from ConfigMap cede", plan["profile"], "kubernetes")
    lab.kubectl("delete", "configmap", "cede", "-n", "kube-system")


def certificates(lab, suite):
    done = cede("show", "--kubeconfig", lab.kubeconfig("admin"))
    suite.equal("a client certificate is shown to the server", done.code, 0)
    path = lab.write_kubeconfig("named", {"tokenFile": lab.path("cede.token")}, **{"tls-server-name": "lab.cede.test"})
    suite.equal("tls-server-name with HTTP/2", cede("show", "--kubeconfig", path).code, 0)
    path = lab.write_kubeconfig("wrong", {"tokenFile": lab.path("cede.token")}, **{"tls-server-name": "other.test"})
    suite.equal("a name the certificate does not have is refused", cede("show", "--kubeconfig", path).code, 2)
    path = lab.write_kubeconfig("nobody", {"token": "hush"})
    done = cede("show", "--kubeconfig", path)
    suite.true("a token that is none: Unauthorized, and it is not shown", done.code == 2 and "Unauthorized" in done.err and "hush" not in done.err, done.err)


run(same_as_kubectl, CL_10_only_the_shipped_rights, ConfigMap_is_read, certificates)
