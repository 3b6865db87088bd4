#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worked examples: where a page shows a command after "$ " and then what it prints, that is what it prints, to the letter.

A line "…" stands for lines that are left out. UPDATE=1 writes blocks without one anew.
"""
import glob
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, Suite, cede  # noqa: E402

BLOCK = re.compile(r"^```\n(\$ cede .*?)^```$", re.M | re.S)
WORKED = ("docs/tutorial.md", "docs/migrating-kube-scheduler.md", "docs/migrating-yunikorn.md", "docs/migrating-kai.md")


def answers(block):
    """Pairs of a command and what is shown of its answer."""
    parts = re.split(r"^\$ (cede .*)\n", block, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def printed(command):
    done = cede(*shlex.split(command, comments=True)[1:])
    return done.out if done.code == 0 else f"exit {done.code}: {done.err}"


def matches(shown, found):
    pieces = [re.escape(piece) for piece in re.split(r"^ *…\n", shown, flags=re.M)]
    return re.fullmatch("(?:.*\n)*?".join(pieces), found) is not None


def update(path, text):
    def anew(m):
        return "```\n" + "".join(f"$ {command}\n" + (shown if "…" in shown else printed(command).rstrip("\n") + "\n") for command, shown in answers(m[1])) + "```"
    with open(os.path.join(SOURCE, path), "w", encoding="utf-8") as f:
        f.write(BLOCK.sub(anew, text))


def main():
    t = Suite()
    pages = [os.path.relpath(p, SOURCE) for p in sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md")))]
    t.equal("the pages with worked examples are there", [p for p in WORKED if p not in pages], [])
    for path in pages:
        with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
            text = f.read()
        blocks = BLOCK.findall(text)
        if path in WORKED:
            t.true(f"{path}: has worked examples", len(blocks) >= 3, str(len(blocks)))
        if os.environ.get("UPDATE"):
            update(path, text)
            continue
        for command, shown in (pair for block in blocks for pair in answers(block)):
            found = printed(command).rstrip("\n") + "\n"
            t.true(f"{path}: {command}", matches(shown.rstrip("\n") + "\n", found), found)
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
