#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede explain`: when a waiting pod will start, what it would take, and why a queue is short."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Suite, cede  # noqa: E402


def node(name, cpu=4):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}}


def pod(name, cpu=1, priority=50, on=None, start="2026-11-15T11:55:00Z", queue=None, created="2026-11-15T10:00:00Z", **annotations):
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "creationTimestamp": created, "annotations": annotations,
                         "labels": {"kai.scheduler/queue": queue, "app": name} if queue else {"app": name}},
            "spec": spec, "status": {"phase": "Running", "startTime": start} if on else {}}


def kai(name, parent, cpu, **more):
    share = {"quota": 0, "limit": -1, "overQuotaWeight": 1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"parentQueue": parent, "resources": {"gpu": share, "cpu": {**share, "quota": cpu}, "memory": share}, **more}}


def yunikorn(*queues):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "yunikorn"},
            "data": {"queues.yaml": json.dumps({"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": list(queues)}]}]})}}


def explain(objects, *args):
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return cede("explain", "-f", "-", "-q", *NOW, *args, stdin=whole.encode())


def data(objects, *args):
    found = explain(objects, *args, "-o", "json")
    return json.loads(found.out) if found.code == 0 else {"err": found.err}


def windows(window="10m"):
    return [node("n"), kai("d", "", 4000), kai("a", "d", 1000, reclaimMinRuntime=window), kai("b", "d", 3000)]


def more_than_are_told(t):
    """No more than 1,000 protected pods are written down; what is said of them must not sound as if they were all."""
    machines = [node(f"n{i:02}", 100) for i in range(11)]
    queues = [kai("d", "", 1100000), kai("a", "d", 1000, reclaimMinRuntime="10m"), kai("b", "d", 300000)]
    running = [pod(f"a{i:04}", on=f"n{i // 100:02}", queue="a", start="2026-11-15T11:57:00Z" if i < 1000 else "2026-11-15T11:55:00Z") for i in range(1100)]
    cluster = machines + queues + running + [pod("want", 1, queue="b")]
    found = explain(cluster, "ns/want").out
    t.true("who is protected: there may be others", "PROTECTED (1000)" in found and "There may be others: no more than 1000 were written down." in found, found)
    t.true("when it starts: it may be earlier", "It starts at 12:07:00" in found and "It may be earlier: of 1000 protected pods alone" in found, found)
    t.equal("the same for programs", (data(cluster, "ns/want")["forecast"].get("mayBeEarlier"), data(cluster, "ns/want").get("protectedMayBeMore")), (True, True))
    found = explain(cluster, "root.d.b").out
    t.true("of a queue: at least so many are held back", "min-runtime  at least 1000  1000 cpu" in found, found)
    t.equal("also for programs", [(x["pods"], x.get("mayBeMore")) for x in data(cluster, "root.d.b")["heldBackBy"]], [(1000, True)])
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster})
    plan = json.loads(cede("plan", "-f", "-", "-q", "-o", "json", *NOW, stdin=whole.encode()).out)["decisions"][0]
    t.equal("a plan for programs", (plan["protectedCount"], plan.get("protectedMayBeMore")), (1000, True))
    plan = cede("plan", "-f", "-", "-q", *NOW, stdin=whole.encode()).out
    t.true("plan: at least so many", "at least 1000 pods protected by min-runtime, the first of these until 12:07:00" in plan, plan)
    few = machines + queues + running[:998] + [pod("want", 3, queue="b"), pod("rest", 101, on="n10", queue="b")]
    found = explain(few, "ns/want").out
    t.equal("nor for programs", {x.get("mayBeMore") for x in data(few, "root.d.b")["heldBackBy"]}, {None})
    t.true("of fewer that is not said", "PROTECTED (999)" in found and "There may be others" not in found and "It may be earlier" not in found, found)


