#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a tenant may write is noted and ignored: it never becomes the settings, and never stops everybody's plan."""
import json
import os
import resource
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import NOW, SANITIZED, SOURCE, Folder, Suite, cede  # noqa: E402

CASES = os.path.join(os.path.dirname(SOURCE), "shared", "cases", "trust")
PROFILES = ("default", "kubernetes", "yunikorn", "kai")
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
            "cede: note: <stdin>:1:168: ConfigMap tenant-7/yunikorn-configs: queues.yaml is ignored: settings are the ConfigMaps cede, yunikorn-configs, "
            "yunikorn-defaults, scheduler-config and kai-scheduler-default of namespace yunikorn, kai-scheduler or kube-system, or of --settings-namespace\n")


def test_own(s):
    """And for cede's own, which holds documents as files do, but no ConfigMaps in turn."""
    kai, bad = "kind: CedeConfiguration\napiVersion: cede.dev/v1\nprofile: kai\n", "kind: CedeConfiguration\napiVersion: cede.dev/v1\nprofil: kai\n"
    inside = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cede, namespace: kube-system}\ndata:\n  cede.yaml: |\n    " + kai.replace("\n", "\n    ")
    rows = [
        ("cede of kube-system is read", config_map("kube-system", "cede", "cede.yaml", kai), [], "kai", 0),
        ("and queues in it", config_map("kube-system", "cede", "cede.yaml", kai + "---\n" + queues("mine")), [], "kai", 0),
        ("one of another namespace, if that is said to be ours", config_map("sched", "cede", "cede.yaml", kai), ["--settings-namespace", "sched"], "kai", 0),
        ("a tenant's is ignored", config_map("tenant-7", "cede", "cede.yaml", kai), [], "default", 1),
        ("another name in our namespace is ignored", config_map("kube-system", "cede-old", "cede.yaml", kai), [], "default", 1),
        ("other keys are nothing to talk about", config_map("kube-system", "cede", "notes", kai), [], "default", 0),
        ("also in a list of them", config_map("kube-system", "cede", "cede.yaml", json.dumps({"kind": "ConfigMapList", "apiVersion": "v1", "items": [
            {"metadata": {"name": "cede", "namespace": "kube-system"}, "data": {"cede.yaml": kai}}]})), [], "default", 1),
        ("a ConfigMap inside is skipped", config_map("kube-system", "cede", "cede.yaml", inside), [], "default", 1),
    ]
    for says, one, args, profile, n_notes in rows:
        found = show([one], *args)
        s.equal(says, (found.code and found.err or json.loads(found.out)["profile"], found.err.count("cede: note: ")), (profile, n_notes))
    found = show([config_map("kube-system", "cede", "cede.yaml", bad)])
    s.true("what is wrong in it is told with line and column", found.code == 2 and "(ConfigMap cede, cede.yaml):3:1: CedeConfiguration: profil: unknown field" in found.err, found.err)
    packaged = cede("config", "print", "--config", os.path.join(SOURCE, "packaging", "kubernetes", "configmap.yaml"), "-o", "json")
    s.true("--config takes the ConfigMap that is installed", packaged.code == 0 and "configmap.yaml:8 (ConfigMap cede, cede.yaml):3:" in packaged.out, packaged.out + packaged.err)


def test_kai(s):
    """The same for KAI's scheduler configuration."""
    bad, other = "actions: dance\n", "hello: {world: 1}\n"
    rows = [
        ("scheduler-config of kai-scheduler is read", config_map("kai-scheduler", "scheduler-config", "config.yaml", bad), [], 2, 0),
        ("the default shard's is read", config_map("kai-scheduler", "kai-scheduler-default", "config.yaml", bad), [], 2, 0),
        ("one of another namespace, if that is said to be ours", config_map("kai", "scheduler-config", "config.yaml", bad), ["--settings-namespace", "kai"], 2, 0),
        ("a tenant's of the same name is ignored", config_map("tenant-7", "scheduler-config", "config.yaml", bad), [], 0, 1),
        ("a tenant's with tiers is ignored", config_map("tenant-7", "x", "config.yaml", "a: 1\ntiers: []\n"), [], 0, 1),
        ("another name in KAI's namespace is ignored", config_map("kai-scheduler", "x", "config.yaml", bad), [], 0, 1),
        ("other people's config.yaml is nothing to talk about", config_map("tenant-7", "x", "config.yaml", other), [], 0, 0),
    ]
    for says, one, args, code, n_notes in rows:
        found = show([one], *args)
        s.equal(says, (found.code, found.err.count("cede: note: ")), (code, n_notes))


def test_cases(s):
    """Files that once became the settings, or stopped the plan."""
    names = sorted(os.listdir(CASES)) if os.path.isdir(CASES) else []
    if not names:
        s.skip("the cases of hostile files", f"no {CASES}")
    for name in names:
        for profile in PROFILES:
            found = cede("plan", "-f", os.path.join(CASES, name), "--profile", profile, *NOW)
            s.true(f"{name}, {profile}: planned, with a note", found.code == 0 and "cede: note: " in found.err, found.err)
    for name in (n for n in names if n.startswith("cm")):
        found = cede("plan", "-f", os.path.join(CASES, name), *NOW)
        s.true(f"{name}: not taken for settings", "is ignored: settings" in found.err, found.err)


