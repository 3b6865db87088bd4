#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart is the plain manifests with some words exchanged: rendered with its values as they stand, it gives the same text; with others, what they say.

It is rendered by chart.py; where helm is at hand it renders too, and both must agree. make test-cluster shows it to a real API server.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli")]
from chart import CHART, OTHER, TEMPLATES, chart, parts, plain, read  # noqa: E402
from harness import SOURCE, Suite, cede  # noqa: E402

PLAIN = os.path.join(SOURCE, "packaging", "kubernetes")
suite = Suite()

usual = chart("kube-system")
for name in TEMPLATES:
    suite.equal(f"{name} is the plain manifest", plain(usual[name]), plain(read(PLAIN, name)))
listed = re.findall(r"^- (\S+\.yaml)$", read(PLAIN, "kustomization.yaml"), re.M)
suite.equal("every plain manifest is in the chart", TEMPLATES, sorted(listed))

version = subprocess.run([os.path.join(SOURCE, "tools", "version")], stdout=subprocess.PIPE, text=True).stdout.strip()
suite.equal("chart and program are of one version", re.findall(r"^(?:version|appVersion): (.*)$", read(CHART, "Chart.yaml"), re.M), [version, version])

other = chart("batch", **OTHER)
deployment = other["deployment.yaml"]
for sentence, words in [("replicas", "  replicas: 3\n"), ("the image", "        image: registry.example/cede:1.2.3\n"), ("more options", "        - --log=json\n        - --dry-run\n        - -v\n"),
                        ("the namespace", "  namespace: batch\n"), ("the lease", "--lease=batch/cede\n"), ("the secret", "      imagePullSecrets:\n      - {name: pull}\n")]:
    suite.true(f"a value sets {sentence}", words in deployment, deployment)
suite.true("nothing of the usual namespace is left", "kube-system" not in "".join(other.values()))
suite.equal("a role that is not wanted is not there", other["reader.yaml"].strip(), "")

settings = re.search(r"^  cede\.yaml: \|\n((?:    .*\n)+)", usual["configmap.yaml"] + "\n", re.M)[1]
done = cede("config", "print", "-f", "-", stdin=re.sub(r"^    ", "", settings, flags=re.M).encode())
suite.equal("the settings are such that cede reads them", (done.code, done.err), (0, ""))

found = subprocess.run([os.path.join(SOURCE, "tests", "packaging", "find-helm")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
if found.returncode == 0:
    done = subprocess.run([found.stdout.strip(), "template", "-n", "kube-system", "cede", CHART], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    suite.equal("helm renders the same", sorted(parts(done.stdout)), sorted(part for text in usual.values() for part in parts(text)))
else:
    suite.skip("helm renders the same", "there is no helm here; the chart was rendered by this test alone")
sys.exit(1 if suite.failed else 0)
