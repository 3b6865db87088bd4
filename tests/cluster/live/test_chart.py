#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Helm chart against a real API server: a real helm renders what the test's own renderer renders; the server takes it, also with other values; it is
installed, upgraded and removed. Where no helm can be had, what the own renderer gives is checked."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import SOURCE, run  # noqa: E402
sys.path.insert(0, os.path.join(SOURCE, "tests", "packaging"))
from chart import CHART, OTHER, chart, parts  # noqa: E402

OPTIONS = ["--set", "replicas=3", "--set", "image.repository=registry.example/cede", "--set", "image.tag=1.2.3", "--set", "extraArgs={--dry-run,-v}",
           "--set", "imagePullSecret=pull", "--set", "reader.create=false"]


def find_helm():
    """Its path, or None and why."""
    done = subprocess.run([os.path.join(SOURCE, "tests", "packaging", "find-helm"), "--build"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return (done.stdout.strip(), "") if done.returncode == 0 else (None, (done.stderr.strip().splitlines() or ["?"])[-1])


def helm(lab, program, *args):
    done = subprocess.run([program, "--kubeconfig", lab.kubeconfig("admin"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                          env={**os.environ, "HOME": lab.folder, "XDG_CACHE_HOME": lab.folder, "XDG_CONFIG_HOME": lab.folder, "XDG_DATA_HOME": lab.folder})
    if done.returncode:
        raise RuntimeError(f"helm {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def is_taken(lab, text):
    """By the server, with every field known; nothing is kept."""
    return lab.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)


def rendered(lab, suite):
    """Own renderer: the server takes it."""
    lab.kubectl("create", "namespace", "batch")
    for sentence, namespace, changes in [("as it stands", "kube-system", {}), ("with other values", "batch", OTHER)]:
        said = is_taken(lab, "\n---\n".join(chart(namespace, **changes).values()))
        suite.true(f"the API server takes the chart {sentence}", said.count("server dry run") >= 6, said)
    broken = chart("kube-system")["deployment.yaml"].replace("replicas:", "replicaz:")
    try:
        suite.true("and would not take a field that is not there", False, is_taken(lab, broken))
    except RuntimeError as why:
        suite.true("and would not take a field that is not there", "replicaz" in str(why), str(why))


def by_helm(lab, suite):
    program, why = find_helm()
    if not program:
        suite.skip("helm renders, installs, upgrades and removes the chart", why)
        return
    version = subprocess.run([program, "version", "--short"], stdout=subprocess.PIPE, text=True).stdout.strip()
    lint = helm(lab, program, "lint", CHART)
    suite.true(f"helm {version} finds nothing wrong", "0 chart(s) failed" in lint and "[ERROR]" not in lint and "[WARNING]" not in lint, lint)
    for sentence, namespace, options, changes in [("as it stands", "kube-system", [], {}), ("with other values", "batch", OPTIONS, OTHER)]:
        found = helm(lab, program, "template", "-n", namespace, "cede", CHART, *options)
        suite.equal(f"helm renders it {sentence} as the test's own renderer does", sorted(parts(found)), sorted(p for text in chart(namespace, **changes).values() for p in parts(text)))
        suite.true(f"the API server takes what helm renders {sentence}", is_taken(lab, found).count("server dry run") >= 6)


def installed(lab, suite):
    program, why = find_helm()
    if not program:
        return
    names = ["serviceaccount/cede", "clusterrole.rbac.authorization.k8s.io/cede", "clusterrolebinding.rbac.authorization.k8s.io/cede"]
    lab.kubectl("delete", "-n", "kube-system", *names, "--ignore-not-found")
    lab.kubectl("delete", "-f", os.path.join(SOURCE, "packaging", "kubernetes", "rbac.yaml"), "--ignore-not-found")
    helm(lab, program, "install", "-n", "batch", "cede", CHART)
    ask = lambda: json.loads(lab.kubectl("get", "deployment", "cede", "-n", "batch", "-o", "json"))["spec"]  # noqa: E731
    suite.equal("helm installs it", (ask()["replicas"], "--lease=batch/cede" in ask()["template"]["spec"]["containers"][0]["args"]), (2, True))
    helm(lab, program, "upgrade", "-n", "batch", "cede", CHART, *OPTIONS)
    suite.equal("helm upgrades it", (ask()["replicas"], ask()["template"]["spec"]["containers"][0]["image"]), (3, "registry.example/cede:1.2.3"))
    allowed = lab.kubectl("auth", "can-i", "create", "pods", "--subresource=binding", "--as=system:serviceaccount:batch:cede", check=False)
    suite.equal("the account of that namespace may bind", allowed.strip().splitlines()[-1:], ["yes"])
    helm(lab, program, "uninstall", "-n", "batch", "cede")
    left = lab.kubectl("get", "all,configmap,role,rolebinding,pdb,serviceaccount", "-n", "batch", "-o", "name") + lab.kubectl("get", "clusterrole,clusterrolebinding", "-o", "name")
    suite.equal("helm removes it, and nothing is left", re.findall(r"^\S*/cede\S*$", left, re.M), [])


run(rendered, by_helm, installed, with_kwok=False)
