#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede plan` and `cede explain`: what is decided about small clusters, and how it is told."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, SOURCE, Folder, Suite, cede  # noqa: E402

EXAMPLE = "examples/gpu-cluster"
KAI_EXAMPLE = "examples/kai-cluster"
FORMATS = (("text", "txt"), ("wide", "wide.txt"), ("json", "json"), ("yaml", "yaml"))


# ---- clusters ----

def node(name, cpu=4, **more):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **more},
            "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}}


def pod(name, cpu=1, priority=0, on=None, start="2026-11-15T11:00:00Z", labels=None, **spec):
    """A pod of namespace ns; on: the node where it runs, else it waits."""
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "creationTimestamp": "2026-11-15T10:00:00Z", "labels": labels or {}},
            "spec": {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}], **spec},
            "status": {"phase": "Running", "startTime": start} if on else {}}


def leaving(one):
    one["metadata"].update(deletionTimestamp="2026-11-15T12:00:20Z", deletionGracePeriodSeconds=30)
    return one


def budget(name, app, allowed):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}, "status": {"disruptionsAllowed": allowed}}


def run(command, objects, *args):
    """The command on these objects, given as `kubectl get -o json` prints them."""
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": objects})
    return cede(command, "-f", "-", *NOW, *args, stdin=whole.encode())


def plan(objects, *args):
    found = run("plan", objects, "-o", "json", *args)
    return json.loads(found.out) if found.code == 0 else {"code": found.code, "err": found.err}


def decision(objects, name, *args):
    """The last one about ns/NAME."""
    return [d for d in plan(objects, *args)["decisions"] if d["pod"] == f"ns/{name}"][-1]


KUBERNETES = ("--profile", "kubernetes")
FULL = [node("n1"), pod("small", 4, 1, "n1"), pod("big", 4, 10)]
EQUAL = [node("n1"), pod("same", 4, 10, "n1"), pod("big", 4, 10)]
# Two waiting pods that need most of a node each, on one node: the second needs the first one's victims gone as well.
CROWD = [node("n1", 30), *[pod(f"v-{i:02}", 1, 1, "n1") for i in range(30)], pod("a", 12, 10), pod("b", 12, 9)]


# ---- the example ----

def goldens(t):
    for profile in ("default", "kubernetes"):
        for format, ending in FORMATS:
            args = ["-f", EXAMPLE, "--profile", profile, "-o", format, *NOW]
            for file, found in ((f"plan-gpu-{profile}.{ending}", cede("plan", *args)),
                                (f"explain-gpu-{profile}.{ending}", cede("explain", *args, "web/report-0"))):
                t.golden(f"{file}", file, found.out)
                t.equal(f"{file}: exit code, and nothing to note", (found.code, found.err), (0, ""))
    for name, what in (("language/eval-0", "takes room"), ("vision/sweep-4", "waits"), ("vision/sweep-3", "goes"), ("vision/notebook-ann", "stays")):
        t.golden(f"explain: {name} {what}", f"explain-gpu-{what.replace(' ', '-')}.txt", cede("explain", "-f", EXAMPLE, *NOW, name).out)
    with Folder({"shares.yaml": "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nactions: {reclaim: {by: fair-share}}\n"}) as folder:
        t.golden("plan: by fair share, with the numbers of both queues", "plan-gpu-fair-share.txt",
                 cede("plan", "-f", EXAMPLE, "--config", f"{folder}/shares.yaml", *NOW).out)
    t.equal("text in profile default is what is shown unless told otherwise", cede("plan", "-f", EXAMPLE, *NOW).out,
            cede("plan", "-f", EXAMPLE, *NOW, "--profile", "default", "-o", "text").out)


def namespaces(t):
    """-n: what is told of one namespace, and counted."""
    data = json.loads(cede("plan", "-f", EXAMPLE, *NOW, "-n", "web", "-o", "json").out)
    t.equal("-n: its pods and its victims are counted", data["summary"], {"placed": 1, "nominated": 1, "waiting": 0, "gated": 0, "victims": 1})
    t.true("-n: the sums say of what they are", cede("plan", "-f", EXAMPLE, *NOW, "-n", "web").out.startswith(
        "Plan at 2026-11-15T12:00:00Z, namespace web, profile default: 1 placed, 1 nominated, 0 waiting, 0 gated; 1 pod has to go\n"))
    t.equal("-n: --strict is about its pods", [cede("plan", "-f", EXAMPLE, *NOW, "-n", ns, "--strict", "-q").code for ns in ("web", "vision")], [0, 1])
    for command in ("plan", "show"):
        t.equal(f"-n: nothing is there: {command} says so", cede(command, "-f", EXAMPLE, *NOW, "-n", "vison").err, "cede: note: nothing is in namespace vison; did you mean vision?\n")
    t.equal("-n: nor is anything near", cede("plan", "-f", EXAMPLE, *NOW, "-n", "xyzzy").err, "cede: note: nothing is in namespace xyzzy\n")
    text = cede("show", "-f", EXAMPLE, *NOW, "-n", "ads", "-o", "wide").out
    listed = {word for word in re.findall(r"^\S+/\S+", text, re.M)}
    t.true("-n: show lists its pods alone", listed and all(word.startswith("ads/") for word in listed), text)
    t.true("-n: show counts its pods, and queues stay everybody's", text.startswith("6 nodes, 6 pods: 5 running, 1 waiting,") and "root.research" not in listed
           and re.search(r"^root +18 +5 ", text, re.M), text)
    data = json.loads(cede("show", "-f", EXAMPLE, *NOW, "-n", "ads", "-o", "json").out)
    t.equal("-n: the same as data", ({p["pod"].split("/")[0] for p in data["pods"]}, data["summary"]["pods"]["running"]), ({"ads"}, 5))


def groups(t):
    """Gangs in profile kai: who of them goes where, who goes for them, and why not."""
    kai = ("-f", KAI_EXAMPLE, "--profile", "kai", *NOW)
    for format, ending in FORMATS:
        t.golden(f"plan: kai {format}", f"plan-kai-example.{ending}", cede("plan", *kai, "-o", format).out)
    for name in ("ml/chat", "ml/sweep", "ml/ablation", "ml/asr", "ml/asr-0", "ml/ablation-0"):
        t.golden(f"explain: kai {name}", f"explain-kai-{name.replace('/', '-')}.txt", cede("explain", *kai, name).out)
    t.golden("explain: kai ml/chat as data", "explain-kai-ml-chat.json", cede("explain", *kai, "ml/chat", "-o", "json").out)


