#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the dashboard and the alerts ask for exists, with the labels they ask by; promtool agrees where it is installed."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import SOURCE, Suite  # noqa: E402

RULES = os.path.join(SOURCE, "packaging", "prometheus", "rules.yaml")
DASHBOARD = os.path.join(SOURCE, "packaging", "grafana", "cede.json")
SCRAPED = {"job", "instance", "le", "namespace", "pod"}  # labels that Prometheus and histograms add
WORDS = {"sum", "max", "min", "by", "on", "and", "or", "rate", "increase", "histogram_quantile", "count", "vector", "absent", "changes", "label_values", "unless", "avg"}
suite = Suite()


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def known_metrics():
    """Name -> labels, from the table that /metrics is made of."""
    table = read(os.path.join(SOURCE, "src", "serve", "metric_table.h")).replace("\\\n", " ")
    found = {}
    for kind, name, *labels in re.findall(r'ROW\(\s*\w+,\s*(\w+),\s*"(\w+)",\s*"(\w*)",\s*"(\w*)",\s*"(\w*)"', table):
        for end in ["_bucket", "_sum", "_count"] if kind.startswith("HISTOGRAM") else [""]:
            found[name + end] = {label for label in labels if label}
    return found


KNOWN = known_metrics()


def wrong(expression, recorded):
    """What it asks for that is not there."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    names = set(re.findall(r"(?<![\w:$.])([a-z_][a-z0-9_:]*)\s*(?=[{\[)\s,/>=]|$)(?!\s*\()", re.sub(r"\{[^}]*\}", "{}", re.sub(r"\b(?:by|on) \([^)]*\)", "", bare))))
    names = {name for name in names if name not in WORDS and ("_" in name or ":" in name)}
    found = sorted(f"there is no {name}" for name in names if name not in KNOWN and name not in recorded)
    allowed = SCRAPED.union(*(KNOWN.get(name, {"queue", "resource"}) for name in names))
    asked = set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*""', bare)) | {w.strip() for group in re.findall(r"\bby \(([^)]*)\)", bare) for w in group.split(",")}
    found += sorted(f"none of {sorted(names)} has a label {label}" for label in asked - allowed)
    return found if names else [f"no number in {expression}"]


suite.true("the table of metrics was found", len(KNOWN) > 40, str(len(KNOWN)))
suite.equal("a name that is not there is noticed", wrong('sum(rate(cede_vicitms_total{queue="a"}[5m]))', set()),
            ["there is no cede_vicitms_total"])
suite.equal("so is a label that is not there", wrong('sum by (kueue) (cede_queue_used)', set()), ["none of ['cede_queue_used'] has a label kueue"])

rules = read(RULES)
recorded = set(re.findall(r"^  - record: (\S+)", rules, re.M))
for expression in re.findall(r"^    expr: (.*)$", rules, re.M):
    suite.equal(f"rule: {expression[:100]}", wrong(expression, recorded), [])

dashboard = json.loads(read(DASHBOARD))
panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
for panel in panels:
    suite.equal(f"panel: {panel['title']}", [x for target in panel["targets"] for x in wrong(target["expr"].replace("$__rate_interval", "5m"), recorded)], [])
for variable in dashboard["templating"]["list"]:
    if variable["type"] == "query":
        suite.equal(f"variable: {variable['name']}", wrong(re.sub(r", \w+\)$", ")", variable["definition"]), recorded), [])
suite.equal("panels have numbers of their own", len({p["id"] for p in dashboard["panels"]}), len(dashboard["panels"]))
taken = [(x, y) for p in dashboard["panels"] for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
         for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])]
suite.true("no panel covers another, and none is wider than the page", len(set(taken)) == len(taken) and max(x for x, _ in taken) < 24)
alerts = set(re.findall(r"^  - alert: (\S+)", rules, re.M))
tested = set(re.findall(r"alertname: (\w+)", read(RULES.replace("rules.yaml", "rules_test.yaml"))))
suite.equal("every alert has a test", sorted(alerts - tested), [])

for words, command in [("promtool reads the rules", ["promtool", "check", "rules", RULES]),
                       ("promtool finds the alerts firing when they should", ["promtool", "test", "rules", RULES.replace("rules.yaml", "rules_test.yaml")])]:
    if shutil.which("promtool"):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        suite.true(words, done.returncode == 0, done.stdout)
    else:
        print(f"ok - {words} # SKIP there is no promtool here (make test-packages installs it)")
sys.exit(1 if suite.failed else 0)
