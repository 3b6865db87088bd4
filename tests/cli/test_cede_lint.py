#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede lint`: what is allowed and does not do what it seems to (GQ-14, GQ-16)."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Suite, cede  # noqa: E402

NODE = """---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}
"""


def queues(text):
    return "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n" + text + NODE


def waiting(name, spec, annotations="{}"):
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ns, annotations: {annotations}}}
spec: {spec}
"""


def running(name, queue, cpu):
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ns, labels: {{queue: {queue}, applicationId: {name}}}}}
spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
status: {{phase: Running}}
"""


CONTAINER = 'containers: [{name: c, resources: {requests: {cpu: "1"}}}]'
TAINTED = NODE.replace("status:", "spec: {taints: [{key: gpu, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}\nstatus:")
GANG = """---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g, namespace: ns}
spec: {minMember: 3}
""" + "".join(waiting(f"g{i}", "{" + CONTAINER.replace('"1"', f'"{cpu}"') + "}", "{pod-group-name: g}") for i, cpu in enumerate((2, 3, 4, 4)))
ALIKE = GANG[:GANG.index("---", 4)] + "".join(waiting(f"g{i}", "{" + CONTAINER.replace('"1"', '"5"') + "}", "{pod-group-name: g}") for i in range(3))
DISABLED = """    - name: a
      resources: {guaranteed: {vcore: 6}}
    - name: b
      properties: {preemption.policy: disabled}
"""

