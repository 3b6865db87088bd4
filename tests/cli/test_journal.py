#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede plan --journal`, `cede history` and `cede replay`: what is kept, what is told of it, and what happens when something goes wrong."""
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CEDE, GOLDEN, NOW, SANITIZED, SOURCE, Folder, Suite, cede, environment  # noqa: E402

EXAMPLE = os.path.join(SOURCE, "examples", "gpu-cluster")
MIXED = os.path.join(SOURCE, "tests", "cli", "clusters", "mixed.yaml")
KUBERNETES = os.path.join(SOURCE, "examples", "settings", "kubernetes.yaml")
FORMATS = (("text", "txt"), ("wide", "wide.txt"), ("json", "json"), ("yaml", "yaml"))


def record(folder, *args, file="j.db", cluster=EXAMPLE, now=NOW, **options):
    return cede("plan", "-f", cluster, *now, "--journal", file, *args, cwd=folder, **options)


def at(hour):
    return ["--now", f"2026-11-15T{hour:02}:00:00Z"]


def sql(folder, text, file="j.db"):
    db = sqlite3.connect(os.path.join(folder, file))
    with db:
        rows = db.execute(text).fetchall()
    db.close()
    return rows


def evictions(folder, *args):
    found = cede("history", "j.db", "-o", "json", *args, cwd=folder)
    return [(x["run"], x["pod"]) for x in json.loads(found.out)["evictions"]] if found.code == 0 else found.err


def refused(t, name, found, words):
    t.true(f"{name}: exit code 2, nothing on standard output, and it is said",
           found.code == 2 and found.out == "" and words in found.err and found.err.startswith("cede: error: "), f"{found.code} {found.out[:200]} {found.err}")


# ---- what is kept and told ----

def goldens(t):
    with Folder({}) as folder:
        plain = cede("plan", "-f", EXAMPLE, *NOW)
        found = record(folder)
        t.equal("a plan that is recorded looks as one that is not", (found.code, found.out, found.err), (0, plain.out, ""))
        record(folder, "--profile", "kubernetes", "--cycles", "3", now=at(13))
        for format, ending in FORMATS:
            for file, args in ((f"history-gpu.{ending}", ["history", "j.db"]), (f"replay-gpu.{ending}", ["replay", "j.db"]),
                               (f"replay-gpu-kubernetes.{ending}", ["replay", "j.db", "--config", KUBERNETES])):
                found = cede(*args, "-o", format, cwd=folder)
                t.golden(file, file, found.out)
                t.equal(f"{file}: exit code, and nothing to note", (found.code, found.err), (0, ""))
        t.equal("nothing is left beside the journal", os.listdir(folder), ["j.db"])
    for name in ("history", "replay", "journal"):
        t.golden(f"cede {name} --help", f"help-{name}.txt", cede(name, "--help").out)


def tables(t):
    """What somebody finds who asks the file itself, and what cede journal show gives of the rest."""
    with Folder({}) as folder:
        plan = json.loads(record(folder, "-o", "json").out)
        shown = cede("journal", "show", "j.db", cwd=folder)
        t.equal("decisions are kept as plan prints them", [json.loads(x) for x in shown.out.splitlines()], plan["decisions"])
        t.equal("the row of the run", sql(folder, "SELECT run, source, now, profile, cycles FROM runs"), [(1, "plan", "2026-11-15T12:00:00Z", "default", 1)])
        victims = [(v["pod"], v["queue"], v["node"], v["lostSeconds"], d["pod"], "planned") for d in plan["decisions"] for v in d["victims"]]
        t.equal("evictions", sql(folder, "SELECT pod, queue, node, lost_seconds, for_pod, state FROM evictions ORDER BY seq, n"), victims)
        state = cede("journal", "show", "j.db", "--run", "1", "--state", cwd=folder).out
        shown = cede("show", "-f", "-", "--manifests", *NOW, stdin=state.encode()).out
        t.equal("the cluster is kept as manifests", shown, cede("show", "-f", EXAMPLE, "--manifests", *NOW).out)
        t.equal("the file is in WAL mode", sql(folder, "PRAGMA journal_mode"), [("wal",)])
        refused(t, "show: a run that is not there", cede("journal", "show", "j.db", "--run", "2", cwd=folder), "j.db: there is no run 2; it has run 1")


