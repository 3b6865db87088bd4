#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede simulate`, `compare` and `advise` on traces, as a user calls them."""
import contextlib
import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CEDE, Folder, Suite, cede, environment  # noqa: E402

DAY = ["--scenario", "examples/scenario/day.yaml"]
TRACE = ["--trace", "examples/trace/jobs.csv", "--format", "philly"]
HEAD = "timestamp,duration,num_gpus,gpu_time,cluster\n"
COUNTS = ["submitted", "finished", "running", "waiting", "evictions", "repeatedEvictions", "usefulSeconds", "lostSeconds", "waitSeconds",
          "utilisation", "belowGuaranteeSeconds"]


def simulate(s):
    text, again, data = cede("simulate", *TRACE), cede("simulate", *TRACE), cede("simulate", *TRACE, "-o", "json")
    s.true("simulate prints what came of it, by queue and in total",
           re.search(r"^QUEUE +PODS +FINISHED +WAIT P50 +P95 +EVICTIONS +LOST +USE +BELOW GUARANTEE$", text.out, re.M) and
           re.search(r"^all +270 +270 ", text.out, re.M) and "By rule:" in text.out, text.out)
    s.equal("SI_1: the same input gives the same bytes", again.out, text.out)
    found = json.loads(data.out)
    s.equal("the data has what interfaces promise", [k for k in COUNTS if k not in found["totals"]], [])
    s.equal("kind, seed and profile", [found[k] for k in ("kind", "seed", "profile")], ["Simulation", 1, "default"])
    for key in ("submitted", "finished", "evictions"):
        s.equal(f"queues sum up to the total: {key}", sum(q[key] for q in found["queues"]), found["totals"][key])
    s.equal("everything ends", found["totals"]["finished"], found["totals"]["submitted"])
    other = json.loads(cede("simulate", *TRACE, "-o", "json", "--seed", "2").out)
    s.true("another seed assigns other priorities", other["totals"] != found["totals"])
    cut = json.loads(cede("simulate", *TRACE, "-o", "json", "--until", "6h").out)
    s.equal("--until stops", (cut["to"], cut["complete"]), ("2026-11-02T12:09:01Z", False))
    s.equal("and says by what", (cut["stopped"], "stopped" in found), ("--until", False))
    s.true("slowdown, and the most evictions of one pod, in total and by queue", all(
        t["slowdown"]["max"] >= t["slowdown"]["p95"] >= t["slowdown"]["p50"] >= 1 and t["mostEvictions"] <= t["evictions"] for t in [found["totals"], *found["queues"]])
        and found["totals"]["mostEvictions"] == max(q["mostEvictions"] for q in found["queues"]) > 1, str(found["totals"]))
    wide = cede("simulate", *TRACE, "-o", "wide")
    s.true("wide has them too, and what decisions took beside it", re.search(r" MAX +SLOWDOWN +EVICTIONS +REPEATED +MOST OF ONE ", wide.out)
           and re.search(r"decisions in [\d.]+ s, \d+ us each", wide.err), wide.out + wide.err)
    csv = cede("simulate", *TRACE, "-o", "csv").out.splitlines()
    s.equal("CSV has a row for each queue and one for all", [row.split(",")[0] for row in csv[1:]], ["root.ads", "root.speech", "root.vision", ""])


def report(s):
    with Folder({}) as folder:
        page, series = os.path.join(folder, "r.html"), os.path.join(folder, "s.csv")
        run = cede("simulate", *TRACE, "--report", page, "--series", series)
        html = open(page, encoding="utf-8").read()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
        s.equal("the report is written beside the text", (run.code, data["kind"]), (0, "Simulation"))
        s.equal("it has every eviction", len(data["evictions"]["rows"]), data["totals"]["evictions"])
        s.equal("series sum up to the total", sum(sum(q["evictions"]) for q in data["series"]), data["totals"]["evictions"])
        s.equal("flows sum up to it, too", sum(f["evictions"] for f in data["flows"]), data["totals"]["evictions"])
        s.true("it asks nobody for anything", not re.search(r'(src|href)="(?!#)', html) and "default-src 'none'" in html)
        rows = open(series, encoding="utf-8").read().splitlines()
        s.equal("the series file counts them as well", sum(int(r.split(",")[5]) for r in rows[1:]), data["totals"]["evictions"])
        bad = cede("simulate", *TRACE, "--report", os.path.join(folder, "no/such/folder.html"))
        s.true("a report that cannot be written is an error", bad.code == 2 and "No such file" in bad.err, bad.err)


