#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operations.md has every metric with its labels, and no other; every metric is set; every event's reason that the code writes is there."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import SOURCE, Suite  # noqa: E402


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


def table():
    """From the id of each metric to its name and labels."""
    text = read("src", "serve", "metric_table.h").replace("\\\n", "")
    rows = re.findall(r'ROW\((\w+),\s*\w+,\s*"([^"]+)",\s*"([^"]*)",\s*"([^"]*)",\s*"([^"]*)",\s*"', text)
    return {row[0]: (row[1], [x for x in row[2:] if x]) for row in rows}


def helps():
    """From the name of each metric to its kind and what /metrics says of it."""
    text = re.sub(r'"\s*"', "", read("src", "serve", "metric_table.h").replace("\\\n", ""))
    return {name: (kind, said) for kind, name, said in re.findall(r'ROW\(\w+,\s*(\w+),\s*"([^"]+)",.*?"([^"]*)"\)', text)}


def main():
    t = Suite()
    metrics = table()
    documented = {name: re.findall(r"`([^`]+)`", labels)
                  for name, labels in re.findall(r"^\| `([a-z_]+)` \| ([^|]*) \| (?:counter|gauge|histogram)\.", read("docs", "operations.md"), re.M)}
    words = {name: said for name, said in re.findall(r"^\| `([a-z_]+)` \| [^|]* \| ([^|]*) \|$", read("docs", "operations.md"), re.M) if name in documented}
    t.equal("and says of each what /metrics says", words, {name: f"{kind.split('_')[0].lower()}. {said}" for name, (kind, said) in helps().items()})
    t.true("there are metrics", len(metrics) > 40, str(metrics))
    t.equal("docs/operations.md has every metric, and no other, with its labels", documented, dict(metrics.values()))
    code = "".join(read(path) for path in glob.glob("src/**/*.c", root_dir=SOURCE, recursive=True) if path != "src/serve/metrics.c") + read("src", "serve", "metrics.c")
    t.equal("every metric is set somewhere", sorted(i for i in metrics if not re.search(rf"\bMETRIC_{i}\b", code)), [])
    known = set(dict(metrics.values()))
    named = set(re.findall(r"`((?:cede|scheduler|rest_client|leader_election|process)_[a-z_]+)`", read("docs", "operations.md")))
    t.equal("what is named in the text exists", sorted(named - known), [])
    events = set(re.findall(r"^\| `([A-Z][A-Za-z]+)` \| (?:Normal|Warning) \|", read("docs", "operations.md"), re.M))
    written = set(re.findall(r'"(Scheduled|FailedScheduling|Preempted|ConfigurationRefused)"', code)) \
        | set(re.findall(r'(?:"Normal"|"Warning"|is_warning[^,]*),\s*"([A-Z][A-Za-z]+)"', code))
    t.equal("every event that is written is there", sorted(written - events), [])
    t.end()


main()