def remedies(t):
    """What would it take: one change each, tried, with what it would come to."""
    queues = """partitions: [{name: default, queues: [{name: root, queues: [
        {name: a, resources: {max: {vcore: 2}}, properties: {preemption.delay: 1h}},
        {name: b, resources: {guaranteed: {vcore: 1}}}]}]}]"""

    def took(objects, name, *args, yaml=""):
        files = {"objects.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})}
        if yaml:
            files["queues.yaml"] = yaml
        with Folder(files) as path:
            out = cede("explain", "-f", path, *NOW, *args, f"ns/{name}", "-o", "json").out
        return [r["change"] + ": " + r["outcome"] for r in json.loads(out)["whatWouldItTake"]]

    def at(queue, one):
        one["metadata"]["labels"] = {"queue": f"root.{queue}"}
        return one

    full = [node("n", cpu=4), pod("old", cpu=4, priority=5, on="n")]
    t.equal("what would it take: room, priority or no rule of priority", took([*full, pod("new", cpu=1, priority=5)], "new"),
            ["1 more cpu on n: placed", "priority 6 (now 5): nominated", "leaving out the rule priority: nominated"])
    t.equal("what would it take: nothing, for a pod that is larger than every node in two ways",
            took([node("n", cpu=1), pod("new", cpu=2, nodeSelector={"no": "where"})], "new"), [])
    used = [node("n", cpu=8), at("a", pod("one", cpu=2, on="n")), at("a", pod("two", cpu=1))]
    t.equal("what would it take: a larger maximum", took(used, "two", yaml=queues), ["a maximum of 3 cpu for root.a (now 2): placed", "priority 1 (now 0): nominated", "leaving out the rule priority: nominated"])
    over = [node("n", cpu=4), at("b", pod("one", cpu=4, on="n")), at("a", pod("two", cpu=1))]
    young = [dict(o) for o in over]
    young[2]["metadata"]["creationTimestamp"] = "2026-11-15T11:59:00Z"
    found = took(young, "two", yaml=queues)
    t.equal("what would it take: room first", found[0], "1 more cpu on n: placed")
    t.equal("a pod that gets room is not asked", "whatWouldItTake" in run("explain", full[:1] + [pod("new", cpu=1)], "-o", "json", "ns/new").out, False)


def helps(t):
    for name in ("plan", "explain", "bench"):
        t.golden(f"cede {name} --help", f"help-{name}.txt", cede(name, "--help").out)


# ---- what is decided ----

def outcomes(t):
    t.equal("there is room: placed", decision([node("n1"), pod("p")], "p"),
            {"pod": "ns/p", "queue": "root.default", "outcome": "placed", "action": "allocate", "node": "n1", "victims": []})
    t.equal("no room, and somebody of lower priority: nominated", decision(FULL, "big"),
            {"pod": "ns/big", "queue": "root.default", "outcome": "nominated", "action": "displace", "node": "n1",
             "victims": [{"pod": "ns/small", "queue": "root.default", "node": "n1", "lostSeconds": 3600, "reason": "priority 1 below 10"}],
             "message": "0/1 nodes are available: 1 Insufficient cpu."})
    t.equal("no room, and nobody of lower priority: waiting", decision(EQUAL, "big"),
            {"pod": "ns/big", "queue": "root.default", "outcome": "waiting", "victims": [],
             "protected": [{"pod": "ns/same", "queue": "root.default", "node": "n1", "rule": "priority",
                            "reason": "its priority 10 is not below 10"}],
             "message": "0/1 nodes are available: 1 Insufficient cpu."})
    t.equal("the same as kube-scheduler says it", decision(EQUAL, "big", *KUBERNETES),
            {"pod": "ns/big", "queue": "root.default", "outcome": "waiting", "victims": [],
             "message": "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
                        "1 No preemption victims found for incoming pod."})
    t.equal("a pod with gates is not tried", decision([node("n1"), pod("p", schedulingGates=[{"name": "example.com/later"}])], "p"),
            {"pod": "ns/p", "queue": "root.default", "outcome": "gated", "victims": [],
             "message": "waiting for scheduling gates: [example.com/later]"})
    t.equal("no nodes", decision([pod("p")], "p")["message"], "no nodes available to schedule pods")
    t.equal("nothing at all", plan([node("n1")])["decisions"], [])
    t.equal("another scheduler's pod is left alone", plan(
        [node("n1"), pod("p", schedulerName="other"), {"apiVersion": "cede.dev/v1", "kind": "CedeConfiguration", "schedulerNames": ["cede"]}])
        ["decisions"], [])


def never(t):
    objects = FULL[:2] + [pod("big", 4, 10, preemptionPolicy="Never")]
    for profile in ("default", "kubernetes"):
        found = decision(objects, "big", "--profile", profile)
        t.equal(f"a pod that never preempts waits, and the rule is named, in profile {profile}",
                (found["outcome"], found.get("rule"), "until" in found, found["victims"]), ("waiting", "never", False, []))
    t.true("with Kubernetes' words", found["message"].endswith(" preemption: not eligible due to preemptionPolicy=Never."), found["message"])
    t.true("explain says so", " It takes room from nobody (never)" in run("explain", objects, "ns/big").out)
    t.equal("where there is room, the rule is silent", "rule" in decision([node("n1"), pod("p", preemptionPolicy="Never")], "p"), False)


def budgets(t):
    labels = {"app": "db"}
    objects = [node("n1"), pod("db", 4, 1, "n1", labels=labels), budget("db", "db", 0), pod("big", 4, 10)]
    found = decision(objects, "big", *KUBERNETES)
    t.equal("in profile kubernetes a budget is overridden where nothing else would do, and named",
            (found["outcome"], [(v["pod"], v.get("rule")) for v in found["victims"]]), ("nominated", [("ns/db", "budget")]))
    t.true("text says so", ", against a disruption budget\n" in run("plan", objects, *KUBERNETES).out)
    t.true("explain says so", run("explain", objects, *KUBERNETES, "ns/db").out.endswith(
        " It goes against a disruption budget: no node offers another way.\n"))
    spare = objects + [node("n2"), pod("web", 4, 5, "n2")]
    found = decision(spare, "big", *KUBERNETES)
    t.equal("a pod without budget goes first, though of higher priority", (found["node"], found["victims"][0]["pod"], "rule" in found["victims"][0]),
            ("n2", "ns/web", False))
    found = decision(objects, "big")
    t.equal("in profile default a budget protects, and is named", (found["outcome"], [(x["pod"], x["rule"]) for x in found["protected"]]),
            ("waiting", [("ns/db", "budget")]))
    objects[2] = budget("db", "db", 1)
    t.equal("a budget that allows it does not protect", decision(objects, "big")["outcome"], "nominated")
    t.equal("a budget that allows it is not overridden", "rule" in decision(objects, "big", *KUBERNETES)["victims"][0], False)


def tree(a=None, b=None, **partition):
    """A queues.yaml: root.a and root.b with what else is said of each."""
    leaves = [{"name": name, **(more or {})} for name, more in (("a", a), ("b", b))]
    return json.dumps({"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": leaves}], **partition}]})