def expectations_on_the_page(s):
    with Folder({}) as folder:
        cede("simulate", *DAY, "--report", os.path.join(folder, "r.html"))
        html = open(os.path.join(folder, "r.html"), encoding="utf-8").read()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
        s.equal("the page says what was expected and what came of it", [(c["ok"], bool(c["expect"]), bool(c["found"])) for c in data["checks"]], [(True, True, True)] * 5)
        room = data["capacity"]["nvidia.com/gpu"]
        used = [sum(q["used"].get("nvidia.com/gpu", [0] * data["steps"])[i] for q in data["series"]) for i in range(data["steps"])]
        s.true("what the nodes have falls while one of them has failed, and no more is used than that",
               (room[0], min(room), room[-1]) == (32, 24, 32) and all(u <= r + 0.01 for u, r in zip(used, room)), str(list(zip(used, room)))[:400])


def compare(s):
    sides = ["rules.thrash.soft=2", "queue.root.vision.reclaimMinRuntime=4h"]
    one, two = (cede("compare", *TRACE, *sides, "--processes", n) for n in "12")
    s.true("compare tells differences, directions and where they part",
           all(x in one.out for x in ("B AGAINST A", "IN TOTAL", "BELOW GUARANTEE", "They part at decision")), one.out)
    s.equal("SI_1: with one process or two the same bytes", two.out, one.out)
    data = json.loads(cede("compare", *TRACE, *sides, "-o", "json").out)
    part = data["sides"][1]["firstDifference"]
    s.true("SI_4: the first difference has both sentences", part["first"] and part["this"] and part["first"] != part["this"], str(part))
    pod = part["first"].split()[1]
    s.true("SI_4: the second says of the same pod that it waits", f"{pod} (root.vision) waits" in part["this"], str(part))
    same = cede("compare", *TRACE, "rules.thrash.soft=2", "rules.thrash.soft=2")
    s.true("SI_4: equal settings take the same decisions", "take the same decisions, all of them" in same.out, same.out)
    four = json.loads(cede("compare", *TRACE, "--profile", "default,kubernetes,yunikorn,kai", "--seeds", "1", "-o", "json").out)
    s.equal("SI_4: the four profiles on one load", [x["profile"] for x in four["sides"]], ["default", "kubernetes", "yunikorn", "kai"])
    s.equal("guarantees are not compared with a profile that knows none", four["sides"][1]["totals"]["belowGuaranteeSeconds"]["direction"], "none")


def advise(s):
    call = ["advise", "queue.*.reclaimMinRuntime", "--values", "0s,10m,1h,4h", *TRACE]
    one, two = (cede(*call, "--processes", n) for n in "12")
    s.true("advise tells what each value costs", all(re.search(f"^{v} ", one.out, re.M) for v in ("0s", "10m", "1h", "4h")), one.out)
    s.equal("SI_1: with one process or two the same bytes", two.out, one.out)
    thin = json.loads(cede("advise", "queue.root.ads.reclaimMinRuntime", "--values", "0s,1h", *TRACE, "--jobs", "20", "-o", "json").out)
    s.equal("SI_5: a thin load gives no advice", (thin["verdict"], "recommended" in thin), ("thin", False))
    idle = json.loads(cede("advise", "kai.stalenessGracePeriod", "--values", "1m,2m", *TRACE, "-o", "json").out)
    s.equal("SI_5: nor does a setting that changes nothing", idle["verdict"], "no-effect")
    split = cede("advise", "queue.root.ads.guaranteed.gpu,queue.root.vision.guaranteed.gpu", "--values", "4/8,8/4", *TRACE, "--seeds", "1", "-o", "json")
    s.equal("a split of guarantees is two settings at once", [p["value"] for p in json.loads(split.out)["points"]], ["4/8", "8/4"])


