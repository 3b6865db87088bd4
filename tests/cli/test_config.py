#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede config print`: every setting, its value, and where it comes from."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Folder, Suite, cede  # noqa: E402

MINE = """apiVersion: cede.dev/v1
kind: CedeConfiguration
schedulerNames: [cede, batch]
rules:
  opt-out: {mode: hard}
  thrash: {soft: 3, window: 90m}
actions: {reclaim: {patience: 2m30s}}
"""
KAI = """actions: "allocate, reclaim"
tiers:
- plugins:
  - name: minruntime
    arguments:
      defaultReclaimMinRuntime: 10m
"""


def settings(*args):
    found = cede("config", "print", "-o", "json", *args)
    return {s["key"]: (s["value"], s["from"]) for s in json.loads(found.out)["settings"]} if found.code == 0 else found.err


def main():
    t = Suite()
    t.golden("the defaults", "config-default.txt", cede("config", "print").out)
    for profile in ("kubernetes", "yunikorn", "kai"):
        t.golden(f"profile {profile}", f"config-{profile}.txt", cede("config", "print", "--profile", profile).out)
    with Folder({"mine.yaml": MINE, "kai.yaml": KAI, "bad.yaml": MINE.replace("thrash", "trash")}) as path:
        mine, kai, bad = (os.path.join(path, f) for f in ("mine.yaml", "kai.yaml", "bad.yaml"))
        found = settings("--config", mine, "-f", kai)
        for key, value, line in (("schedulerNames", "[cede, batch]", f"{mine}:3:17"), ("rules.opt-out.mode", "hard", f"{mine}:5:19"),
                                 ("rules.thrash.soft", "3", f"{mine}:6:18"), ("rules.thrash.hard", "4", "default"),
                                 ("rules.thrash.window", "1h30m", f"{mine}:6:29"), ("actions.reclaim.patience", "2m30s", f"{mine}:7:31"),
                                 ("minruntime.defaultReclaimMinRuntime", "10m", f"{kai}:6:33"),
                                 ("minruntime.reclaimResolveMethod", "lca", "default"), ("profile", "default", "default")):
            t.equal(f"{key} and where it comes from", found.get(key), (value, line))
        t.equal("an option counts more than a file", settings("--config", mine, "--profile", "yunikorn")["profile"], ("yunikorn", "--profile"))
        text = cede("config", "print", "--config", mine).out
        again = cede("config", "print", "-f", "-", stdin=text.encode()).out
        values = lambda s: [line.split("#")[0].rstrip() for line in s.splitlines() if not line.startswith("#")]
        t.equal("what is printed reads back as the same settings", values(again), values(text))
        idle = json.loads(cede("config", "print", "--config", mine, "-f", kai, "--profile", "kubernetes", "-o", "json").out)["withoutEffect"]
        t.equal("settings that a file gives and the profile does not heed are named, with their places", [(s["key"], s["from"]) for s in idle],
                [("rules.opt-out.mode", f"{mine}:5:19"), ("rules.thrash.soft", f"{mine}:6:18"), ("rules.thrash.window", f"{mine}:6:29"),
                 ("actions.reclaim.patience", f"{mine}:7:31"), ("actions", f"{kai}:1:10"), ("minruntime.defaultReclaimMinRuntime", f"{kai}:6:33")])
        t.true("and so they are for people", "# Without effect in this profile\n#   rules.opt-out.mode (" in
               cede("config", "print", "--config", mine, "--profile", "kubernetes").out)
        t.true("a misspelt rule is refused with a suggestion", "did you mean thrash" in cede("config", "print", "--config", bad).err.replace('"', "").replace("'", ""),
               cede("config", "print", "--config", bad).err)
    for name, args in (("nothing", ()), ("something else", ("write",))):
        t.equal(f"{name} is refused", cede("config", *args).code, 2)
    t.golden("cede config --help", "help-config.txt", cede("config", "--help").out)
    t.end()


if __name__ == "__main__":
    main()
