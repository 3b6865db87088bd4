#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runner of facts itself: what it must not let pass. Facts of the repository are changed, and it has to notice."""
import os
import subprocess
import sys
import tempfile

ROOT = os.environ.get("CEDE_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CONFORM = os.path.join(os.environ.get("CEDE_BUILD", os.path.join(ROOT, "build")), "conform")
FACTS = os.path.join(ROOT, "tests", "conformance", "facts")

FILTERS, PREEMPTION, YUNIKORN, KAI = "kubernetes/filters.yaml", "kubernetes/preemption.yaml", "yunikorn/preemption.yaml", "kai/actions.yaml"

# A sentence, the file, what is replaced in it and by what, and what has to be said.
CHANGES = [
    ("another victim", PREEMPTION, "victims: [low]", "victims: [mid]", "expected mid, got low"),
    ("one victim more", PREEMPTION, "victims: [low]", "victims: [low, mid]", "expected low mid, got low"),
    ("another code of a status", PREEMPTION, "status: {code: Success}", "status: {code: Unschedulable}", "code: expected Unschedulable, got Success"),
    ("another number of violations", PREEMPTION, "victims: [free], numPDBViolations: 0", "victims: [free], numPDBViolations: 1", "violations on n: expected 1"),
    ("a candidate that is none", PREEMPTION, "candidates: [{node: a", "candidates: [{node: b", "no candidate, got one, a1 goes"),
    ("a unit that is nowhere", PREEMPTION, "violating: [{unit: 1, violations: 1}]", "violating: []", "unit 1: expected no violation, got one"),
    ("a condition nobody would take for preemption", PREEMPTION, "reason: PreemptionByScheduler", "reason: Other", "victimCondition"),
    ("another amount that is missing", FILTERS, "requested: 50", "requested: 51", "requested: expected 51, got 50"),
    ("another amount in use", FILTERS, "used: 60", "used: 61", "used: expected 61, got 60"),
    ("another capacity", FILTERS, "capacity: 100", "capacity: 99", "capacity: expected 99, got 100"),
    ("a type that is not short", FILTERS, "insufficient: []", "insufficient: [{resource: cpu}]", "insufficient: expected cpu, got enough of it"),
    ("one type less", FILTERS, "    - {resource: memory, reason: Insufficient memory, requested: 30, used: 50, capacity: 70, unresolvable: false}\n", "",
     "insufficient types: expected 1, got 2"),
    ("a field that nobody compares", FILTERS, "expect: {match: true}", "expect: {match: true, mismatch: false}", "mismatch: expected that somebody compares it"),
    ("another fence", YUNIKORN, "fence: root.t}", "fence: root}", "fence: expected root, got root.t"),
    ("another count of DaemonSet pods", YUNIKORN, "required_node: 1, no_match", "required_node: 0, no_match", "required_node: expected 0, got 1"),
    ("another count of those without the type", YUNIKORN, "no_match: 1", "no_match: 2", "no_match: expected 2, got 1"),
    ("another count of higher ones", YUNIKORN, "higher_priority: 1", "higher_priority: 0", "higher_priority: expected 0, got 1"),
    ("another count of those that go", YUNIKORN, "released: 1}", "released: 0}", "already_preempted and released"),
    ("another end of a story", YUNIKORN, "giver_running: 2", "giver_running: 3", "giver_running: expected 3, got 2"),
    ("another state of a task", KAI, '"b1": {"status": "Pipelined"', '"b1": {"status": "Pending"', "b1-0: expected Pending on n, got Pipelined on n"),
]

n_run = n_bad = 0


def tell(is_ok, sentence, output=""):
    global n_run, n_bad
    n_run += 1
    n_bad += not is_ok
    print(f"{'ok' if is_ok else 'not ok'} {n_run} - {sentence}")
    if not is_ok:
        print("".join(f"# {line}\n" for line in output.splitlines()), end="")


def conform(folder, *options):
    done = subprocess.run([CONFORM, folder, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def copy_with(folder, changed, old, new):
    """All facts, one file changed. False if there is nothing to change."""
    is_changed = False
    for path, _, names in os.walk(FACTS):
        for name in names:
            relative = os.path.relpath(os.path.join(path, name), FACTS)
            with open(os.path.join(path, name), encoding="utf-8") as f:
                text = f.read()
            if relative == changed:
                is_changed = old in text
                text = text.replace(old, new)
            os.makedirs(os.path.dirname(os.path.join(folder, relative)), exist_ok=True)
            with open(os.path.join(folder, relative), "w", encoding="utf-8") as f:
                f.write(text)
    return is_changed


def check_changes():
    for sentence, path, old, new, words in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            is_changed = copy_with(folder, path, old, new)
            code, output = conform(folder)
            tell(is_changed and code == 1 and words in output, f"it notices {sentence}", output)


def check_known():
    """The difference of a fact whose victim was changed: listed as it is, otherwise, and where there is none."""
    listed = "- {id: own/k8s/victims/one-is-enough, requirement: KF-5, because: it is a test, instead: \"%s\"}\n"
    rows = [
        ("a known difference counts as skipped", "victims: [mid]", listed % "victims on n: low", 0, "9 passed, 0 failed, 1 skipped"),
        ("up to three dots", "victims: [mid]", listed % "victims on ...", 0, "9 passed, 0 failed, 1 skipped"),
        ("one that differs otherwise is a failure", "victims: [mid]", listed % "victims on n: high", 1, "differs otherwise than listed; instead: victims on n: low"),
        ("one that does not differ any more is a failure", "victims: [low]", listed % "victims on n: low", 1, "does not differ any more"),
        ("a list that does not say what happens instead is refused", "victims: [mid]", listed.replace(', instead: \"%s\"', ""), 2, "instead"),
    ]
    for sentence, new, known, wanted, words in rows:
        with tempfile.TemporaryDirectory() as folder:
            copy_with(folder, PREEMPTION, "victims: [low]", new)
            with open(os.path.join(folder, "known.yaml"), "w", encoding="utf-8") as f:
                f.write(known)
            code, output = conform(folder, "--known", os.path.join(folder, "known.yaml"))
            tell(code == wanted and words in output, sentence, output)


def main():
    if not os.path.exists(CONFORM):
        print("1..0 # SKIP no conform in the build folder")
        return 0
    code, output = conform(FACTS)
    tell(code == 0, "the facts of the repository hold", output)
    tell(" 0 skipped" in output and not any(", 0 skipped" not in line for line in output.splitlines() if line.startswith("conform:")),
         "and none of them is skipped", output)
    check_changes()
    check_known()
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
