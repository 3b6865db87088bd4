#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plugins loaded into the program: the example changes who has to go, others protect and spare; bad ones are reported and not loaded."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CEDE, NOW, SOURCE, Folder, Suite, cede  # noqa: E402

BUILD = os.environ.get("CEDE_BUILD") or os.path.dirname(CEDE)
PROFILES = ("kubernetes", "default")


def node(name, cpu=2):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": str(cpu), "pods": "110"}}}


def pod(name, on=None, cpu=1, priority=0, start="2026-11-15T11:00:00Z", checkpoint=None, opinion=None):
    meta = {"name": name, "namespace": "ns", "creationTimestamp": "2026-11-15T10:00:00Z"}
    if checkpoint:
        meta["annotations"] = {"cede.dev/checkpointed-at": checkpoint}
    if opinion:
        meta["labels"] = {"opinion": opinion}
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec,
            "status": {"phase": "Running", "startTime": start} if on else {}}


def config(plugins):
    """The first plugin is at 4:3, the next at 5:3."""
    head = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n"
    return head + ("plugins:\n" + "".join(f"- {json.dumps(p)}\n" for p in plugins) if plugins else "")


def built(name):
    return os.path.join(BUILD, name + ".so")


def place(built_file, target):
    """A copy that nobody else may write, whatever the umask was when it was built."""
    shutil.copy(built_file, target)
    os.chmod(target, 0o755)
    os.chmod(os.path.dirname(target), 0o755)


def run(objects, plugins, *args, command="plan", files=None, profile="kubernetes"):
    """The command with these plugins. What a plugin of files is called may be said without a folder."""
    cluster = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    with Folder({"cluster.json": cluster, "conf/cede.yaml": config(plugins), **(files or {})}) as path:
        for name in (p["path"] if isinstance(p, dict) else p for p in plugins):
            if not os.path.isabs(name) and os.path.exists(built(name[:-3])):
                place(built(name[:-3]), os.path.join(path, "conf", name))
        found = cede(command, "-f", "cluster.json", "--config", "conf/cede.yaml", "--profile", profile, *NOW, *args, cwd=path)
    return found


def plan(objects, plugins, **options):
    found = run(objects, plugins, "-o", "json", **options)
    found.decisions = json.loads(found.out)["decisions"] if found.code == 0 else []
    return found


def victims(found, name="w"):
    """Of the decision about ns/NAME, where it would run and who goes."""
    for d in found.decisions:
        if d["pod"] == f"ns/{name}":
            return d["outcome"], d.get("node"), [v["pod"] for v in d.get("victims", [])]
    return None


def notes(found):
    return [line for line in found.err.splitlines() if line.startswith("cede: note: ")]


# ---- the example ----

# Of three alike, b runs shortest and would go; a wrote the latest checkpoint, c one long ago.
TRAINING = [node("n", 3), pod("a", "n", start="2026-11-15T06:00:00Z", checkpoint="2026-11-15T11:58:00Z"),
            pod("b", "n", start="2026-11-15T11:00:00Z"), pod("c", "n", start="2026-11-15T09:00:00Z", checkpoint="2026-11-15T09:30:00Z"),
            pod("w", priority=9)]


def test_example(s):
    for profile in PROFILES:
        without, with_it = plan(TRAINING, [], profile=profile), plan(TRAINING, ["checkpointed-first.so"], profile=profile)
        s.equal(f"{profile}: without the plugin the youngest goes", victims(without), ("nominated", "n", ["ns/b"]))
        s.equal(f"{profile}: with it who wrote a checkpoint last", victims(with_it), ("nominated", "n", ["ns/a"]))
        s.equal(f"{profile}: nothing to complain about", (with_it.code, with_it.err), (0, ""))
    old = plan(TRAINING, [{"path": "checkpointed-first.so", "args": {"maxAge": 60}}])
    s.equal("its argument: a checkpoint two minutes old is too old", victims(old), ("nominated", "n", ["ns/b"]))
    bad = plan(TRAINING, [{"path": "checkpointed-first.so", "args": {"maxAge": "soon"}}])
    s.equal("a bad argument is the plugin's to refuse", notes(bad), [
        "cede: note: conf/cede.yaml:4:3: plugin checkpointed-first.so: it cannot be set up: "
        "maxAge: expected maxAge, a number of seconds, found 'soon'; it is not loaded"])
    s.equal("and the plan is made without it", victims(bad), ("nominated", "n", ["ns/b"]))
    higher = [node("n"), pod("a", "n", priority=3, checkpoint="2026-11-15T11:59:00Z"), pod("b", "n", priority=1), pod("w", priority=9)]
    s.equal("priority still comes first", victims(plan(higher, ["checkpointed-first.so"])), ("nominated", "n", ["ns/b"]))