REFUSED = [
    ("no format", ["simulate", "--trace", "x.csv"], "which format? --format philly, openb, swf or journal"),
    ("a journal that is none", ["simulate", "--trace", "examples/trace/jobs.csv", "--format", "journal"], "not a journal of cede"),
    ("nodes for a journal", ["simulate", "--trace", "x.db", "--format", "journal", "--nodes", "3"], "do not bring their cluster"),
    ("no trace", ["simulate", "--format", "swf"], "of which trace? --trace FILE"),
    ("nothing to simulate", ["simulate"], "say what to simulate: cede simulate --scenario FILE, --trace FILE, or a cluster with -f or --kubeconfig"),
    ("nothing to compare", ["compare", "--profile", "default,kai"], "say what to simulate: cede compare --scenario FILE"),
    ("nodes without a trace", ["simulate", *DAY, "--nodes", "3"], "are of a trace: --trace FILE is missing"),
    ("jobs without a trace", ["simulate", "-f", "examples/gpu-cluster", "--jobs", "3"], "are of a trace: --trace FILE is missing"),
    ("nodes beside those of -f", ["simulate", *TRACE, "-f", "examples/gpu-cluster", "--nodes", "3"], "the cluster that is made for a trace, and -f or --kubeconfig names one"),
    ("a check of nothing", ["simulate", "-f", "examples/gpu-cluster", "--check"], "--check: of what is expected? --scenario FILE is missing"),
    ("a check of a scenario that expects nothing", ["simulate", "--scenario", "tests/cli/clusters/no-expectations.yaml", "--check"], "no-expectations.yaml: --check: the scenario expects nothing"),
    ("a simulation to serve that is a journal", ["serve", "--simulation", "x.db", "--format", "journal"], "--format: 'journal' is not one of philly, openb, swf"),
    ("a file that is not there", ["simulate", "--trace", "no.csv", "--format", "swf"], "no.csv: No such file or directory"),
    ("standard input", ["simulate", "--trace", "-", "--format", "swf"], "a trace is read twice: it must be a file"),
    ("an end before the beginning", ["simulate", *TRACE, "--until", "2001-01-01T00:00:00Z"], "--until: expected a duration"),
    ("one side", ["compare", *TRACE, "a.yaml"], "what with what?"),
    ("a side that is not there", ["compare", *TRACE, "a.yaml", "b.yaml"], "a.yaml: No such file or directory"),
    ("a setting that is none", ["compare", *TRACE, "rules.thrash.sofd=2", "rules.thrash.soft=1"], "rules.thrash"),
    ("an unknown profile", ["compare", *TRACE, "--profile", "default,slurm"], "--profile"),
    ("one value", ["advise", "rules.thrash.soft", "--values", "1", *TRACE], "--values: at least two"),
    ("no setting", ["advise", "--values", "1,2", *TRACE], "which setting?"),
    ("a value that is none", ["advise", "rules.thrash.soft", "--values", "1,many", *TRACE], "rules.thrash.soft=many"),
    ("a split that does not match", ["advise", "rules.thrash.soft,rules.thrash.hard", "--values", "1,2", *TRACE], "must have one part for each setting"),
]

TRACES = [
    ("a hole", "2026-11-02 06:00:00,60\n", "t.csv:2: 2 fields, the header has 5"),
    ("a negative time", "2026-11-02 06:00:00,-60,1,1,a\n", "t.csv:2:21: duration: '-60' is not a number of seconds"),
    ("a huge time", "2026-11-02 06:00:00,99999999999999,1,1,a\n", "t.csv:2:21: duration"),
    ("markup as a queue", "2026-11-02 06:00:00,60,1,1,<b>x</b>\n", "t.csv:2: '<b>x</b>' cannot be the name of a queue"),
    ("a field that is empty", "2026-11-02 06:00:00,,1,1,a\n", "t.csv:2:21: duration: empty"),
    ("a time after time", "9999-12-31 23:59:59,60,1,1,a\n", "t.csv:2:1: timestamp: '9999-12-31 23:59:59' is not a time before the year 2262"),
    ("a time before time", "0000-00-00 00:00:00,60,1,1,a\n", "t.csv:2:1: timestamp"),
    ("more GPUs than there are", "2026-11-02 06:00:00,60,99999999999,1,a\n", "t.csv:2:"),
    ("no jobs", "", "t.csv: there is no job in it that can be simulated"),
]