def guaranteed(cpu, **more):
    return {"resources": {"guaranteed": {"vcore": cpu}, **more}}


def of(queue, name, *args):
    return pod(name, *args, labels={"queue": f"root.{queue}", "applicationId": name})


def spared_groups(t, objects, free, guaranteeing):
    """The same of a group that runs: whoever had to leave any of its pods."""
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 1}}
    objects = json.loads(json.dumps(objects)) + [group]
    for one in objects:
        if one["metadata"]["name"] in ("b-0", "b-1"):
            one["metadata"]["annotations"] = {"pod-group-name": "g"}
    spared = run("explain", objects, *free, "ns/g").out
    t.true("explain: a running group is spared, from whom and why", re.search(
        r"\n\nSPARED FROM \(1\)\nWAITING POD  QUEUE   RULE      BECAUSE\nns/mine      root\.a  priority  .+\n$", spared), spared)
    data = json.loads(run("explain", objects, *free, "ns/g", "-o", "json").out)["sparedFrom"]
    t.equal("the same as data, with the pod that was looked at", [(list(x), x["pod"], x["member"]) for x in data],
            [(["pod", "member", "rule", "reason"], "ns/mine", "ns/b-0")])
    objects[-2]["spec"]["priority"] = 100
    taken = run("explain", objects, *guaranteeing, "ns/g").out
    t.true("a group of which somebody has to go is not said to be spared", "has to go" in taken and "SPARED FROM" not in taken, taken)


def queues(t):
    objects = [node("n1"), of("b", "b-0", 2, 5, "n1"), of("b", "b-1", 2, 5, "n1"), of("a", "mine", 2, 5)]
    with Folder({"guaranteed.json": tree(guaranteed(2), guaranteed(2)), "free.json": tree()}) as folder:
        guaranteeing, free = ["-f", os.path.join(folder, "guaranteed.json")], ["-f", os.path.join(folder, "free.json")]
        found = decision(objects, "mine", *guaranteeing)
        t.equal("a queue below its guarantee takes room from one above its own",
                (found["queue"], found["outcome"], found["action"], [(v["pod"], v["queue"]) for v in found["victims"]]),
                ("root.a", "nominated", "reclaim", [("ns/b-1", "root.b")]))
        text = run("plan", objects, *guaranteeing).out
        t.true("text names the law", "reclaim: root.a uses 0 of 2 guaranteed cpu, root.b 4 of 2\n" in text, text)
        found = decision(objects, "mine", *free)
        t.equal("without a guarantee it takes nothing from other queues", (found["outcome"], {x["rule"] for x in found["protected"]}),
                ("waiting", {"guarantee"}))
        t.true("explain: who goes", " ns/mine needs its room: root.a uses 0 of 2 guaranteed cpu, root.b 4 of 2. " in
               run("explain", objects, *guaranteeing, "ns/b-1").out)
        spared = run("explain", objects, *free, "ns/b-1")
        t.true("explain: who is spared, from whom and why", re.match(
            r"ns/b-1 stays on n1, where it has been running for 1h: 1 waiting pod may not take its room\.\n\n"
            r"SPARED FROM \(1\)\nWAITING POD  QUEUE   RULE       BECAUSE\nns/mine      root\.a  guarantee  .+\n$", spared.out), spared.out)
        data = json.loads(run("explain", objects, *free, "ns/b-1", "-o", "json").out)["sparedFrom"]
        t.equal("the same as data", [list(x) for x in data], [["pod", "rule", "reason"]])
        spared_groups(t, objects, free, guaranteeing)
        found = decision(objects, "mine", *guaranteeing, *KUBERNETES)
        t.equal("in profile kubernetes queues do not count", (found["queue"], found["outcome"]), ("root.default", "waiting"))


def soft_rules(t):
    """Rules that hold back the waiting pod, that give way at last, and decisions for nobody."""
    objects = [node("n1"), of("b", "b-0", 2, 5, "n1"), of("b", "b-1", 2, 5, "n1"), of("a", "mine", 2, 5)]
    late = tree({**guaranteed(2), "properties": {"preemption.delay": "3h"}}, guaranteed(2))
    lowered = tree(None, {**guaranteed(1, max={"vcore": 2}), "properties": {"quota.preemption.delay": "1m"}}, preemption={"quotapreemptionenabled": True})
    with Folder({"late.json": late, "lowered.json": lowered, "guaranteed.json": tree(guaranteed(2), guaranteed(2))}) as folder:
        files = {name: ["-f", os.path.join(folder, f"{name}.json")] for name in ("late", "lowered", "guaranteed")}
        found = decision(objects, "mine", *files["late"])
        t.equal("a pod whose queue has it wait: the rule, and until when", (found["outcome"], found.get("rule"), found.get("until")),
                ("waiting", "delay", "2026-11-15T13:00:00Z"))
        for command in (["plan"], ["explain", "ns/mine"]):
            t.true(f"{command[0]} says so", " It takes room from nobody (delay) until 13:00:00.\n" in
                   run(command[0], objects, *files["late"], *command[1:]).out)
        for one in objects[1:3]:
            one["metadata"]["annotations"] = {"yunikorn.apache.org/allow-preemption": "false"}
        found = decision(objects, "mine", *files["guaranteed"])
        t.equal("who opted out goes if nothing else works, and the rule is named", [v.get("rule") for v in found["victims"]], ["opt-out"])
        t.true("text says so", ", though it opted out\n" in run("plan", objects, *files["guaranteed"]).out)
        found = plan(objects[:3], *files["lowered"])
        t.equal("a queue above a lowered maximum gives back for nobody", [{k: v for k, v in d.items() if k != "victims"} for d in found["decisions"]],
                [{"queue": "root.b", "outcome": "evicted", "action": "quota"}])
        t.equal("and the victims count", found["summary"], {"placed": 0, "nominated": 0, "waiting": 0, "gated": 0, "victims": 1})
        text = run("plan", objects[:3], *files["lowered"]).out
        t.true("text names the queue", re.search(r"\(root\.b\) +quota: root\.b is above its maximum", text), text)
        victim = found["decisions"][0]["victims"][0]["pod"]
        t.true("explain as well", f"{victim} has to go from n1: root.b uses more than its maximum (quota)." in
               run("explain", objects[:3], *files["lowered"], victim).out)