def test_example_as_told(s):
    """Its README, word by word: built by hand, with its own configuration."""
    compiler = shutil.which("cc")
    if not compiler:
        s.skip("the example as its README tells", "no cc here")
        return
    with Folder({"cluster.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": TRAINING}),
                 "examples/plugin/config.yaml": open(os.path.join(SOURCE, "examples", "plugin", "config.yaml"), "rb").read()}) as path:
        made = subprocess.run([compiler, "-shared", "-fPIC", "-I" + os.path.join(SOURCE, "include"), "-o",
                               "examples/plugin/checkpointed-first.so", os.path.join(SOURCE, "examples", "plugin", "checkpointed-first.c")],
                              cwd=path, stderr=subprocess.PIPE, text=True)
        s.equal("the example builds by hand, from the installed header alone", (made.returncode, made.stderr), (0, ""))
        found = cede("plan", "-f", "cluster.json", "--config", "examples/plugin/config.yaml", "-o", "json", *NOW, cwd=path)
        found.decisions = json.loads(found.out)["decisions"] if found.code == 0 else []
        s.equal("and does what it says", (victims(found), found.err), (("nominated", "n", ["ns/a"]), ""))


# ---- may_evict ----

def test_opinions(s):
    kept = [node("n"), pod("a", "n", opinion="keep"), pod("b", "n"), pod("w", priority=9)]
    spared = [node("n"), pod("a", "n", opinion="spare"), pod("b", "n", start="2026-11-15T08:00:00Z", priority=1), pod("w", priority=9)]
    two_nodes = [node("m", 1), node("n", 1), pod("a", "m", opinion="spare"), pod("b", "n", priority=3), pod("w", priority=9)]
    only = [node("n", 1), pod("a", "n", opinion="spare"), pod("w", priority=9)]
    alone = [node("n", 1), pod("a", "n", opinion="keep"), pod("w", priority=9)]
    for profile in PROFILES:
        def with_it(objects):
            return plan(objects, ["plugin-opinions.so"], profile=profile)
        s.equal(f"{profile}: without it the younger goes", victims(plan(kept, [], profile=profile))[2], ["ns/b"])
        s.equal(f"{profile}: who is kept stays", victims(with_it(kept))[2], ["ns/b"])
        s.equal(f"{profile}: who is kept stays, though nothing else helps", victims(with_it(alone)), ("waiting", None, []))
        s.equal(f"{profile}: without it the lower goes", victims(plan(spared, [], profile=profile))[2], ["ns/a"])
        s.equal(f"{profile}: who is spared stays while others can go", victims(with_it(spared))[2], ["ns/b"])
        s.equal(f"{profile}: on another node too", victims(with_it(two_nodes)), ("nominated", "n", ["ns/b"]))
        found = with_it(only)
        s.equal(f"{profile}: who is spared goes if nothing else works", victims(found), ("nominated", "n", ["ns/a"]))
        s.equal(f"{profile}: and it is said", found.decisions[0]["victims"][0].get("rule"), "plugin")
        told = with_it(alone).decisions[0]["protected"]
        s.equal(f"{profile}: the rule has the plugin's name and words", [(p["pod"], p["rule"], p["reason"]) for p in told],
                [("ns/a", "opinions", "it is labelled to be kept")])
    text = run(alone, ["plugin-opinions.so"], "ns/w", command="explain")
    s.true("explain names it", "opinions" in text.out and "it is labelled to be kept" in text.out, text.out + text.err)
    nonsense = [node("n"), pod("a", "n", opinion="nonsense"), pod("b", "n", opinion="keep", start="2026-11-15T11:30:00Z"), pod("w", priority=9)]
    found = plan(nonsense, ["plugin-opinions.so"])
    s.equal("an answer that does not exist switches it off", notes(found),
            ["cede: note: plugin opinions is switched off: may_evict gave an answer that does not exist"])
    s.equal("and the plan is made", victims(found)[0], "nominated")