def refuse(s):
    for story, args, words in REFUSED:
        found = cede(*args)
        s.true(f"refused: {story}", found.code == 2 and words in found.err and not found.out, f"{found.code} {found.err}{found.out}")
    for story, rows, words in TRACES:
        with Folder({"t.csv": HEAD + rows}) as folder:
            found = cede("simulate", "--trace", "t.csv", "--format", "philly", cwd=folder)
            s.true(f"refused in a trace: {story}", found.code == 2 and words in found.err, f"{found.code} {found.err}")


SWF = "; MaxProcs: 128\n" + "".join(f"{i} {i * 10} 0 300 {i % 90 + 1} -1 -1 -1 -1 -1 1 1 1 -1 {i % 2} -1 -1 -1\n" for i in range(200))
SWF += "999 5000 0 -1 4 -1 -1 -1 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
OPENB = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
OPENB += "".join(f"p{i},1000,1024,1,1000,,{'LS' if i % 3 else 'BE'},Running,{i},{i + 500},{i + 3}\n" for i in range(100))
ROWS = [f"2026-11-02 0{i % 9}:00:{i % 60:02},{i + 1},1,1,a\n" for i in range(300)]


def formats(s):
    with Folder({"j.swf": SWF, "o.csv": OPENB, "u.csv": HEAD + "".join(ROWS), "v.csv": HEAD + "".join(sorted(ROWS))}) as folder:
        def run(file, form, *more):
            return json.loads(cede("simulate", "--trace", file, "--format", form, "-o", "json", *more, cwd=folder).out)

        found = run("j.swf", "swf")
        s.true("Standard Workload Format: all jobs end, what is not known is left out and said",
               found["totals"]["finished"] == found["totals"]["submitted"] >= 200 and any("left out: 1 jobs" in x for x in found["assigned"]), str(found))
        s.equal("OpenB: queues by class", [q["queue"] for q in run("o.csv", "openb", "--nodes", "2")["queues"]], ["root.be", "root.ls"])
        u, v = run("u.csv", "philly"), run("v.csv", "philly")
        s.true("a file in no order of time is sorted, and that is said",
               any("not in order" in x for x in u["assigned"]) and not any("not in order" in x for x in v["assigned"]))
        s.equal("and gives the same work", u["totals"]["usefulSeconds"], v["totals"]["usefulSeconds"])


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8, pods: 10}}\n"


def pod(name, job, made, cpus, priority, node="", started=""):
    where, status = (f"nodeName: {node}, ", f"phase: Running, startTime: {started}") if node else ("", "phase: Pending")
    return (f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, creationTimestamp: {made}, ownerReferences: "
            f"[{{apiVersion: batch/v1, kind: Job, name: {job}, uid: u-{job}, controller: true}}]}}\n"
            f"spec: {{priority: {priority}, {where}containers: [{{name: c, resources: {{requests: {{cpu: {cpus}}}}}}}]}}\nstatus: {{{status}}}\n")


def at(clock):
    return f"2026-11-15T{clock}Z"


def broken_journals(folder):
    """What its error begins with, and the file: cut off, without the clusters, of an older version, a folder, not there."""
    def changed(name, *statements):
        path = os.path.join(folder, name)
        shutil.copy(os.path.join(folder, "j.db"), path)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    changed("old.db", "PRAGMA user_version = 1")
    changed("chunkless.db", "DELETE FROM chunks")
    shutil.copy(os.path.join(folder, "j.db"), os.path.join(folder, "cut.db"))
    os.truncate(os.path.join(folder, "cut.db"), 12288)
    return [("a journal of version 1", "old.db"), ("damaged: ", "chunkless.db"), ("damaged: ", "cut.db"), ("a folder, not a journal", "."), ("No such file", "none.db")]