def filters(t):
    rows = [
        ("all", [], [(1, "vision/sweep-3"), (1, "web/crawl-1"), (1, "vision/sweep-2"), (2, "web/crawl-1")]),
        ("a queue that lost", ["--queue", "root.research.vision"], [(1, "vision/sweep-3"), (1, "vision/sweep-2")]),
        ("a queue that got", ["--queue", "root.ads.ranking"], [(1, "vision/sweep-3")]),
        ("queues below one", ["--queue", "root.research"], [(1, "vision/sweep-3"), (1, "vision/sweep-2")]),
        ("not what only begins alike", ["--queue", "root.res"], []),
        ("a pod that went", ["--pod", "vision/sweep-3"], [(1, "vision/sweep-3")]),
        ("a pod that got the room", ["--pod", "web/report-0"], [(1, "web/crawl-1"), (2, "web/crawl-1")]),
        ("a pod of namespace default", ["--pod", "report-0"], []),
        ("since", ["--since", "2026-11-15T12:00:01Z"], [(2, "web/crawl-1")]),
        ("since, that time included", ["--since", "2026-11-15T13:00:00Z"], [(2, "web/crawl-1")]),
        ("until, that time included", ["--until", "2026-11-15T12:00:00Z"], [(1, "vision/sweep-3"), (1, "web/crawl-1"), (1, "vision/sweep-2")]),
        ("in no time", ["--since", "2026-11-15T12:00:01Z", "--until", "2026-11-15T12:59:59Z"], []),
        ("an action", ["--action", "displace"], [(1, "web/crawl-1"), (2, "web/crawl-1")]),
        ("a rule", ["--rule", "budget"], []),
        ("several at once", ["--action", "displace", "--since", "2026-11-15T13:00:00Z"], [(2, "web/crawl-1")]),
    ]
    with Folder({}) as folder:
        record(folder)
        record(folder, "--profile", "kubernetes", now=at(13))
        for name, args, expected in rows:
            t.equal(f"history: {name}", evictions(folder, *args), expected)
        for name, args, expected in (
                ("a rule", ["--rule", "budget"], "2 runs from 2026-11-15T12:00:00Z to 2026-11-15T13:00:00Z; nothing matches what was asked for, and the journal has 4 evictions"),
                ("a queue in a time", ["--queue", "root.ads", "--since", "2026-11-15T13:00:00Z"], "1 run at 2026-11-15T13:00:00Z; nothing matches what was asked for, and the journal has 4 evictions"),
                ("no time", ["--since", "2026-11-15T14:00:00Z"], "0 runs; nothing matches what was asked for, and the journal has 4 evictions")):
            t.equal(f"history: nothing matches {name}", cede("history", "j.db", *args, cwd=folder).out, f"j.db: {expected}\n")
        record(folder, cluster="-", file="none.db", stdin=json.dumps(NODE).encode())
        for args in ([], ["--rule", "budget"]):
            t.equal(f"history: nobody, asked for {args or 'all'}", cede("history", "none.db", *args, cwd=folder).out, "none.db: 1 run at 2026-11-15T12:00:00Z; nobody had to go\n")
        record(folder, cluster="-", file="one.db", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, pod("low", 4, 1, on="n1"), pod("high", 4, 2)]}).encode())
        t.equal("history: nothing matches, of one", cede("history", "one.db", "--rule", "budget", cwd=folder).out,
                "one.db: 1 run at 2026-11-15T12:00:00Z; nothing matches what was asked for, and the journal has 1 eviction\n")
        data = json.loads(cede("history", "j.db", "--queue", "root.research", "-o", "json", cwd=folder).out)
        lost = {q["queue"]: (q["planned"]["podsLost"], q["planned"]["podsGoneForIt"]) for q in data["queues"]}
        t.equal("history: sums are of what is shown", (lost, data["summary"]["planned"]["evictions"]),
                ({"root.ads.ranking": (0, 1), "root.research.language": (0, 1), "root.research.vision": (2, 0)}, 2))


def pod(name, cpu, priority, on=None, labels=None):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", "labels": labels or {}},
            "spec": {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}], **({"nodeName": on} if on else {})},
            "status": {"phase": "Running", "startTime": "2026-11-15T11:00:00Z"} if on else {}}


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}


def whole(*objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]})


def rules(t):
    """Evictions against a rule; pods that were leaving before; one victim of several."""
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"},
              "spec": {"selector": {"matchLabels": {"app": "db"}}}, "status": {"disruptionsAllowed": 0}}
    leaving = pod("late", 4, 1, "n1")
    leaving["metadata"].update(deletionTimestamp="2026-11-15T12:00:20Z", deletionGracePeriodSeconds=30)
    with Folder({"budget.json": whole(pod("db", 4, 1, "n1", {"app": "db"}), pod("big", 4, 10), budget), "leaving.json": whole(leaving, pod("big", 4, 10))}) as folder:
        record(folder, "--profile", "kubernetes", cluster="budget.json")
        found = cede("history", "j.db", "--rule", "budget", cwd=folder).out
        t.true("an eviction against a budget says so", "AGAINST" in found and "budget" in found.splitlines()[3], found)
        record(folder, "--profile", "kubernetes", cluster="leaving.json")
        t.equal("who was leaving before is nobody's victim", evictions(folder), [(1, "ns/db")])


# ---- replay ----