def losses(t):
    def lost(one):
        return decision([node("n1"), one, pod("big", 4, 10)], "big")["victims"][0]["lostSeconds"]
    marked = pod("small", 4, 1, "n1")
    marked["metadata"]["annotations"] = {"cede.dev/checkpointed-at": "2026-11-15T11:59:00Z"}
    t.equal("what is lost is counted from the start, in whole seconds", lost(pod("small", 4, 1, "n1", start="2026-11-15T11:59:00.5Z")), 59)
    t.equal("or from the last checkpoint", lost(marked), 60)
    t.equal("a start that is still to come has lost nothing", lost(pod("small", 4, 1, "n1", start="2026-11-15T13:00:00Z")), 0)


# ---- cycles ----

def cycles(t):
    once, twice = plan(FULL), plan(FULL, "--cycles", "2")
    t.equal("one cycle is the default", once, plan(FULL, "--cycles", "1"))
    t.equal("the first cycle is not numbered, and the same", twice["decisions"][:1], once["decisions"])
    t.equal("in the second the victims are gone and the nominated pod takes its place", twice["decisions"][1:],
            [{"pod": "ns/big", "queue": "root.default", "outcome": "placed", "action": "allocate", "node": "n1", "cycle": 2, "victims": []}])
    t.equal("the summary counts its last outcome", twice["summary"], {"placed": 1, "nominated": 0, "waiting": 0, "gated": 0, "victims": 1})
    t.equal("the time stays", twice["now"], once["now"])
    t.equal("a cycle more changes nothing when nothing waits", plan(FULL, "--cycles", "9"), twice)
    t.true("text says when", re.search(r"^ns/big .* n1 +in cycle 2$", run("plan", FULL, "--cycles", "2").out, re.M))
    t.equal("so does explain", run("explain", FULL, "--cycles", "2", "ns/big").out, "ns/big goes to n1 in cycle 2: its nominated node.\n")
    gone = [node("n1"), leaving(pod("old", 4, 0, "n1")), pod("p", 4)]
    t.equal("who was leaving is gone in the second cycle as well, and its room is kept meanwhile", [(d["outcome"], d.get("cycle")) for d in plan(gone, "--cycles", "2")["decisions"]],
            [("nominated", None), ("placed", 2)])


def strict(t):
    waiting = [node("n1"), pod("p", 5)]
    for name, objects, code in (("some pod keeps waiting", waiting, 1), ("all find room", [node("n1"), pod("p")], 0), ("a pod is nominated", FULL, 0),
                                ("a pod is gated", [node("n1"), pod("p", schedulingGates=[{"name": "x"}])], 0), ("nothing waits", [node("n1")], 0)):
        found = run("plan", objects, "--strict")
        t.equal(f"--strict: {name}", (found.code, found.err, found.out), (code, "", run("plan", objects).out))
    t.equal("without --strict waiting is fine", run("plan", waiting).code, 0)


# ---- the same again ----

def same_bytes(t):
    for name, args in (("the example", ["-f", EXAMPLE]), ("the example, as kube-scheduler", ["-f", EXAMPLE, "--profile", "kubernetes"])):
        one = cede("plan", *args, "-o", "json", *NOW).out
        t.equal(f"{name}: planned twice, the same bytes", cede("plan", *args, "-o", "json", *NOW).out, one)
        t.equal(f"{name}: one thread and four, the same bytes", cede("plan", *args, "-o", "json", *NOW, "--threads", "4").out,
                cede("plan", *args, "-o", "json", *NOW, "--threads", "1").out)
    many = [node(f"n{i:03}", 8) for i in range(150)] + [pod(f"r-{i:03}-{k}", 2, (i * 7 + k * 3) % 5, f"n{i:03}", f"2026-11-15T1{i % 2}:0{k}:00Z")
                                                     for i in range(150) for k in range(4)] + [pod(f"w-{i}", 2 + i % 5, 3 + i % 7) for i in range(40)]
    for profile in ("default", "kubernetes"):
        one = run("plan", many, "-o", "json", "--profile", profile, "--threads", "1").out
        t.equal(f"150 nodes, 40 waiting pods, profile {profile}: one thread and four, the same bytes",
                run("plan", many, "-o", "json", "--profile", profile, "--threads", "4").out, one)
        t.equal(f"150 nodes, 40 waiting pods, profile {profile}: objects the other way round, the same bytes",
                run("plan", many[::-1], "-o", "json", "--profile", profile).out, one)
    t.true("(they do have to go)", json.loads(one)["summary"]["victims"] > 20, one)


# ---- shape of the data ----

DECISION = ["pod", "group", "queue", "outcome", "action", "node", "cycle", "victims", "protected", "rule", "until", "message"]
VICTIM = ["pod", "queue", "node", "rule", "lostSeconds", "withGroup", "reason", "type", "taker", "loser"]
PROTECTED = ["pod", "queue", "node", "rule", "reason", "until"]


def shape_faults(data):
    """What is not as the format says: order of fields, fields without a value, counts."""
    faults = [] if list(data) == ["kind", "now", "profile", "decisions", "summary"] and data["kind"] == "Plan" else [f"top: {list(data)}"]
    last, victims = {}, set()
    for d in data["decisions"]:
        if [k for k in DECISION if k in d] != list(d) or not {"pod", "queue", "outcome", "victims"} <= set(d):
            faults.append(f"{d['pod']}: fields {list(d)}")
        if any(v in ("", None) or (v == [] and k != "victims") for k, v in d.items()):
            faults.append(f"{d['pod']}: a field without a value")
        if (d["outcome"] in ("placed", "nominated")) != ("action" in d) or ("action" in d) != ("node" in d):
            faults.append(f"{d['pod']}: {d['outcome']} with action {d.get('action')} and node {d.get('node')}")
        if bool(d["victims"]) != (d["outcome"] == "nominated" and d["action"] != "allocate"):
            faults.append(f"{d['pod']}: {d['outcome']} with {len(d['victims'])} victims")
        for v in d["victims"]:
            if [k for k in VICTIM if k in v] != list(v) or not {"pod", "queue", "node", "lostSeconds"} <= set(v) or not isinstance(v["lostSeconds"], int):
                faults.append(f"{d['pod']}: victim {v}")
            victims.add(v["pod"])
        for x in d.get("protected", []):
            if [k for k in PROTECTED if k in x] != list(x) or not set(PROTECTED[:5]) <= set(x):
                faults.append(f"{d['pod']}: protected {x}")
        if len({x["pod"] for x in d.get("protected", [])}) != len(d.get("protected", [])):
            faults.append(f"{d['pod']}: somebody is protected twice")
        last[d["pod"]] = d["outcome"]
    outcomes_of = list(last.values())
    counts = {o: outcomes_of.count(o) for o in ("placed", "nominated", "waiting", "gated")}
    if data["summary"] != {**counts, "victims": len(victims)}:
        faults.append(f"summary {data['summary']}, but {counts} and {len(victims)} victims")
    return faults


