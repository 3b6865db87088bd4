#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Credentials in files are taken anew when they change, without a restart; settings that were refused before the replica led are told when it leads."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import Daemon, bound, events  # noqa: E402

REREAD_S = 60  # how often files are looked at


def daemon_as(lab, user, scheduler):
    """Under another kubeconfig, for the pods of this scheduler name."""
    path, real = lab.path(scheduler + ".yaml"), lab.kubeconfig
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\nschedulerNames: [{scheduler}]\n")
    lab.kubeconfig = lambda name="admin": real(user if name == "cede" else name)
    try:
        return Daemon(lab, "--config", path, name=scheduler)
    finally:
        lab.kubeconfig = real


def who_bound(lab, name):
    return [a["user"]["username"] for a in lab.audit() if a.get("objectRef", {}).get("subresource") == "binding" and a["objectRef"]["name"] == name and a["responseStatus"]["code"] == 201]


def rotate_certificate(lab, name, subject):
    """As a certificate manager does: new files in the place of the old ones."""
    lab.make_certificate("new", subject)
    for ending in (".key", ".crt"):
        os.rename(lab.path("new" + ending), lab.path(name + ending))


def CL_10_files_that_change(lab, suite):
    lab.create(node("n0", cpu=16))
    lab.add_certificate_user("robot", "/O=system:masters/CN=robot-1")
    with daemon_as(lab, "robot", "certified") as certified, daemon_as(lab, "cede", "bearer") as bearer:
        lab.create(pod("c-1", scheduler="certified"), pod("b-1", scheduler="bearer"))
        bound(lab, "c-1", "b-1", seconds=90)
        suite.equal("CL_10 it comes with its certificate", who_bound(lab, "c-1"), ["robot-1"])
        rotate_certificate(lab, "robot", "/O=system:masters/CN=robot-2")
        lab.kubectl("create", "serviceaccount", "other", "-n", "kube-system")
        lab.kubectl("create", "clusterrolebinding", "other", "--clusterrole=cluster-admin", "--serviceaccount=kube-system:other")
        with open(lab.path("cede.token.new"), "w", encoding="utf-8") as f:
            f.write(lab.kubectl("create", "token", "other", "-n", "kube-system"))
        os.rename(lab.path("cede.token.new"), lab.path("cede.token"))
        time.sleep(REREAD_S + 5)
        lab.create(pod("c-2", scheduler="certified"), pod("b-2", scheduler="bearer"))
        bound(lab, "c-2", "b-2", seconds=90)
        suite.equal("CL_10 a certificate that was renewed is used within a minute", who_bound(lab, "c-2"), ["robot-2"])
        suite.equal("CL_10 and so is a token", who_bound(lab, "b-2"), ["system:serviceaccount:kube-system:other"])
        suite.equal("SIGTERM: exit 0", (certified.end(), bearer.end()), (0, 0))
    lab.new_token()


def CL_7_refused_before_it_leads(lab, suite):
    """Another holds the lease; a bad ConfigMap comes and stays."""
    lab.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "cede", "namespace": "kube-system"},
               "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 20, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z"}})
    with Daemon(lab, "--identity", "me", lease="kube-system/cede", name="refused") as d:
        lab.wait("listed", lambda: "everything is listed" in d.said(), 60)
        lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cede", "namespace": "kube-system"}, "data": {"cede.yaml": "profile: 7"}})
        lab.wait("refused", lambda: "cede.yaml" in d.said(), 60)
        e = lab.wait("event", lambda: events(lab, "cede", "ConfigurationRefused", ns="kube-system"), 90)
        suite.equal("CL_7 settings that were refused before it led get their event when it leads", (e[0]["type"], e[0]["regarding"]["kind"]), ("Warning", "ConfigMap"))
        suite.equal("SIGTERM: exit 0", d.end(), 0)


run(CL_10_files_that_change, CL_7_refused_before_it_leads)
