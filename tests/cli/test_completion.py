#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cede completion`: what the shells offer is what --help lists, asked of the shells themselves where they are installed."""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, Folder, Suite, cede, environment  # noqa: E402

SHELLS = ["bash", "zsh", "fish"]
PROFILES = ["default", "kai", "kubernetes", "yunikorn"]
FORMATS = ["json", "text", "wide", "yaml"]


def command_names():
    return re.findall(r"^  ([a-z]+) ", cede("--help").out.split("Exit codes")[0], re.M)


def options_of(command):
    return sorted(set(re.findall(r"^ +(?:-.,)? *(--[a-z-]+)", cede(command, "--help").out, re.M)))


def shell(*args, **options):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment(), cwd=SOURCE,
                          timeout=60, text=True, check=False, **options)
    return done.returncode, done.stdout, done.stderr


# ---- bash ----

# Words as bash cuts them, the last one to be completed, and what is offered.
OFFERED = [
    ("a command", ["pl"], ["plan"]),
    ("a command that is complete", ["plan"], ["plan"]),
    ("the program's own options", ["--"], ["--help", "--version"]),
    ("an option", ["plan", "--prof"], ["--profile"]),
    ("an option after others", ["plan", "--strict", "-o", "json", "--no"], ["--no-color", "--now"]),
    ("an option's value", ["plan", "--profile", ""], PROFILES),
    ("an option's value that has begun", ["plan", "--profile", "ku"], ["kubernetes"]),
    ("a value after =", ["plan", "--profile", "=", "ku"], ["kubernetes"]),
    ("a value right after =", ["show", "--output", "="], FORMATS),
    ("the value of a letter", ["show", "-o", ""], FORMATS),
    ("the value of an option that only one command has", ["bench", "--shape", "m"], ["mixed"]),
    ("the words of a command that takes more than others", ["simulate", "-o", "c"], ["csv"]),
    ("and no others", ["plan", "-o", "c"], []),
    ("of a command that takes fewer", ["serve", "--format", ""], ["openb", "philly", "swf"]),
    ("profiles to compare", ["compare", "--profile", "ku"], ["kubernetes"]),
    ("states", ["history", "--state", "c"], ["carried-out"]),
    ("rules that evictions can go against", ["history", "--rule", ""], ["budget", "driver", "opt-out", "thrash"]),
    ("formats of the log", ["run", "--log", ""], ["json", "text"]),
    ("what can be done with a journal", ["journal", ""], ["check", "salvage", "show"]),
    ("no value that nobody can know", ["plan", "--now", ""], []),
    ("a word that a command takes", ["bench", "p"], ["preempt"]),
    ("the shells", ["completion", ""], SHELLS + ["--help", "--usage"]),
    ("a command to have explained", ["help", "li"], ["lint"]),
    ("nothing for what is no command", ["frobnicate", "--"], []),
    ("nothing for what matches nothing", ["plan", "--frob"], []),
]


def ask_bash(script, words):
    line = (f"{script}\nCOMP_WORDS=(cede {' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words)}\n"
            "set -u; _cede; printf '%s\\n' \"${COMPREPLY[@]}\"")
    code, out, err = shell("bash", "--norc", "-c", line)
    return sorted(out.split()), code, err


def bash(t, script):
    t.equal("bash has nothing against the script", shell("bash", "-n", "-c", script), (0, "", ""))
    for name, words, expected in OFFERED:
        t.equal(f"bash offers {name}: cede {' '.join(words)}", ask_bash(script, words), (sorted(expected), 0, ""))
    t.equal("bash offers every command", ask_bash(script, [""])[0], sorted(command_names() + ["--help", "--version"]))
    for command in command_names():
        expected = [] if command == "help" else options_of(command)
        t.equal(f"bash offers every option of {command}, and no other", ask_bash(script, [command, "--"])[0], expected)


