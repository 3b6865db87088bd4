#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede show --manifests: what is printed reads back as the same cluster, and looks the same."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Suite, cede  # noqa: E402

CLUSTERS = [("gpu", "examples/gpu-cluster"), ("mixed", "tests/cli/clusters/mixed.yaml")]


def reads_back(t, name, cluster):
    shown = cede("show", "-f", cluster, "-o", "json", *NOW).out
    yaml = cede("show", "-f", cluster, "--manifests", *NOW)
    listed = cede("show", "-f", cluster, "--manifests", "-o", "json", *NOW)
    t.golden(f"{name} as manifests", f"manifests-{name}.yaml", yaml.out)
    t.equal(f"{name}: exit code", (yaml.code, listed.code), (0, 0))
    t.equal(f"{name}: -o json is one List", json.loads(listed.out)["kind"], "List")
    for format, text in (("YAML", yaml.out), ("JSON", listed.out)):
        again = cede("show", "-f", "-", "-o", "json", *NOW, stdin=text.encode())
        t.equal(f"{name}: the {format} shows the same cluster", again.out, shown)
        again = cede("show", "-f", "-", "--manifests", *NOW, stdin=text.encode())
        t.equal(f"{name}: the {format} gives the same manifests", again.out, yaml.out)


def formats(t):
    cluster = ("show", "-f", CLUSTERS[0][1], "--manifests", *NOW)
    t.equal("text, wide and yaml are all YAML", {cede(*cluster, "-o", f).out for f in ("text", "wide", "yaml")}, {cede(*cluster).out})
    bad = cede("show", "-f", "-", "--manifests", stdin=b"apiVersion: v1\nkind: Pod\n")
    t.equal("bad input gives no manifests", (bad.code, bad.out), (2, ""))


def main():
    t = Suite()
    for name, cluster in CLUSTERS:
        reads_back(t, name, cluster)
    formats(t)
    t.end()


if __name__ == "__main__":
    main()