def test_every_action(s):
    """A plugin's word holds where groups are given room by moving others, and where nobody waits."""
    gang = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
            "spec": {"minMember": 1, "priorityClassName": "train"}}
    want = pod("w", cpu=4)
    want["metadata"]["annotations"] = {"pod-group-name": "g"}
    moves = [node("m", 4), node("n", 4), pod("a", "m", cpu=2, priority=100, opinion="keep"), pod("b", "n", cpu=2, priority=100, opinion="keep"), gang, want]
    queues = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs", "namespace": "yunikorn"}, "data": {"queues.yaml": json.dumps(
        {"partitions": [{"name": "default", "preemption": {"enabled": True, "quotapreemptionenabled": True}, "queues": [{"name": "root", "queues": [
            {"name": "q", "resources": {"max": {"vcore": "1"}}, "properties": {"quota.preemption.delay": "1s"}}]}]}]})}}
    shrinks = [queues, node("n", 4), pod("a", "n", opinion="keep"), pod("b", "n", start="2026-11-15T06:00:00Z")]
    for p in shrinks[2:]:
        p["metadata"].setdefault("labels", {})["queue"] = "root.q"
    broken = json.loads(json.dumps(gang))
    broken["metadata"]["annotations"] = {"kai.scheduler/stale-podgroup-timestamp": "2026-11-15T11:00:00Z"}
    broken["spec"]["minMember"] = 3
    left = [node("n", 4), broken, pod("a", "n", opinion="keep"), pod("b", "n")]
    for p in left[2:]:
        p["metadata"]["annotations"] = {"pod-group-name": "g"}
    for action, objects, without, kept in (("consolidate", moves, 1, 0), ("quota", shrinks, 1, 1), ("stale-gang", left, 2, 0)):
        def gone(found):
            return [v["pod"] for d in found.decisions if d.get("action") == action for v in d["victims"]]
        plain, ruled = gone(plan(objects, [], profile="default")), gone(plan(objects, ["plugin-opinions.so"], profile="default"))
        s.equal(f"{action}: without it somebody goes", len(plain), without)
        s.equal(f"{action}: who is kept stays", (len(ruled), "ns/a" in ruled), (kept, False))
    gangs = [{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"resources": {
        r: {"quota": -1, "limit": -1} for r in ("cpu", "memory", "gpu")}}}, node("n", 2)]
    for name, priority, on in (("a", "train", "n"), ("b", "train", "n"), ("w", "build-preemptible", None)):
        group = json.loads(json.dumps(gang))
        group["metadata"]["name"] = "g" + name
        group["spec"].update(queue="q", priorityClassName=priority)
        one = pod(name, on, opinion="keep" if name == "b" else None)
        one["metadata"]["annotations"] = {"pod-group-name": "g" + name}
        gangs += [group, one]
    s.equal("kai: preempt: who is kept stays", [victims(plan(gangs, p, profile="kai")) for p in ([], ["plugin-opinions.so"])],
            [("nominated", "n", ["ns/b"]), ("nominated", "n", ["ns/a"])])
    s.equal("quota: without it the kept one would go", "ns/a" in [v["pod"] for d in plan(shrinks, [], profile="default").decisions for v in d["victims"]], True)


# ---- post_filter ----