def replays(t):
    with Folder({"cede.yaml": "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\nschedulerNames: [default-scheduler]\n",
                 "kube.yaml": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: default-scheduler}]\n",
                 "plain.yaml": "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n",
                 "pod.json": whole(pod("p", 1, 1)), "empty.yaml": "apiVersion: v1\nkind: List\n", "wrong.yaml": "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofil: kai\n"}) as folder:
        for profile in ("default", "kubernetes", "yunikorn", "kai"):
            for cluster in (EXAMPLE, MIXED):
                record(folder, "-q", "--profile", profile, "--cycles", "2", cluster=cluster)
        record(folder, "--config", "cede.yaml", "-f", "kube.yaml")
        found = cede("replay", "j.db", cwd=folder)
        t.equal("four profiles, two clusters, and settings: the same again", (found.code, found.err, found.out.splitlines()[-1]), (0, "", "9 runs replayed: all the same"))
        t.equal("settings are kept", [x for x in cede("journal", "show", "j.db", "--settings", cwd=folder).out.splitlines() if x.startswith("#")],
                ["# " + os.path.join(folder, "kube.yaml"), "# " + os.path.join(folder, "cede.yaml")])

        def profiles(run, config):
            found = cede("replay", "j.db", "--run", str(run), "--config", config, "-o", "json", cwd=folder)
            run = json.loads(found.out)["runs"][0]
            return found.code, run["profile"], run["replayedProfile"]
        t.equal("--config: a profile that is named counts", profiles(1, "cede.yaml"), (0, "default", "kubernetes"))
        t.equal("--config: else the recorded one stays", profiles(5, "plain.yaml"), (0, "yunikorn", "yunikorn"))
        t.equal("--config: also where settings made it so", profiles(9, "plain.yaml"), (0, "kubernetes", "kubernetes"))
        t.equal("--config: settings of another kind leave the recorded ones alone", profiles(9, "kube.yaml"), (0, "kubernetes", "kubernetes"))
        for name, config, words in (("objects", "pod.json", "pod.json: only settings can be exchanged"), ("nothing", "empty.yaml", "empty.yaml: there are no settings in it"),
                                    ("a mistake", "wrong.yaml", "wrong.yaml:3:1: "), ("no such file", "none.yaml", "none.yaml: No such file or directory")):
            refused(t, f"--config with {name}", cede("replay", "j.db", "--config", config, cwd=folder), words)
        deep = "actions: allocate\nusageDBConfig: {x: " + "[" * 100 + "]" * 100 + "}"
        refused(t, "settings that cannot be written", record(folder, "--config", "-", stdin=deep.encode()), "<stdin>:1:1: settings nested more than 60 deep cannot be recorded")
        refused(t, "a run that is not there", cede("replay", "j.db", "--run", "10", cwd=folder), "j.db: there is no run 10; it has 9, from 1 to 9")


def plugins(t):
    """They are found from the folder of the file that names them, wherever the journal is read."""
    built = os.path.join(os.environ.get("CEDE_BUILD") or os.path.dirname(CEDE), "checkpointed-first.so")
    with Folder({"conf/cede.yaml": "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nplugins: [checkpointed-first.so]\n", "far/away/x": ""}) as folder:
        shutil.copy(built, os.path.join(folder, "conf"))
        record(folder, "--config", "conf/cede.yaml")
        found = cede("replay", os.path.join(folder, "j.db"), "--allow-plugins", cwd=os.path.join(folder, "far", "away"))
        t.equal("a plugin is found again from another folder", (found.code, found.err), (0, ""))
        os.unlink(os.path.join(folder, "conf", "checkpointed-first.so"))
        found = cede("replay", os.path.join(folder, "j.db"), "--allow-plugins")
        t.true("that it is gone is said", "plugin checkpointed-first.so: " in found.err and "; it is not loaded" in found.err, found.err)


def differences(t):
    """Decisions that come out otherwise: here because somebody else than cede has made the record."""
    with Folder({"a.json": whole(pod("low", 4, 1, "n1"), pod("big", 4, 10)), "b.json": whole(pod("low", 4, 20, "n1"), pod("big", 4, 10))}) as folder:
        record(folder, "--profile", "kubernetes", cluster="a.json")
        record(folder, "--profile", "kubernetes", cluster="b.json")
        t.equal("the same: exit code 0", cede("replay", "j.db", cwd=folder).code, 0)
        forge(folder, "UPDATE runs SET (plan, plan_hash) = (SELECT plan, plan_hash FROM runs WHERE run = 2) WHERE run = 1")
        found = cede("replay", "j.db", "--run", "1", cwd=folder)
        t.equal("not the same: exit code 1", (found.code, found.err), (1, ""))
        t.golden("what differs is shown", "replay-differs.txt", found.out)
        data = json.loads(cede("replay", "j.db", "-o", "json", cwd=folder).out)["runs"][0]
        t.equal("and is data, too", (data["same"], data["sameCluster"], [d["decision"] for d in data["differences"]], [x["pod"] for x in data["newlyEvicted"]],
                                     [(x["pod"], x["was"]["outcome"], x["now"]["outcome"]) for x in data["otherAnswers"]]),
                (False, True, [1], ["ns/low"], [("ns/big", "waiting", "nominated")]))
        forge(folder, "UPDATE runs SET cycles = 4294967295 WHERE run = 2")
        refused(t, "more cycles than anybody plans", cede("replay", "j.db", cwd=folder), "damaged: run 2: expected 1 to 10000 cycles, found 4294967295")
        t.equal("the other run is replayed", cede("replay", "j.db", "--run", "1", cwd=folder).code, 1)


ODD_1, ODD_2, ODD_3, MASK = 0xa24baed4963ee407, 0x9fb21c651e98df25, 0xd6e8feb86659fd93, (1 << 64) - 1


def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK


def mix(h, x):
    x = rotate(x * ODD_2 & MASK, 31) * ODD_1 & MASK
    return (rotate(h ^ x, 27) * ODD_3 + ODD_2) & MASK


