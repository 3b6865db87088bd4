#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libcede as it is installed: what it shows, that programs and Python can use it, and that it decides what cede decides."""
import glob
import json
import os
import random
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import SANITIZED, SOURCE, Folder, Suite, cede as program  # noqa: E402

BUILD = os.path.abspath(os.environ.get("CEDE_BUILD") or os.path.join(SOURCE, "build"))
LIBRARY = os.path.join(BUILD, "libcede.so.0")
ARCHIVE = os.path.join(BUILD, "libcede.a")
EXAMPLE = sorted(glob.glob(os.path.join(SOURCE, "examples", "gpu-cluster", "*.yaml")))
EMBED = os.path.join(SOURCE, "examples", "embed")
TIME = "2026-11-15T12:00:00Z"

suite = Suite()


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **options)
    return done.returncode, done.stdout


def symbols(*options):
    _, out = run("nm", *options)
    return sorted(re.findall(r"^[0-9a-f]+ [A-Z] ([^@\n]+)", out, re.M))


# What is shown is what the header declares.
header = re.sub(r"/\*.*?\*/", "", read(os.path.join(SOURCE, "include", "cede.h")), flags=re.S)
declared = sorted(set(re.findall(r"\b(cede_[a-z_]+)\(", header)))
shown = [name for name in symbols("-D", "--defined-only", LIBRARY) if not name.startswith("CEDE_")]
if not SANITIZED:
    suite.equal("libcede.so shows what cede.h declares, and nothing else", shown, declared)
    suite.equal("so does libcede.a", symbols("-g", "--defined-only", ARCHIVE), declared)
_, dynamic = run("readelf", "-dW", LIBRARY)
suite.true("its SONAME is libcede.so.0", "soname: [libcede.so.0]" in dynamic, dynamic)
_, versions = run("readelf", "--version-info", "-W", LIBRARY)
suite.true("its symbols are of version CEDE_0", "CEDE_0" in versions, versions)

if SANITIZED:
    print("ok - programs and Python use the library # SKIP a sanitizer wants to be loaded before Python")
    sys.exit(1 if suite.failed else 0)


# A C program, linked in both ways.
def compile_and_run(folder, way, *libraries):
    target = os.path.join(folder, way)
    code, out = run("cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", os.path.join(EMBED, "plan.c"), "-I" + os.path.join(SOURCE, "include"),
                    "-o", target, *libraries)
    return out if code else run(target, *EXAMPLE, env={**os.environ, "LD_LIBRARY_PATH": BUILD})[1]


with Folder({}) as folder:
    code, flags = run("pkg-config", "--libs", "cede-uninstalled", env={**os.environ, "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled")})
    suite.equal("pkg-config knows the library", code, 0)
    words = compile_and_run(folder, "shared", *shlex.split(flags))
    suite.true("the C example says who has to go, and why", "    vision/sweep-3 has to go: root.ads.ranking uses 8 of 12 guaranteed" in words, words)
    suite.true("and what is different without one pod", "If one were to remove vision/sweep-4" in words, words)
    suite.equal("linked with the archive it says the same", compile_and_run(folder, "static", ARCHIVE, "-lyaml", "-lm", "-pthread"), words)
    if os.path.exists("/usr/bin/c++"):
        done = subprocess.run(["c++", "-fsyntax-only", "-Werror", "-x", "c++", "-I" + os.path.join(SOURCE, "include"), "-"], input="#include <cede.h>\n#include <cede_plugin.h>\n",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        suite.equal("both headers are C++ too", (done.returncode, done.stdout), (0, ""))

# Python.
code, words = run(sys.executable, "-B", os.path.join(EMBED, "guarantees.py"), env={**os.environ, "CEDE_LIBRARY": LIBRARY})
suite.true("the Python example ends well", code == 0, words)
suite.true("and prints what a change of a queue makes different", "EVICTIONS NO LONGER NEEDED (1)\n" in words and "If one were to guarantee root.ads.ranking 8" in words, words)

os.environ["CEDE_LIBRARY"] = LIBRARY
sys.path.insert(0, EMBED)
import cede  # noqa: E402


def load(paths, **options):
    cluster = cede.Cluster(now=TIME, **options)
    for path in paths:
        cluster.apply(read(path), name=path)
    return cluster


def says(command, *arguments):
    return json.loads(program(command, *[x for path in EXAMPLE for x in ("-f", path)], "--now", TIME, "-o", "json", "--quiet", *arguments).out)


cluster = load(EXAMPLE)
suite.true("the version is that of the program", cede.version() in program("version").out.split(), cede.version())
suite.equal("a plan is what cede plan prints", cluster.plan(), says("plan"))
suite.equal("an explanation is what cede explain prints", cluster.explain("vision/sweep-4"), says("explain", "vision/sweep-4"))
suite.equal("so is that of a queue", cluster.explain("root.ads.ranking"), says("explain", "root.ads.ranking"))
suite.equal("a view is what cede show prints", cluster.show(), says("show"))
for profile in ("kubernetes", "yunikorn", "kai"):
    suite.equal(f"profile {profile} too", load(EXAMPLE, profile=profile).plan(), says("plan", "--profile", profile))
suite.equal("three cycles and three threads too", load(EXAMPLE, cycles=3, threads=3).plan(), says("plan", "--cycles", "3"))

today = cluster.plan()
cluster.set("queue.root.ads.ranking.guaranteed.nvidia.com/gpu=8")
difference = cluster.difference(today, cluster.plan(), "set queue.root.ads.ranking.guaranteed.nvidia.com/gpu=8")
suite.equal("a difference is what cede plan --set prints", difference, says("plan", "--set", "queue.root.ads.ranking.guaranteed.nvidia.com/gpu=8"))
cluster.unset("queue.root.ads.ranking.guaranteed.nvidia.com/gpu")
suite.equal("and unset takes it back", cluster.plan(), today)

# Whatever the way, the same objects give the same plan.
documents = [text for path in EXAMPLE for text in re.split(r"^---\n", read(path), flags=re.M) if re.search(r"^[a-z]", text, re.M)]
objects = [text for text in documents if re.search(r"^kind:", text, re.M)]
differ = []
for seed in range(20):
    rng = random.Random(seed)
    cluster = cede.Cluster(now=TIME)
    for text in rng.sample(documents, len(documents)):
        cluster.apply(text)
    for text in rng.sample(objects, len(objects) // 2):
        kind = re.search(r"^kind: *(\w+)", text, re.M)[1]
        name = re.search(r"\bname: *([\w.-]+)", text[text.index("metadata"):])[1]
        namespace = re.search(r"\bnamespace: *([\w.-]+)", text)
        if rng.random() < 0.5:
            cluster.plan()
        cluster.remove(kind, name, namespace[1] if namespace else "")
        cluster.apply(text)
    if cluster.plan() != today:
        differ.append(seed)
suite.equal("20 random orders of arriving, going and coming back end in the same plan", differ, [])

# Broken input: every answer is an error with words or a plan; the process lives.
whole = "\n---\n".join(documents).encode()
silent = []
for seed in range(300):
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data))
        data[at:at + rng.randrange(0, 4)] = bytes(rng.randrange(256) for _ in range(rng.randrange(0, 4)))
    broken = cede.Cluster(now=TIME)
    try:
        broken.apply(bytes(data[:rng.randrange(len(data))] if seed % 3 == 0 else data))
        broken.plan()
    except cede.Error as error:
        if not str(error) or error.code == 6:
            silent.append((seed, error.code, str(error)))
suite.equal("300 damaged texts are refused with words or planned", silent, [])
sys.exit(1 if suite.failed else 0)
