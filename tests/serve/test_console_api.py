#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the console asks cede serve for: timelines, chains of displacement, maps, reasons of waiting, history, settings, reports; of files, journals and
simulations; and what hostile questions get."""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import NOW, SOURCE, Folder, Suite, cede  # noqa: E402
from server import EXAMPLE, Server  # noqa: E402

t = Suite()
MARKUP = "<img src=x onerror=alert(1)>"


def pods(s, **query):
    return [d["decision"].get("pod") for d in s.get("decisions", **query)["items"]]


def node(name, cpu=4):
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: "{name}"}}
status: {{allocatable: {{cpu: "{cpu}", memory: 64Gi, pods: "20"}}}}
---"""


def pod(name, priority, cpu=4, on=None, user=None, queue="root.default"):
    info = "{yunikorn.apache.org/user.info: '" + json.dumps({"user": user}) + "'}" if user else "{}"
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: "{name}", namespace: a, creationTimestamp: "2026-11-15T11:00:00Z", labels: {{queue: "{queue}"}}, annotations: {info}}}
spec: {{priority: {priority}, {"nodeName: " + on + "," if on else ""} containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
status: {{phase: {"Running, startTime: 2026-11-15T11:30:00Z" if on else "Pending"}}}
---"""


def filters(s):
    plan = json.loads(cede("plan", *EXAMPLE, "-o", "json").out)["decisions"]
    evicting = [d["pod"] for d in plan if d["victims"]]
    rows = [
        ("everything, oldest first", {}, [d["pod"] for d in plan]),
        ("newest first", {"order": "newest"}, [d["pod"] for d in reversed(plan)]),
        ("evictions", {"show": "evictions"}, evicting),
        ("placements", {"show": "placements"}, [d["pod"] for d in plan if d["outcome"] in ("placed", "nominated")]),
        ("waits", {"show": "waits"}, [d["pod"] for d in plan if d["outcome"] in ("waiting", "gated")]),
        ("a queue: its own and those who lost pods to others", {"queue": "root.research.vision"},
         [d["pod"] for d in plan if d["queue"] == "root.research.vision" or any(v["queue"] == "root.research.vision" for v in d["victims"])]),
        ("a queue and those below it", {"queue": "root.ads"}, [d["pod"] for d in plan if d["queue"].startswith("root.ads")]),
        ("not one that begins the same", {"queue": "root.ad"}, []),
        ("a rule", {"rule": "policy"}, [d["pod"] for d in plan if any(p["rule"] == "policy" for p in d.get("protected", []))]),
        ("a part of a victim's name", {"pod": "sweep-3"}, [d["pod"] for d in plan if any("sweep-3" in v["pod"] for v in d["victims"])]),
        ("an action", {"action": "displace"}, [d["pod"] for d in plan if d.get("action") == "displace"]),
        ("a node", {"node": "a100-2"}, [d["pod"] for d in plan if d.get("node") == "a100-2"]),
        ("before its time: nothing", {"to": "2026-11-15T12:00:00Z"}, []),
        ("from its time on", {"from": "2026-11-15T12:00:00Z"}, [d["pod"] for d in plan]),
        ("two at once", {"queue": "root.research.vision", "show": "evictions", "action": "reclaim"},
         [d["pod"] for d in plan if d.get("action") == "reclaim" and any(v["queue"] == "root.research.vision" for v in d["victims"])]),
        ("somebody nobody knows", {"user": "nobody"}, []),
    ]
    for name, query, expected in rows:
        t.equal(f"decisions: {name}", pods(s, **query), expected)
    t.true("decisions: each row of these says something", len(evicting) >= 3 and len(plan) >= 5, str(plan))
    first = s.get("decisions", order="newest", limit=2)
    rest = s.get("decisions", order="newest", limit=100, before=first["next"])
    t.equal("decisions: pages backward are all of them, each once", [d["id"] for d in first["items"] + rest["items"]],
            [d["id"] for d in reversed(s.get("decisions")["items"])])
    t.equal("decisions: and the last page says that it is", (first["more"], rest["more"]), (True, False))
    brief = s.get("decisions", brief="true")["items"]
    t.equal("decisions: in brief they count the protected instead of listing them",
            [(d["decision"].get("protectedPods", 0), "protected" in d["decision"]) for d in brief], [(len(d.get("protected", [])), False) for d in plan])
    t.equal("decisions: and all else is the same", [{k: v for k, v in d["decision"].items() if k != "protectedPods"} for d in brief],
            [{k: v for k, v in d.items() if k != "protected"} for d in plan])
    line = s.get("timeline", steps=4)
    t.equal("timeline: counts are those of the decisions", (line["total"], sum(line["evictions"]), sum(line["placements"]), sum(line["waits"])),
            (len(plan), len(evicting), len([d for d in plan if d["outcome"] in ("placed", "nominated")]), len([d for d in plan if d["outcome"] == "waiting"])))
    t.equal("timeline: filtered to nothing it is empty", s.get("timeline", queue="root.none"),
            {"kind": "Timeline", "complete": True, "total": 0, "evictions": [], "placements": [], "waits": []})


def maps_and_reasons(s):
    whole = json.loads(cede("show", *EXAMPLE, "-o", "json").out)
    found = s.get("nodes/map")
    t.equal("map: every node once, in order", [n[0] for n in found["nodes"]], [n["node"] for n in whole["nodes"]])
    for n in found["nodes"]:
        pods = [p for p in whole["pods"] if p.get("node") == n[0]]
        t.equal(f"map: {n[0]}: pods and the highest priority", (n[2], n[4]), (len(pods), max(p["priority"] for p in pods)))
        of = [p["queue"] for p in pods]
        t.true(f"map: {n[0]}: its main queue is one of those on it", found["queues"][n[3]] in of, str(n))
        real = next(x for x in whole["nodes"] if x["node"] == n[0])
        for i, r in enumerate(found["resources"]):
            if r in ("cpu", "nvidia.com/gpu"):
                has, free = real["allocatable"].get(r), real["free"].get(r)
                t.equal(f"map: {n[0]}: free {r}", n[5 + i], None if has is None else int(float(free) / float(has) * 100))
    page = s.get("nodes/map", limit=2)
    t.equal("map: in pages too", [n[0] for n in page["nodes"] + s.get("nodes/map", limit=100, after=page["next"])["nodes"]],
            [n["node"] for n in whole["nodes"]])
    one = s.get("node", name="a100-3")
    t.equal("node: its pods", sorted(p["pod"] for p in one["pods"]), sorted(p["pod"] for p in whole["pods"] if p.get("node") == "a100-3"))
    rules = {(p["pod"], x["waiting"]): x for p in one["pods"] for x in p["protections"]}
    t.equal("node: what protects each, as the plan says it", rules["language/finetune-0", "ads/ranker-retrain-0"],
            {"waiting": "ads/ranker-retrain-0", "action": "reclaim", "answer": "protected", "rule": "guarantee",
             "reason": "root.research.language uses 4 of 8 guaranteed nvidia.com/gpu, which is not above it (law 5)"})
    t.equal("node: opted out is spared, not protected", rules["vision/notebook-ann", "ads/ranker-retrain-0"]["answer"], "spared")
    plan = json.loads(cede("plan", *EXAMPLE, "-o", "json").out)
    victim = plan["decisions"][0]["victims"][0]
    there = {p["pod"]: p for p in s.get("node", name=victim["node"])["pods"]}
    t.equal("node: the plan's victim may go for whom it goes", [x["answer"] for x in there[victim["pod"]]["protections"]
            if x["waiting"] == plan["decisions"][0]["pod"]], ["may go"])
    waiting = s.get("waiting")
    t.equal("waiting: every pod that waits is in one group", (waiting["waitingPods"], sum(g["pods"] for g in waiting["waiting"])),
            (len([p for p in whole["pods"] if p["state"] == "waiting"]),) * 2)
    t.equal("waiting: of one queue", s.get("waiting", queue="root.research.vision")["waitingPods"], 1)
    over = s.get("overview")
    t.equal("overview: pods, nodes", (over["pods"], over["nodes"]), ({k: whole["summary"]["pods"][k] for k in ("running", "waiting", "leaving")}, 6))
    t.equal("overview: below their guarantee are those that show says", sorted({x["queue"] for x in over["belowGuarantee"]}),
            sorted(q["queue"] for q in whole["queues"] if q["short"]))
    t.equal("overview: the last hour", (over["lastHour"]["evictions"], over["lastHour"]["lostSeconds"]),
            (plan["summary"]["victims"], sum(v["lostSeconds"] for d in plan["decisions"] for v in d["victims"])))
    history = s.get("queues/history", queue="root.ads")
    t.equal("history: what the queue uses and is guaranteed", history["resources"]["nvidia.com/gpu"], {"used": [8], "guaranteed": [12]})


def many_queues():
    """A history is kept of so many queues; of others it is said that there is none."""
    queues = "".join(f"\n- apiVersion: scheduling.run.ai/v2\n  kind: Queue\n  metadata: {{name: q{i:04}}}\n  spec: {{}}" for i in range(1001))
    with Folder({"a.yaml": "apiVersion: v1\nkind: List\nitems:" + queues}) as folder, Server("-f", folder, *NOW) as s:
        of = {q: s.get("queues/history", queue=q) for q in ("root", "root.q0000", "root.q1000")}
        t.equal("history: of the first thousand queues nothing is said", [len(of[q]["points"]) for q in ("root", "root.q0000") if "message" not in of[q]], [1, 1])
        t.equal("history: beyond them it is said that there is none", (of["root.q1000"]["points"], of["root.q1000"].get("message")),
                ([], "only the first 1,000 queues that were seen have a history, and root.q1000 is not among them"))


def windows():
    """MR: a pod inside its window is protected until its end, on the node's page too."""
    queue = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: %s}
spec: {reclaimMinRuntime: 2h, resources: {cpu: {quota: %d, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1}, gpu: {quota: 0, limit: -1}}}
---"""
    files = queue % ("one", 4000) + queue % ("two", 0) + node("n1")
    files += pod("runs", 50, on="n1", queue="two") + pod("waits", 50, queue="one")
    with Folder({"a.yaml": files.replace("labels: {queue: ", "labels: {kai.scheduler/queue: ")}) as folder, Server("-f", folder, *NOW) as s:
        found = s.get("node", name="n1")["pods"][0]["protections"]
        t.equal("node: inside its window, and until when", [(p["rule"], p.get("until")) for p in found], [("min-runtime", "2026-11-15T13:30:00Z")])
        group = s.get("waiting")["waiting"]
        t.true("waiting: by the rule that protects whom it needs", len(group) == 1 and group[0]["rules"] == ["min-runtime"], str(group))


def chains():
    """Three in a row: c takes b's place, b takes a's."""
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder:
        journal = os.path.join(folder, "journal.db")
        states = [
            ("12:00:00", node("n1") + pod("low", 1, on="n1", user="ann") + pod("middle", 10, user="bob")),
            ("12:10:00", node("n1") + pod("low", 1, user="ann") + pod("middle", 10, on="n1", user="bob") + pod("high", 100, user="cid")),
            ("12:20:00", node("n1") + node("n2") + pod("low", 1, user="ann") + pod("middle", 10, user="bob") + pod("high", 100, on="n1", user="cid")),
            ("12:30:00", node("n1") + node("n2") + node("n3") + pod("low", 1, user="ann") + pod("middle", 10, on="n2", user="bob")
             + pod("high", 100, on="n1", user="cid")),
        ]
        for at, text in states:
            with Folder({"a.yaml": text}) as files:
                cede("plan", "-f", files, "--now", f"2026-11-15T{at}Z", "--journal", journal)
        with Server("--journal", journal) as s:
            rows = s.get("decisions")["items"]
            by = [(d["at"][11:16], d["decision"]["pod"], d["decision"]["outcome"], [v["pod"] for v in d["decision"]["victims"]]) for d in rows]
            start = next(d for d in rows if d["decision"]["victims"] and d["decision"]["pod"] == "a/middle")
            chain = s.get("chain", id=start["id"])
            t.equal("chain: it begins where it was asked", (chain["start"]["decision"]["pod"], [v["pod"] for v in chain["start"]["decision"]["victims"]]),
                    ("a/middle", ["a/low"]))
            t.equal("chain: who came because of it: low got a place later, and nobody had to go for that",
                    [(x["decision"]["pod"], x["decision"]["outcome"], x["victim"], x["from"]) for x in chain["led"]], [("a/low", "placed", "a/low", start["id"])])
            placed = next(d for d in rows if d["decision"]["pod"] == "a/middle" and d["decision"]["outcome"] == "placed")
            back = s.get("chain", id=placed["id"])["because"]
            t.equal("chain: why it is there: high took its place", [(x["decision"]["pod"], x["took"]) for x in back], [("a/high", "a/middle")])
            low = s.get("chain", id=chain["led"][0]["id"])["because"]
            t.equal("chain: followed back, one after the other", [(x["decision"]["pod"], x["took"]) for x in low], [("a/middle", "a/low")])
            t.equal("chain: of a pod that had to go it begins with who took its place", s.get("chain", pod="a/low")["start"]["decision"]["pod"], "a/low")
            t.equal("chain: a victim never heard of again is unknown", s.get("chain", id=start["id"])["unknown"], [])
            t.equal("decisions by user: bob's own, and those that take from bob", sorted(set(pods(s, user="bob"))), ["a/high", "a/middle"])
            t.equal("decisions between two times", [x[1] for x in by if "12:10" <= x[0] < "12:20"],
                    pods(s, **{"from": "2026-11-15T12:10:00Z", "to": "2026-11-15T12:20:00Z"}))
            history = s.get("queues/history", queue="root.default")
            t.equal("history: of a journal's plans", (len(history["points"]), history["resources"]["cpu"]["used"]), (4, [4, 4, 4, 8]))
            t.equal("overview: it says where it comes from", s.get("overview")["source"], "journal")


def what_if(s):
    setting = "queue.root.ads.ranking.guaranteed.nvidia.com/gpu=8"
    body = json.dumps({"kind": "WhatIf", "set": [setting]})
    status, yaml = s.ask("whatif", method="POST", body=body, output="yaml")
    t.true("what if: as documents", status == 200 and "kind: CedeConfiguration" in yaml and 'nvidia.com/gpu: "8"' in yaml, yaml[:3000])
    there = json.loads(s.ask("whatif", method="POST", body=body)[1])
    again = json.loads(s.ask("whatif", method="POST", body=json.dumps({"kind": "WhatIf", "documents": yaml}))[1])
    t.equal("what if: which read back give the same difference", [again[k] for k in ("then", "notEvicted", "newlyEvicted", "otherAnswers")],
            [there[k] for k in ("then", "notEvicted", "newlyEvicted", "otherAnswers")])
    t.true("what if: and there is one", bool(there["notEvicted"]), str(there))
    status, yaml = s.ask("settings")
    t.true("settings: what is in force", status == 200 and 'nvidia.com/gpu: "12"' in yaml, yaml[:2000])
    status, nothing = s.ask("whatif", method="POST", body=json.dumps({"kind": "WhatIf", "documents": yaml}))
    t.equal("settings: given back unchanged, nothing differs", (status, [json.loads(nothing)[k] for k in ("notEvicted", "newlyEvicted", "otherAnswers")]),
            (200, [[], [], []]))
    t.equal("what if: another output is none", s.ask("whatif", method="POST", body=body, output="xml")[0], 400)


def simulation():
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder:
        page = os.path.join(folder, "report.html")
        made = json.loads(cede("simulate", "--scenario", "examples/scenario/day.yaml", "--report", page, "-o", "json").out)
        with Server("--simulation", "examples/scenario/day.yaml", "--report", page) as s:
            over = s.get("overview")
            t.equal("simulation: the cluster at its end", (over["source"], over["now"], over["pods"]["running"]), ("simulation", made["to"], made["totals"]["running"]))
            listed = s.get("reports")["items"]
            t.equal("simulation: its own report, and those that were given", [(x["id"], x["report"], x.get("file")) for x in listed],
                    [(1, "Simulation", None), (2, "Simulation", "report.html")])
            reports = [s.get(f"reports/{i}") for i in (1, 2)]
            t.equal("simulation: both say the same", reports[0]["totals"], reports[1]["totals"])
            t.equal("simulation: as many victims are told as pods were evicted",
                    sum(len(d["decision"]["victims"]) for d in s.get("decisions", show="evictions", limit=1000)["items"]), made["totals"]["evictions"])
            history = s.get("queues/history", queue="root.research")
            t.true("simulation: the history of a queue", len(history["points"]) > 50 and max(history["resources"]["nvidia.com/gpu"]["used"]) > 0, str(history)[:300])
            t.equal("simulation: its points are in order", history["points"], sorted(history["points"]))
            evicted = s.get("decisions", show="evictions", brief="true")["items"][0]
            chain = s.get("chain", id=evicted["id"])
            told = {x["victim"] for x in chain["led"]} | {x["pod"] for x in chain["unknown"]}
            t.true("simulation: every victim is followed", {v["pod"] for v in evicted["decision"]["victims"]} <= told, str(chain)[:500])
        with Server("--simulation", "examples/scenario/day.yaml", "--until", "2h") as s:
            t.equal("simulation: at a moment", s.get("overview")["now"], "2026-11-16T10:00:00Z")
        with Server("--simulation", "examples/trace/jobs.csv", "--format", "philly") as s:
            t.equal("simulation: of a trace", s.get("reports")["items"][0]["report"], "Simulation")
        bad = os.path.join(folder, "bad.html")
        rows = [("a page that is no report", "<html></html>", "expected a page that cede wrote"),
                ("broken data", '<script id="data">{"kind": </script>', "bad.html:1:"),
                ("another kind", '<script id="data">{"kind": "Pod"}</script>', "kind: expected Simulation"), ]
        for name, text, words in rows:
            with open(bad, "w", encoding="utf-8") as f:
                f.write(text)
            found = cede("serve", *EXAMPLE, "--report", bad)
            t.true(f"not started: {name}", found.code == 2 and words in found.err, found.err)
    rows = [("a journal and a simulation", ["--journal", "x", "--simulation", "y"], "one of them"), ("a format of nothing", ["--format", "philly"], "--simulation"),
            ("a scenario that is not there", ["--simulation", "/nowhere.yaml"], "/nowhere.yaml")]
    for name, args, words in rows:
        found = cede("serve", *args)
        t.true(f"not started: {name}", found.code in (1, 2, 64) and words in found.err, f"{found.code} {found.err}")


def refusals(s):
    rows = [
        ("a number that is none", "decisions", {"limit": "x"}, 400, "limit: expected"), ("none at all", "decisions", {"limit": "0"}, 400, "limit: expected"),
        ("a time that is none", "decisions", {"from": "yesterday"}, 400, "from: expected a time"),
        ("an order nobody knows", "decisions", {"order": "random"}, 400, "order: expected oldest or newest"),
        ("something to show that is nothing", "timeline", {"show": MARKUP}, 400, "show: expected"),
        ("steps without end", "timeline", {"steps": "1000000"}, 400, "steps: expected"),
        ("time that runs backward", "timeline", {"from": "2026-11-15T12:00:00Z", "to": "2026-11-15T11:00:00Z"}, 400, "to: expected a time after from"),
        ("a chain of nothing", "chain", {}, 400, "expected either id="), ("a chain of two", "chain", {"id": "1", "pod": "a/b"}, 400, "expected either"),
        ("a decision that is not there", "chain", {"id": "1"}, 404, "no decision"),
        ("a number beyond all", "chain", {"id": "99999999999999999999999999"}, 404, "no decision"),
        ("no node", "node", {}, 400, "name: expected"), ("a node that is markup", "node", {"name": MARKUP}, 404, "there is no node"),
        ("no queue", "queues/history", {}, 400, "queue: expected"), ("a queue that is not there", "queues/history", {"queue": "root.x"}, 404, "there is no queue"),
        ("a report that is not there", "reports/1", {}, 404, "no such report"), ("a report above", "reports/..%2f..%2fetc", {}, 404, "no such report"),
        ("a negative report", "reports/-1", {}, 404, "no such report"),
    ]
    for name, path, query, code, words in rows:
        status, said = s.ask(path, **query)
        t.true(f"refused: {name}", status == code and words in json.loads(said)["message"], f"{status} {said}")
    t.equal("chain: of a pod nobody knows, which is markup: nothing", s.get("chain", pod=MARKUP), {"kind": "Chain", "complete": True})
    for path in ("overview", "timeline", "chain", "settings", "reports", "waiting"):
        status, said = s.ask(path, method="POST", body="{}")
        t.equal(f"nothing is written: POST {path}", (status, json.loads(said)["kind"]), (405, "Error"))
    many = {f"k{i}": "v" * 200 for i in range(100)}
    t.true("a query without end is answered or refused, and the server lives", s.ask("decisions", **many)[0] in (200, 400, 414, 431) and s.ask("overview")[0] == 200)


def hostile_names():
    name = "x" + MARKUP + "\\u0000\\n\u202e"
    text = node("n1") + pod("a", 1, on="n1", user=MARKUP) + pod("b", 10, user=MARKUP)
    with Folder({"a.yaml": text}) as folder, Server("-f", folder, *NOW) as s:
        t.equal("a user that is markup is found by it", pods(s, user=MARKUP), ["a/b"])
        t.equal("and comes back as it was", s.get("decisions", user=MARKUP)["items"][0]["user"], MARKUP)
        t.equal("nobody is found by another", pods(s, user=name), [])


def rule_names():
    """The page offers the rules of the program, in their order."""
    with open(os.path.join(SOURCE, "src/model/rule_table.h"), encoding="utf-8") as f:
        rules = re.findall(r'^\tX\([A-Z_]+, [a-z_]+, "([a-z-]+)"', f.read(), re.M)
    with open(os.path.join(SOURCE, "web/console/rules.js"), encoding="utf-8") as f:
        offered = re.findall(r'"([a-z-]+)"', f.read())
    t.true("the program has rules", len(rules) > 15, str(rules))
    t.equal("rules.js has the same", offered, rules)


def main():
    rule_names()
    with Server(*EXAMPLE) as s:
        filters(s)
        maps_and_reasons(s)
        what_if(s)
        refusals(s)
    t.equal("SIGTERM ends it with 0, without a word", (s.process.returncode, s.out, s.err), (0, "", ""))
    many_queues()
    windows()
    chains()
    simulation()
    hostile_names()
    t.end()


main()
