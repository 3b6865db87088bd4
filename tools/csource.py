# SPDX-License-Identifier: Apache-2.0
"""Reading C sources as far as the checks beside this file need it."""
import os
import re

TOKEN = re.compile(r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z) )
  | (?P<string>  "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'? )
  | (?P<include> ^[ \t]*\#[ \t]*include[ \t]*(?:"[^"\n]*"|<[^>\n]*>) )
""", re.X | re.S | re.M)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip(text):
    """The code alone: comments and what stands in quotes become blanks, so that lines and columns stay. Includes stay."""
    return TOKEN.sub(lambda m: m[0] if m["include"] else blank(m[0]), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def sources(root, *folders):
    """The .c and .h files below these folders of root, as paths from root, in order."""
    found = []
    for folder in folders:
        for path, dirs, names in os.walk(os.path.join(root, folder)):
            dirs.sort()
            found += [os.path.relpath(os.path.join(path, n), root) for n in sorted(names) if n.endswith((".c", ".h"))]
    return found


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()