def data_shape(t):
    gang = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 1}}
    member = pod("member")
    member["metadata"]["annotations"] = {"pod-group-name": "g"}
    for name, objects, args in (("placed, nominated, waiting and gated pods", FULL + [node("n2"), pod("p", 2), pod("q", 9, 99),
                                                                                       pod("g", schedulingGates=[{"name": "x"}])], []),
                                ("victims that two pods need gone", CROWD, KUBERNETES),
                                ("the same over three cycles", CROWD, [*KUBERNETES, "--cycles", "3"])):
        t.equal(f"{name}: shape and counts are right", shape_faults(plan(objects, *args)), [])
    for profile in ("default", "kubernetes"):
        t.equal(f"the example in profile {profile}: shape and counts are right",
                shape_faults(json.loads(cede("plan", "-f", EXAMPLE, "-o", "json", "--profile", profile, *NOW).out)), [])
    t.equal("now and profile", {k: plan(FULL, "--profile", "kai")[k] for k in ("now", "profile")}, {"now": "2026-11-15T12:00:00Z", "profile": "kai"})
    t.equal("a group is named where there is one", (decision([node("n1"), gang, member], "member").get("group"), "group" in decision(FULL, "big")),
            ("ns/g", False))
    t.equal("a plan of nothing", plan([node("n1")]), {"kind": "Plan", "now": "2026-11-15T12:00:00Z", "profile": "default", "decisions": [],
                                                      "summary": {"placed": 0, "nominated": 0, "waiting": 0, "gated": 0, "victims": 0}})


def shared_victims(t):
    for profile, is_shared in (("default", False), ("kubernetes", True)):
        found = plan(CROWD, "--profile", profile)
        needs = {d["pod"]: {v["pod"] for v in d["victims"]} for d in found["decisions"]}
        both = needs["ns/a"] & needs["ns/b"]
        t.true(f"profile {profile}: a second pod {'needs' if is_shared else 'does not name'} the victims of the first again",
               both == (needs["ns/a"] if is_shared else set()), str(needs))
        t.equal(f"profile {profile}: each counts once", found["summary"]["victims"], 24)


# ---- text ----

def many_victims(t):
    def text(n, *args):
        objects = [node("n1", 40), node("n2", 40), *[pod(f"v-{i:02}", 40 / n, 1, "n1") for i in range(n)], pod("held", 40, 99, "n2"), pod("big", 40, 10)]
        return run("plan", objects, *args).out
    listed, grouped, wide = text(20), text(25), text(25, "-o", "wide")
    t.true("20 pods that have to go are listed", "EVICTIONS (20)\n" in listed and all(f"\nns/v-{i:02} " in listed for i in range(20)), listed)
    t.true("more are grouped, with what they have in common", "EVICTIONS (25)\nPODS  NAMESPACE  QUEUE         PRIORITY  NODES  LOST  MAKE ROOM FOR\n"
           "  25  ns         root.default         1      1  1d1h  root.default\nEvery one of them: -o wide\n" in grouped and "ns/v-" not in grouped, grouped)
    t.true("-o wide lists every one", all(f"\nns/v-{i:02} " in wide for i in range(25)) and "Every one" not in wide, wide)
    twice = [node("n1", 30), node("n2", 30), *[pod(f"v-{i:02}", 1, 1, f"n{1 + i % 2}") for i in range(60)], *[pod(f"w-{i}", 12, 10) for i in range(4)]]
    found = run("plan", twice, *KUBERNETES).out
    t.true("groups count every pod and every node once", re.search(r"^ +48  ns +root.default +1 +2 +2d ", found, re.M), found)
    held = [node("n1", 25), *[pod(f"v-{i:02}", 1, 1, "n1", labels={"app": "v"}) for i in range(25)], budget("v", "v", 20), pod("big", 25, 10)]
    t.true("and how many go against a budget", re.search(r"AGAINST A BUDGET\n +25  ns .* 5\n", run("plan", held, *KUBERNETES).out))


def words(t):
    t.true("nothing is waiting", run("plan", [node("n1")]).out.endswith("\nNothing is waiting.\n"))
    summary = run("plan", FULL).out.splitlines()[0]
    t.equal("the first line is the summary", summary,
            "Plan at 2026-11-15T12:00:00Z, profile default: 0 placed, 1 nominated, 0 waiting, 0 gated; 1 pod has to go")
    old = [node("n1"), leaving(pod("old", 4, 0, "n1")), pod("p", 4, 5)]
    found = run("plan", old, *KUBERNETES).out
    t.true("who was leaving before does not have to go because of the plan, but is waited for",
           "0 pods have to go" in found and "ns/old" not in found and "when 1 pod is gone" in found, found)
    t.equal("kube-scheduler counts it among the victims", [v["pod"] for v in decision(old, "p", *KUBERNETES)["victims"]], ["ns/old"])
    t.true("-o wide says why that node", "WHY THERE\nns/big  root.default        10  n1    when 1 pod is gone  no other node would do\n"
           in run("plan", FULL, "-o", "wide").out)


WHY_THERE = [
    ("no other node would do", FULL, "no other node would do"),
    ("fewest violations", [node("n1"), node("n2"), pod("a", 4, 1, "n1", labels={"app": "a"}), budget("a", "a", 0), pod("b", 4, 2, "n2")],
     "fewest budget violations (0; next best n1: 1)"),
    ("the least important victim", [node("n1"), node("n2"), pod("a", 4, 2, "n1"), pod("b", 4, 1, "n2")],
     "its most important victim has the lowest priority (1; next best n1: 2)"),
    ("the smallest sum", [node("n1"), node("n2"), pod("a", 2, 2, "n1"), pod("b", 2, 2, "n1"), pod("c", 2, 2, "n2"), pod("d", 2, 1, "n2")],
     "smallest sum of victims' priorities (next best n1)"),
    ("the latest start", [node("n1"), node("n2"), pod("a", 4, 1, "n1"), pod("b", 4, 1, "n2", "2026-11-15T11:30:00Z")],
     "its most important victims started last (2026-11-15T11:30:00Z; next best n1)"),
    ("the name", [node("n2"), node("n1"), pod("a", 4, 1, "n1"), pod("b", 4, 1, "n2")], "as good as n2, and first by name"),
]


