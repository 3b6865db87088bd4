#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first thing somebody tries who comes from another scheduler: its textbook example, in the profile of that name and in default."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, Suite, cede  # noqa: E402


def pod(name, requests, on=None, labels="", annotations="", spec="", made="11:00"):
    ns, name = name.split("/")
    node = f"\n  nodeName: {on}" if on else ""
    status = f'\nstatus: {{phase: Running, startTime: "2026-11-15T{made}:00Z"}}' if on else ""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {ns}, creationTimestamp: "2026-11-15T{made}:00Z", labels: {{{labels}}}, annotations: {{{annotations}}}}}
spec:{node}
  containers: [{{name: c, image: busybox, resources: {{requests: {{{requests}}}}}}}]{spec}{status}
"""


def node(name, amounts):
    return f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{{amounts}, pods: '110'}}}}\n"


def plan(text, profile):
    found = cede("plan", "-f", "-", *NOW, "--profile", profile, "-o", "json", stdin=text.encode())
    ways = {}
    for d in json.loads(found.out)["decisions"]:
        ways[d["pod"]] = (d["outcome"], d.get("action", ""), sorted(v["pod"] for v in d.get("victims", [])))
    return ways, found.err


def explained(text, profile, name):
    return cede("explain", "-f", "-", *NOW, "--profile", profile, name, stdin=text.encode()).out


# ---- kube-scheduler: two priority classes, a budget ----

SHOP = "".join(f"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {n}}}\nvalue: {v}\n" for n, v in (("shop", 1000000), ("batch", 1000)))
SHOP += node("worker-a", "cpu: '2', memory: 4Gi") + node("worker-b", "cpu: '2', memory: 4Gi")
SHOP += """---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: batch, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: batch}}}
status: {disruptionsAllowed: ALLOWED}
"""
for x in "ab":
    SHOP += pod(f"shop/batch-{x}", "cpu: 1500m", f"worker-{x}", "app: batch", spec="\n  priorityClassName: batch")
SHOP += pod("shop/front", "cpu: '1'", spec="\n  priorityClassName: shop")


def kube_scheduler(t):
    none, one = SHOP.replace("ALLOWED", "0"), SHOP.replace("ALLOWED", "1")
    goes = ("nominated", "displace", ["shop/batch-a"])
    t.equal("kubernetes: the budget is overridden where nothing else helps", plan(none, "kubernetes"), ({"shop/front": goes}, ""))
    t.true("and it is said", "It goes against a disruption budget" in explained(none, "kubernetes", "shop/batch-a"))
    t.equal("default: the budget holds", plan(none, "default"), ({"shop/front": ("waiting", "", [])}, ""))
    says = explained(none, "default", "shop/front")
    t.true("and it is said", "budget  the budget shop/batch allows 0 disruptions" in says, says)
    t.true("and what it would take", "leaving out the rule budget: it gets worker-a for 1 victim (displace)" in says, says)
    t.equal("default: a budget with room does not", plan(one, "default"), ({"shop/front": goes}, ""))


# ---- YuniKorn: two leaf queues, namespaces as queues, a gang ----

QUEUES = """
partitions:
- name: default
  placementrules:
  - {name: provided, create: false}
  - {name: tag, value: namespace, create: true, parent: {name: fixed, value: tenants}}
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: tenants
      parent: true
      childtemplate: {resources: {guaranteed: {vcore: 1}}}
    - name: fair
      properties: {application.sort.policy: fair}
      resources: {guaranteed: {vcore: 4}}
    - name: fifo
      properties: {application.sort.policy: fifo, preemption.delay: 60s}
      resources: {guaranteed: {vcore: 2}, max: {vcore: 6}}