def hash_of(data):
    h = len(data)
    for i in range(0, len(data), 8):
        h = mix(h, int.from_bytes(data[i:i + 8], "little"))
    h = (h + ODD_1) & MASK
    h = (h ^ h >> 32) * ODD_2 & MASK
    h = (h ^ h >> 29) * ODD_3 & MASK
    return h ^ h >> 32


def fold(h, value):
    """A value with its type, by SQLite's numbers for types."""
    if value is None:
        return mix(h, 5)
    if isinstance(value, int):
        return mix(mix(h, 1), value & MASK)
    data = value.encode()
    return mix(mix(mix(h, 3), len(data)), hash_of(data) if data else 0)


def signed(n):
    n &= MASK
    return n - (1 << 64) if n >> 63 else n


def row_hash(row):
    """As files have it that were written in the past: they must stay readable."""
    h = 0
    for value in row:
        h = fold(h, value)
    return h


def forge(folder, *statements):
    """Changes rows and makes the checksums fit."""
    for one in statements:
        sql(folder, one)
    db = sqlite3.connect(os.path.join(folder, "j.db"))
    with db:
        total = n = 0
        for (run,) in db.execute("SELECT run FROM runs ORDER BY run").fetchall():
            for table in ("evictions", "decisions"):
                rows = db.execute(f"SELECT * FROM {table} WHERE run = ?", (run,)).fetchall()
                db.execute(f"UPDATE runs SET {table} = ?, {table}_sum = ? WHERE run = ?", (len(rows), signed(sum(map(row_hash, rows))), run))
            row = db.execute("SELECT * FROM runs WHERE run = ?", (run,)).fetchone()
            seal = row_hash(row[:-1])
            db.execute("UPDATE runs SET sum = ? WHERE run = ?", (signed(seal), run))
            total, n = total + seal, n + 1
        db.execute("UPDATE journal SET runs = ?, sum = ?", (n, signed(total)))
    db.close()


# ---- things that go wrong ----

def wrong_files(t):
    with Folder({"text.db": "only words\n", "empty.db": "", "sub/x": ""}) as folder:
        sql(folder, "CREATE TABLE t (a)", "other.db")
        record(folder, file="later.db")
        sql(folder, "PRAGMA user_version = 7", "later.db")
        record(folder, file="older.db")
        sql(folder, "PRAGMA user_version = 1", "older.db")
        before = {name: open(os.path.join(folder, name), "rb").read() for name in ("text.db", "other.db", "later.db", "older.db")}
        for name, file, words in (("no SQLite file", "text.db", "text.db: not a journal of cede (not an SQLite file)"),
                                  ("somebody else's", "other.db", "other.db: an SQLite file, but not a journal of cede"),
                                  ("a later version", "later.db", "later.db: a journal of version 7; this cede knows version 2"),
                                  ("the version before", "older.db", "older.db: a journal of version 1, as cede wrote it until it kept each state once; this cede knows version 2: record into a new file"), ("a folder", "sub", "sub: a folder, not a journal"),
                                  ("in no folder", "none/j.db", "none/j.db: ")):
            refused(t, f"plan: {name}", record(folder, file=file), words)
            refused(t, f"history: {name}", cede("history", file, cwd=folder), words)
            refused(t, f"replay: {name}", cede("replay", file, cwd=folder), words)
        t.equal("they are as they were", {name: open(os.path.join(folder, name), "rb").read() for name in before}, before)
        refused(t, "history: not there", cede("history", "none.db", cwd=folder), "none.db: No such file or directory")
        refused(t, "history: an empty file", cede("history", "empty.db", cwd=folder), "empty.db: nothing has been recorded in it")
        t.equal("plan: an empty file becomes a journal", (record(folder, file="empty.db").code, cede("replay", "empty.db", cwd=folder).code), (0, 0))
        for name in (":memory:", "file:x.db?mode=memory", "file:y.db", "file:z.db?immutable=1"):
            t.equal(f"plan: {name} is a name of a file and nothing else", (record(folder, file=name).code, os.path.exists(os.path.join(folder, name))), (0, True))
            t.equal(f"and is found again: {name}", (cede("replay", name, cwd=folder).code, cede("journal", "check", name, cwd=folder).code), (0, 0))
        refused(t, "plan: no name", record(folder, file=""), "the journal needs a name")