def reasons(t):
    for name, objects, words_of in WHY_THERE:
        if objects is not FULL:
            objects = objects + [pod("big", 4, 10)]
        found = run("explain", objects, *KUBERNETES, "ns/big").out
        t.true(f"why there: {name}", words_of in found.splitlines()[0], found)
        t.true(f"plan -o wide says the same: {name}", words_of in run("plan", objects, *KUBERNETES, "-o", "wide").out)
    placed = run("explain", [node("n1"), node("n2"), pod("a", 2, 1, "n1"), pod("p")], "ns/p").out
    t.true("why there: the score", re.match(r"ns/p goes to n2 now: highest score \((\d+); next best n1: (\d+)\)\.\n\n"
                                            r"NODE  RESULT\nn1    fits, score \2\nn2    fits, score \1\n$", placed), placed)


# ---- explain ----

def explain(t):
    spared = FULL + [node("n2"), pod("other", 3, 2, "n2"), pod("lofty", 1, 50, "n2")]
    for name, objects, args, sentence in (
            ("a pod that has to go", FULL, ["ns/small"], "ns/small has to go from n1: ns/big needs its room and has the higher priority "
             "(10, this pod has 1). That node was chosen: no other node would do.\n"),
            ("a pod that stays", spared, ["ns/other"], "ns/other stays on n2, where it has been running for 1h: nothing that waits takes its room.\n"),
            ("a pod that stays, as kube-scheduler would have it", spared, [*KUBERNETES, "ns/other"], "ns/other stays on n2, where it has been running "
             "for 1h: one waiting pod has a higher priority (ns/big), but does not take its room.\n"),
            ("a pod that nobody outranks", spared, [*KUBERNETES, "ns/lofty"], "ns/lofty stays on n2, where it has been running for 1h: nothing that "
             "waits has a priority above its 50.\n"),
            ("one of several", spared + [pod("more", 1, 11)], [*KUBERNETES, "ns/other"], "ns/other stays on n2, where it has been running for 1h: "
             "2 waiting pods have a higher priority (the first: ns/more), but none takes its room.\n"),
            ("a pod that is leaving", [node("n1"), leaving(pod("old", 1, 0, "n1"))], ["ns/old"], "ns/old is on its way out of n1.\n"),
            ("a pod that is leaving, for somebody", [node("n1"), leaving(pod("old", 4, 0, "n1")), pod("p", 4, 5)], [*KUBERNETES, "ns/old"],
             "ns/old is on its way out of n1, and ns/p waits for its room.\n"),
            ("a gated pod", [node("n1"), pod("p", schedulingGates=[{"name": "x"}])], ["ns/p"],
             "ns/p is not tried: waiting for scheduling gates: [x].\n"),
            ("no nodes", [pod("p")], ["ns/p"], "ns/p waits: no nodes available to schedule pods\n\nWHAT WOULD IT TAKE\n"
             "  No single change of a rule, a number of its queue, its priority or one node's room would do.\n\nWHEN IT STARTS\n"
             "  Time alone does not let it start: nothing that holds it back ends by itself.\n")):
        found = run("explain", objects, *args)
        t.equal(f"explain: {name}", (found.code, found.out, found.err), (0, sentence, ""))
    done = pod("done", 1, 0, "n1")
    done["status"]["phase"] = "Succeeded"
    t.equal("explain: a pod that has finished", run("explain", [node("n1"), done], "ns/done").out, "ns/done has finished.\n")
    config = {"apiVersion": "cede.dev/v1", "kind": "CedeConfiguration", "schedulerNames": ["cede"]}
    t.equal("explain: another scheduler's pod", run("explain", [node("n1"), pod("p", schedulerName="other"), config], "ns/p").out,
            "ns/p waits for another scheduler: its schedulerName is not one of schedulerNames.\n")


# ---- Kubernetes' pod groups ----

def pod_group(name, priority, **spec):
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"priority": priority, **spec}}


def in_group(group, *args, **spec):
    return pod(*args, schedulingGroup={"podGroupName": group}, **spec)


def whole_groups(t):
    objects = [node("n1"), node("n2"), pod_group("train", 1, disruptionMode={"all": {}}), in_group("train", "a", 4, 1, "n1"),
               in_group("train", "b", 2, 1, "n2"), in_group("train", "c", 2, 1, "n2"), pod("big", 4, 10, nodeSelector={"kubernetes.io/hostname": "n1"})]
    objects[0]["metadata"]["labels"] = {"kubernetes.io/hostname": "n1"}
    clause = "goes with its group ns/train: disruptionMode all, 3 pods on 2 nodes"
    found = decision(objects, "big", *KUBERNETES)["victims"]
    t.equal("a group of disruptionMode all goes from all its nodes", [(v["pod"], v["node"], v["withGroup"]) for v in found],
            [("ns/a", "n1", "ns/train"), ("ns/b", "n2", "ns/train"), ("ns/c", "n2", "ns/train")])
    text = run("plan", objects, *KUBERNETES).out
    t.equal("the plan says so of each", text.count(f"displace: priority 1 below 10; {clause}\n"), 3)
    t.equal("explain: where the room is needed", run("explain", objects, *KUBERNETES, "ns/a").out, "ns/a has to go from n1: ns/big needs its room and has "
            f"the higher priority (10, this pod has 1). That node was chosen: no other node would do. It {clause}.\n")
    t.equal("explain: on another node", run("explain", objects, *KUBERNETES, "ns/c").out, "ns/c has to go from n2: ns/big needs room on n1 and has the "
            f"higher priority (10, this pod has 1). That node was chosen: no other node would do. It {clause}.\n")
    t.equal("shape and counts are right", shape_faults(plan(objects, *KUBERNETES)), [])
    objects[2]["spec"]["disruptionMode"] = {"single": {}}
    t.equal("of mode single only who must", [v["pod"] for v in decision(objects, "big", *KUBERNETES)["victims"]], ["ns/a"])
    t.true("and nothing is said of the group", "group" not in run("explain", objects, *KUBERNETES, "ns/a").out)