def journal(s):
    """What was planned four times in two hours: high takes the place of low, which comes back when high has ended; a third comes later."""
    high, third = (("high", "high", at("11:59:00"), 8, 100), ("third", "third", at("12:20:00"), 4, 0))
    runs = [("12:00:00", pod("low", "low", at("10:00:00"), 8, 0, "n1", at("10:00:00")) + pod(*high)),
            ("12:30:00", pod(*high, "n1", at("12:00:30")) + pod("low-2", "low", at("12:00:00"), 8, 0) + pod(*third)),
            ("13:00:00", pod("low-2", "low", at("12:00:00"), 8, 0, "n1", at("12:40:00")) + pod(*third)),
            ("14:10:00", pod(*third, "n1", at("14:00:00")))]
    with Folder({f"{i}.yaml": NODE + pods for i, (_, pods) in enumerate(runs)}) as folder:
        for i, (clock, _) in enumerate(runs):
            cede("plan", "-f", f"{i}.yaml", "--now", at(clock), "--journal", "j.db", cwd=folder)
        load = ["simulate", "--trace", "j.db", "--format", "journal", "-o", "json"]
        run = json.loads(cede(*load, cwd=folder).out)
        found = run["totals"]
        # low has run 2h when it goes and 1h30m when it ends: 3h30m from 13:00:00 on; high 59m30s from 12:00:30 on
        s.equal("SI_5: a journal: the cluster of its first run, what came later, run times from who was gone when",
                [found[k] for k in ("submitted", "finished", "running", "evictions", "lostSeconds", "usefulSeconds")] + [run["from"], run["to"]],
                [3, 2, 1, 1, 7200, 16170, at("12:00:00"), at("16:30:00")])
        again = json.loads(cede(*load, "--config", "c.yaml", cwd=folder).out or "{}")
        s.equal("settings that are not there are an error", again, {})
        with open(os.path.join(folder, "c.yaml"), "w", encoding="utf-8") as f:
            f.write("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: yunikorn\n")
        other = json.loads(cede(*load, "--config", "c.yaml", cwd=folder).out)
        s.equal("and continued under other settings: YuniKorn takes nothing inside a queue", (other["profile"], other["totals"]["evictions"]), ("yunikorn", 0))
        late = json.loads(cede(*load, "--now", at("13:05:00"), cwd=folder).out)
        s.equal("--now: from the last cluster up to then, at its own time", (late["from"], late["totals"]["submitted"], late["totals"]["evictions"]), (at("13:00:00"), 2, 0))
        for name, path in broken_journals(folder):
            found = cede("simulate", "--trace", path, "--format", "journal", cwd=folder)
            s.true(f"a journal that cannot be continued: {name}", found.code == 2 and not found.out and found.err.startswith(f"cede: error: {path}: {name}"), found.err)
        early = cede(*load, "--now", at("11:00:00"), cwd=folder)
        s.true("and none before its first", early.code == 2 and f"j.db: --now: none of its clusters is of {at('11:00:00')} or before" in early.err, early.err)


def node(name, cpus, *spec):
    return (f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nspec: {{{', '.join(spec)}}}\n"
            f"status: {{allocatable: {{cpu: {cpus}, pods: 10}}}}\n---\n")


def queue(most):
    return f"partitions: [{{name: default, queues: [{{name: root, queues: [{{name: a, resources: {{max: {{vcore: {most}}}}}}}]}}]}}]\n---\n"


def in_queue(text):
    return text.replace("namespace: ml,", "namespace: ml, labels: {queue: root.a, app: a},")


BUDGET = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: ml}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a}}}\n---\n"
LOW, LATE = (pod("low", "low", at("11:00:00"), 4, 0, "n1", at("11:00:00")), pod("late", "late", at("13:30:00"), 4, 0))
X, Y = (in_queue(pod(n, n, at(t), 4, 0)) for n, t in (("x", "12:10:00"), ("y", "12:10:00")))
FULL, HIGH = pod("full", "full", at("11:00:00"), 8, 0, "n1", at("11:00:00")).replace("namespace: ml,", "namespace: ml, labels: {app: a},"), pod("high", "high", at("12:10:00"), 8, 9)
CHANGES = [
    # late goes to n2, since n1 is cordoned; loses it at 15:00 and waits until n1 is back at 16:00
    ("a cordon, a node that comes and one that goes", [node("n1", 8) + LOW, node("n1", 8, "unschedulable: true") + node("n2", 4) + LOW,
     node("n1", 8, "unschedulable: true") + node("n2", 4) + LOW + LATE, node("n1", 8, "unschedulable: true") + LOW + LATE, node("n1", 8) + LOW + LATE],
     {"submitted": 2, "running": 2, "evictions": 0}, 3600, "3 changes, and 1 that are gone"),
    # y waits for the maximum of its queue to be lifted
    ("queues", [queue(4) + node("n1", 8), queue(8) + node("n1", 8) + X + Y], {"submitted": 2, "running": 2}, 3000, "1 changes, and 0 that are gone"),
    # high may not take the place of full while there is a budget
    ("a budget that is gone", [BUDGET + node("n1", 8) + FULL, node("n1", 8) + FULL + HIGH], {"running": 1, "evictions": 1, "waiting": 1}, 3030, "0 changes, and 1 that are gone"),
    ("nothing changes", [node("n1", 8) + LOW, node("n1", 8) + LOW + LATE], {"submitted": 2, "running": 2}, 0, None),
]


