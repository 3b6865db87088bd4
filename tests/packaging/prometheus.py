#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prometheus.py CEDE: a Prometheus scrapes `cede serve` on the example cluster; the rules are healthy in it, and every expression of the dashboard can be asked."""
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


def check(port, scraped):
    up = wait_for(lambda: [r for r in ask(port, "query", query='up{job="cede"}')["result"] if r["value"][1] == "1"])
    report(bool(up), "Prometheus scrapes cede", str(ask(port, "targets")["activeTargets"])[:600])
    known = set(ask(port, "metadata", limit="1000"))
    offered = set(re.findall(r"^# TYPE (\S+)", scraped, re.M))
    report(offered <= known and len(offered) > 20, f"and knows all {len(offered)} numbers it has", str(sorted(offered - known)))
    # Rules are evaluated once a second here.
    groups = wait_for(lambda: (g := ask(port, "rules")["groups"]) and all(r["health"] != "unknown" for x in g for r in x["rules"]) and g)
    bad = [(r["name"], r.get("lastError")) for g in groups or [] for r in g["rules"] if r["health"] != "ok"]
    report(groups and not bad, "its rules are healthy", str(bad))
    dashboard = json.load(open(os.path.join(SOURCE, "packaging", "grafana", "cede.json"), encoding="utf-8"))
    expressions = [t["expr"] for p in dashboard["panels"] if p["type"] != "row" for t in p["targets"]]
    wrong, empty = [], 0
    for expression in expressions:
        text = expression.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$queue", ".*").replace("$resource", ".*")
        try:
            empty += not ask(port, "query", query=text)["result"]
        except OSError as error:
            wrong.append((text, str(error)))
    report(not wrong, f"all {len(expressions)} expressions of the dashboard can be asked ({len(expressions) - empty} have an answer already)", str(wrong))
    used = ask(port, "query", query='cede_queue_used{queue="root.ads.ranking",resource="nvidia.com/gpu"}')["result"]
    report([r["value"][1] for r in used] == ["8"], "root.ads.ranking uses 8 GPUs, as cede show says", str(used))


def main():
    cede = os.path.abspath(sys.argv[1])
    ports = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as f:
            f.write(f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [rules.yaml]\n"
                    f"scrape_configs:\n- job_name: cede\n  static_configs: [{{targets: ['127.0.0.1:{ports[0]}']}}]\n")
        shutil.copy(os.path.join(SOURCE, "packaging", "prometheus", "rules.yaml"), folder)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        serve = subprocess.Popen([cede, "serve", "-f", os.path.join(SOURCE, "examples", "gpu-cluster"), "--now", "2026-11-15T12:00:00Z", "--listen", f"127.0.0.1:{ports[0]}"], **quiet)
        prometheus = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{ports[1]}"], **quiet)
        try:
            scraped = wait_for(lambda: get(ports[0], "/metrics"))
            report(bool(scraped), "cede serve has metrics")
            if scraped and wait_for(lambda: get(ports[1], "/-/ready")):
                check(ports[1], scraped)
            else:
                report(False, "both are ready")
        finally:
            for process in (serve, prometheus):
                process.terminate()
                process.wait(60)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