def gangs(t):
    objects = [node("n1"), node("n2"), pod_group("train", 10, schedulingPolicy={"gang": {"minCount": 2}}), in_group("train", "a", 4, 10),
               in_group("train", "b", 4, 10), pod("x", 1, 1, "n2"), pod("y", 1, 20, "n1")]
    found = plan(objects, *KUBERNETES)["decisions"]
    t.equal("a gang whose second pod fits nowhere is not placed by half", [(d["pod"], d["group"], d["outcome"]) for d in found],
            [("ns/a", "ns/train", "waiting"), ("ns/b", "ns/train", "waiting")])
    t.true("and says who is missing", found[1]["message"].startswith("pod group ns/train needs places for 2 pods together and has none for 1 of its 2.")
           and found[1]["message"].endswith(" preemption: the pod group would not fit with all pods of lower priority gone"), found[1]["message"])
    objects[-1]["spec"]["priority"] = 2
    found = plan(objects, *KUBERNETES)["decisions"]
    t.equal("with victims of lower priority it is nominated to its places together",
            [(d["pod"], d["node"], [v["pod"] for v in d["victims"]]) for d in found], [("ns/a", "n1", ["ns/y", "ns/x"]), ("ns/b", "n2", ["ns/y", "ns/x"])])
    t.equal("shape and counts are right", shape_faults(plan(objects, *KUBERNETES, "--cycles", "2")), [])
    t.equal("in the next cycle it has them", plan(objects, *KUBERNETES, "--cycles", "2")["summary"],
            {"placed": 2, "nominated": 0, "waiting": 0, "gated": 0, "victims": 2})
    t.equal("explain: a member", run("explain", objects, *KUBERNETES, "ns/b").out, "ns/b gets n2 as soon as ns/y and ns/x are gone: no other node would do. "
            "All pods of its group ns/train that get a place wait for this together.\n")
    t.true("explain: a victim, and who gets its room", run("explain", objects, *KUBERNETES, "ns/x").out.startswith(
        "ns/x has to go from n2: ns/b needs its room and has the higher priority (10, this pod has 1)."))
    held = run("explain", [o for o in objects if o["kind"] != "PodGroup"], *KUBERNETES, "ns/a").out
    t.equal("without its PodGroup a pod is not tried", held, "ns/a is not tried: waiting for its pod group ns/train to appear.\n")
    objects[2]["spec"].update(schedulingConstraints={"topology": [{"key": "zone"}]}, parentCompositePodGroupName="more")
    err = run("plan", objects, *KUBERNETES).err
    t.true("what cede does not have is said", "spec.schedulingConstraints.topology: cede does not keep a pod group within one topology domain" in err
           and "spec.parentCompositePodGroupName: cede has no composite pod groups" in err, err)


def explain_nodes(t):
    objects = FULL + [node("n2"), pod("held", 4, 99, "n2"), node("n3", 2), node("n4")]
    objects[-1]["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    t.equal("every node, and what became of it", run("explain", objects, "ns/big").out.split("\n\n")[1] + "\n",
            "NODE  RESULT\n"
            "n1    fits if 1 goes: ns/small\n"
            "n2    Insufficient cpu; not enough of its pods may go\n"
            "n3    Insufficient cpu; evictions cannot help\n"
            "n4    node(s) had untolerated taint(s); evictions cannot help\n")
    t.equal("and as kube-scheduler sees it", run("explain", objects, *KUBERNETES, "ns/big").out.split("\n\n")[1],
            "NODE  RESULT\n"
            "n1    fits if 1 goes: ns/small\n"
            "n2    Insufficient cpu; evictions do not help: No preemption victims found for incoming pod\n"
            "n3    Insufficient cpu; evictions cannot help\n"
            "n4    node(s) had untolerated taint(s); evictions cannot help\n")
    data = json.loads(run("explain", objects, "ns/big", "-o", "json").out)
    t.equal("the same as data", data, {
        "kind": "Explanation", "pod": "ns/big", "sentence": "ns/big gets n1 as soon as ns/small is gone: no other node would do.",
        "outcome": "nominated", "action": "displace", "node": "n1",
        "message": "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu.",
        "protected": [{"pod": "ns/held", "queue": "root.default", "node": "n2", "rule": "priority", "reason": "its priority 99 is not below 10"}],
        "nodes": [{"node": "n1", "result": "fits-after-evictions", "reason": "Insufficient cpu", "victims": ["ns/small"], "budgetViolations": 0},
                  {"node": "n2", "result": "not-enough-may-go", "reason": "Insufficient cpu"},
                  {"node": "n3", "result": "refused", "reason": "Insufficient cpu"},
                  {"node": "n4", "result": "refused", "reason": "node(s) had untolerated taint(s)"}]})
    data = json.loads(run("explain", objects, *KUBERNETES, "ns/big", "-o", "json").out)["nodes"]
    t.equal("and as kube-scheduler sees it, as data", (len(data), data[1]), (4, {"node": "n2", "result": "evictions-do-not-help", "reason": "Insufficient cpu",
                                                                               "after": "No preemption victims found for incoming pod"}))
    soon = [node("n1"), leaving(pod("old", 4, 0, "n1")), pod("p", 4)]
    t.equal("room that is being freed", run("explain", soon, "ns/p").out, "ns/p gets n1 as soon as what is leaving there is gone: room is being freed "
            "there anyway. That room is counted on until 12:05:20.\n\nNODE  RESULT\nn1    fits when leaving pods are gone\n")
    t.equal("the same as data", json.loads(run("explain", soon, "ns/p", "-o", "json").out)["nodes"][0]["result"], "fits-when-leaving-pods-are-gone")
    data = json.loads(run("explain", FULL, "ns/small", "-o", "json").out)
    t.equal("a pod that has to go, as data", (data["evictedFor"], "outcome" in data, data["nodes"]), ("ns/big", False, []))
    text, wide = run("explain", CROWD, "ns/a").out, run("explain", CROWD, "ns/a", "-o", "wide").out
    t.true("of many victims three are named and the rest is counted", re.search(r"\nn1 +fits if 12 go: ns/v-\d\d, ns/v-\d\d, ns/v-\d\d and 9 more\n", text), text)
    t.equal("-o wide names all", len(set(re.findall(r"ns/v-\d\d", wide.split("\n\n")[1]))), 12)