def journal_changes(s):
    """What a later cluster of a journal shows otherwise happens at the time of that cluster."""
    for story, clusters, expected, longest, note in CHANGES:
        with Folder({f"{i}.yaml": text for i, text in enumerate(clusters)}) as folder:
            for i in range(len(clusters)):
                done = cede("plan", "-f", f"{i}.yaml", "--now", at(f"{12 + i}:00:00"), "--journal", "j.db", "-q", cwd=folder)
                s.equal(f"a journal with changes: {story}: planned", (done.code, done.err), (0, ""))
            run = cede("simulate", "--trace", "j.db", "--format", "journal", "-o", "json", cwd=folder)
            data = json.loads(run.out or '{"totals": {"waitSeconds": {"max": -1}}, "assigned": [""]}')
            found = data["totals"]
            s.equal(f"a journal with changes: {story}", ({k: found.get(k) for k in expected}, found["waitSeconds"]["max"], run.err), (expected, longest, ""))
            s.true(f"a journal with changes: {story}: it is said", note in data["assigned"][0] if note else "change" not in data["assigned"][0], str(data["assigned"]))
            if story != "queues":
                continue
            other = cede("compare", "--trace", "j.db", "--format", "journal", "queue.root.a.max.cpu=5", "queue.root.a.max.cpu=6", "--seeds", "1", "-o", "json", cwd=folder)
            waits = [json.loads(other.out)["sides"][1]["totals"]["waitMeanSeconds"][k]["mean"] for k in ("was", "is")] if other.code == 0 else other.err
            s.equal("queues that a setting changes stay as it says: y never starts, and x did not wait", waits, [0, 0])


def plans_on_the_way(s):
    """A plan that is recorded in the middle of a simulation replays, and recording it changes nothing."""
    load = ["simulate", "--trace", os.path.abspath("tests/sim/traces/made-up.csv"), "--format", "philly", "--nodes", "6", "-o", "json"]
    change = "kind: Scenario\ncluster: {nodes: [{name: n, count: 1, room: {cpu: 4}}]}\nworkloads:\n- {name: a, count: 9, every: 1m, runs: 30m}\n" \
             "events:\n- at: 5m\n  change: |\n    apiVersion: cede.dev/v1\n    kind: CedeConfiguration\n    rules: {thrash: {soft: 3}}\n"
    with Folder({"s.yaml": change}) as folder:
        for profile in ("default", "kubernetes", "yunikorn", "kai"):
            plain = cede(*load, "--profile", profile, cwd=folder)
            for at in ("20m", "3h"):
                way = cede(*load, "--profile", profile, "--journal", f"{profile}.db", "--journal-at", at, cwd=folder)
                s.equal(f"SI_5: a plan recorded after {at} changes nothing in profile {profile}", (way.code, way.out), (0, plain.out))
            again = cede("replay", f"{profile}.db", cwd=folder)
            s.true(f"SI_5: and it replays with the same bytes in profile {profile}",
                   again.code == 0 and "2 runs replayed: all the same" in again.out and re.search(r"\b([5-9]|1\d) decisions", again.out), again.out)
        ended = cede(*load, "--until", "20m", "--journal", "end.db", cwd=folder)
        s.true("without a time it is that of the end", ended.code == 0 and "08:20:11Z" in cede("replay", "end.db", cwd=folder).out, ended.err)
        changed = cede("simulate", "--scenario", "s.yaml", "--journal", "c.db", cwd=folder)
        s.true("a plan under settings that an event changed is refused", changed.code == 2 and "an event changed settings" in changed.err, changed.err)
        nowhere = cede(*load, "--journal-at", "1h", cwd=folder)
        s.true("a time without a journal is an error", nowhere.code == 2 and "--journal FILE is missing" in nowhere.err, nowhere.err)