ROWS = (
    ("a selector no node satisfies", NODE + waiting("p", "{nodeSelector: {zone: moon}, " + CONTAINER + "}"),
     [("no-node", "pod ns/p", "its node selector and affinity match no node; there is 1")]),
    ("taints nobody tolerates", TAINTED + waiting("p", "{" + CONTAINER + "}") + waiting("q", "{" + CONTAINER + "}"),
     [("no-node", "pod ns/p", "of the nodes that its selector matches (1) it tolerates the taints of none")]),
    ("taints that are tolerated", TAINTED + waiting("p", "{tolerations: [{key: gpu, operator: Exists}], " + CONTAINER + "}"), []),
    ("a gang larger than the cluster, its smallest pods counted", NODE + GANG,
     [("never-runs", "group ns/g", "its minimum asks for 9 of cpu at once, and all nodes together have 8")]),
    ("a gang whose pods are not all there yet", NODE + GANG.replace("minMember: 3", "minMember: 6"),
     [("never-runs", "group ns/g", "its minimum asks for 17 of cpu at once, and all nodes together have 8")]),
    ("a minimum beyond everything", NODE + GANG.replace("minMember: 3", "minMember: 2147483647"),
     [("never-runs", "group ns/g", "its minimum asks for 4294967299 of cpu at once, and all nodes together have 8")]),
    ("a gang for which there is enough, but in pieces", NODE + NODE.replace("name: n", "name: m") + ALIKE,
     [("never-runs", "group ns/g", "its minimum is 3 pods at once, and all nodes that they may use, even empty, have room for 2")]),
    ("or on nodes that it may not use", NODE + TAINTED.replace("name: n", "name: m").replace('"8"', '"16"') + ALIKE,
     [("never-runs", "group ns/g", "its minimum is 3 pods at once, and all nodes that they may use, even empty, have room for 1")]),
    ("and one for which there is room", NODE + NODE.replace("name: n", "name: m").replace('"8"', '"10"') + ALIKE, []),
    ("a gang that just fits", NODE.replace('"8"', '"9"') + GANG, []),
    ("a guarantee behind work that may never go", queues(DISABLED) + running("x", "root.b", 3),
     [("blocked-guarantee", "queue root.a", "it is guaranteed 6 of cpu; of the 8 there are, work of others that may never go holds 3")]),
    ("a guarantee beside it", queues(DISABLED) + running("x", "root.b", 2), []),
    ("guarantees above what there is", queues("""    - name: a
      resources: {guaranteed: {vcore: 6}}
    - name: b
      resources: {guaranteed: {vcore: 6}}
"""), [("over-subscribed", "queue root", "12 of cpu are guaranteed and the cluster has 8: not every queue can get what it is guaranteed, "
        "and the last ones to ask will wait")]),
    ("a guarantee no set of nodes can hold", queues("""    - name: a
      resources: {guaranteed: {memory: 32Gi}}
"""), [("impossible-guarantee", "queue root.a", "it guarantees 32Gi of memory and all nodes together have 16Gi"),
       ("over-subscribed", "queue root", "32Gi of memory are guaranteed and the cluster has 16Gi: not every queue can get what it is "
        "guaranteed, and the last ones to ask will wait")]),
    ("a fence around queues without a guarantee", queues("""    - name: a
      properties: {preemption.policy: fence}
    - name: b
      resources: {guaranteed: {vcore: 1}}
"""), [("dead-fence", "queue root.a", "its fence never matters: nothing inside has a guarantee, so nothing inside ever reclaims")]),
    ("a fence with nothing outside", queues("""    - name: a
      resources: {guaranteed: {vcore: 1}}
      properties: {preemption.policy: fence}
"""), [("dead-fence", "queue root.a", "its fence never matters: there is no other queue to keep its work away from")]),
    ("a fence that matters", queues("""    - name: a
      properties: {preemption.policy: fence}
      queues:
      - {name: x, resources: {guaranteed: {vcore: 1}}}
      - {name: y}
    - name: b
"""), []),
    ("a guarantee behind a fence that leaves nobody to take from", queues("""    - name: a
      resources: {guaranteed: {vcore: 1}}
      properties: {preemption.policy: fence}
    - name: b
"""), [("fenced-guarantee", "queue root.a", "it has a guarantee, but the fence of root.a leaves it nobody to take from: it gets only what is free")]),
    ("a window longer than others wait before they reclaim", queues("""    - name: a
      resources: {guaranteed: {vcore: 1}}
""") + """---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: b}
spec:
  reclaimMinRuntime: 1h
  resources: {cpu: {quota: 0, limit: -1, overQuotaWeight: 1}, memory: {quota: 0, limit: -1, overQuotaWeight: 1}, gpu: {quota: 0, limit: -1, overQuotaWeight: 1}}
""", [("window-beyond-delay", "queue root.b", "its work is protected from reclaim for 1h, and root.a may reclaim after 30s: of work that is younger it "
       "gets nothing, whatever it is guaranteed")]),
    ("budgets that leave nothing to reclaim", queues("""    - name: a
      resources: {guaranteed: {vcore: 1}}
    - name: b
""") + """---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {queue: root.b, app: x}}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: x}
spec: {selector: {matchLabels: {app: x}}}
status: {disruptionsAllowed: 0}
""", [("budget-blocks", "queue root.b", "the one pod that runs in it is covered by disruption budgets that allow nothing: others can reclaim nothing from it")]),
    ("a semi-preemptible group without surplus", NODE + """---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g}
spec: {minMember: 1, preemptibility: semi-preemptible}
---
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {pod-group-name: g}}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
""", [("semi-is-non", "group default/g", "it is semi-preemptible, but its minimum is all of its pods: nothing of it may go")]),
    ("work bigger than its queue, and than every node", queues("""    - name: a
      resources: {max: {vcore: 4}}
""") + """---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {queue: root.a}}
spec: {containers: [{name: c, resources: {requests: {cpu: "9"}}}]}
""", [("never-runs", "pod default/p", "it asks for 9 of cpu and its queue root.a may use at most 4"),
      ("never-runs", "pod default/p", "no node is big enough, even empty: it asks for 9 of cpu")]),
    ("a pod of a queue that does not exist", NODE + """---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {kai.scheduler/queue: nowhere}}
spec: {containers: [{name: c}]}
""", [("no-queue", "pod default/p", "its queue \"nowhere\" does not exist or is not a leaf: it waits for ever")]),
)


def findings(text):
    found = cede("lint", "-f", "-", "-o", "json", stdin=text.encode())
    if found.code:
        return found.err
    return [(f["rule"], f.get("subject", ""), f["text"]) for f in json.loads(found.out)["findings"]]


def main():
    t = Suite()
    for name, text, expected in ROWS:
        t.equal(name, findings(text), expected)
    bad = queues("    - name: a\n      properties: {preemption.delay: soon}\n")
    t.true("a property value that is not understood is a finding", any(f[0] == "input" and "preemption.delay" in f[2] for f in findings(bad)),
           str(findings(bad)))
    t.equal("--strict tells warnings by the exit code", cede("lint", "--strict", "-f", "-", stdin=ROWS[0][1].encode()).code, 1)
    t.equal("and nothing to tell", cede("lint", "--strict", "-f", "-", stdin=ROWS[2][1].encode()).code, 0)
    t.golden("cede lint --help", "help-lint.txt", cede("lint", "--help").out)
    t.golden("the example cluster", "lint-gpu.txt", cede("lint", "-f", "examples/gpu-cluster").out)
    t.end()


if __name__ == "__main__":
    main()