def explain_usage(t):
    for name, args, message in (
            ("an unknown pod", ["ns/nobody"], "cede: error: there is no pod and no group ns/nobody in what was read\n"),
            ("a name alone is of namespace default", ["big"], "cede: error: there is no pod and no group default/big, and no such queue in what was read; there is ns/big\n")):
        found = run("explain", FULL, *args)
        t.equal(f"explain: {name}", (found.code, found.out, found.err), (2, "", message))
    for name, args, message in (("no pod", [], "which pod, group or queue? for example: cede explain -f cluster.yaml ml/train-0"),
                                ("two pods", ["a", "b"], "one pod, group or queue at a time, please: 'b' is the second"),
                                ("a token for no server", ["a", "--token-file", "t"], "--token-file, --ca-file: for which server? --server URL is missing"),
                                ("a certificate of no server", ["a", "--ca-file", "c"], "--token-file, --ca-file: for which server? --server URL is missing")):
        found = run("explain", FULL, *args)
        t.equal(f"explain: {name}", (found.code, found.out, found.err.splitlines()[0]), (2, "", f"cede explain: {message}"))
    home = pod("p")
    home["metadata"]["namespace"] = "default"
    t.true("a pod of namespace default needs its name only", run("explain", [node("n1"), home], "p").out.startswith("default/p goes to n1 now"))


# ---- wrong usage, hostile input ----

def usage(t):
    for name, args, message in (
            ("no cycle", ["plan", "--cycles", "0"], "cede plan: --cycles: expected a number from 1 to 10000, found '0'"),
            ("a number with more behind it", ["plan", "--cycles", "2x"], "cede plan: --cycles: expected a number from 1 to 10000, found '2x'"),
            ("a negative number", ["plan", "--threads", "-1"], "cede plan: --threads: expected a number from 1 to 64, found '-1'"),
            ("a number that is too large", ["plan", "--threads", "99999999999999999999"],
             "cede plan: --threads: expected a number from 1 to 64, found '99999999999999999999'"),
            ("a file without -f", ["plan", "x.yaml"], "cede plan: 'x.yaml' is not an option; files are read with -f x.yaml"),
            ("nothing to measure", ["bench"], "cede bench: what is measured? for example: cede bench preempt --nodes 5000 --pods-per-node 4"),
            ("something else to measure", ["bench", "sleep"], "cede bench: 'sleep' cannot be measured; known: preempt"),
            ("an unknown shape", ["bench", "preempt", "--shape", "round"],
             "cede bench: --shape: expected uniform, mixed, affinity or spread, found 'round'"),
            ("no node", ["bench", "preempt", "--nodes", "0"], "cede bench: --nodes: expected a number from 1 to 1000000, found '0'")):
        found = cede(*args)
        t.equal(f"{name} is refused", (found.code, found.out, found.err.splitlines()[0]), (2, "", message))


def crowded(t):
    """Too many are in the zone with whom it is spread: nobody helps by going, and who may not go with others is told all the same."""
    tree = "partitions: [{name: default, queues: [{name: root, queues: [" + ", ".join(f"{{name: {q}, resources: {{guaranteed: {{vcore: '8'}}}}}}" for q in "ab") + "]}]}]"
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "yunikorn"}, "data": {"queues.yaml": tree}},
               node("n", 10, labels={"zone": "1"}), {**node("m", 10, labels={"zone": "1"}), "spec": {"unschedulable": True}},
               *[pod(f"r{i}", 2, on="n", labels={"queue": "root.a", "applicationId": f"a{i}"}) for i in range(5)],
               pod("there", 1, on="m", labels={"app": "w", "queue": "root.b", "applicationId": "b"}),
               pod("waits", 4, labels={"app": "w", "queue": "root.b", "applicationId": "c"},
                   topologySpreadConstraints=[{"maxSkew": 1, "minDomains": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                               "labelSelector": {"matchLabels": {"app": "w"}}}])]
    d = decision(objects, "waits")
    t.equal("nobody goes for it", (d["outcome"], d["victims"]), ("waiting", []))
    t.equal("who may not go with the first is told", [x["rule"] for x in d.get("protected", [])], ["guarantee"] * 4)


def hostile_names(t):
    name = "a\x1b[2Jb\nc"
    objects = [node("n1"), pod(f"run{name}", 4, 1, "n1"), pod(f"big{name}", 4, 10), pod(f"wait{name}", 9)]
    texts = [run("plan", objects).out, run("plan", objects, "-o", "wide").out] + [run("explain", objects, f"ns/{p}{name}").out
                                                                                   for p in ("run", "big", "wait")]
    t.true("names cannot move the cursor or forge lines", all("\x1b" not in x and "\nc" not in x for x in texts) and
           all(any(f"ns/{p}a\\x1b[2Jb\\nc" in x for x in texts) for p in ("run", "big", "wait")), repr(texts))
    t.equal("data keeps them", decision(objects, f"big{name}")["victims"][0]["pod"], f"ns/run{name}")
    t.equal("also in an explanation", json.loads(run("explain", objects, "-o", "json", f"ns/run{name}").out)["evictedFor"], f"ns/big{name}")


def bench(t):
    found = cede("bench", "preempt", "--nodes", "20", "--pods-per-node", "3", "--cycles", "5", "-o", "json")
    data = json.loads(found.out)
    t.equal("cede bench: what was measured", {k: data.get(k) for k in ("nodes", "podsPerNode", "shape", "threads", "decisions")},
            {"nodes": 20, "podsPerNode": 3, "shape": "uniform", "threads": 1, "decisions": 5})
    with open(os.path.join(SOURCE, "docs", "man", "cede-bench.1"), encoding="utf-8") as f:
        page = f.read()
    t.equal("cede-bench(1) has every field", [k for k in [*data, *data["nsPerDecision"]] if not re.search(rf"^\.BR? {k}\b", page, re.M)], [])
    times = data["nsPerDecision"]
    t.true("and how long it took", 0 < times["p50"] <= times["p99"] and times["first"] <= times["p99"] and data["bytesPerPod"] > 0, found.out)
    for shape in ("uniform", "mixed", "affinity", "spread"):
        found = cede("bench", "preempt", "--nodes", "20", "--cycles", "5", "--shape", shape, "--threads", "2", "--seed", "0")
        t.true(f"shape {shape} has something to measure", found.code == 0 and found.out.startswith(f"20 nodes x 4 pods, {shape}, 2 threads: 5 decisions, "),
               found.out + found.err)


def main():
    t = Suite()
    for part in (goldens, namespaces, groups, remedies, helps, outcomes, never, budgets, queues, soft_rules, losses, cycles, strict, same_bytes, data_shape, shared_victims, many_victims, words,
                 reasons, explain, whole_groups, gangs, explain_nodes, explain_usage, usage, crowded, hostile_names, bench):
        part(t)
    t.end()


if __name__ == "__main__":
    main()