"""
TASK_GROUPS = "yunikorn.apache.org/task-group-name: d, yunikorn.apache.org/task-groups: '[{\"name\": \"d\", \"minMember\": 1}]'"
TEAMS = QUEUES + node("n1", "cpu: '8', memory: 16Gi")
TEAMS += pod("blue/long", "cpu: '4'", "n1", "applicationId: a, queue: root.fair", made="10:00")
TEAMS += pod("blue/short", "cpu: '2'", "n1", "applicationId: b, queue: root.fair", made="11:30")
TEAMS += pod("green/filler", "cpu: '2'", "n1", "applicationId: c", made="10:00")
TEAMS += pod("blue/driver", "cpu: '2'", labels="applicationId: d, queue: root.fifo", annotations=TASK_GROUPS, made="11:50")


def yunikorn(t):
    goes = {"blue/driver": ("nominated", "reclaim", ["blue/short"])}
    for profile in ("yunikorn", "default"):
        ways, err = plan(TEAMS, profile)
        t.equal(f"{profile}: a queue below its guarantee takes what is above another's", ways, goes)
        t.equal(f"{profile}: a task group of one is nothing to note", err, "")
    says = explained(TEAMS, "yunikorn", "blue/short")
    t.true("the sentence names both queues", "root.fifo" in says and "root.fair" in says, says)
    shown = cede("show", "-f", "-", *NOW, stdin=TEAMS.encode()).out
    t.true("a namespace has become a queue, with the template's guarantee", "    green                      1     0  2/1/-" in shown, shown)


# ---- KAI: two departments, a gang of four, a notebook ----

def share(gpu):
    free = "{quota: -1, limit: -1, overQuotaWeight: 1}"
    return f"  resources: {{cpu: {free}, memory: {free}, gpu: {{quota: {gpu}, limit: -1, overQuotaWeight: 1}}}}\n"


LAB = "".join(f"---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {n}}}\nspec:\n{p}{share(g)}"
              for n, p, g in (("one", "", 4), ("two", "", 4), ("team-a", "  parentQueue: one\n", 4), ("team-b", "  parentQueue: two\n", 4)))
LAB += node("gpu-1", "cpu: '32', memory: 64Gi, nvidia.com/gpu: '8'")
LAB += "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: train, namespace: b}\nspec: {queue: team-b, minMember: 4}\n"
for n in range(7):
    LAB += pod(f"a/job-{n}", "nvidia.com/gpu: '1'", "gpu-1", "kai.scheduler/queue: team-a", made=f"11:0{n}")
for n in range(4):
    LAB += pod(f"b/train-{n}", "nvidia.com/gpu: '1'", annotations="pod-group-name: train", made="11:50")
LAB += pod("a/notebook", "nvidia.com/gpu: '1'", labels="kai.scheduler/queue: team-a", made="11:55")


def kai(t):
    expected = {f"b/train-{n}": ("nominated", "reclaim", []) for n in range(1, 4)}
    expected["b/train-0"] = ("nominated", "reclaim", ["a/job-4", "a/job-5", "a/job-6"])
    expected["a/notebook"] = ("waiting", "", [])
    for profile in ("kai", "default"):
        t.equal(f"{profile}: the gang gets its quota, all four or none, and the notebook waits", plan(LAB, profile), (expected, ""))
        says = explained(LAB, profile, "b/train")
        t.true(f"{profile}: of the group", says.startswith("Group b/train in root.two.team-b needs 4 of its 4 pods at once; none runs. "
                                                           "4 are nominated by reclaim, for which 3 pods have to go or move."), says)
        t.true(f"{profile}: what was lost is told", "job-6  root.one.team-a  gpu-1   54m" in says, says)
    says = explained(LAB, "kai", "a/notebook")
    t.true("kai: it had room for a moment", says.startswith("a/notebook waits: there was room for it, which others needed who come before it."), says)
    found = cede("lint", "-f", "-", *NOW, stdin=LAB.encode()).out
    t.equal("lint: one line for each queue without end", found.count("note unlimited"), 4)


def main():
    t = Suite()
    for part in (kube_scheduler, yunikorn, kai):
        part(t)
    t.end()


if __name__ == "__main__":
    main()
