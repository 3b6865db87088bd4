#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prometheus.py CEDE: a Prometheus scrapes `cede serve` on the example cluster; the rules are healthy in it, and every expression of the dashboard can be asked.

tests/cluster/live/test_prometheus.py does the same with `cede run`, where every number of the dashboard is there."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
failed = 0


def report(is_good, sentence, why=""):
    global failed
    failed += not is_good
    print(("ok - " if is_good else "not ok - ") + sentence + ("" if is_good else f"\n#   {why}"), flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path, **query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}" + ("?" + urllib.parse.urlencode(query) if query else ""), timeout=30) as answer:
        return answer.read().decode()


def ask(port, path, **query):
    return json.loads(get(port, "/api/v1/" + path, **query))["data"]


def wait_for(condition, seconds=120):
    """What it gives, as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        time.sleep(0.5)
    return None


class Prometheus:
    """with Prometheus(port_of_cede) as its_port: it scrapes and evaluates the shipped rules once a second."""

    def __init__(self, target):
        self.port, self.folder = free_port(), tempfile.TemporaryDirectory()
        with open(os.path.join(self.folder.name, "prometheus.yml"), "w", encoding="utf-8") as f:
            f.write(f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [rules.yaml]\n"
                    f"scrape_configs:\n- job_name: cede\n  static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n")
        shutil.copy(os.path.join(SOURCE, "packaging", "prometheus", "rules.yaml"), self.folder.name)

    def __enter__(self):
        self.process = subprocess.Popen(["prometheus", f"--config.file={self.folder.name}/prometheus.yml", f"--storage.tsdb.path={self.folder.name}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], **QUIET)
        return self.port if wait_for(lambda: get(self.port, "/-/ready")) else None

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.folder.cleanup()


def expressions():
    """Those of the dashboard, its variables filled in."""
    with open(os.path.join(SOURCE, "packaging", "grafana", "cede.json"), encoding="utf-8") as f:
        dashboard = json.load(f)
    return [t["expr"].replace("$__rate_interval", "1m").replace("$job", ".*").replace("$queue", ".*").replace("$resource", ".*")
            for p in dashboard["panels"] if p["type"] != "row" for t in p["targets"]]


def names_in(expression):
    """Of the numbers that it asks for."""
    return set(re.findall(r"\b(?:cede|scheduler|rest_client|leader_election|process)[_:][a-z0-9_:]+", re.sub(r'"[^"]*"', "", expression)))


def is_offered(name, offered):
    """By that name, or as a histogram's part."""
    return name in offered or re.sub(r"_(bucket|sum|count)$", "", name) in offered


def check(port, scraped, report, is_daemon=False):
    """What cede serve shows of files has no numbers of writes, leases and evictions; what cede run shows has all of them."""
    up = wait_for(lambda: [r for r in ask(port, "query", query='up{job="cede"}')["result"] if r["value"][1] == "1"])
    report(bool(up), "Prometheus scrapes cede", str(ask(port, "targets")["activeTargets"])[:600])
    offered = set(re.findall(r"^# TYPE (\S+)", scraped, re.M))
    known = wait_for(lambda: (k := set(ask(port, "metadata", limit="1000"))) and offered <= k and k) or set()
    report(offered <= known and len(offered) > 20, f"and knows all {len(offered)} numbers it has", str(sorted(offered - known)))
    groups = wait_for(lambda: (g := ask(port, "rules")["groups"]) and all(r["health"] != "unknown" for x in g for r in x["rules"]) and g)
    rules = [r for g in groups or [] for r in g["rules"]]
    bad = [(r["name"], r.get("lastError")) for r in rules if r["health"] != "ok"]
    report(rules and not bad, f"its {len(rules)} rules are healthy", str(bad))
    asked = {name for e in expressions() for name in names_in(e)}
    missing = {name for name in asked if not is_offered(name, offered) and name not in {r["name"] for r in rules}}
    if is_daemon:
        with open(os.path.join(SOURCE, "src", "serve", "metric_table.h"), encoding="utf-8") as f:
            table = set(re.findall(r'"([a-z_]+)"', f.read()))
        report(len(asked) > 20 and missing <= table, f"all {len(asked)} numbers of the dashboard exist", str(sorted(missing - table)))
        report(len(missing) < 8, f"{len(asked) - len(missing)} of them are there already; the others come with the first of their kind: {', '.join(sorted(missing))}")
    check_expressions(port, report)


def check_expressions(port, report):
    wrong, silent = [], []
    for text in expressions():
        try:
            if not ask(port, "query", query=text)["result"]:
                silent.append(text)
        except OSError as error:
            wrong.append((text, str(error)))
    n = len(expressions())
    report(not wrong, f"all {n} expressions of the dashboard can be asked ({n - len(silent)} have an answer already)", str(wrong))


def main():
    cede, port = os.path.abspath(sys.argv[1]), free_port()
    serve = subprocess.Popen([cede, "serve", "-f", os.path.join(SOURCE, "examples", "gpu-cluster"), "--now", "2026-11-15T12:00:00Z", "--listen", f"127.0.0.1:{port}"], **QUIET)
    try:
        scraped = wait_for(lambda: get(port, "/metrics"))
        report(bool(scraped), "cede serve has metrics")
        with Prometheus(port) as its_port:
            report(bool(scraped and its_port), "both are ready")
            if scraped and its_port:
                check(its_port, scraped, report)
                used = ask(its_port, "query", query='cede_queue_used{queue="root.ads.ranking",resource="nvidia.com/gpu"}')["result"]
                report([r["value"][1] for r in used] == ["8"], "root.ads.ranking uses 8 GPUs, as cede show says", str(used))
    finally:
        serve.terminate()
        serve.wait(60)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