def damage(t):
    with Folder({}) as folder:
        for hour in (12, 13, 14):
            record(folder, now=at(hour))
        path = os.path.join(folder, "j.db")
        good = open(path, "rb").read()
        for name, change, words in (
                ("a row is gone", "DELETE FROM evictions WHERE run = 2 AND seq = 0", "damaged: run 2 should have 3 evictions and has 2"),
                ("a row is another", "UPDATE evictions SET rule = 'opt-out' WHERE run = 1 AND seq = 0", "damaged: the evictions of run 1 are not as they were written"),
                ("the last run is gone", "DELETE FROM runs WHERE run = 3", "damaged: it should have 3 runs and has 2")):
            sql(folder, change)
            refused(t, f"history: {name}", cede("history", "j.db", cwd=folder), words)
            refused(t, f"plan: {name}: it takes no more", record(folder), words)
            with open(path, "wb") as f:
                f.write(good)
        with open(path, "wb") as f:
            f.write(good[:len(good) // 2])
        refused(t, "history: half of the file is gone", cede("history", "j.db", cwd=folder), "j.db: damaged: ")
        refused(t, "plan: half of the file is gone", record(folder), "j.db: damaged: ")
        with open(path, "wb") as f:
            f.write(good)
        t.equal("the whole file is fine", len(evictions(folder)), 9)


def damaged_log(folder, link):
    """A journal of one run and the log of a second one, broken in the middle, as a killed writer and a bad disk leave it."""
    os.mkdir(os.path.join(folder, "real"))
    record(folder, file="real/j.db")
    reader = sqlite3.connect(os.path.join(folder, "real", "j.db"))  # keeps the log from being brought home
    reader.execute("SELECT count(*) FROM runs").fetchall()
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM runs").fetchall()
    record(folder, file=link, now=at(13))
    log = bytearray(open(os.path.join(folder, "real", "j.db-wal"), "rb").read())
    base = open(os.path.join(folder, "real", "j.db"), "rb").read()
    reader.close()
    log[32 + 24 + 2000] ^= 1
    for name, data in (("j.db", base), ("j.db-wal", log)):
        with open(os.path.join(folder, "real", name), "wb") as f:
            f.write(data)


def names(t):
    """One file under several names: the log stands beside the file itself."""
    with Folder({}) as folder:
        os.symlink("real/j.db", os.path.join(folder, "link.db"))
        refused(t, "plan: a link to nothing", record(folder, file="link.db"), "link.db: a link to a file that is not there")
        damaged_log(folder, "link.db")
        for name in ("link.db", "real/j.db"):
            refused(t, f"history: a broken log behind {name}", cede("history", name, cwd=folder), f"{name}-wal: damaged: frame 1 is broken")
            refused(t, f"plan: a broken log behind {name}", record(folder, file=name), f"{name}-wal: damaged: frame 1 is broken")
        found = cede("journal", "salvage", "link.db", "new.db", cwd=folder)
        t.equal("salvage: the run before it is saved", (found.code, found.out), (1, "new.db: 1 of 1 runs saved\n  its log is broken; runs that were written behind that place are lost\n"))
        t.equal("salvage: and can be replayed", cede("replay", "new.db", cwd=folder).code, 0)
    with Folder({}) as folder:
        record(folder, file="a.db")
        os.link(os.path.join(folder, "a.db"), os.path.join(folder, "b.db"))
        refused(t, "plan: a file with two names", record(folder, file="b.db"), "b.db: it has 2 names (hard links), and its log only one; nothing was recorded")
        t.equal("history reads it", cede("history", "b.db", cwd=folder).code, 0)
    with Folder({}) as folder:
        record(folder)
        os.symlink("j.db", os.path.join(folder, "link.db"))
        record(folder, file="link.db", now=at(13))
        t.equal("what was recorded under the name of a link is in the file", [run for run, _ in evictions(folder)], [1] * 3 + [2] * 3)


def keep(t):
    """--journal-keep: the oldest go, the file gets smaller, what stays is whole."""
    with Folder({}) as folder:
        for hour in range(1, 9):
            record(folder, now=at(hour))
        found = record(folder, "--journal-keep", "3h", now=at(9))
        t.equal("an age: exit code, and nothing to note of the journal", (found.code, "journal" in found.err), (0, False))
        t.equal("an age: older runs are gone", sorted({run for run, _ in evictions(folder)}), [6, 7, 8, 9])
        t.equal("an age: the others are as they were", (cede("journal", "check", "j.db", cwd=folder).code, cede("replay", "j.db", cwd=folder).out.splitlines()[-1]), (0, "4 runs replayed: all the same"))
        refused(t, "replay: a run that is gone", cede("replay", "j.db", "--run", "2", cwd=folder), "j.db: there is no run 2; it has 4, from 6 to 9")
        record(folder, "--journal-keep", "1B", now=at(10))
        t.equal("a size that nothing fits in: the last run stays", {run for run, _ in evictions(folder)}, {10})
        record(folder, now=at(11))
        t.equal("numbers go on", {run for run, _ in evictions(folder)}, {10, 11})
        r = random.Random(1)  # the same bytes each time: what one run takes, which stays whatever its size, depends on them
        big = {"apiVersion": "v1", "kind": "List", "items": [dict(NODE), *(pod(f"p{i}-{r.randbytes(25).hex()}", 1, 1, labels={f"l{k}": r.randbytes(30).hex() for k in range(9)}) for i in range(400))]}
        sizes = []
        for hour in range(12, 20):
            for i in range(40):
                big["items"][1 + (hour * 40 + i) % 400] = pod(f"p{i}-{hour}", 1, 1, labels={f"l{k}": r.randbytes(30).hex() for k in range(9)})
            with open(os.path.join(folder, "big.json"), "w") as f:
                json.dump(big, f)
            record(folder, "-q", "--journal-keep", "600KiB,30d", cluster="big.json", now=at(hour))
            sizes.append(os.path.getsize(os.path.join(folder, "j.db")))
        t.true("a size: it is kept", max(sizes[1:]) <= 600 << 10, str(sizes))
        t.equal("a size: what stays is whole", cede("journal", "check", "j.db", cwd=folder).code, 0)
    for text in ("30", "2Gi", "", "1d,1d", "1GiB,2GiB"):
        found = cede("plan", "-f", EXAMPLE, "--journal", "x.db", "--journal-keep", text)
        t.true(f"--journal-keep '{text}' is refused", found.code == 2 and f"--journal-keep: expected an age such as 30d, a size such as 2GiB, or 30d,2GiB, found '{text}'" in found.err, found.err)
    found = cede("plan", "-f", EXAMPLE, "--journal-keep", "30d")
    t.true("--journal-keep without a journal is refused", found.code == 2 and "--journal-keep: of which journal? --journal FILE is missing" in found.err, found.err)


def states(t):
    """What a daemon did beside what was planned: rows as a daemon writes them."""
    with Folder({}) as folder:
        for hour in (12, 13, 14):
            record(folder, now=at(hour))
        forge(folder, "UPDATE runs SET source = 'run', state = 0, state_hash = 0, plan = 0, plan_hash = 0, lost = 2 WHERE run = 2",
              "UPDATE runs SET source = 'shadow', state = 0, state_hash = 0, plan = 0, plan_hash = 0 WHERE run = 3",
              "UPDATE evictions SET uid = 'u-' || pod, state = 'observed', state_ns = at_ns + 5000000000 WHERE run = 2 AND seq = 0",
              "UPDATE evictions SET state = 'failed', state_ns = at_ns + 1000000000, reason = 'the pod has another uid' WHERE run = 2 AND seq = 1",
              "UPDATE evictions SET state = 'decided', is_open = 1 WHERE run = 2 AND seq > 1")
        for format, ending in FORMATS:
            found = cede("history", "j.db", "-o", format, cwd=folder)
            t.golden(f"history-states.{ending}", f"history-states.{ending}", found.out)
        forge(folder, "UPDATE evictions SET at_ns = at_ns + 987654321 WHERE run = 2", "UPDATE runs SET end_ns = end_ns + 987654321 WHERE run = 3")
        found = cede("history", "j.db", cwd=folder)
        with open(os.path.join(GOLDEN, "history-states.txt"), encoding="utf-8") as golden:
            t.equal("history: whole seconds for people", (found.err, found.out), ("", golden.read()))
        data = json.loads(cede("history", "j.db", "-o", "json", cwd=folder).out)
        t.equal("history: nanoseconds for programs", (data["to"], data["evictions"][3]["now"]), ("2026-11-15T14:00:00.987654321Z", "2026-11-15T13:00:00.987654321Z"))
        t.equal("--state: what was done", evictions(folder, "--state", "observed"), [(2, "vision/sweep-3")])
        t.equal("--state: what failed", evictions(folder, "--state", "failed"), [(2, "web/crawl-1")])
        found = cede("replay", "j.db", cwd=folder)
        t.equal("replay: runs without a cluster are passed over, and it is said", (found.code, found.out.splitlines()[-1], found.err.count("its cluster is not recorded")), (0, "1 run replayed: all the same", 2))
        refused(t, "replay: one that is asked for", cede("replay", "j.db", "--run", "2", cwd=folder), "j.db: run 2: its cluster is not recorded, so that nothing can be decided again")
        refused(t, "journal show: its cluster", cede("journal", "show", "j.db", "--run", "2", "--state", cwd=folder), "j.db: run 2 has no cluster recorded")
        t.equal("the journal is whole", cede("journal", "check", "j.db", cwd=folder).code, 0)


def nothing_to_replay(t):
    """Nothing was compared, so nothing is "the same"."""
    daemon, bare = "UPDATE runs SET source = 'run', plan = 0, plan_hash = 0", "UPDATE runs SET state = 0, state_hash = 0"
    changed = "of a daemon, whose cluster changed from one decision to the next"
    for name, n, statements, why in (
            ("one run of a daemon", 1, [daemon], f"1 is {changed}"),
            ("two runs of daemons", 2, [daemon], f"2 are {changed}"),
            ("a run without its cluster", 1, [daemon, bare], "of 1 the cluster is not recorded"),
            ("both", 3, [daemon, bare + " WHERE run < 3"], f"1 is {changed}; of 2 the cluster is not recorded")):
        with Folder({}) as folder:
            for hour in range(n):
                record(folder, now=at(12 + hour))
            forge(folder, *statements)
            for more in ([], ["--config", KUBERNETES]):
                found = cede("replay", "j.db", *more, cwd=folder)
                t.equal(f"replay: {' '.join([name, *more[:1]])}", (found.code, found.out, found.err.count("nothing can be decided again")), (0, f"No run could be replayed: {why}\n", n))
            data = json.loads(cede("replay", "j.db", "-o", "json", cwd=folder).out)
            t.equal(f"replay: {name}, as data", (data["runs"], data["summary"]["runs"]), ([], 0))


def saving(t):
    """cede journal check and salvage, as somebody uses them whose disk has lost a page."""
    with Folder({}) as folder:
        for hour in range(12, 22):
            record(folder, now=at(hour))
        path = os.path.join(folder, "j.db")
        good = open(path, "rb").read()
        found = cede("journal", "check", "j.db", cwd=folder)
        t.true("check: everything is there", found.code == 0 and "j.db: 10 runs, 30 evictions, " in found.out and found.out.endswith(" of text; everything is there, as it was written\n"), found.out)
        report = json.loads(cede("journal", "check", "j.db", "-o", "json", cwd=folder).out)
        t.equal("check: as data", (report["kind"], report["runs"], report["damagedRuns"], report["complaints"]), ("JournalCheck", 10, 0, []))
        chunk, = sql(folder, "SELECT min(chunk) FROM chunks JOIN runs ON base = 0 AND length(data) > 500")[0]
        sql(folder, f"UPDATE chunks SET data = zeroblob(20) WHERE chunk = {chunk}")
        broken = open(path, "rb").read()
        found = cede("journal", "check", "j.db", cwd=folder)
        t.true("check: a chunk is broken: exit code 1, it is named, and the way out is told", found.code == 1 and f"chunk {chunk} cannot be unpacked" in found.out
               and found.out.endswith("What can be read: cede journal salvage j.db NEW\n"), found.out)
        t.equal("history does not need it", len(evictions(folder)), 30)
        found = cede("journal", "salvage", "j.db", "new.db", cwd=folder)
        t.true("salvage: exit code 1, and what is missing is said", found.code == 1 and found.out.startswith("new.db: 10 of 10 runs saved, "), found.out)
        t.equal("salvage: the damaged file is as it was, and nothing else is left", (open(path, "rb").read(), sorted(os.listdir(folder))), (broken, ["j.db", "new.db"]))
        t.equal("salvage: what was saved is whole", cede("journal", "check", "new.db", cwd=folder).code, 0)
        t.equal("salvage: the history is the same", cede("history", "new.db", "-o", "json", cwd=folder).out, cede("history", "j.db", "-o", "json", cwd=folder).out)
        refused(t, "salvage: not onto a file that is there", cede("journal", "salvage", "j.db", "new.db", cwd=folder), "new.db: it is there already; a new file is needed")
        with open(path, "wb") as f:
            f.write(b"\0" * 4096 + good[4096:])
        refused(t, "history: the first page is gone", cede("history", "j.db", cwd=folder), "j.db: not a journal of cede (not an SQLite file)")
        found = cede("journal", "salvage", "j.db", "first.db", cwd=folder)
        t.equal("salvage: the first page is gone: everything is saved", (found.code, found.out), (1, "first.db: 10 of 10 runs saved\n  its first page is broken; that of a new journal is taken instead\n"))
        t.equal("salvage: and replayed", cede("replay", "first.db", cwd=folder).out.splitlines()[-1], "10 runs replayed: all the same")
        with open(path, "wb") as f:
            f.write(os.urandom(40960))
        refused(t, "salvage: nothing is left", cede("journal", "salvage", "j.db", "none.db", cwd=folder), "j.db: no")
        t.true("salvage: nothing is made of nothing", not os.path.exists(os.path.join(folder, "none.db")))


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def read_only(t):
    if os.getuid() != 0:
        options = {}
    else:
        options = {"preexec_fn": as_nobody}
    with Folder({}) as folder:
        record(folder)
        whole_history = cede("history", "j.db", cwd=folder).out
        path = os.path.join(folder, "j.db")
        os.chmod(path, 0o444)
        os.chmod(folder, 0o555)
        if subprocess.run(["test", "-r", os.path.join(SOURCE, "Makefile"), "-a", "-x", CEDE], **options).returncode:
            t.skip("a file that may only be read", "nobody may not run this program")
        else:
            refused(t, "plan: the file may only be read", record(folder, **options), "j.db: it may only be read; nothing was recorded")
            refused(t, "plan: a new file where none may be made", record(folder, file="k.db", **options), "k.db: ")
            t.equal("history reads it all the same", cede("history", "j.db", cwd=folder, **options).out, whole_history)
            t.equal("nothing was made beside it", os.listdir(folder), ["j.db"])
        os.chmod(folder, 0o755)


def limited(bytes):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))
    return set_limit