def forecasts(t):
    running = [pod(f"a{i}", on="n", queue="a", start=f"2026-11-15T11:5{5 + i}:00Z") for i in range(4)]
    found = data(windows() + running + [pod("want", 1, queue="b")], "ns/want")
    t.equal("a window ends: the first that is long enough lets it start", (found.get("startsAt"), found["forecast"]["victims"], found["forecast"]["ends"]),
            ("2026-11-15T12:05:00Z", 1, [{"at": "2026-11-15T12:05:00Z", "rule": "min-runtime", "pods": 1}]))
    found = data(windows() + running + [pod("want", 3, queue="b")], "ns/want")
    t.equal("a chain of windows: three have to end", (found.get("startsAt"), [x["at"][11:16] for x in found["forecast"]["ends"]]),
            ("2026-11-15T12:07:00Z", ["12:05", "12:06", "12:07"]))
    text = explain(windows() + running + [pod("want", 3, queue="b")], "ns/want").out
    t.golden("the chain in words", "explain-forecast.txt", text)
    found = data(windows() + running + [pod("want", 4, queue="b")], "ns/want")
    t.equal("what is guaranteed to the others never comes free by time", (found.get("startsAt"), found["forecast"]["starts"]), (None, False))
    found = data(windows("0s") + running + [pod("want", 4, queue="b")], "ns/want")
    t.equal("without guarantees it would, several together too", [x["victims"] for x in found["whatWouldItTake"] if x.get("rule") == "guarantee"], [4])
    late = pod("want", 2, created="2026-11-15T11:59:50Z")
    late["metadata"]["labels"].update(queue="root.p", applicationId="want")
    held = pod("held", 4, on="n")
    held["metadata"]["labels"].update(queue="root.q", applicationId="held")
    two = [{**held, "metadata": {**held["metadata"], "name": f"h{i}", "labels": {**held["metadata"]["labels"], "applicationId": f"h{i}"}},
            "spec": {**held["spec"], "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}} for i in range(4)]
    queues = yunikorn({"name": "p", "resources": {"guaranteed": {"vcore": "2"}}}, {"name": "q"})
    found = data([node("n"), queues] + two + [late], "ns/want")
    now = explain([node("n"), pod("low", 4, 1, on="n"), pod("high", 1, 9), pod("want", 2, 1)], "ns/want", "--profile", "kubernetes")
    t.true("nothing has to end: it starts when those are gone who leave now", "It starts as soon as those are gone who leave now, if nothing else "
           "happens: others have made way then, and it gets n." in " ".join(now.out.split()) and "in 0s" not in now.out, now.out + now.err)
    t.equal("a delay ends", (found.get("startsAt"), found["forecast"]["ends"]),
            ("2026-11-15T12:00:20Z", [{"at": "2026-11-15T12:00:20Z", "rule": "delay"}]))
    blocked = data([node("n"), pod("held", 4, 90, on="n"), pod("want", 4, 10)], "ns/want")
    gang = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": "g", "namespace": "ns", "annotations": {"kai.scheduler/stale-podgroup-timestamp": "2026-11-15T11:59:30Z"}},
            "spec": {"minMember": 2}}
    found = data([node("n"), gang, pod("g-0", 4, on="n", **{"pod-group-name": "g"}), pod("want", 4, 10)], "ns/want")
    t.equal("a gang below its minimum goes after its grace", (found.get("startsAt"), found["forecast"].get("action")), ("2026-11-15T12:00:30Z", "allocate"))
    leaving = pod("old", 4, on="n")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-15T11:58:00Z"
    found = explain([node("n"), leaving, pod("want", 4)], "ns/want").out
    t.true("room of a leaving pod is counted on as long as one has patience", "That room is counted on until 12:03:00." in found, found)
    leaving["metadata"]["deletionTimestamp"] = "2026-11-15T11:50:00Z"
    found = explain([node("n"), leaving, pod("want", 4)], "ns/want").out
    t.true("and after that it is said for how long it is overdue", "should have gone 10m ago" in found and "counted on" not in found, found)
    t.equal("nothing ends by itself", blocked["forecast"], {"starts": False, "ends": []})
    t.equal("a pod that gets room has no forecast", "forecast" in data([node("n"), pod("p")], "ns/p"), False)
    first = explain(windows() + running + [pod("want", 3, queue="b")], "ns/want").out
    t.equal("the same twice", first, explain(windows() + running + [pod("want", 3, queue="b")], "ns/want").out)


def remedies(t):
    objects = [node("n"), pod("low", 2, 20, on="n"), pod("high", 2, 40, on="n"), pod("want", 4, 10)]
    found = {x["kind"]: x["change"] for x in data(objects, "ns/want")["whatWouldItTake"]}
    t.equal("the smallest priority that works, not just the smallest that helps", found.get("priority"), "priority 41 (now 10)")
    leaving = pod("old", 1, on="n")
    leaving["metadata"].update(deletionTimestamp="2026-11-15T12:00:20Z", deletionGracePeriodSeconds=30)
    found = {x["kind"]: x["change"] for x in data([node("n"), leaving, pod("held", 2, 90, on="n"), pod("want", 3)], "ns/want")["whatWouldItTake"]}
    t.equal("room that is missing when leaving pods are gone", found.get("room"), "1 more cpu on n")
    queues = yunikorn({"name": "p", "resources": {"guaranteed": {"vcore": "2"}}, "queues": [{"name": "a", "resources": {"guaranteed": {"vcore": "1"}}},
                                                                                          {"name": "b", "resources": {"guaranteed": {"vcore": "1"}}}]})
    def of(name, queue, **more):
        one = pod(name, **more)
        one["metadata"]["labels"].update(queue=queue, applicationId=name)
        return one
    objects = [node("n"), queues] + [of(f"b{i}", "root.p.b", on="n") for i in range(3)] + [of("a0", "root.p.a", on="n"), of("want", "root.p.a")]
    found = [x["change"] for x in data(objects, "ns/want")["whatWouldItTake"] if x["kind"] == "guarantee"]
    t.equal("no guarantee that the reader of queues.yaml would refuse", found, [])
    optional = pod("own", 1, 0, on="n", **{"yunikorn.apache.org/allow-preemption": "false"})
    objects = [node("n"), optional, pod("held", 3, 90, on="n"), pod("want", 4, 10)]
    t.equal("who opted out is not said to be spared where nothing is enough", [(x["pod"], x["rule"]) for x in data(objects, "ns/want")["protected"]], [("ns/held", "priority")])
    objects = [node("n"), optional, pod("low", 3, 0, on="n"), pod("want", 3, 10)]
    t.equal("but where others are", [(x["pod"], x["rule"]) for x in data(objects, "ns/want")["protected"]], [("ns/own", "opt-out")])
    alike = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 10}}
    wants = [pod(f"want{i}", 2, 10) for i in range(2)]
    for one in wants:
        one["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    found = data([node("n"), optional, pod("held", 3, 90, on="n"), alike, *wants], "ns/g")
    t.equal("nor of groups", [(x["pod"], x["rule"]) for x in found["protected"]], [("ns/held", "priority")])
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
             "spec": {"minMember": 2, "priorityClassName": "train", "queue": "b"}}
    members = [pod(f"g{i}", 2, queue="b", **{"pod-group-name": "g"}) for i in range(2)]
    found = data(windows("0s") + [pod("held", 2, 90, on="n", queue="b"), group] + members, "ns/g")
    t.equal("also for groups: room for all of it", [x["change"] for x in found.get("whatWouldItTake", []) if x["kind"] == "room"], ["2 more cpu on n"])
    t.equal("and a forecast", found["forecast"]["starts"], False)
    found = cede("explain", "-f", "examples/kai-cluster", *NOW, "--profile", "default", "ml/chat")
    t.golden("a gang's reasons have the numbers that show has, and it tells whom it had to leave", "explain-kai-default-chat.txt", found.out)