def test_offers(s):
    """KF-1: one's own plugin at PostFilter, where queues count too."""
    wants = pod("w", priority=9)
    full = [node("m", 1), node("n", 1), pod("a", "m", priority=20), pod("b", "n", priority=5)]
    order = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{"plugins": {"postFilter": {
        "disabled": [{"name": "*"}], "enabled": [{"name": "offer"}, {"name": "DefaultPreemption"}]}}}]}
    for profile in PROFILES:
        def of(offer, *objects):
            want = json.loads(json.dumps(wants))
            want["metadata"]["labels"] = {"offer": offer} if offer else {}
            return plan([*full, want, *objects], ["plugin-offer.so"], profile=profile)
        s.equal(f"{profile}: behind preemption it is not asked where that finds room", victims(of("m")), ("nominated", "n", ["ns/b"]))
        s.equal(f"{profile}: before preemption its node is taken, and nobody goes", victims(of("m", order)), ("nominated", "m", []))
        s.equal(f"{profile}: with nothing to offer preemption follows", victims(of(None, order)), ("nominated", "n", ["ns/b"]))
        found = of("none", order)
        s.equal(f"{profile}: nothing helps: the pod waits", victims(found), ("waiting", None, []))
        s.true(f"{profile}: and its words are told", "the pod is labelled to wait" in found.decisions[0]["message"], found.out)
    want = json.loads(json.dumps(wants))
    want["metadata"]["labels"] = {"offer": "m"}
    text = run([*full, want, order], ["plugin-offer.so"], "ns/w", command="explain")
    s.true("explain says who offers the node", "the plugin offer offers it" in text.out, text.out + text.err)


# ---- bad plugins ----

SMALL = [node("m"), node("n"), pod("w")]


def test_bad(s):
    bad = [
        ("a file that is not there", "missing.so", "No such file or directory", {}),
        ("a file that is no shared object", "text.so", "file too short", {"conf/text.so": "hello\n"}),
        ("a long file that is none", "long.so", "invalid ELF header", {"conf/long.so": "hello\n" * 10000}),
        ("a folder", "folder.so", "it is a folder, not a regular file", {"conf/folder.so/x": ""}),
        ("another version of the interface", "plugin-old-version.so",
         "it was written for version 3 of the interface, this is version 2", {}),
        ("no table", "plugin-no-table.so", "it does not export a table called cede_plugin", {}),
        ("the name of a built-in", "plugin-taken-name.so", "it calls itself NodeAffinity, as one of cede's own does", {}),
        ("a name with blanks", "plugin-no-name.so", "its name must be 1 to 63 visible characters", {}),
        ("create fails", "plugin-needs-args.so", "it cannot be set up: args: expected node, got 0 others", {}),
    ]
    for says, name, why, files in bad:
        found = plan(SMALL, [name], files=files)
        s.equal(f"{says}: reported with its place", notes(found), [f"cede: note: conf/cede.yaml:4:3: plugin {name}: {why}; it is not loaded"])
        s.equal(f"{says}: the plan is made", (found.code, victims(found)[0]), (0, "placed"))
    found = plan(SMALL, ["plugin-opinions.so", {"path": "./plugin-opinions.so"}])
    s.equal("twice the same", notes(found),
            ["cede: note: conf/cede.yaml:5:3: plugin ./plugin-opinions.so: it calls itself opinions, as another does; it is not loaded"])
    found = plan(SMALL, ["missing.so", {"path": "plugin-needs-args.so", "args": {"node": "n"}}])
    s.equal("one that is bad does not keep the next away", victims(found), ("placed", "n", []))
    with Folder({"safe/x": ""}) as path:
        place(built("plugin-needs-args"), os.path.join(path, "safe", "p.so"))
        found = plan(SMALL, [{"path": os.path.join(path, "safe", "p.so"), "args": {"node": "m"}}])
        s.equal("an absolute path", (victims(found), found.err), (("placed", "m", []), ""))
    found = plan(SMALL, ["plugin-wild-score.so"])
    s.equal("a score of 1000: reported and switched off", notes(found), ["cede: note: plugin wild-score is switched off: a score outside 0 to 100"])
    s.equal("a score of 1000: the plan is that without it", victims(found), victims(plan(SMALL, [])))


# ---- who may have code loaded ----

# Its may_evict would keep a: whether it was loaded can be seen in the plan.
KEPT = [node("n", 1), pod("a", "n", opinion="keep"), pod("w", priority=9)]
STAYS, GOES = ("waiting", None, []), ("nominated", "n", ["ns/a"])
PASSED = "CedeConfiguration: plugins: not loaded: code comes from settings given with --config alone"


