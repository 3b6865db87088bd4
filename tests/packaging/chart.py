# SPDX-License-Identifier: Apache-2.0
"""A small renderer for what the Helm chart uses of Go's templates: values, default, indent, if, else, range. For the tests, which hold a real helm against it."""
import os
import re

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHART = os.path.join(SOURCE, "packaging", "helm", "cede")
TEMPLATES = sorted(os.listdir(os.path.join(CHART, "templates")))
# Other values than those in the chart, to see that they have a say.
OTHER = {"replicas": "3", "image__repository": "registry.example/cede", "image__tag": "1.2.3", "extraArgs": ["--dry-run", "-v"], "imagePullSecret": "pull", "reader__create": False}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def parse_values(text):
    """The values file as it is written: maps by indentation, words, [] and one kind of block."""
    root, stack, lines = {}, [(-1, None)], text.splitlines()
    stack = [(-1, root)]
    i = 0
    while i < len(lines):
        line = lines[i]
        i += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        m = re.fullmatch(r"( *)([A-Za-z]+):(?: (.*))?", line)
        if not m:
            raise ValueError(f"values.yaml:{i}: {line}")
        depth, key, value = len(m[1]), m[2], m[3]
        while stack[-1][0] >= depth:
            stack.pop()
        if value is None:
            stack[-1][1][key] = {}
            stack.append((depth, stack[-1][1][key]))
        elif value == "|-":
            block = []
            while i < len(lines) and (not lines[i].strip() or lines[i].startswith(" " * (depth + 2))):
                block.append(lines[i][depth + 2:])
                i += 1
            stack[-1][1][key] = "\n".join(block).rstrip("\n")
        else:
            stack[-1][1][key] = [] if value == "[]" else {"true": True, "false": False, '""': ""}.get(value, value)
    return root


def look_up(scope, path):
    if path == ".":
        return scope["."]
    for name in path[1:].split("."):
        scope = scope[name]
    return scope


def evaluate(scope, expression):
    first, *pipes = [part.strip() for part in expression.split("|")]
    value = look_up(scope, first)
    for pipe in pipes:
        word, argument = pipe.split()
        if word == "default":
            value = value or look_up(scope, argument)
        elif word == "indent":
            value = "\n".join(" " * int(argument) + line for line in value.split("\n"))
        else:
            raise ValueError(f"the chart uses {word}, which this renderer does not know")
    return str(value)


def render(text, scope):
    tokens = re.split(r"(\s*\{\{-.*?\}\}|\{\{.*?\}\})", text)

    def block(i, scope, ends):
        out = []
        while i < len(tokens):
            m = re.fullmatch(r"\s*\{\{-? *(.*?) *-?\}\}", tokens[i], re.S)
            if not m:
                out.append(tokens[i])
                i += 1
                continue
            words = m[1].split()
            if words[0] in ends:
                return "".join(out), i
            if words[0] == "if":
                yes, i = block(i + 1, scope, ("else", "end"))
                no = ""
                if re.search(r"\belse\b", tokens[i]):
                    no, i = block(i + 1, scope, ("end",))
                out.append(yes if look_up(scope, words[1]) else no)
            elif words[0] == "range":
                start = i
                items = look_up(scope, words[1])
                body, i = block(start + 1, {**scope, ".": ""}, ("end",))
                out += [block(start + 1, {**scope, ".": item}, ("end",))[0] for item in items]
            else:
                out.append(evaluate(scope, m[1]))
            i += 1
        return "".join(out), i

    return block(0, scope, ())[0].lstrip("\n")


def put(values, path, value):
    *folders, last = path.split(".")
    for name in folders:
        values = values[name]
    values[last] = value


def chart(namespace, **changes):
    values = parse_values(read(CHART, "values.yaml"))
    for path, value in changes.items():
        put(values, path.replace("__", "."), value)
    scope = {"Values": values, "Release": {"Namespace": namespace}, "Chart": {"AppVersion": re.search(r"^appVersion: (.*)$", read(CHART, "Chart.yaml"), re.M)[1]}}
    return {name: render(read(CHART, "templates", name), scope) for name in TEMPLATES}


def plain(text):
    """Without what people read."""
    return re.sub(r"^\s*#.*\n", "", text, flags=re.M).strip()


def parts(text):
    """Its documents, without what people read."""
    return [plain(part) for part in re.split(r"^---\n", text, flags=re.M) if plain(part)]