def full_disk(t):
    sizes = (5000, 20000, 30000) if SANITIZED else (0, 5000, 20000, 30000)
    if SANITIZED:
        t.skip("at most 0 bytes", "the thread sanitizer writes a file of its own before the program begins")
    with Folder({}) as folder:
        for size in sizes:
            refused(t, f"a new file of at most {size} bytes", record(folder, preexec_fn=limited(size)), "; nothing was recorded")
        record(folder)
        for size in sizes:
            refused(t, f"at most {size} bytes for one more run", record(folder, preexec_fn=limited(size)), "j.db: File too large; nothing was recorded")
        found = cede("replay", "j.db", cwd=folder)
        t.equal("the run before is whole", (found.code, found.out.splitlines()[-1]), (0, "1 run replayed: all the same"))
        t.equal("and more can be recorded", (record(folder).code, len(evictions(folder))), (0, 6))


def two_writers(t):
    with Folder({}) as folder:
        record(folder)
        db = sqlite3.connect(os.path.join(folder, "j.db"), isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        refused(t, "somebody else writes and does not end", record(folder), "j.db: somebody else has been writing to it for 10 seconds; nothing was recorded")
        t.equal("reading goes on meanwhile", len(evictions(folder)), 3)
        db.execute("ROLLBACK")
        db.close()
    with Folder({}) as folder:
        command = [CEDE, "plan", "-f", EXAMPLE, *NOW, "--journal", "j.db"]
        running = [subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()) for _ in range(12)]
        ended = [(p.communicate()[1].decode(), p.returncode) for p in running]
        # On a busy machine one may wait longer for the others than it has patience for: then it says so, and nothing is recorded of it.
        late = ("cede: error: j.db: somebody else has been writing to it for 10 seconds; nothing was recorded\n", 2)
        n = ended.count(("", 0))
        t.true("twelve at once, on a new file: each is recorded, or says that it was not", n >= 1 and n + ended.count(late) == 12, str(ended))
        sums = json.loads(cede("replay", "j.db", "-o", "json", cwd=folder).out)["summary"]
        t.equal("as many runs as were recorded, all the same", (sums["runs"], sums["same"]), (n, n))


