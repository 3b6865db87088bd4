#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The source archive: everything that is committed, the same bytes each time and from wherever it is made; one version in one place."""
import os
import re
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import SOURCE, Folder, Suite, cede  # noqa: E402

suite = Suite()


def run(*command, cwd=SOURCE, **env):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, env={**os.environ, **env})
    return done.stdout.strip() if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def names(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


version = run("tools/version")
suite.true("there is a version", re.fullmatch(r"\d+\.\d+\.\d+", version), version)
suite.equal("the program has it", cede("version").out, f"cede {version}\n")
# Build-Depends of the packages are what the Makefile installs to build.
installed = set(re.search(r"^PKG_RUN := (.*)$", names("Makefile"), re.M)[1].split()) - {"gcc", "libc6-dev"}
depends = re.search(r"^Build-Depends:\n((?: .*\n)+)", names("packaging/debian/control"), re.M)[1]
suite.equal("Debian's Build-Depends are those of the Makefile", sorted(re.findall(r"^ ([a-z0-9-]+),$", depends, re.M)), sorted(installed))

if not os.path.exists(os.path.join(SOURCE, ".git")):
    print("ok - the archive is what was committed # SKIP these sources are no clone")
    sys.exit(1 if suite.failed else 0)

with Folder({}) as folder:
    a, b, c = (os.path.join(folder, name) for name in "abc")
    first = run("tools/make-dist", a)
    suite.true("an archive is made", first.endswith(f"/cede-{version}.tar.gz"), first)
    run("tools/make-dist", b, TZ="Asia/Tokyo", LC_ALL="C", USER="somebody")
    archive = f"cede-{version}.tar.gz"
    suite.true("twice the same bytes", read(os.path.join(a, archive)) == read(os.path.join(b, archive)))
    with tarfile.open(os.path.join(a, archive)) as tar:
        members = tar.getmembers()
        found = sorted(m.name.split("/", 1)[1] for m in members if m.isfile())
        executable = sorted(m.name.split("/", 1)[1] for m in members if m.isfile() and m.mode & 0o100)
        tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(folder)
    committed = [line.split("\t") for line in run("git", "ls-tree", "-r", "HEAD").splitlines()]
    suite.equal("in it is what was committed, and a list of it", found, sorted([name for _, name in committed] + ["packaging/FILES"]))
    suite.equal("programs can be run", executable, sorted(name for mode, name in committed if mode.startswith("100755")))
    suite.equal("times are that of the commit", {m.mtime for m in members}, {int(run("git", "log", "-1", "--format=%ct"))})
    unpacked = os.path.join(folder, f"cede-{version}")
    suite.equal("unpacked, it knows its date without git", run("tools/source-date", cwd=unpacked), run("git", "log", "-1", "--format=%ct"))
    run("tools/make-dist", c, cwd=unpacked)
    suite.true("and makes the same archive again", os.path.exists(os.path.join(c, archive)) and read(os.path.join(a, archive)) == read(os.path.join(c, archive)))
sys.exit(1 if suite.failed else 0)
