# SPDX-License-Identifier: Apache-2.0
"""Runs the program as a user would and compares what it says; prints a line "ok - ..." or "not ok - ..." for each test.

Golden files stand in tests/cli/golden; UPDATE=1 writes them anew instead of comparing.
"""
import difflib
import os
import resource
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("CEDE_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CEDE = os.path.abspath(os.environ.get("CEDE") or os.path.join(SOURCE, "build", "cede"))
GOLDEN = os.path.join(SOURCE, "tests", "cli", "golden")
NOW = ["--now", "2026-11-15T12:00:00Z"]


def environment(**more):
    """The caller's, without what changes the words of the program."""
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "ARGP_HELP_FMT", "TERM")}
    return {**env, **more}


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def cede(*args, cwd=SOURCE, stdin=b"", env=None, **options):
    done = subprocess.run([CEDE, *args], cwd=cwd, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env or environment(), timeout=120, **options)
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


# Sanitizers take memory of their own; only what is built without them says something about it.
SANITIZED = any(word in os.path.basename(os.environ.get("CEDE_BUILD") or os.path.dirname(CEDE)) for word in ("asan", "tsan", "ubsan", "fuzz", "coverage"))


def in_memory(limit):
    """Options for cede(): it gets so many bytes of memory and no more, where it is built without what takes memory of its own."""
    return {} if SANITIZED else {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


class Suite:
    def __init__(self):
        self.failed = 0

    def report(self, is_good, name, why=""):
        print(("ok - " if is_good else "not ok - ") + name)
        if not is_good:
            self.failed += 1
            print("".join(f"#   {line}\n" for line in why.splitlines()), end="")
        sys.stdout.flush()
        return is_good

    def equal(self, name, found, expected):
        diff = "" if found == expected else "\n".join(
            difflib.unified_diff(str(expected).split("\n"), str(found).split("\n"), "expected", "found", lineterm=""))
        return self.report(found == expected, name, diff)

    def true(self, name, is_good, why=""):
        return self.report(is_good, name, why)

    def golden(self, name, file, text):
        path = os.path.join(GOLDEN, file)
        if os.environ.get("UPDATE"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        try:
            with open(path, encoding="utf-8") as f:
                expected = f.read()
        except FileNotFoundError:
            expected = ""
        return self.equal(name, text, expected)

    def skip(self, name, why):
        print(f"ok - {name} # SKIP {why}", flush=True)

    def end(self):
        sys.exit(1 if self.failed else 0)


class Folder:
    """A folder of files that is gone afterwards: `with Folder({"a.yaml": text}) as path`."""

    def __init__(self, files):
        self.files = files

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="cede-test-")
        for name, content in self.files.items():
            path = os.path.join(self.temporary.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if content is not None:
                with open(path, "wb") as f:
                    f.write(content if isinstance(content, bytes) else content.encode())
        return self.temporary.name

    def __exit__(self, *ignored):
        self.temporary.cleanup()