def test_values(s):
    """Values that are allowed and cannot be meant: what they count as is said, in every profile."""
    def delay(value):
        return json.dumps({"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [{"name": "q", "properties": {"preemption.delay": value}}]}]}]})

    def group(started):
        return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {
            "name": "g", "namespace": "t", "annotations": {"kai.scheduler/last-start-timestamp": started}}, "spec": {"minMember": 1}}

    def budget(allowed):
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "t"},
                "spec": {"selector": {}}, "status": {"disruptionsAllowed": allowed}}
    stamp = "group t/g: a start at 1700-01-01T00:00:00Z cannot be"
    not_given = f"{stamp} and counts as not given"
    rows = [
        ("a delay of 292 years", config_map("yunikorn", "yunikorn-configs", "queues.yaml", delay("2562047h")),
         dict.fromkeys(PROFILES, 'properties.preemption.delay: "2562047h" is more than ten years, in effect never')),
        ("a delay of ten years", config_map("yunikorn", "yunikorn-configs", "queues.yaml", delay("87600h")), dict.fromkeys(PROFILES)),
        ("a budget below none", budget(-2147483648), dict.fromkeys(PROFILES, "status.disruptionsAllowed: -2147483648 is less than none, and counts as none")),
        ("a budget of none", budget(0), dict.fromkeys(PROFILES)),
        ("a start in 1700", group("1700-01-01T00:00:00Z"), {
            "default": not_given, "yunikorn": not_given, "kubernetes": f"{stamp}, and counts for nothing in this profile",
            "kai": f"{stamp}, and counts as it is written in this profile"}),
        ("a start in 2000", group("2000-01-01T00:00:00Z"), dict.fromkeys(PROFILES)),
    ]
    for says, one, said in rows:
        for profile in PROFILES:
            found = cede("plan", "-f", "-", "--profile", profile, *NOW, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, one]}).encode())
            told = [line for line in found.err.splitlines() if line.startswith("cede: note: ")]
            s.true(f"{says}, {profile}: {said[profile] or 'nothing to say'}", found.code == 0 and len(told) == (said[profile] is not None)
                   and (not told or told[0].endswith(said[profile])), found.err)


# ---- more than there is ----

def limited(resource_kind, limit, *args, stdin=b"", cwd=SOURCE):
    return cede(*args, cwd=cwd, stdin=stdin, preexec_fn=lambda: resource.setrlimit(resource_kind, (limit, limit)))


def test_endless(s):
    """What never ends is not read to its end, and no memory is taken for it."""
    if SANITIZED:
        s.skip("input without an end", "a sanitizer's program needs more addresses than the test allows")
        return
    for name in ("/dev/zero", "/dev/urandom"):
        found = limited(resource.RLIMIT_AS, 256 << 20, "plan", "-f", name)
        s.true(f"{name} is refused after its first bytes", found.code == 2 and found.out == "" and name in found.err, f"{found.code} {found.err}")
    with Folder({}) as path:
        fifo = os.path.join(path, "fifo.yaml")
        os.mkfifo(fifo)

        def feed(data):
            try:
                with open(fifo, "wb") as f:
                    f.write(data)
            except BrokenPipeError:
                pass
        for says, data, code in (("a pipe is read", json.dumps(NODE).encode(), 0), ("a pipe of zeros is refused", bytes(1 << 24), 2)):
            writer = threading.Thread(target=feed, args=(data,))
            writer.start()
            found = limited(resource.RLIMIT_AS, 256 << 20, "show", "-f", fifo)
            writer.join()
            s.equal(says, found.code, code)
        large = os.path.join(path, "large.yaml")
        with open(large, "wb") as f:
            f.truncate((2 << 30) + 1)
        found = limited(resource.RLIMIT_AS, 256 << 20, "plan", "-f", large)
        s.equal("a file of more than 2 GiB is refused unread", (found.code, found.err), (2, f"cede: error: {large}: more than 2 GiB\n"))


def test_out_of_memory(s):
    if SANITIZED:
        s.skip("out of memory", "a sanitizer's program needs more addresses than the test allows")
        return
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}", "namespace": "ns", "labels": {f"l{k}": f"v{i}-{k}" for k in range(20)}},
             "spec": {"containers": []}} for i in range(20000)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE] + pods}).encode()
    found = limited(resource.RLIMIT_AS, 48 << 20, "plan", "-f", "-", stdin=text)
    s.equal("out of memory is said, with an exit code of its own and nothing half", (found.code, found.err, found.out), (5, "cede: error: out of memory\n", ""))


