#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind: what exactly is said, exit code 2, nothing on standard output; and quickly, in little memory."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Folder, Suite, cede, in_memory  # noqa: E402

NODE = """apiVersion: v1
kind: Node
metadata: {name: %s}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
KAI = """apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: %s}
spec: {parentQueue: "%s", resources: {gpu: {quota: %s}}}
"""
YUNIKORN = """partitions:
- name: default
  queues:
  - name: root
    queues:
"""


def pod(requests, name="p", more=""):
    return f"""apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ns}}
spec:
{more}  containers:
  - name: c
    resources: {{requests: {{{requests}}}}}
"""


def json_pod(spec):
    return '{"apiVersion": "v1", "kind": "Pod",\n "metadata": {"name": "p", "namespace": "ns"},\n "spec": ' + spec + "}\n"


def alias_bomb():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(9):
        lines.append(f"{'bcdefghij'[i]}: &{'bcdefghij'[i]} [{', '.join(['*' + 'abcdefghi'[i]] * 10)}]")
    return "\n".join(lines) + "\n"


REQUEST = "Pod ns/p: spec.containers[0].resources.requests"
A_DOCUMENT = "expected an object with apiVersion and kind, a queue configuration with partitions, or a scheduler configuration with actions and tiers"

# A sentence, the file's name and content, and what is said about it.
CASES = [
    # not YAML, not JSON
    ("broken YAML", "pods.yaml", "kind: Pod\nmetadata: {name: p\nspec: x\n",
     "pods.yaml:3:5: expected ',' or '}' in the map that began at 2:11"),
    ("YAML with wrong indentation", "pods.yaml", "kind: Pod\nmetadata:\n  name: p\n namespace: x\n",
     "pods.yaml:4:2: expected a key in the column of the map that began at 1:1"),
    ("broken JSON", "pods.json", '{"kind": "Pod",\n "metadata": {"name": "p",}}',
     "pods.json:2:27: expected a key in double quotes after ',', found '}'"),
    ("JSON that ends too early", "pods.json", '{"kind": "List", "items": [{"kind": "Pod"',
     "pods.json:1:42: expected ',' or '}' after a value, found the end of the input"),
    ("tabs as indentation", "pods.yaml", "kind: Pod\nmetadata:\n\tname: p\n",
     "pods.yaml:3:1: a tab where YAML wants blanks: indent with blanks, not tabs"),
    ("invalid UTF-8 in YAML", "pods.yaml", b'kind: Pod\nmetadata: {name: "\xff\xfe"}\n', "pods.yaml:2:19: invalid UTF-8: byte 0xff"),
    ("invalid UTF-8 in JSON", "pods.json", b'{"kind": "Pod", "metadata": {"name": "a\xc3("}}', "pods.json:1:40: invalid UTF-8: byte 0xc3"),
    ("an empty file", "pods.yaml", "", "pods.yaml:1:1: expected at least one object, found an empty file"),
    ("an empty JSON file", "pods.json", "", "pods.json:1:1: expected at least one object, found an empty file"),
    ("a file of comments", "pods.yaml", "# nothing\n---\n", "pods.yaml:1:1: expected at least one object, found an empty file"),
    ("a binary file", "pods.yaml", bytes(range(256)) * 40, "pods.yaml:1:1: a NUL byte: this is a binary file, not YAML or JSON"),
    ("a NUL byte in the middle", "pods.yaml", b"kind: Pod\0\n", "pods.yaml:1:10: a NUL byte: this is a binary file, not YAML or JSON"),
    ("an alias bomb", "pods.yaml", alias_bomb(), "pods.yaml:6:36: aliases that expand to more than 1000000 values"),
    ("a key given twice", "pods.yaml", "apiVersion: v1\nkind: Pod\nkind: Node\n", "pods.yaml:3:1: duplicate key 'kind', first at 2:1"),
    # not a document of ours
    ("a text", "pods.yaml", "hello\n", f"pods.yaml:1:1: kind: {A_DOCUMENT}; found a string"),
    ("a list", "pods.yaml", "- 1\n", f"pods.yaml:1:1: kind: {A_DOCUMENT}; found a list"),
    ("an object without a kind", "pods.yaml", "metadata: {name: p}\n", f"pods.yaml:1:1: kind: {A_DOCUMENT}; found a map with none of these"),
    ("a kind that is a list", "pods.yaml", "apiVersion: v1\nkind: [Pod]\n", "pods.yaml:2:7: kind: expected a string, found a list"),
    ("an object without a name", "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {}\n",
     "pods.yaml:3:11: Pod: metadata.name: expected a name, found nothing"),
    # wrong types
    ("a number where a list belongs", "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: 7\n",
     'pods.yaml:5:15: Pod default/p: spec.containers: expected a list, found 7'),
    ("a list where a map belongs", "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: [1]\n",
     "pods.yaml:3:11: Pod: metadata: expected a map, found a list"),
    ("a word where a number belongs, in JSON", "pods.json", json_pod('{"priority": "high"}'),
     'pods.json:3:23: Pod ns/p: spec.priority: expected a whole number, found "high"'),
    ("a number where a text belongs, in a JSON List", "pods.json",
     '{"kind": "List", "apiVersion": "v1", "items": [\n' + json_pod('{"nodeName": 3}') + "]}",
     'pods.json:4:23: Pod ns/p: spec.nodeName: expected a string, found 3'),
    ("a priority that no int32 holds", "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priority: 99999999999}\n",
     "pods.yaml:4:18: Pod default/p: spec.priority: expected a number from -2147483648 to 2147483647, found 99999999999"),
    ("a time that is none", "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: yesterday}\n",
     'pods.yaml:3:40: Pod default/p: metadata.creationTimestamp: expected a time such as 2026-11-15T12:00:00Z, found "yesterday"'),
    ("an effect of taints that is none", "nodes.yaml",
     "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nspec: {taints: [{key: a, effect: Sometimes}]}\n",
     'nodes.yaml:4:34: Node n: spec.taints[0].effect: expected NoSchedule, PreferNoSchedule or NoExecute, found "Sometimes"'),
    # quantities
    ("a quantity that is none", "pods.yaml", pod("memory: 4x"),
     f'pods.yaml:7:36: {REQUEST}.memory: expected a quantity such as 500m or 16Gi, found "4x"'),
    ("true as a quantity, in JSON", "pods.json", json_pod('{"containers": [{"name": "c", "resources": {"requests": {"cpu": true}}}]}'),
     f"pods.json:3:74: {REQUEST}.cpu: expected a quantity such as 500m or 16Gi, found true"),
    ("a negative quantity", "pods.yaml", pod("cpu: -1"), f'pods.yaml:7:33: {REQUEST}.cpu: expected a quantity that is not negative, found -1'),
    ("a negative quantity, in JSON", "pods.json",
     json_pod('{"containers": [{"name": "c", "resources": {"requests": {"memory": "-5Gi"}}}]}'),
     f'pods.json:3:77: {REQUEST}.memory: expected a quantity that is not negative, found "-5Gi"'),
    ("a node with less than nothing", "nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus:\n  allocatable:\n    cpu: -4\n",
     "nodes.yaml:6:10: Node n: status.allocatable.cpu: expected a quantity that is not negative, found -4"),
    ("a resource name with blanks", "pods.yaml", pod('"not a name": 1'),
     f"pods.yaml:7:42: {REQUEST}.not a name: not a resource name: invalid label key 'not a name': name part must consist of "
     "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"),
    ("a resource name without a prefix before the slash", "pods.yaml", pod('"/gpu": 1'),
     f"pods.yaml:7:36: {REQUEST}./gpu: not a resource name: invalid label key '/gpu': prefix part must be non-empty"),
    # names
    ("two nodes of one name", "nodes.yaml", NODE % "n" + "---\n" + NODE % "n",
     "nodes.yaml:6:1: Node n: metadata.name: already defined at nodes.yaml:1:1"),
    ("two pods of one name", "pods.yaml", pod("") + "---\n" + pod(""),
     "pods.yaml:9:1: Pod ns/p: metadata.name: already defined at pods.yaml:1:1"),
    ("two KAI queues of one name", "queues.yaml", KAI % ("a", "", 1) + "---\n" + KAI % ("a", "", 1),
     "queues.yaml:6:1: Queue a: metadata.name: already defined at queues.yaml:1:1"),
    ("two queues of one name, in any case", "queues.yaml", YUNIKORN + "    - name: a\n    - name: A\n",
     "queues.yaml:7:13: queue root: queues[1].name: root.a is already defined at queues.yaml:6:7"),
    # queues
    ("MR_7 queues that are parents of each other", "queues.yaml", KAI % ("a", "b", 1) + "---\n" + KAI % ("b", "a", 1),
     "queues.yaml:1:1: queue a: its parents form a cycle: a -> b -> a"),
    ("MR_7 a queue that is its own parent", "queues.yaml", KAI % ("a", "a", 1), "queues.yaml:1:1: queue a: its parents form a cycle: a -> a"),
    ("a queue's quota that is no number", "queues.yaml", KAI % ("a", "", "lots"),
     'queues.yaml:4:50: Queue a: spec.resources.gpu.quota: expected a number, found "lots"'),
    ("GQ_14 a misspelt key in queues.yaml", "queues.yaml", "partitions:\n- name: default\n  queues:\n  - name: root\n    quues: []\n",
     'queues.yaml:5:5: queue root: quues: unknown field; did you mean "queues"?'),
    ("a negative guarantee", "queues.yaml", YUNIKORN + "    - name: a\n      resources: {guaranteed: {memory: -5}}\n",
     "queues.yaml:7:40: queue root.a: resources.guaranteed.memory: bad quantity '-5': expected digits and a suffix, without sign or fraction"),
    ("a guarantee above the maximum", "queues.yaml",
     YUNIKORN + "    - name: a\n      resources: {guaranteed: {memory: 50}, max: {memory: 10}}\n",
     "queues.yaml:7:40: queue root.a: resources.guaranteed.memory: 50 is above the queue's own max 10"),
    ("ONE_2 two definitions of one queue that disagree", "queues.yaml",
     YUNIKORN + "    - name: a\n      resources: {guaranteed: {nvidia.com/gpu: 2}}\n---\n" + KAI % ("a", "", 3),
     "queues.yaml:9:1: queue root.a: guaranteed (quota) nvidia.com/gpu: one definition says 2, the other 3; the other is at queues.yaml:6:7"),
    # configuration
    ("a misspelt key of the configuration", "config.yaml", "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofil: kai\n",
     'config.yaml:3:1: CedeConfiguration: profil: unknown field; did you mean "profile"?'),
]

# Too deep for any stack: a sentence, the file's name, what is repeated, and where it ends.
DEEP = [
    ("100 MB of nested lists, in JSON", "deep.json", b"[", "deep.json:1:201: nested deeper than 200 levels"),
    ("100 MB of nested maps, in JSON", "deep.json", b'{"a":', "deep.json:1:1001: nested deeper than 200 levels"),
    ("100 MB of nested lists, in YAML", "deep.yaml", b"[", "deep.yaml:1:201: nested deeper than 200 levels"),
    ("100 MB of nested maps, in YAML", "deep.yaml", b"{a: ", "deep.yaml:1:801: nested deeper than 200 levels"),
    ("100 MB of nested dashes, in YAML", "deep.yaml", b"- ", "deep.yaml:1:401: nested deeper than 200 levels"),
]


def is_refused(t, name, found, message):
    t.equal(name, (found.code, found.out, found.err), (2, "", f"cede: error: {message}\n"))


def bad_files(t):
    for name, file, content, message in CASES:
        with Folder({file: content}) as folder:
            is_refused(t, name, cede("show", "-f", file, cwd=folder), message)


def bad_streams(t):
    is_refused(t, "bad input is also refused on standard input", cede("show", "-f", "-", stdin=b"kind: [Pod]\n"),
               "<stdin>:1:7: kind: expected a string, found a list")
    is_refused(t, "an empty standard input", cede("show", "-f", "-"), "<stdin>:1:1: expected at least one object, found an empty file")


def bad_folders(t):
    with Folder({"empty/": None, "texts/readme.txt": "x", "good/a.yaml": NODE % "n", "good/b.yaml": "kind: 3\n"}) as folder:
        is_refused(t, "a folder without files", cede("show", "-f", "empty", cwd=folder), "empty: no *.yaml, *.yml or *.json in this folder")
        is_refused(t, "a folder without manifests", cede("show", "-f", "texts", cwd=folder), "texts: no *.yaml, *.yml or *.json in this folder")
        is_refused(t, "a file that does not exist", cede("show", "-f", "missing.yaml", cwd=folder), "missing.yaml: No such file or directory")
        is_refused(t, "one bad file among good ones", cede("show", "-f", "good", cwd=folder),
                   "good/b.yaml:1:7: kind: expected a string, found a number")
        is_refused(t, "a bad --config", cede("show", "-f", "good/a.yaml", "--config", "missing.yaml", cwd=folder),
                   "missing.yaml: No such file or directory")
        is_refused(t, "one node in two files", cede("show", "-f", "good/a.yaml", "-f", "./good/a.yaml", cwd=folder),
                   "./good/a.yaml:1:1: Node n: metadata.name: already defined at good/a.yaml:1:1")


def deep_nesting(t):
    for name, file, unit, message in DEEP:
        with Folder({file: unit * (100_000_000 // len(unit))}) as folder:
            is_refused(t, name, cede("show", "-f", file, cwd=folder, **in_memory(1 << 30)), message)


def odd_but_real(t):
    with Folder({"n.yaml": NODE % "n" + "---\n" + pod("cpu: 6, memory: 9Gi", more="  nodeName: n\n")}) as folder:
        found = cede("show", "-f", "n.yaml", cwd=folder)
        t.equal("pods bound to more room than a node has are a warning", (found.code, found.err),
                (0, "cede: note: n.yaml:1:1: Node n: status.allocatable: its pods take more than it has: cpu 6 of 4, memory 9Gi of 8Gi\n"))
        t.true("and the node is marked, with what is free below zero", "-2/4" in found.out and "overbooked in cpu" in found.out, found.out)


def lost_nodes(t):
    with Folder({"p.yaml": pod("cpu: 6", more="  nodeName: ghost\n")}) as folder:
        found = cede("show", "-f", "p.yaml", "--profile", "kubernetes", cwd=folder)
        t.true("profile kubernetes keeps pods of nodes that are gone, and says so", found.code == 0 and re.search(r"\nghost .*no such node\n", found.out),
               found.out + found.err)


def main():
    t = Suite()
    bad_files(t)
    bad_streams(t)
    bad_folders(t)
    deep_nesting(t)
    odd_but_real(t)
    lost_nodes(t)
    t.end()


if __name__ == "__main__":
    main()
