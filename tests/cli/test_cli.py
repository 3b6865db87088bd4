#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as a whole: commands, help, exit codes, options, and what `cede show` prints."""
import fcntl
import glob
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CEDE, NOW, SOURCE, Folder, Suite, cede, environment  # noqa: E402

EXAMPLE = "examples/gpu-cluster"
MIXED = "tests/cli/clusters/mixed.yaml"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: %s}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}\n"


def on_terminal(*args, columns=100, **env):
    """What the program writes on a terminal of that many columns, and its exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([CEDE, *args], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL,
                               env=environment(TERM="xterm", **env))
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            piece = b""
        if not piece:
            break
        out += piece
    os.close(master)
    return out.decode("utf-8").replace("\r\n", "\n"), process.wait()


# ---- commands and help ----

def commands(t):
    overview = cede("--help")
    before, rows, after = re.split(r"(?<=Commands:\n)((?:  .*\n)+)", overview.out)
    t.golden("cede --help, but for the list of commands", "help.txt", before + after)
    t.golden("cede show --help", "help-show.txt", cede("show", "--help").out)
    for args in (["help"], ["-h"], ["help", "help"]):
        t.equal(f"cede {' '.join(args)} is cede --help", cede(*args).out, overview.out)
    names = [line.split()[0] for line in rows.splitlines()]
    for name in names:
        long, short, asked = cede(name, "--help"), cede(name, "-h"), cede("help", name)
        t.true(f"cede {name} --help, -h and cede help {name} say the same, with exit code 0",
               long.out and long.out == short.out == asked.out and not long.code and not asked.code, asked.out + asked.err)
    twice = {}
    for name in names:
        options = re.findall(r"^ {2,6}(?:-., )?(--[a-z-]+)", cede(name, "--help").out, re.M)
        twice[name] = sorted({o for o in options if options.count(o) > 1})
    t.equal("no option stands twice in a help text", {name: found for name, found in twice.items() if found}, {})
    t.true("the help texts are no wider than 90 columns",
           all(len(line) <= 90 for name in names + ["--help"] for line in cede("help", name).out.splitlines()))


def man_pages(t):
    """They name every command and every option there is."""
    def page(name):
        path = os.path.join(SOURCE, "docs", "man", name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as f:
            return f.read().replace("\\-", "-")
    names = re.findall(r"^  (\w+) ", cede("--help").out.split("Exit codes")[0], re.M)
    t.equal("cede(1) has every command", [n for n in names if not re.search(rf"^\.BR? {n}\b", page("cede.1"), re.M)], [])
    for name in (n for n in names if n not in ("help", "version")):
        options = set(re.findall(r"--[a-z][a-z-]*", cede(name, "--help").out))
        told = set(re.findall(r"--[a-z][a-z-]*", page(f"cede-{name}.1")))
        t.equal(f"cede-{name}(1) has every option, and no other", sorted(told ^ options), [])
        t.true(f"cede(1) points to cede-{name}(1)", f".BR cede-{name} (1)" in page("cede.1"))


def lint_rules(t):
    """cede-lint(1) has every finding there is, and says which are notes."""
    text = "".join(open(path, encoding="utf-8").read() for path in glob.glob(os.path.join(SOURCE, "src", "explain", "lint*.c")))
    found = set(re.findall(r'LINT_(NOTE|WARNING),\s*"([a-z-]+)"', text))
    with open(os.path.join(SOURCE, "docs", "man", "cede-lint.1"), encoding="utf-8") as f:
        page = f.read().replace("\\-", "-")
    told = re.findall(r"^\.TP\n\.B ([a-z-]+)$", page.split(".SH OPTIONS")[0], re.M)
    notes = re.findall(r"^\.BR? ([a-z-]+)", page.split("Findings are warnings")[1].split(".TP")[0], re.M)
    t.equal("cede-lint(1) has every finding, and no other", sorted(told), sorted({name for _, name in found}))
    t.equal("and which are notes", sorted(notes), sorted({name for level, name in found if level == "NOTE"} - {name for level, name in found if level == "WARNING"}))


def versions(t):
    version = cede("version")
    t.true("cede version", version.out.startswith("cede ") and version.code == 0, version.out)
    t.equal("cede --version is cede version", cede("--version").out, version.out)
    t.equal("cede version -o json", json.loads(cede("version", "-o", "json").out), {"kind": "Version", "version": version.out.split()[1]})


# ---- wrong usage ----

SEE = "Try `cede show --help' or `cede show --usage' for more information.\n"
USAGE = [
    ("an unknown command that is nearly one", ["shwo"], "cede: error: 'shwo' is not a command; did you mean 'show'?\n"),
    ("an unknown command", ["frobnicate"], "cede: error: 'frobnicate' is not a command; cede --help lists them\n"),
    ("help for an unknown command", ["help", "frobnicate"], "cede: error: 'frobnicate' is not a command; cede --help lists them\n"),
    ("help for two commands", ["help", "plan", "show"], "cede: error: one command at a time, please: 'show' is the second\n"),
    ("an option of help", ["help", "--frobnicate"], "cede: error: '--frobnicate' is not a command; cede --help lists them\n"),
    ("a task that is none", ["journal", "chek"], "cede journal: 'chek' is not one of check, salvage, show; did you mean 'check'?\n" + SEE.replace("show", "journal")),
    ("show without anything to read", ["show"],
     "cede: error: nothing to read; say where the cluster is: cede show -f FILE or -f FOLDER, -f - for standard input, or --kubeconfig FILE for one that runs\n"),
    ("an unknown option", ["show", "--frobnicate"], "cede show: unrecognized option '--frobnicate'\n" + SEE),
    ("an option that others have and that begins another", ["lint", "-f", "x", "--set", "profile=kai"],
     "cede: error: '--set' is not an option of cede lint; cede plan, explain and show have it\n"),
    ("the same with =", ["simulate", "--set=profile=kai"], "cede: error: '--set' is not an option of cede simulate; cede plan, explain and show have it\n"),
    ("a file without -f", ["show", "x.yaml"], "cede show: 'x.yaml' is not an option; files are read with -f x.yaml\n" + SEE),
    ("-f without a file", ["show", "-f"], "cede show: option requires an argument -- 'f'\n" + SEE),
    ("an unknown format", ["show", "-f", "x", "-o", "jsn"],
     "cede show: --output: 'jsn' is not one of text, wide, json, yaml; did you mean 'json'?\n" + SEE),
    ("an unknown profile", ["show", "-f", "x", "--profile", "nomad"],
     "cede show: --profile: 'nomad' is not one of default, kubernetes, yunikorn, kai\n" + SEE),
    ("a time that is none", ["show", "-f", "x", "--now", "noon"],
     "cede show: --now: expected a time such as 2026-11-15T12:00:00Z, found 'noon'\n" + SEE),
]


def usage(t):
    for name, args, message in USAGE:
        found = cede(*args)
        t.equal(f"{name} is refused with exit code 2", (found.code, found.out, found.err), (2, "", message))
    found = cede()
    t.equal("without a command the overview goes to standard error, exit code 2", (found.code, found.out, found.err),
            (2, "", cede("--help").out))


# ---- show ----

def show(t):
    for file, cluster in (("show-gpu", EXAMPLE), ("show-mixed", MIXED)):
        for format, ending in (("text", "txt"), ("wide", "wide.txt"), ("json", "json"), ("yaml", "yaml")):
            found = cede("show", "-f", cluster, "-o", format, *NOW)
            t.golden(f"{file} as {format}", f"{file}.{ending}", found.out)
            t.equal(f"{file} as {format}: exit code", found.code, 0)
    text = cede("show", "-f", EXAMPLE, *NOW).out
    t.true("the example fits on 100 columns", max(map(len, text.splitlines())) <= 100, text)
    t.equal("text is what is shown unless told otherwise", text, cede("show", "-f", EXAMPLE, "-o", "text", *NOW).out)


def show_data(t):
    data = json.loads(cede("show", "-f", MIXED, "-o", "json", *NOW).out)
    pods = {p["pod"]: p for p in data["pods"]}
    queues = {q["queue"]: q for q in data["queues"]}
    nodes = {n["node"]: n for n in data["nodes"]}
    groups = {g["group"]: g for g in data["groups"]}
    t.equal("amounts are exact", pods["web/big"]["requests"], {"cpu": "2", "memory": "1610612737"})
    t.equal("an overbooked node has less than nothing free", nodes["n3-overbooked"]["free"],
            {"cpu": "-500m", "memory": "-536870913", "pods": "109"})
    t.equal("PP_3 a group's preemptibility is its pods'", pods["lab/serve-0"]["preemptibility"], "semi-preemptible")
    t.equal("PP_5 a built-in class gives the priority", (groups["lab/train"]["priority"], pods["lab/train-leader"]["priority"]), (50, 50))
    t.equal("MR_8 the start is the group's annotation", pods["lab/train-leader"]["started"], "2026-11-15T11:00:00Z")
    t.equal("MR_2 a window that is not set is left out", [("preemptMinRuntime" in queues[q]["settings"]) for q in ("root.lab", "root.lab.lab-a")],
            [False, True])
    t.equal("a pod in a queue that does not exist says which", (pods["web/lost"].get("queue"), pods["web/lost"]["wantedQueue"]),
            (None, "root.nowhere"))
    t.equal("what is leaving no longer counts in its queue", queues["root.default"]["pods"], {"running": 0, "waiting": 0, "leaving": 2})
    t.equal("a queue that is over and one that is short", (queues["root.lab.lab-a"]["over"], queues["root.lab.lab-b"]["short"]),
            (["nvidia.com/gpu"], ["nvidia.com/gpu"]))
    t.equal("a queue below its guarantee without waiting work for it is not short", "memory" in queues["root.batch"]["short"], False)


def order(t):
    """The same cluster in other files, in another order, is the same view."""
    parts = open(os.path.join(SOURCE, MIXED), encoding="utf-8").read().split("---\n")
    whole = cede("show", "-f", MIXED, "-o", "json", *NOW).out
    with Folder({"0.yaml": "---\n".join(reversed(parts)), "1/a.yaml": "---\n".join(parts[::2]), "1/b.yml": "---\n".join(parts[1::2])}) as folder:
        t.equal("documents in reverse order give the same view", cede("show", "-f", f"{folder}/0.yaml", "-o", "json", *NOW).out, whole)
        t.equal("a folder of several files gives the same view", cede("show", "-f", f"{folder}/1", "-o", "json", *NOW).out, whole)
        t.equal("several -f give the same view",
                cede("show", "-f", f"{folder}/1/b.yml", "-f", f"{folder}/1/a.yaml", "-o", "json", *NOW).out, whole)
    t.equal("standard input gives the same view",
            cede("show", "-f", "-", "-o", "json", *NOW, stdin=open(os.path.join(SOURCE, MIXED), "rb").read()).out, whole)


def many(t):
    """More than fits on a screen."""
    nodes = "---\n".join(NODE % f"n{i:02}" for i in range(41))
    pods = "".join(f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{i:02}}}\nspec: {{containers: [{{name: c}}]}}\n" for i in range(41))
    bound = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  nodeName: n07\n  containers: [{name: c, resources: {requests: {cpu: 3}}}]\n"
    sick = "---\n" + NODE.replace("pods: \"10\"}", "pods: \"10\"}, conditions: [{type: Ready, status: Unknown}]") % "sick"
    with Folder({"c.yaml": nodes + pods + bound + sick}) as folder:
        text = cede("show", "-f", "c.yaml", cwd=folder).out
        wide = cede("show", "-f", "c.yaml", "-o", "wide", cwd=folder).out
    t.true("more than 40 nodes of one kind share a line", "n00 and 40 like it     1  161/164, most 4  328Gi/328Gi\n" in text, text)
    t.true("but not with one that is ill", "\nsick " in text and "not ready" in text, text)
    t.true("-o wide has every node", all(f"\nn{i:02} " in wide for i in range(41)), wide)
    t.true("lists are cut after 40 lines, and say so", "default/p39 " in text and "default/p40 " not in text and
           "\n… and 1 more; -o wide lists all\n" in text, text)
    t.true("-o wide lists all", "default/p40 " in wide and "more" not in wide, wide)


def notes(t):
    unknown = "".join(f"---\napiVersion: example.com/v1\nkind: Thing{i}\nmetadata: {{name: x}}\n" for i in range(25))
    with Folder({"c.yaml": NODE % "n" + unknown}) as folder:
        loud, quiet = cede("show", "-f", "c.yaml", cwd=folder), cede("show", "-f", "c.yaml", "--quiet", cwd=folder)
    lines = loud.err.splitlines()
    t.equal("notes are told, 20 of them", (len(lines), lines[0], lines[-1]),
            (21, "cede: note: c.yaml:6:1: example.com/v1 Thing0 is not a kind cede reads; 1 skipped", "cede: note: and 5 more"))
    t.equal("--quiet leaves them out", (quiet.code, quiet.err), (0, ""))


def settings(t):
    config = "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kai\n"
    with Folder({"n.yaml": NODE % "n", "c.yaml": config}) as folder:
        def profile(*args):
            return json.loads(cede("show", "-f", "n.yaml", "-o", "json", *args, cwd=folder).out)["profile"]
        t.equal("the profile is default", profile(), "default")
        t.equal("--config is read", profile("--config", "c.yaml"), "kai")
        queues = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]\n"
        with open(os.path.join(folder, "q.yaml"), "w", encoding="utf-8") as f:
            f.write(queues)
        for order in (["c.yaml", "q.yaml"], ["q.yaml", "c.yaml"]):
            found = json.loads(cede("show", "-f", "n.yaml", "-o", "json", *[w for c in order for w in ("--config", c)], cwd=folder).out)
            t.equal(f"--config may be repeated: {' '.join(order)}", (found["profile"], "root.a" in [q["queue"] for q in found["queues"]]), ("kai", True))
        twice = cede("show", "-f", "n.yaml", "--config", "c.yaml", "--config", "c.yaml", cwd=folder)
        t.true("but not with two configurations of one kind", twice.code == 2 and "a second configuration of this kind" in twice.err, twice.err)
        t.equal("a configuration among the objects counts too", profile("-f", "c.yaml"), "kai")
        t.equal("--profile counts more", profile("--config", "c.yaml", "--profile", "yunikorn"), "yunikorn")


# ---- lint ----

def lint(t):
    for format, ending in (("text", "txt"), ("json", "json")):
        found = cede("lint", "-f", MIXED, "-o", format, *NOW)
        t.golden(f"lint-mixed as {format}", f"lint-mixed.{ending}", found.out)
        t.equal(f"lint-mixed as {format}: exit code; notes are findings", (found.code, found.err), (0, ""))
    t.equal("--strict: a warning is exit code 1", cede("lint", "-f", MIXED, "--strict", *NOW).code, 1)
    found = cede("lint", "-f", EXAMPLE, "--strict", *NOW)
    t.equal("the example has nothing to find", (found.code, found.out), (0, "0 findings\n"))
    note = "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    - name: a\n      resources: {guaranteed: {vcore: 3}}\n"
    with Folder({"n.yaml": NODE % "n", "q.yaml": note, "big.yaml": note.replace("3}", "5}")}) as folder:
        fine = cede("lint", "-f", "n.yaml", "-f", "q.yaml", "--strict", cwd=folder)
        t.equal("a promise that can be kept", (fine.code, fine.out), (0, "0 findings\n"))
        bad = cede("lint", "-f", "n.yaml", "-f", "big.yaml", "--strict", cwd=folder)
        t.true("a promise that cannot", bad.code == 1 and "warning impossible-guarantee: queue root.a: it guarantees 5 of cpu and all nodes together have 4\n"
               in bad.out, bad.out)
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\\u001b[2Jb\\nc", "labels": {"queue": "root.x\\u001b[2J"}}, "spec": {"containers": []}}'
    with Folder({"c.json": pod}) as folder:
        text = cede("lint", "-f", "c.json", cwd=folder).out
    t.true("names cannot move the cursor or forge lines", "a\\x1b[2Jb\\nc" in text and "\x1b" not in text, repr(text))


# ---- output ----

def hostile_names(t):
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\\u001b[2Jb\\nc"}, "spec": {"containers": []}}'
    with Folder({"c.json": pod}) as folder:
        text = cede("show", "-f", "c.json", cwd=folder).out
        data = cede("show", "-f", "c.json", "-o", "json", cwd=folder).out
    t.true("names cannot move the cursor or forge lines", "default/a\\x1b[2Jb\\nc" in text and "\x1b" not in text + data, repr(text))
    t.equal("data keeps them", json.loads(data)["pods"][0]["pod"], "default/a\x1b[2Jb\nc")


def has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def terminals(t):
    if not has_terminals():
        t.skip("colours and widths of terminals", "there are no pseudo-terminals here")
        return
    args = ["show", "-f", EXAMPLE, *NOW]
    plain = cede(*args).out
    colored, code = on_terminal(*args)
    t.true("on a terminal there is colour", "\x1b[1;31m" in colored and code == 0, repr(colored[:200]))
    t.equal("with NO_COLOR there is none", on_terminal(*args, NO_COLOR="1")[0], plain)
    t.equal("with --no-color there is none", on_terminal(*args, "--no-color")[0], plain)
    t.true("data has none", "\x1b" not in on_terminal(*args, "-o", "json")[0])
    for more in (["plan"], ["explain", "language/eval-0"]):
        colored, code = on_terminal(*more, *args[1:])
        t.true(f"{more[0]}: on a terminal there is colour", "\x1b[3" in colored and code == 0, repr(colored[:200]))
        t.equal(f"{more[0]}: and the words are the same", re.sub(r"\x1b\[[0-9;]*m", "", colored), on_terminal(*more, *args[1:], "--no-color")[0])
    narrow = on_terminal(*args, "--no-color", columns=80)[0]
    t.true("a narrow terminal gets narrow lines", max(map(len, narrow.splitlines())) <= 80, narrow)
    t.true("and no name is cut", all(n in narrow for n in ("ads/ranker-retrain-0", "root.research.language", "a100-1")) and "…" not in narrow, narrow)
    for more in (["plan"], ["explain", "vision/sweep-4"], ["explain", "vision/notebook-ann"]):
        for columns in (80, 60):
            found = on_terminal(*more, *args[1:], "--no-color", columns=columns)[0]
            t.true(f"{' '.join(more)}: {columns} columns are enough", max(map(len, found.splitlines())) <= columns and "…" not in found, found)
    t.equal("-o wide is never cut", on_terminal(*args, "-o", "wide", "--no-color", columns=60)[0], cede(*args, "-o", "wide").out)


def lost_output(t):
    args = [CEDE, "show", "-f", EXAMPLE, *NOW]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(args, cwd=SOURCE, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    t.equal("a full disk is noticed", (done.returncode, done.stderr), (4, b"cede: error: standard output: No space left on device\n"))
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CEDE, "show", "--help"], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    t.equal("also when help is printed", done.returncode, 4)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(args, cwd=SOURCE, stdout=write, stderr=subprocess.PIPE, env=environment(), restore_signals=False, check=False)
    t.equal("a pipe that nobody reads is noticed, with SIGPIPE ignored", (done.returncode, done.stderr),
            (4, b"cede: error: standard output: Broken pipe\n"))
    done = subprocess.run(args, cwd=SOURCE, stdout=write, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(write)
    t.equal("and ends the program without a word otherwise", (done.returncode, done.stderr), (-13, b""))


def main():
    t = Suite()
    for part in (commands, man_pages, lint_rules, versions, usage, show, show_data, order, many, notes, settings, lint, hostile_names, terminals, lost_output):
        part(t)
    t.end()


if __name__ == "__main__":
    main()