def cluster_of(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def planned(found):
    found.decisions = json.loads(found.out)["decisions"] if found.code in (0, 1) and found.out else []
    return victims(found)


def test_data_loads_no_code(s):
    """Whatever -f or standard input says, what is in it are data."""
    settings = {"apiVersion": "cede.dev/v1", "kind": "CedeConfiguration", "plugins": ["./plugin-opinions.so"]}
    rows = [
        ("a file of settings", ["-f", "c/cluster.json", "-f", "c/cede.yaml"], b"", f"c/cede.yaml:4:3: {PASSED}"),
        ("a folder with a cluster and settings", ["-f", "c"], b"", f"c/cede.yaml:4:3: {PASSED}"),
        ("an item of a List", ["-f", "list.json"], b"", None),
        ("standard input", ["-f", "-"], cluster_of(KEPT + [settings]).encode(), None),
        ("--config from standard input", ["-f", "c/cluster.json", "--config", "-"], config(["c/plugin-opinions.so"]).encode(),
         f"<stdin>:4:3: {PASSED}"),
    ]
    with Folder({"c/cluster.json": cluster_of(KEPT), "c/cede.yaml": config(["plugin-opinions.so"]),
                 "list.json": cluster_of(KEPT + [settings])}) as path:
        place(built("plugin-opinions"), os.path.join(path, "c", "plugin-opinions.so"))
        place(built("plugin-opinions"), os.path.join(path, "plugin-opinions.so"))
        for says, args, stdin, note in rows:
            found = cede("plan", *args, "-o", "json", *NOW, cwd=path, stdin=stdin)
            s.equal(f"{says}: its plugin is not loaded", planned(found), GOES)
            told = [line for line in notes(found) if PASSED in line]
            s.true(f"{says}: and it is said", len(told) == 1 and (not note or told == [f"cede: note: {note}"]), found.err)
        found = cede("plan", "-f", "c/cluster.json", "--config", "c/cede.yaml", "-o", "json", *NOW, cwd=path)
        s.equal("--config: it is loaded, and nothing to say", (planned(found), found.err), (STAYS, ""))
        found = cede("config", "print", "-f", "c/cede.yaml", cwd=path)
        s.true("config print -f: there are no plugins", "plugins: []" in found.out, found.out + found.err)
        found = cede("plan", "-f", "c", "-o", "json", "--journal", "j.db", *NOW, cwd=path)
        found = cede("replay", "j.db", cwd=path)
        s.equal("a plan without them is recorded without them", (found.code, found.err), (0, ""))


def test_replay_asks(s):
    with Folder({"cluster.json": cluster_of(KEPT), "cede.yaml": config(["plugin-opinions.so"]), "bare.yaml": config([])}) as path:
        place(built("plugin-opinions"), os.path.join(path, "plugin-opinions.so"))
        cede("plan", "-f", "cluster.json", "--config", "cede.yaml", "--journal", "j.db", *NOW, cwd=path)
        found = cede("replay", "j.db", cwd=path)
        s.equal("a recorded plugin is not loaded", (found.code, found.out), (2, ""))
        s.true("and it is said which, and how", "plugin-opinions.so" in found.err and "--allow-plugins" in found.err, found.err)
        found = cede("replay", "j.db", "--allow-plugins", cwd=path)
        s.equal("with --allow-plugins it is, and all is as it was", (found.code, found.err), (0, ""))
        found = cede("replay", "j.db", "--config", "bare.yaml", cwd=path)
        s.equal("settings without it stand for the recorded ones", (found.code, found.err), (0, ""))
        s.true("and differ", "ns/a" in found.out, found.out)
        found = cede("replay", "j.db", "--config", "cede.yaml", cwd=path)
        s.equal("settings that name it load it", (found.code, found.err), (0, ""))
        s.true("and do not differ", "ns/a" not in found.out, found.out)


def with_file(change, name="plugin-opinions.so"):
    """A plan whose plugin file, and what it is in, was changed so."""
    with Folder({"cluster.json": cluster_of(KEPT), "a/b/cede.yaml": config([name])}) as path:
        place(built("plugin-opinions"), os.path.join(path, "a", "b", "plugin-opinions.so"))
        change(path, os.path.join(path, "a", "b", "plugin-opinions.so"))
        found = cede("plan", "-f", "cluster.json", "--config", "a/b/cede.yaml", "-o", "json", *NOW, cwd=path)
        found.err = found.err.replace(path, "TOP").replace(os.path.realpath(path), "TOP")
        return planned(found), notes(found)


def test_file_is_safe(s):
    def mode(at, bits):
        return lambda path, file: os.chmod({"file": file, "b": os.path.join(path, "a/b"), "a": os.path.join(path, "a")}[at], bits)

    def replaced(make):
        def change(path, file):
            os.remove(file)
            make(file)
        return change

    def linked(target):
        return lambda path, file: os.symlink(target(path), os.path.join(path, "a/b/link.so"))
    others = "others than its owner may write to it"
    refused = [
        ("a file that its group may write", mode("file", 0o775), f"{others} (mode 0775)"),
        ("a file that anybody may write", mode("file", 0o757), f"{others} (mode 0757)"),
        ("a folder that its group may write", mode("b", 0o775), f"its folder TOP/a/b: {others} (mode 0775)"),
        ("a folder like /tmp", mode("b", 0o1777), f"its folder TOP/a/b: {others} (mode 1777)"),
        ("a folder above it that anybody may write", mode("a", 0o777), f"its folder TOP/a: {others} (mode 0777)"),
        ("a pipe", replaced(lambda f: os.mkfifo(f, 0o644)), "it is a pipe, not a regular file"),
        ("a link to a device", replaced(lambda f: os.symlink("/dev/zero", f)), "it is a device, not a regular file"),
        ("a link to itself", replaced(lambda f: os.symlink("plugin-opinions.so", f)), "Too many levels of symbolic links"),
        ("a link to nothing", replaced(lambda f: os.symlink("gone.so", f)), "No such file or directory"),
    ]
    if os.geteuid() == 0:
        belongs = "it belongs to user 65534, and not to root or to who runs cede"
        refused += [
            ("somebody else's file", lambda path, file: os.chown(file, 65534, 65534), belongs),
            ("somebody else's folder", lambda path, file: os.chown(os.path.dirname(file), 65534, 65534), f"its folder TOP/a/b: {belongs}"),
            ("somebody else's folder above it", lambda path, file: os.chown(path + "/a", 65534, 65534), f"its folder TOP/a: {belongs}"),
        ]
    else:
        s.skip("files of others", "only root can make them")
    for says, change, why in refused:
        s.equal(f"{says} is not loaded, with its reason", with_file(change),
                (GOES, [f"cede: note: a/b/cede.yaml:4:3: plugin plugin-opinions.so: {why}; it is not loaded"]))
    fine = [
        ("a folder like /tmp above it", mode("a", 0o1777), "plugin-opinions.so"),
        ("a link beside it", linked(lambda path: "plugin-opinions.so"), "link.so"),
        ("a link with its whole path", linked(lambda path: os.path.join(path, "a/b/plugin-opinions.so")), "link.so"),
        ("a way around", lambda path, file: None, "../b/.././b//plugin-opinions.so"),
    ]
    for says, change, name in fine:
        s.equal(f"{says} is fine", with_file(change, name), (STAYS, []))

    def unsafe_link(path, file):
        os.makedirs(os.path.join(path, "open"))
        os.chmod(os.path.join(path, "open"), 0o777)
        os.symlink(file, os.path.join(path, "open/link.so"))
    s.equal("a link that others may exchange is not followed", with_file(unsafe_link, "../../open/link.so"),
            (GOES, [f"cede: note: a/b/cede.yaml:4:3: plugin ../../open/link.so: its folder TOP/open: {others} (mode 0777); it is not loaded"]))


def test_two_plugins(s):
    """Each is what its path names, not what was loaded last under the same number of an open file."""
    found = plan(KEPT, ["plugin-no-table.so", "plugin-opinions.so", {"path": "plugin-needs-args.so", "args": {"node": "n"}}])
    s.equal("three files in turn, one of them bad", (victims(found), len(notes(found))), (STAYS, 1))


def main():
    s = Suite()
    test_data_loads_no_code(s)
    test_replay_asks(s)
    test_file_is_safe(s)
    test_two_plugins(s)
    test_example(s)
    test_example_as_told(s)
    test_opinions(s)
    test_every_action(s)
    test_offers(s)
    test_bad(s)
    s.end()


main()
