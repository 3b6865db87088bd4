#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a tenant may write is noted and looked past: it never becomes the settings, and never stops everybody's plan."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, SOURCE, Suite, cede  # noqa: E402

CASES = os.path.join(os.path.dirname(SOURCE), "shared", "cases", "trust")
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}


def config_map(namespace, name, key, text):
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **where}, "data": {key: text}}


def queues(name):
    return json.dumps({"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [{"name": name}]}]}]})


def show(objects, *args):
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE] + objects})
    return cede("show", "-f", "-", "-o", "json", *args, stdin=text.encode())


def leaves(found):
    return [q["queue"] for q in json.loads(found.out)["queues"] if q["queue"] not in ("root", "root.default")] if found.code == 0 else found.err


def test_queues(s):
    """Which ConfigMap is the queue configuration: two names, in the namespaces that belong to the scheduler."""
    mine = config_map("yunikorn", "yunikorn-configs", "queues.yaml", queues("mine"))
    rows = [
        ("yunikorn-configs of namespace yunikorn", [mine], [], ["root.mine"], 0),
        ("yunikorn-defaults of kube-system", [config_map("kube-system", "yunikorn-defaults", "queues.yaml", queues("d"))], [], ["root.d"], 0),
        ("a tenant's of the same name", [config_map("tenant-7", "yunikorn-configs", "queues.yaml", queues("t"))], [], [], 1),
        ("one without a namespace, which is default", [config_map(None, "yunikorn-configs", "queues.yaml", queues("t"))], [], [], 1),
        ("a tenant's beside ours", [config_map("tenant-7", "yunikorn-configs", "queues.yaml", queues("t")), mine], [], ["root.mine"], 1),
        ("a tenant's that cannot be read, beside ours", [mine, config_map("tenant-7", "yunikorn-configs", "queues.yaml", "a: [b")], [], ["root.mine"], 1),
        ("a tenant's that is no text, beside ours", [mine, config_map("tenant-7", "yunikorn-configs", "queues.yaml", 7)], [], ["root.mine"], 1),
        ("a tenant's with another name", [config_map("tenant-7", "yunikorn-my-notes", "queues.yaml", queues("t"))], [], [], 1),
        ("another name in our namespace", [config_map("yunikorn", "yunikorn-old", "queues.yaml", queues("t")), mine], [], ["root.mine"], 1),
        ("another namespace, if that is said to be ours", [config_map("sched", "yunikorn-configs", "queues.yaml", queues("s")), mine],
         ["--settings-namespace", "sched"], ["root.s"], 1),
        ("a hundred tenants are two notes", [config_map(f"t{i}", "yunikorn-configs", "queues.yaml", "") for i in range(100)], [], [], 2),
    ]
    for says, objects, args, expected, n_notes in rows:
        found = show(objects, *args)
        s.equal(f"{says}: {expected or 'no queues'}", leaves(found), expected)
        s.equal(f"{says}: {n_notes} notes", found.err.count("cede: note: "), n_notes)
    found = show([config_map("tenant-7", "yunikorn-configs", "queues.yaml", queues("t"))])
    s.equal("the note says where and what would count", found.err,
            "cede: note: <stdin>:1:168: ConfigMap tenant-7/yunikorn-configs: queues.yaml is passed over: settings are the ConfigMaps yunikorn-configs, "
            "yunikorn-defaults, scheduler-config and kai-scheduler-default of namespace yunikorn, kai-scheduler or kube-system, or of --settings-namespace\n")


def test_kai(s):
    """The same for KAI's scheduler configuration."""
    bad, other = "actions: dance\n", "hello: {world: 1}\n"
    rows = [
        ("scheduler-config of kai-scheduler is read", config_map("kai-scheduler", "scheduler-config", "config.yaml", bad), [], 2, 0),
        ("the default shard's is read", config_map("kai-scheduler", "kai-scheduler-default", "config.yaml", bad), [], 2, 0),
        ("one of another namespace, if that is said to be ours", config_map("kai", "scheduler-config", "config.yaml", bad), ["--settings-namespace", "kai"], 2, 0),
        ("a tenant's of the same name is passed over", config_map("tenant-7", "scheduler-config", "config.yaml", bad), [], 0, 1),
        ("a tenant's with tiers is passed over", config_map("tenant-7", "x", "config.yaml", "a: 1\ntiers: []\n"), [], 0, 1),
        ("another name in KAI's namespace is passed over", config_map("kai-scheduler", "x", "config.yaml", bad), [], 0, 1),
        ("other people's config.yaml is nothing to talk about", config_map("tenant-7", "x", "config.yaml", other), [], 0, 0),
    ]
    for says, one, args, code, n_notes in rows:
        found = show([one], *args)
        s.equal(says, (found.code, found.err.count("cede: note: ")), (code, n_notes))


def test_cases(s):
    """Files that once became the settings, or stopped the plan."""
    names = sorted(name for name in (os.listdir(CASES) if os.path.isdir(CASES) else []) if name.startswith("cm"))
    if not names:
        s.skip("the cases of hostile ConfigMaps", f"no {CASES}")
    for name in names:
        found = cede("plan", "-f", os.path.join(CASES, name), *NOW)
        s.true(f"{name}: planned, with a note", found.code == 0 and "is passed over" in found.err, found.err)


def main():
    s = Suite()
    test_queues(s)
    test_kai(s)
    test_cases(s)
    s.end()


main()
