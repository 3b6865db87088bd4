#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation tells people to type works, and what it says they will see is what they see.

Every command `cede ...` or `build/cede ...` in README.md, docs/*.md, other Markdown files and the examples of manual pages is run with the repository's
own examples; words in capitals stand for something, and are put in here.
"""
import glob
import json
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, Folder, Suite, cede  # noqa: E402

EXAMPLE = os.path.join(SOURCE, "examples", "gpu-cluster")
STANDS_FOR = {"DIR": EXAMPLE, "FILE": os.path.join(EXAMPLE, "nodes.yaml"), "NS/POD": "web/report-0", "COMMAND": "plan"}
COMMAND = re.compile(r"^\s*(?:\$ )?(?:[a-z].*\| *)?((?:build/)?cede (?!COMMAND).*)$")
A_NAME = re.compile(r"cede (?!help|version)[a-z]+$")  # `cede plan` in a sentence is not something to type
NOT_RUN = re.compile(r"\.\.\.|…|\[")  # a synopsis


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
        for command in COMMAND.findall(piece):
            command = re.sub(r"\s#.*$", "", command).strip()
            if command not in found and not NOT_RUN.search(command) and not A_NAME.fullmatch(command):
                found.append(command)
    return found


def cluster_as_list():
    """The example as `kubectl get -o json` would print it: what cede reads on standard input in the documentation."""
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}).encode()


def typed(t, path, folder):
    for command in commands_of(path):
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
        if any(re.match(r"[A-Z]{3,} ", line) for line in shown):
            t.equal(f"{path}: what is shown is what one sees: {shown[0][:50]}", [line for line in shown if line not in lines], [])


def links(t, path):
    targets = [x.split("#")[0] for x in re.findall(r"\]\(([^)\s]+)\)", read(path)) if "://" not in x]
    missing = [x for x in targets if x and not os.path.exists(os.path.join(SOURCE, os.path.dirname(path), x))]
    t.equal(f"{path}: its links lead somewhere", missing, [])


def make_targets(t, path):
    known = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))
    text = "\n".join(piece for part in blocks(read(path)) for piece in part)
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", text))
    t.equal(f"{path}: every make target there is", sorted(named - known), [])


def main():
    t = Suite()
    markdown = sorted(os.path.relpath(p, SOURCE) for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "examples/**/*.md", "include/*.md")
                      for p in glob.glob(os.path.join(SOURCE, pattern), recursive=True))
    manual = sorted(os.path.relpath(p, SOURCE) for p in glob.glob(os.path.join(SOURCE, "docs/man/*.1")))
    t.true("there are commands in README.md", len(commands_of("README.md")) >= 5, str(commands_of("README.md")))
    with Folder({"queues.yaml": "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n"}) as folder:
        for path in markdown + manual:
            typed(t, path, folder)
    for path in markdown:
        seen(t, path)
        links(t, path)
        make_targets(t, path)
    t.end()


if __name__ == "__main__":
    main()