def killed(t):
    """kill -9 at any moment: the file opens, has only whole runs, and every run that was acknowledged."""
    rng = random.Random(7)
    with Folder({}) as folder:
        acknowledged = n_killed = 0
        for i in range(60):
            process = subprocess.Popen([CEDE, "plan", "-f", EXAMPLE, *NOW, "--journal", "j.db", "-o", "json"], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
            time.sleep(rng.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            code = process.wait()
            acknowledged += code == 0
            n_killed += code == -signal.SIGKILL
            if i % 10 == 9:
                record(folder)
                acknowledged += 1
                found = json.loads(cede("replay", "j.db", "-o", "json", cwd=folder).out or "{}")
                runs = found.get("summary", {}).get("runs", -1)
                t.true(f"after {i + 1} writers, {n_killed} of them killed: {runs} whole runs, {acknowledged} acknowledged",
                       found.get("summary", {}).get("same") == runs >= acknowledged, str(found)[:300])
        t.true("some were killed in time", n_killed > 10, str(n_killed))


def killed_while_removing(t):
    """kill -9 while old runs are removed: the last acknowledged run and what stays are whole."""
    rng = random.Random(8)
    with Folder({}) as folder:
        n_killed = 0
        for i in range(40):
            hour = 1 + i % 20
            process = subprocess.Popen([CEDE, "plan", "-f", EXAMPLE, "--now", f"2026-12-{1 + i // 20:02}T{hour:02}:00:00Z", "--journal", "j.db", "--journal-keep", "2h,64KiB"], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
            time.sleep(rng.random() * 0.06)
            process.send_signal(signal.SIGKILL)
            n_killed += process.wait() == -signal.SIGKILL
            if i % 10 == 9:
                now = ["--now", f"2026-12-{1 + i // 20:02}T{hour + 1:02}:00:00Z"]
                record(folder, "--journal-keep", "2h", now=now)
                check = cede("journal", "check", "j.db", cwd=folder)
                last = sql(folder, "SELECT now, count(*) OVER () FROM runs ORDER BY run DESC LIMIT 1")[0]
                t.true(f"after {i + 1} writers that remove, {n_killed} of them killed: {last[1]} runs, all whole", check.code == 0 and last[0] == now[1] and last[1] <= 23, check.out + check.err + str(last))


def usage(t):
    see = "Try `cede %s --help' or `cede %s --usage' for more information.\n"
    for name, args, words in (("history without a journal", ["history"], "cede history: which journal? for example: cede history journal.db\n"),
                              ("replay without a journal", ["replay"], "cede replay: which journal? for example: cede replay journal.db\n"),
                              ("two journals", ["history", "a", "b"], "cede history: one journal at a time, please: 'b' is the second\n"),
                              ("a time that is none", ["history", "a", "--since", "noon"], "cede history: --since: expected a time such as 2026-11-15T12:00:00Z, found 'noon'\n"),
                              ("an action that is none", ["history", "a", "--action", "reclam"],
                               "cede history: --action: 'reclam' is not one of allocate, reclaim, preempt, displace, required-node, consolidate, quota, stale-gang; did you mean 'reclaim'?\n"),
                              ("nothing to be done with a journal", ["journal"], "cede journal: what is to be done? for example: cede journal check journal.db\n"),
                              ("a replay with two files of settings", ["replay", "a", "--config", "b", "--config", "c"], "cede replay: --config: one file at a time, please: 'c' is the second\n"),
                              ("something else with a journal", ["journal", "chek", "a"], "cede journal: 'chek' is not one of check, salvage, show; did you mean 'check'?\n"),
                              ("a check of nothing", ["journal", "check"], "cede journal: which journal? for example: cede journal check journal.db\n"),
                              ("salvage into nothing", ["journal", "salvage", "a"], "cede journal: into which new file? for example: cede journal salvage journal.db saved.db\n"),
                              ("a check of a run", ["journal", "check", "a", "--run", "1"], "cede journal: --run, --state and --settings are for cede journal show\n"),
                              ("too much", ["journal", "check", "a", "b"], "cede journal: 'b' is one argument too many\n"),
                              ("a run that is none", ["replay", "a", "--run", "0"], "cede replay: --run: expected a number from 1 to 2147483647, found '0'\n")):
        found = cede(*args)
        t.equal(f"{name} is refused", (found.code, found.out, found.err), (2, "", words + see % (args[0], args[0])))


def main():
    t = Suite()
    for test in (goldens, tables, filters, rules, replays, plugins, differences, wrong_files, names, damage, keep, states, nothing_to_replay, saving, read_only, full_disk, two_writers, killed, killed_while_removing, usage):
        test(t)
    t.end()


if __name__ == "__main__":
    main()