def elastic(t):
    """Of a group that starts with fewer than all of its pods, and of one whose pods differ."""
    def group(name, n, **more):
        return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": "ns"}, "spec": {"minMember": n, **more}}
    def members(name, sizes, **more):
        return [pod(f"{name}{i}", cpu, queue="b", **{"pod-group-name": name}, **more) for i, cpu in enumerate(sizes)]
    held = pod("held", 3, 90, on="n", queue="b")
    def room(name, *objects):
        return [x["change"] for x in data([*windows(), held, *objects], name)["whatWouldItTake"] if x["kind"] == "room"]
    t.equal("room for those that start together, not for all", room("ns/g", group("g", 2), *members("g", [2, 2, 2])), ["3 more cpu on n"])
    t.equal("a pod beyond the minimum: room for everybody", room("ns/g2", group("g", 2), *members("g", [2, 2, 2])), ["5 more cpu on n"])
    t.equal("each member with what it asks for itself", room("ns/g", group("g", 2), *members("g", [1, 4])), ["4 more cpu on n"])
    t.equal("a group that runs: one pod more", room("ns/g1", group("g", 1), pod("g0", 1, on="n", queue="b", **{"pod-group-name": "g"}), pod("g1", 2, queue="b", **{"pod-group-name": "g"})),
            ["2 more cpu on n"])
    runs = [{**pod(f"e{i}", 2, on="n", queue="a", **{"pod-group-name": "e"})} for i in range(2)]
    found = data([node("n"), kai("d", "", 4000), kai("a", "d", 0, reclaimMinRuntime="10m"), kai("b", "d", 4000), group("e", 1, queue="a"), *runs, pod("want", 4, queue="b")], "ns/want")
    t.equal("without the window an elastic group goes below its minimum", [x["victims"] for x in found["whatWouldItTake"] if x.get("rule") == "min-runtime"], [2])


