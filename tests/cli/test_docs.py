#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation tells people to type works, and what it says they will see is what they see.

Every command `cede ...` or `build/cede ...` in README.md, docs/*.md, other Markdown files and the examples of manual pages is run with the repository's
own examples; words in capitals stand for something, and are put in here. Of `make ...` the one that shows the example is run, the others are
only asked what they would do. Commands that are not run are listed by name, with the reason.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CEDE, SOURCE, Folder, Suite, cede, environment  # noqa: E402

EXAMPLE = os.path.join(SOURCE, "examples", "gpu-cluster")
STANDS_FOR = {"DIR": EXAMPLE, "FILE": os.path.join(EXAMPLE, "nodes.yaml"), "NS/POD": "web/report-0", "COMMAND": "plan",
              "JOURNAL": "journal.db"}
COMMAND = re.compile(r"^\s*(?:\$ )?(?:[a-z].*\| *|source <\()?((?:build/)?cede (?!COMMAND).*?)(?: [|>] .*|\))?$")
A_NAME = re.compile(r"cede (?!help|version)([a-z]+)((?: --[a-z-]+)*)$")  # `cede plan --strict` in a sentence is not something to type
SYNOPSIS = re.compile(r"\.\.\.|…|\[")
# Not run, and why; without "build/". What is here and nowhere shown is a mistake.
LIVE = "it needs a cluster; tests/cluster has one"
SHADOW = "it needs a cluster; tests/cluster/live/test_tutorial.py runs it"
CONTINUED = "it needs a cluster; tests/cluster/live/test_run_continue.py runs it"
METRIC = re.compile(r"(?:cede|scheduler|rest_client|leader_election|process)_")  # tests/serve/test_operations.py knows them
SERVED = "it serves until it is told to end; tests/serve runs it"
NOT_RUN = {
    "cede plan --kubeconfig ~/.kube/config": LIVE, "cede explain --kubeconfig ~/.kube/config NS/POD": LIVE,
    "cede run --shadow default-scheduler": LIVE,
    "cede run --shadow default-scheduler --kubeconfig ~/.kube/config": LIVE,
    "cede run --shadow default-scheduler --journal shadow.db --kubeconfig ~/.kube/config": SHADOW, "cede history shadow.db --shadow": SHADOW,
    "cede run --journal run.db --kubeconfig ~/.kube/config": CONTINUED,
    "cede simulate --trace run.db --format journal --config examples/settings/default.yaml": CONTINUED,
    "cede history shadow.db": SHADOW, "cede simulate --trace shadow.db --format journal": SHADOW,
    "cede explain --server https://127.0.0.1:10269 --token-file token --ca-file cede.pem NS/POD": "it needs a server; tests/serve/test_api.py runs it",
    "cede serve -f examples/gpu-cluster --listen 127.0.0.1:10270": SERVED, "cede serve -f DIR": SERVED,
    "cede serve --simulation examples/scenario/day.yaml": SERVED, "cede serve -f examples/gpu-cluster --now 2026-11-15T12:00:00Z": SERVED,
}

MAKE = re.compile(r"^\s*(?:\$ )?(make(?: [A-Z]+=\S+| [a-z][a-z-]*)+)\s*(?:#.*)?$")
MAKE_RUN = {"make run": "\nEVICTIONS (", "make help": "  make test "}  # and what is seen then
LONG = "it takes minutes"
MAKE_NOT_RUN = {
    "make test": "this test is a part of it", "make library": "tests/api/test_library.py uses what it makes", "make test-asan": LONG, "make test-tsan": LONG, "make fuzz": LONG, "make lint": LONG, "make coverage": LONG,
    "make bench": LONG, "make bench-peers": LONG, "make bench-growth": LONG, "make guard": LONG, "make bench-cluster": LONG, "make soak-cluster": LONG, "make test-cluster": LONG, "make soak": LONG, "make dist": "tests/packaging/test_dist.py runs what it runs", "make deb": LONG, "make image": LONG, "make test-packages": LONG, "make properties": "they are run by make test", "make conform": "it is a part of make test",
    "make browser": "it installs packages",
    "make oracle": "it needs Go and a kube-scheduler to compare with",
}


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def blocks(text):
    """The pieces of Markdown that are meant to be typed or read on a screen: fenced, indented, or in backticks inside a line."""
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.M | re.S)
    rest = re.sub(r"^```[a-z]*\n.*?^```", "", text, flags=re.M | re.S)
    indented = re.findall(r"(?:^    .*\n?)+", rest, re.M)
    return fenced, indented, re.findall(r"`([^`\n]+)`", rest)


def man_examples(text):
    plain = text.replace("\\-", "-").replace("\\\n", " ")
    found = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH)", plain, re.M | re.S)
    lines = re.sub(r"\|\n\s*", "| ", found[1]) if found else ""
    return [line for line in lines.splitlines() if not line.startswith(".")]


def commands_of(path):
    text = read(path)
    if path.endswith(".1"):
        pieces = man_examples(text)
    else:
        fenced, indented, inline = blocks(text)
        pieces = [line for block in fenced + indented for line in block.splitlines()] + inline
    found = []
    for piece in pieces:
        for command in COMMAND.findall(re.sub(r"\s#.*$", "", piece)):
            command = command.strip()
            if command not in found and not SYNOPSIS.search(command):
                found.append(command)
    return found


def is_name(command):
    return A_NAME.fullmatch(command) is not None


def plain(command):
    return command.removeprefix("build/")


def cluster_as_list():
    """The example as `kubectl get -o json` would print it: what cede reads on standard input in the documentation."""
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}).encode()


def typed(t, path, folder):
    for command in commands_of(path):
        if is_name(command):
            name, options = A_NAME.fullmatch(command).groups()
            known = cede(name, "--help")
            t.equal(f"{path}: there is {command}", (known.code, [o for o in options.split() if o not in known.out]), (0, []))
            continue
        if plain(command) in NOT_RUN:
            t.skip(f"{path}: {command}", NOT_RUN[plain(command)])
            continue
        args = [STANDS_FOR.get(word, word) for word in shlex.split(command)[1:]]
        args = [os.path.join(SOURCE, a) if a.startswith("examples/") else a for a in args]
        found = cede(*args, cwd=folder, stdin=cluster_as_list())
        wrong = [line for line in found.err.splitlines() if not line.startswith("cede: note: ")]
        t.equal(f"{path}: {command}", (found.code, wrong), (0, []))


def seen(t, path):
    """A fenced block with a table in it is a piece of what show, plan or explain print about the example."""
    now = ["--now", "2026-11-15T12:00:00Z"]
    screens = [cede(command, "-f", EXAMPLE, *now).out for command in ("show", "plan")]
    screens += [cede(*[os.path.join(SOURCE, a) if a.startswith("examples/") else a for a in shlex.split(c)[1:]]).out
                for c in commands_of(path) if " explain -f examples/" in c]
    lines = {line for screen in screens for line in screen.splitlines()}
    for block in blocks(read(path))[0]:
        shown = [line for line in block.splitlines() if line.strip() not in ("", "…")]
        if block.startswith("$ "):
            continue  # test_worked_examples.py compares it to the letter
        if any(re.match(r"[A-Z]{3,} ", line) for line in shown):
            t.equal(f"{path}: what is shown is what one sees: {shown[0][:50]}", [line for line in shown if line not in lines], [])


def links(t, path):
    targets = [x.split("#")[0] for x in re.findall(r"\]\(([^)\s]+)\)", read(path)) if "://" not in x]
    missing = [x for x in targets if x and not os.path.exists(os.path.join(SOURCE, os.path.dirname(path), x))]
    t.equal(f"{path}: its links lead somewhere", missing, [])


def named_tests(t, path):
    """Where a document says that a test proves something, there is that test."""
    sources = "".join(read(os.path.relpath(p, SOURCE)) for p in glob.glob(os.path.join(SOURCE, "tests", "**", "test_*.c"), recursive=True))
    names = [x for x in blocks(read(path))[2] if re.fullmatch(r"\w+(?:_\w+){3,}", x) and not METRIC.match(x)]
    t.equal(f"{path}: the tests it names are there", [x for x in names if f"static void {x}(" not in sources], [])


def rules_told(t):
    """docs/rules.md has every rule and action in both tables: what it does, and why, its words, and the others."""
    table = read("src/model/rule_table.h")
    names = {"rule": re.findall(r'X\([A-Z_]+, [a-z_]+, "([a-z-]+)"', table), "action": re.findall(r'X\([A-Z_]+, "([a-z-]+)"\)', table)}
    for kind, cells in (("rule", {5, 6}), ("action", {4, 5})):
        t.true(f"there are {kind}s", len(names[kind]) > 7)
        for name in names[kind]:
            rows = re.findall(rf"^\| `{name}` \|.*", read("docs/rules.md"), re.M)
            t.true(f"docs/rules.md: {kind} {name} is told in full", {row.count("|") for row in rows} >= cells, str(rows))


def make_targets(t, path):
    known = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))
    text = "\n".join(piece for part in blocks(read(path)) for piece in part)
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", text))
    t.equal(f"{path}: every make target there is", sorted(named - known), [])


def make_commands(path):
    fenced, indented, inline = blocks(read(path))
    lines = [line for block in fenced + indented for line in block.splitlines()] + inline
    return {m[1] for m in map(MAKE.match, lines) if m}


def make(*args):
    env = {k: v for k, v in environment().items() if not k.startswith("MAKE") and k != "MFLAGS"}
    done = subprocess.run(["make", "--no-print-directory", *args], cwd=SOURCE, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, text=True, check=False)
    return done.returncode, done.stdout


def is_configured_plainly():
    """make would delete a build/ that was configured otherwise, which is somebody's."""
    try:
        with open(os.path.join(SOURCE, "build", ".files"), encoding="utf-8") as f:
            return f.readline().strip() == "CC="
    except FileNotFoundError:
        return False


def made(t, markdown):
    shown = {command for path in markdown for command in make_commands(path)}
    for command in sorted(shown):
        words = shlex.split(command)[1:]
        target = "make " + " ".join(w for w in words if "=" not in w)
        code, out = make("-n", *words)
        t.true(f"{command}: make knows what to do", code == 0, out)
        t.true(f"{command}: is run here, or it is said why not", target in MAKE_RUN or target in MAKE_NOT_RUN)
    known = {re.sub(r" [A-Z]+=\S+", "", command) for command in shown}
    t.equal("what is listed of make is shown somewhere", sorted({*MAKE_RUN, *MAKE_NOT_RUN} - known), [])
    for command, seen_then in MAKE_RUN.items():
        if CEDE != os.path.join(SOURCE, "build", "cede"):
            t.skip(command, "another program than build/cede is being tested")
            continue
        if not is_configured_plainly():
            t.skip(command, "build/ was configured otherwise, and make would delete it")
            continue
        code, out = make(*shlex.split(command)[1:])
        t.true(f"{command} works, and shows what it should", code == 0 and seen_then in out, out)


def listed(t, paths):
    """The list of what is not run does not outlive the documentation."""
    shown = {plain(command) for path in paths for command in commands_of(path)}
    t.equal("what is listed as not run is shown somewhere", sorted(set(NOT_RUN) - shown), [])


def speed(t):
    """The front door says of the originals what the table of measurements says, to the digit."""
    rows = {(r[0], r[1]): r[2:] for r in ([c.strip() for c in line.strip("|").split("|")] for line in read("docs/benchmarks.md").splitlines() if re.match(r"\| (?:kube-scheduler|YuniKorn|KAI),", line))}
    found = read("README.md").split("## How fast it decides")[1].split("\n## ")[0]
    every = {"cold": 1, "warm": 2, "original": 3, "× cold": 4, "× warm": 5}
    said = [("kube-scheduler, exhaustive", "5,000", ("original", "cold", "× cold", "warm", "× warm")), ("kube-scheduler, as it samples", "5,000", ("original",)),
            ("YuniKorn, preemption", "5,000", ("original", "cold", "× cold", "warm")), ("KAI, actions", "5,000", ("original", "cold", "× cold"))]
    for original, nodes, columns in said:
        for column in columns:
            number = rows[(original, nodes)][every[column]].split(" ")[0]
            words = f"{number} ×" if column[0] == "×" else f"{number} ms"
            t.true(f"README.md says of {original}, {nodes} nodes, {column}: {words}", re.search(rf"(?<![\d.,]){re.escape(words)}", found) is not None, found)
    mean = rows[("kube-scheduler, exhaustive", "5,000")][every["warm"]].split("(")[1].rstrip(")")
    t.true(f"and the mean where it differs: {mean} ms", f"{mean} ms on average" in found, found)


def main():
    t = Suite()
    markdown = sorted(os.path.relpath(p, SOURCE) for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "examples/**/*.md", "include/*.md")
                      for p in glob.glob(os.path.join(SOURCE, pattern), recursive=True))
    manual = sorted(os.path.relpath(p, SOURCE) for p in glob.glob(os.path.join(SOURCE, "docs/man/*.1")))
    t.true("there are commands in README.md", len(commands_of("README.md")) >= 5, str(commands_of("README.md")))
    with Folder({"queues.yaml": "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n"}) as folder:
        cede("plan", "-f", EXAMPLE, "--now", "2026-11-15T12:00:00Z", "--journal", "journal.db", cwd=folder)
        for path in markdown + manual:
            typed(t, path, folder)
    made(t, markdown)
    listed(t, markdown + manual)
    rules_told(t)
    speed(t)
    for path in markdown:
        seen(t, path)
        links(t, path)
        named_tests(t, path)
        make_targets(t, path)
    t.end()


if __name__ == "__main__":
    main()