def test_threads_that_cannot_be(s):
    """A thread wants a stack as large as the limit says, which here nobody has."""
    if SANITIZED:
        s.skip("threads that cannot be started", "a sanitizer's program wants its memory elsewhere than this limit leaves it")
        return
    nodes = [{**NODE, "metadata": {"name": f"n{i:04}"}} for i in range(1200)]
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}", "namespace": "ns"},
             "spec": {"priority": 9 if i >= 1200 else 0, "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}], **({"nodeName": f"n{i:04}"} if i < 1200 else {})}}
            for i in range(1202)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes + pods}).encode()
    args = ("plan", "-f", "-", "--profile", "kubernetes", "-o", "json", *NOW)
    one = cede(*args, stdin=text)
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        s.skip("threads that cannot be started", "the stack is limited here already")
        return
    two = limited(resource.RLIMIT_STACK, 1 << 47, *args, "--threads", "2", stdin=text)
    s.equal("a plan for which no thread can be started is the same plan", (two.code, two.err, two.out == one.out), (0, "", True))


# ---- more than anybody reads ----

def crowd(n_running, n_waiting, n_queues=1):
    """Everybody runs at the priority of those who wait: each of them is left alone, by the same rule."""
    node = {**NODE, "status": {"allocatable": {"cpu": str(n_running), "pods": "5000"}}}

    def pod(name, i, more):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", "labels": {"queue": f"root.q{i % n_queues}"}},
                "spec": {"priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **more}}
    tree = {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [{"name": f"q{i}", "resources": {"max": {"vcore": "5000"}}} for i in range(n_queues)]}]}]}
    items = [node, config_map("yunikorn", "yunikorn-configs", "queues.yaml", json.dumps(tree))]
    items += [pod(f"r{i:04}", i, {"nodeName": "n"}) for i in range(n_running)] + [pod(f"w{i:04}", i, {}) for i in range(n_waiting)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def test_protected(s):
    """Equal reasons are told once with some names; all of them on demand."""
    def protected(text, *args):
        d = json.loads(cede("plan", "-f", "-", "-o", "json", *NOW, *args, stdin=text).out)["decisions"][0]
        return [p["pod"] for p in d["protected"]], [p["rule"] for p in d["protected"]], d["protected"][-1].get("more"), d.get("protectedCount")

    few, many, spread = crowd(10, 1), crowd(300, 1), crowd(300, 1, 100)
    names = [f"ns/r{i:04}" for i in range(300)]
    s.equal("ten that are alike are all listed", protected(few), (names[:10], ["priority"] * 10, None, None))
    s.equal("of three hundred ten, with how many more", protected(many), (names[:10], ["priority"] * 10, 290, 300))
    s.equal("--all: everybody", protected(many, "--all"), (names, ["priority"] * 300, None, None))
    found = protected(spread)
    s.equal("in a hundred queues sixty", (len(found[0]), found[3]), (60, 300))
    one = protected(many, "--cycles", "1")
    s.equal("the same again", one, protected(many, "--threads", "2"))
    text = cede("explain", "-f", "-", "ns/w0000", *NOW, stdin=many).out
    s.true("as text once, and how many more", "PROTECTED (300)" in text and text.count("\nns/r") == 1 and "ns/r0000 and 299 more" in text, text)
    text = cede("explain", "-f", "-", "ns/w0000", "--all", *NOW, stdin=many).out
    s.true("as text --all: everybody", text.count("\nns/r") == 300, text[:500])
    with Folder({}) as path:
        cede("plan", "-f", "-", "--journal", "j.db", "--all", *NOW, stdin=many, cwd=path)
        s.equal("a record does not depend on --all", cede("replay", "j.db", cwd=path).code, 0)
    for form in ("json", "yaml"):
        size = len(cede("plan", "-f", "-", "-o", form, *NOW, stdin=crowd(1000, 500)).out)
        s.true(f"five hundred decisions that left a thousand pods each: below 3 MB of {form}", size < 3_000_000, str(size))


# ---- what nobody sees ----

HIDDEN = {"\u202e": "\\u202e", "\u200b": "\\u200b", "\u2066": "\\u2066", "\ufeff": "\\ufeff"}


def test_hidden(s):
    """Names that look like others: what turns the direction or has no width is never printed as it is."""
    for raw, shown in HIDDEN.items():
        name = f"ml{raw}x"
        queue = config_map("yunikorn", "yunikorn-configs", "queues.yaml", queues("a"))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": {"queue": f"root.{name}"}}, "spec": {"containers": []}}
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, queue, pod]}, ensure_ascii=False)
        for form in ("text", "wide", "json", "yaml"):
            for command in (["plan", "-f", "-"], ["show", "-f", "-"], ["explain", "-f", "-", "ns/p"], ["lint", "-f", "-"]):
                found = cede(*command, "-o", form, stdin=text.encode())
                both = found.out + found.err
                s.true(f"{shown} in the name of a queue: {command[0]} -o {form}", raw not in both and found.code in (0, 1), both)
        found = cede("plan", "-f", f"no{raw}file.yaml")
        s.true(f"{shown} in the name of a file", raw not in found.err and shown in found.err, found.err)


def main():
    s = Suite()
    test_endless(s)
    test_out_of_memory(s)
    test_threads_that_cannot_be(s)
    test_protected(s)
    test_hidden(s)
    test_queues(s)
    test_own(s)
    test_kai(s)
    test_cases(s)
    test_values(s)
    s.end()


main()