def queues(t):
    running = [pod(f"a{i}", on="n", queue="a", start=f"2026-11-15T11:5{5 + i}:00Z") for i in range(4)]
    objects = windows() + running + [pod("want", 3, queue="b")]
    found = data(objects, "root.d.b")
    t.equal("a queue: short, of what, and who holds back how much until when",
            (found["kind"], found["short"], found["used"], found["guaranteed"], found["stillAsked"], [
                (x["rule"], x["pods"], x["amounts"]["cpu"], x["from"][11:16], x["until"][11:16]) for x in found["heldBackBy"]], found["startsAt"][11:16]),
            ("QueueExplanation", True, {}, {"cpu": "3"}, {"cpu": "3"}, [("min-runtime", 4, "4", "12:05", "12:08")], "12:07"))
    t.golden("a queue in words", "explain-queue.txt", explain(objects, "root.d.b").out)
    endless = {"resources": {"cpu": {"quota": 1000, "limit": -1, "overQuotaWeight": 1}, "memory": {"quota": -1, "limit": -1, "overQuotaWeight": 1},
                             "gpu": {"quota": 0, "limit": -1, "overQuotaWeight": 1}}}
    want = pod("want", 1, queue="a")
    want["spec"]["containers"][0]["resources"]["requests"]["memory"] = "1Gi"
    over = [node("n"), kai("d", "", 4000), kai("a", "d", 1000, **endless), kai("free", "d", 0)] + [pod(f"a{i}", on="n", queue="a") for i in range(4)] + [want]
    found = data(over, "root.d.a")
    t.equal("a guarantee without end makes nobody short who is over another", (found["short"], found["sentence"]),
            (False, "Queue root.d.a is not short: it uses 4 of 1 guaranteed cpu. 1 keeps waiting."))
    found = data(over + [pod("want2", queue="free")], "root.d.free")
    t.equal("a queue without a guarantee", found["sentence"], "Queue root.d.free is not short: nothing is guaranteed to it. 1 keeps waiting.")
    t.equal("a KAI Queue by its name", data(objects, "b")["queue"], "root.d.b")
    t.true("a queue above its guarantee", "Queue root.d.a is not short: nothing waits in it." in explain(objects, "a").out, explain(objects, "a").out)
    for words, args in (("there is no queue root.d.c in what was read; did you mean root.d.a?", ["root.d.c"]),
                        ("there is no pod and no group ns/wnt in what was read; did you mean ns/want?", ["ns/wnt"]),
                        ("there is no pod and no group ns/wnt, and no such queue in what was read; did you mean ns/want?", ["-n", "ns", "wnt"]),
                        ("there is no pod and no group default/wnt, and no such queue in what was read; did you mean ns/want?", ["wnt"]),
                        ("there is no pod and no group default/d, and no such queue in what was read; there is root.x.d", ["d"]),
                        ("there is no pod and no group default/want, and no such queue in what was read; there is ns/want", ["want"])):
        found = explain([x for x in objects if x["kind"] != "Queue"] + [yunikorn({"name": "x", "queues": [{"name": "d"}]})] if args == ["d"] else objects, *args)
        t.true(f"not there: {args[-1]}", found.code == 2 and words in found.err, found.err)
    t.equal("-n names the namespace", data(objects, "-n", "ns", "want")["pod"], "ns/want")


def main():
    t = Suite()
    forecasts(t)
    more_than_are_told(t)
    remedies(t)
    elastic(t)
    queues(t)
    t.end()


main()