def typed(script, keys):
    """What a bash on a terminal makes of these keys: the words that a program called cede is given then."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(SOURCE)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {"PATH": os.environ["PATH"], "TERM": "dumb", "INPUTRC": "/dev/null"})
    seen = ""

    def wait_for(mark):
        nonlocal seen
        end = time.monotonic() + 30
        while mark not in seen and time.monotonic() < end and select.select([terminal], [], [], end - time.monotonic())[0]:
            try:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")
            except OSError:
                break
    with Folder({"script": f"{script}\ncede() {{ printf '{{%s}}' \"$@\"; echo; echo d''one; }}\necho r''eady\n"}) as folder:
        os.write(terminal, f"source {folder}/script\n".encode())
        wait_for("ready")
        os.write(terminal, keys.encode() + b"\n")
        wait_for("done")
        os.write(terminal, b"exit\n")
        wait_for("exit\r\n" * 2)
    os.close(terminal)
    os.waitpid(pid, 0)
    found = re.search(r"(?m)^\{.*\}", seen)
    return found[0] if found else seen


TYPED = [
    ("a command", "cede pl\t", "{plan}"),
    ("an option", "cede plan --prof\t", "{plan}{--profile}"),
    ("a value", "cede plan --profile ku\t", "{plan}{--profile}{kubernetes}"),
    ("a value after =", "cede plan --profile=ku\t", "{plan}{--profile=kubernetes}"),
    ("a file", "cede plan -f examples/gpu-cl\t", "{plan}{-f}{examples/gpu-cluster/}"),
    ("a journal", "cede history --action reclaim examples/gpu-cl\t", "{history}{--action}{reclaim}{examples/gpu-cluster/}"),
    ("a journal to check", "cede journal check examples/gpu-cl\t", "{journal}{check}{examples/gpu-cluster/}"),
    ("a configuration", "cede compare examples/gpu-cl\t", "{compare}{examples/gpu-cluster/}"),
    ("a file after =", "cede plan --file=examples/gpu-cl\t", "{plan}{--file=examples/gpu-cluster/}"),
]


def bash_on_terminal(t, script):
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        t.skip("keys typed into bash", "there are no pseudo-terminals here")
        return
    for name, keys, expected in TYPED:
        t.equal(f"typed into bash, the tabulator completes {name}: {keys.strip()}", typed(script, keys), expected)


# ---- zsh and fish ----

def zsh(t, script):
    if not shutil.which("zsh"):
        t.skip("zsh has nothing against the script", "zsh is not installed")
        return
    t.equal("zsh has nothing against the script", shell("zsh", "-f", "-n", "-c", script), (0, "", ""))
    code, out, err = shell("zsh", "-f", "-c", f"autoload -U compinit && compinit -u -D\n{script}\nprint $_comps[cede]")
    t.equal("zsh knows who completes cede", (code, out, err), (0, "_cede\n", ""))


def fish(t, script):
    if not shutil.which("fish"):
        t.skip("fish has nothing against the script", "fish is not installed")
        return

    def ask(line):
        code, out, err = shell("fish", "--no-config", "-c", f"{script}\ncomplete -C {shlex.quote(line)}")
        return [row.split("\t")[0] for row in out.splitlines()], code, err
    for name, line, expected in [
        ("a command", "cede pl", ["plan"]),
        ("an option", "cede plan --prof", ["--profile"]),
        ("a value", "cede plan --profile ku", ["kubernetes"]),
        ("a value after =", "cede plan --profile=ku", ["--profile=kubernetes"]),
        ("a shell", "cede completion z", ["zsh"]),
        ("a journal", "cede history examples/gpu-cl", ["examples/gpu-cluster/"]),
        ("a journal to check", "cede journal check examples/gpu-cl", ["examples/gpu-cluster/"]),
        ("a folder", "cede plan -f examples/gpu-cl", ["examples/gpu-cluster/"]),
    ]:
        found, code, err = ask(line)
        t.equal(f"fish offers {name}: {line}", ([w.rstrip("=") for w in found], code, err), (expected, 0, ""))


# ---- all of them ----

def every_option(t, name, script):
    """Also without the shell: all options of all commands are in the script."""
    found = set(re.findall(r"--([a-z-]+)|-l ([a-z-]+)", script))
    found = {a or b for a, b in found}
    expected = {o[2:] for command in command_names() for o in options_of(command)}
    t.equal(f"the script for {name} has every option", sorted(expected - found), [])


def wrong(t):
    see = "Try `cede completion --help' or `cede completion --usage' for more\ninformation.\n"
    for name, args, message in [
        ("no shell", [], "which shell? bash, zsh or fish"),
        ("an unknown shell", ["powershell"], "shell: 'powershell' is not one of bash, zsh, fish"),
        ("two shells", ["bash", "zsh"], "one shell at a time, please: 'zsh' is the second"),
    ]:
        found = cede("completion", *args)
        t.equal(f"{name} is refused with exit code 2", (found.code, found.out, found.err), (2, "", f"cede completion: {message}\n{see}"))


def main():
    t = Suite()
    scripts = {}
    for name in SHELLS:
        found = cede("completion", name)
        scripts[name] = found.out
        t.equal(f"cede completion {name}: exit code and no complaints", (found.code, found.err), (0, ""))
        every_option(t, name, found.out)
    for command, words in (("history", ""), ("replay", ""), ("journal", "check salvage show"), ("compare", "")):
        page = re.search(rf"^\t{command}\)\n(.*?)^\t\t;;", scripts["zsh"], re.M | re.S)[1]
        t.true(f"zsh completes files after {command}", page.endswith(f"':argument:({words})' \\\n\t\t\t'*:file:_files'\n" if words else "'*:file:_files'\n"), page[-200:])
        t.true(f"fish completes files after {command}", f"complete -c cede -n '__fish_seen_subcommand_from {command}' -F\n" in scripts["fish"])
    bash(t, scripts["bash"])
    bash_on_terminal(t, scripts["bash"])
    zsh(t, scripts["zsh"])
    fish(t, scripts["fish"])
    wrong(t)
    t.end()


if __name__ == "__main__":
    main()