def verdicts(s):
    queue = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: b}\nspec: {resources: {cpu: {limit: -1}}}\n"
    with Folder({"t.csv": HEAD + "2026-11-02 06:00:00,60,64,1,a\n", "c.yaml": NODE + "---\n" + queue,
                 "s.yaml": "kind: Scenario\ncluster: {nodes: [{name: n, count: 1, room: {cpu: 4}}]}\nworkloads:\n- {name: a, every: 1m, runs: 30s}\n"}) as folder:
        load = ["simulate", "--trace", "t.csv", "--format", "philly"]
        never = cede(*load, "--nodes", "2", cwd=folder)
        s.true("a trace that never fits ends with a verdict", never.code == 0 and "Stopped (what waits can never start): 0 pods run, 8 wait." in never.out, never.out)
        s.true("and with who waits longest, and why", re.search(r"waits longest, since 2026-11-02T06:00:00Z: group \S+ needs 8 pods at once; 2 fit: 0/2 nodes are available", " ".join(never.out.split())),
               never.out)
        data = json.loads(cede(*load, "--nodes", "2", "-o", "json", cwd=folder).out)
        s.equal("as data too", sorted(data["waitsLongest"]), ["message", "pod", "since"])
        unknown = cede(*load, "-f", "c.yaml", cwd=folder)
        s.true("queues that are not there are named", "8 of them ask for a queue that is not in the cluster." in unknown.out, unknown.out + unknown.err)
        endless = cede("simulate", "--scenario", "s.yaml", cwd=folder)
        s.true("a scenario without an end is refused where it says so", endless.code == 2 and "s.yaml:4:" in endless.err and "expected an end" in endless.err,
               endless.err)
    late = CLUSTER + "workloads:\n- {name: late, at: 1h, requests: {cpu: 9}}\n- {name: early, at: 30m, requests: {cpu: 9}}\n- {name: fits, requests: {cpu: 1}}\nuntil: 3h\n"
    with Folder({"s.yaml": late}) as folder:
        two = cede("simulate", "--scenario", "s.yaml", cwd=folder)
        s.true("of two who wait the one that came first is named", "default/early waits longest, since 2026-11-15T12:30:00Z: 0/1 nodes are available: 1 Insufficient cpu." in " ".join(two.out.split()), two.out + two.err)


CLUSTER = "kind: Scenario\nfrom: 2026-11-15T12:00:00Z\ncluster: {nodes: [{name: n, room: {cpu: 4}}]}\n"
SCENARIOS = [
    ("no cluster", "kind: Scenario\nworkloads: [{name: a, runs: 1m}]\n", 2, "s.yaml: there is no cluster: cluster.nodes, cluster.files, "),
    ("no nodes", "kind: Scenario\ncluster: {nodes: []}\nworkloads: [{name: a, runs: 1m}]\n", 2, "s.yaml: there is no cluster"),
    ("a file that is not there", "kind: Scenario\ncluster: {files: [no.yaml]}\nworkloads: [{name: a, runs: 1m}]\n", 2, "no.yaml: No such file"),
    ("itself among its files", CLUSTER.replace("{nodes", "{files: [s.yaml], nodes") + "workloads: [{name: a, runs: 1m}]\n", 0, "all              1         1 "),
    ("a name twice at one time", CLUSTER + "workloads:\n- {name: a, runs: 1m}\n- {name: a, runs: 2m}\n", 2, "s.yaml:6:3: pod default/a is there already"),
    ("a thousand million pods", CLUSTER + "workloads: [{name: a, pods: 1000000000}]\n", 2, "s.yaml:4:29: Scenario: workloads[0].pods: expected a number from 1 to 100000"),
    ("the end of time", CLUSTER + "workloads: [{name: a, runs: 2400000h}]\n", 0, "Stopped (the last time there is, in the year 2262): 1 pod runs, 0 wait."),
    ("an event for nobody", CLUSTER + "workloads: [{name: a, runs: 1m}]\nevents: [{at: 30s, fail: m}]\n", 2, "s.yaml:5:10: there is no node m at that time"),
    ("a change that is none", CLUSTER + "workloads: [{name: a, runs: 1m}]\nevents: [{at: 30s, change: 'kind: Foo'}]\n", 2, "s.yaml:5:10:1:1: kind: expected partitions, or one of"),
]


