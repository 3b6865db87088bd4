#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/kubernetes against a real API server: everything is accepted, the pods pass the restricted standard, the role allows what is needed and no more."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import SOURCE, cede, run  # noqa: E402

FOLDER = os.path.join(SOURCE, "packaging", "kubernetes")
ACCOUNT = "--as=system:serviceaccount:kube-system:cede"


def manifests(lab, suite):
    suite.true("everything is accepted, with every field known", lab.kubectl("apply", "--validate=strict", "-k", FOLDER))
    suite.true("twice, too", "unchanged" in lab.kubectl("apply", "--validate=strict", "-k", FOLDER))
    deployment = json.loads(lab.kubectl("get", "deployment", "cede", "-n", "kube-system", "-o", "json"))
    spec = deployment["spec"]["template"]["spec"]
    suite.equal("two replicas", deployment["spec"]["replicas"], 2)
    suite.true("on two machines", spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["topologyKey"] == "kubernetes.io/hostname")
    suite.equal("placed by the default scheduler", spec["schedulerName"], "default-scheduler")
    container = spec["containers"][0]
    suite.true("with probes", all(container[k]["httpGet"]["scheme"] == "HTTPS" for k in ("livenessProbe", "readinessProbe", "startupProbe")))
    suite.true("it has longer to end than it needs", spec["terminationGracePeriodSeconds"] > 10)
    known = cede("run", "--help").out
    for arg in container["args"][1:]:
        suite.true(f"cede run knows {arg}", arg.split("=")[0] in known, known)
    budget = json.loads(lab.kubectl("get", "pdb", "cede", "-n", "kube-system", "-o", "json"))
    suite.equal("a budget over both", budget["spec"]["selector"], deployment["spec"]["selector"])


def restricted(lab, suite):
    """A namespace that enforces the restricted standard takes the pods."""
    lab.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "strict", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    template = json.loads(lab.kubectl("get", "deployment", "cede", "-n", "kube-system", "-o", "json"))["spec"]["template"]
    template["spec"].pop("priorityClassName")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cede", "namespace": "strict"}, "spec": template["spec"]}
    suite.true("the restricted standard takes the pods", lab.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod)))
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    try:
        lab.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
        suite.true("and would refuse others", False, "it took a pod that may escalate")
    except RuntimeError as why:
        suite.true("and would refuse others", "restricted" in str(why), str(why))


def CL_10_role(lab, suite):
    rows = [
        ("yes", "create", "pods", "--subresource=binding"), ("yes", "patch", "pods", "--subresource=status"), ("yes", "delete", "pods"),
        ("yes", "create", "pods", "--subresource=eviction"), ("yes", "watch", "nodes"), ("yes", "list", "persistentvolumeclaims"),
        ("yes", "create", "events.events.k8s.io"), ("yes", "create", "tokenreviews.authentication.k8s.io"),
        ("yes", "create", "subjectaccessreviews.authorization.k8s.io"),
        ("no", "create", "pods"), ("no", "update", "pods"), ("no", "get", "secrets"), ("no", "list", "secrets"), ("no", "get", "configmaps/other"),
        ("no", "delete", "nodes"), ("no", "patch", "nodes"), ("no", "create", "pods", "--subresource=exec"), ("no", "deletecollection", "pods"),
        ("no", "update", "leases.coordination.k8s.io/other"), ("no", "create", "deployments.apps"), ("no", "impersonate", "users"), ("no", "escalate", "clusterroles"),
    ]
    for expected, verb, *what in rows:
        found = lab.kubectl("auth", "can-i", verb, *what, ACCOUNT, "-n", "kube-system", check=False).strip().splitlines()
        suite.equal(f"CL_10 may it {verb} {' '.join(what)}? {expected}", found[-1:] and found[-1].split()[0], expected)


def definitions(lab, suite):
    """KAI's kinds, where KAI itself is not installed."""
    lab.kubectl("apply", "--validate=strict", "-k", os.path.join(FOLDER, "crds"))
    for crd in ("queues", "podgroups"):
        lab.kubectl("wait", "--for=condition=Established", f"crd/{crd}.scheduling.run.ai", "--timeout=60s")
    lab.apply({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "team"},
               "spec": {"priority": 100, "resources": {"gpu": {"quota": 4, "limit": -1, "overQuotaWeight": 1}, "cpu": {"quota": 8000, "limit": -1}}, "other": {"a": 1}}},
              {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "job", "namespace": "default"},
               "spec": {"queue": "team", "minMember": 2, "subGroups": [{"name": "workers", "minMember": 2}]}})
    found = cede("show", "--kubeconfig", lab.kubeconfig("cede"), "-o", "json")
    view = json.loads(found.out or "{}")
    suite.true("a Queue is read", any(q["queue"] == "root.team" and q["guaranteed"].get("nvidia.com/gpu") == "4" for q in view.get("queues", [])), found.err + found.out[:2000])
    suite.true("a PodGroup is read", [g["group"] for g in view.get("groups", [])] == ["default/job"], found.err + found.out[:2000])
    kept = json.loads(lab.kubectl("get", "queues.scheduling.run.ai", "team", "-o", "json"))
    suite.equal("fields nobody knows are kept", kept["spec"].get("other"), {"a": 1})


run(manifests, restricted, CL_10_role, definitions, with_kwok=False)