def odd_scenarios(s):
    for story, text, code, words in SCENARIOS:
        with Folder({"s.yaml": text}) as folder:
            found = cede("simulate", "--scenario", "s.yaml", cwd=folder)
            s.true(f"an odd scenario: {story}", found.code == code and words in found.out + found.err, f"{found.code} {found.out}{found.err}")
    with Folder({}) as folder:
        os.symlink("/dev/full", os.path.join(folder, "full"))
        for command in (["simulate", *DAY], ["compare", *TRACE, "--jobs", "20", "--seeds", "1", "rules.thrash.soft=1", "rules.thrash.soft=2"]):
            found = cede(*command, "--report", os.path.join(folder, "full"))
            s.true(f"{command[0]}: a report to a full disk is an error", found.code == 2 and "No space left on device" in found.err, found.err)


def endless(s):
    """Where nothing ends by itself it is over when nobody is leaving any more, and no window ends."""
    found = cede("simulate", "-f", "examples/gpu-cluster", "--now", "2026-11-15T12:00:00Z")
    s.true("who waits for victims to go starts when they are gone", "12:00:30Z (30s)" in found.out and
           "At the end 19 pods run, and 1 waits for a place that never comes." in found.out, found.out)
    with open("tests/sim/stories/window-ends.yaml", encoding="utf-8") as f:
        window = re.sub(r", runs: \w+", "", f.read()).replace("- everything finishes\n", "")
    with Folder({"s.yaml": window}) as folder:
        found = cede("simulate", "--scenario", "s.yaml", "--check", cwd=folder)
        s.true("and who waits for a window to end, when it has", found.code == 0 and not found.err and "the last at 2026-11-15T12:20:30Z" in found.out, found.out + found.err)


def own_end(s):
    """A scenario that comes to its own end was not stopped by anybody."""
    day = ["simulate", "--scenario", os.path.abspath("examples/scenario/day.yaml")]
    with Folder({}) as folder:
        whole, cut = cede(*day, "--report", "w.html", cwd=folder), cede(*day, "--until", "2h", "--report", "c.html", cwd=folder)
        pages = [open(os.path.join(folder, p), encoding="utf-8").read() for p in ("w.html", "c.html")]
        s.true("its end is said to be its end", "The scenario ends here: 9 pods run, 0 wait." in whole.out and "Stopped" not in whole.out, whole.out)
        s.true("one that was cut says by what", "Stopped (--until): " in cut.out, cut.out)
        s.equal("and only the page of that one warns of it", ['"stopped":"--until"' in p for p in pages], [False, True])


def once(s):
    """What is wrong with a setting is told once, however many processes would try it."""
    found = cede("advise", "queue.*.preemptMinRuntim", "--values", "0s,1h", *TRACE)
    s.equal("an unknown setting is told once", (found.code, found.err.count("did you mean")), (2, 1))


def interrupted(s):
    """Ctrl-C while the bar is seen on a terminal: what is known is printed."""
    rows = "".join(f"2026-11-{2 + i // 40000:02} {i // 1667 % 24:02}:{i // 28 % 60:02}:{i % 28 * 2:02},{i % 500 + 100},{i % 8 + 1},1,q{i % 5}\n" for i in range(400000))
    with Folder({"big.csv": HEAD + rows}) as folder:
        ours, theirs = pty.openpty()
        run = subprocess.Popen([CEDE, "simulate", "--trace", "big.csv", "--format", "philly", "--nodes", "40"], cwd=folder, stdout=subprocess.PIPE,
                               stderr=theirs, env=environment())
        os.close(theirs)
        seen = b""
        while b"simulating:" not in seen:
            seen += os.read(ours, 4096)
        run.send_signal(signal.SIGINT)
        out = run.communicate()[0].decode()
        os.close(ours)
        s.true("Ctrl-C prints what is known so far", run.returncode == 0 and "Stopped (interrupted)" in out and "QUEUE" in out, out)


def main():
    s = Suite()
    for test in [globals()[n] for n in sys.argv[1:]] or (simulate, report, expectations_on_the_page, compare, advise, refuse, formats, journal, journal_changes, plans_on_the_way, verdicts, odd_scenarios, endless, own_end, once, interrupted):
        test(s)
    s.end()


if __name__ == "__main__":
    main()
