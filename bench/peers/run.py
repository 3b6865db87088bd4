#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py BUILD_DIR [--peers kube,yunikorn,kai] [--nodes 100,1000,...] [--out FILE]: cede beside the code of the three originals.

For each size a full cluster is made by cede's own generator (bench/live_cluster.h), written to a file, decided on by cede in the peer's profile, and read and
decided on by the peer: same nodes, pods, queues, waiting pods, one thread each, time of the processor, the median. One waiting pod a decision. Answers
(node and victims) are compared where the peer looks at everything and in a fixed order; where it does not, that is said.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PODS, WAITING = 30, 61
PATIENCE_S = int(os.environ.get("CEDE_BENCH_PATIENCE") or 900)
PEERS = {
    "kube": {"name": "kube-scheduler", "profile": "kubernetes", "queues": 2, "waiting": None, "ways": {"exhaustive": ["exhaustive"], "as it samples": ["sampled"]}},
    "yunikorn": {"name": "YuniKorn", "profile": "yunikorn", "queues": 20, "waiting": None, "ways": {"preemption": ["preemption"]}},
    # KAI decides about everything that waits in each cycle, so one pod waits.
    "kai": {"name": "KAI", "profile": "kai", "queues": 20, "waiting": 1, "ways": {"actions": ["actions"], "with its snapshot": ["open", "actions"]}},
}


def version(peer):
    """Of the peer's module, as required."""
    module = {"kube": "k8s.io/kubernetes ", "yunikorn": "github.com/apache/yunikorn-core ", "kai": "github.com/NVIDIA/KAI-scheduler "}[peer]
    with open(os.path.join(HERE, peer, "go.mod"), encoding="utf-8") as f:
        for line in f:
            if module in line and "=>" not in line:
                return line.split(module)[1].split()[0]
    return ""


def build(build_dir, peer):
    program = os.path.join(os.path.abspath(build_dir), "peers", peer)
    os.makedirs(os.path.dirname(program), exist_ok=True)
    made = subprocess.run(["go", "build", "-trimpath", "-o", program, "."], cwd=os.path.join(HERE, peer), env=dict(os.environ, CGO_ENABLED="0"), check=False)
    return program if made.returncode == 0 else None


def answer_of(a):
    return a["node"], tuple(sorted(a["victims"]))


def agreement(mine, theirs):
    """How many of their answers are cede's, of how many, and how many different ones there are to the same question."""
    mine = {a["pod"]: answer_of(a) for a in mine}
    kinds = {}
    for a in theirs:
        kinds.setdefault(a["pod"], set()).add(answer_of(a))
    return {"same": sum(answer_of(a) == mine.get(a["pod"]) for a in theirs), "of": len(theirs), "questions": len(kinds),
            "differentAnswers": sum(len(k) for k in kinds.values()),
            "victims": sum(len(a["victims"]) for a in theirs), "victimsOfCede": sum(len(mine[a["pod"]][1]) for a in theirs if a["pod"] in mine)}


def measure(build_dir, peer, program, nodes, state, n):
    about = PEERS[peer]
    n = n or (3 if nodes > 1000 or peer == "kai" else 10)
    cede = json.loads(subprocess.run([os.path.join(build_dir, "bench", "peers_cede"), about["profile"], str(nodes), str(PODS), str(about["queues"]),
                                      str(about["waiting"] or WAITING), str(n), state], check=True, stdout=subprocess.PIPE).stdout)
    row = {"peer": about["name"], "version": version(peer), "profile": about["profile"], "nodes": nodes, "podsPerNode": PODS, "runningPods": cede["runningPods"],
           "queues": about["queues"] if peer != "kube" else 0, "decisions": n,
           "ms": {"floor": statistics.median(cede["floor"]), "cede cold": statistics.median(cede["cold"]), "cede warm": statistics.median(cede["warm"])},
           "warmMean": statistics.mean(cede["warm"]), "warmDecisions": len(cede["warm"]), "answers": {}}
    try:
        said = subprocess.run([program, "-decisions", str(n), state], check=True, stdout=subprocess.PIPE, timeout=PATIENCE_S).stdout
    except subprocess.TimeoutExpired:
        row["gaveUpAfterSeconds"] = PATIENCE_S
        return row
    theirs = json.loads(said)
    for way, parts in about["ways"].items():
        row["ms"][way] = statistics.median(sum(t) for t in zip(*(theirs["ms"][p] for p in parts)))
        row["answers"][way] = agreement(cede["answers"], theirs["answers"][parts[-1]])
    return row


def show(row):
    ms = row["ms"]
    for way in [k for k in ms if k != "floor" and not k.startswith("cede ")] or [None]:
        head = f"{row['peer']:<15}{way or '':<18}{row['nodes']:>6} x {row['podsPerNode']:<3} floor {ms['floor']:>7.3f}  cold {ms['cede cold']:>8.3f}  warm {ms['cede warm']:>8.3f} (mean {row['warmMean']:>7.3f})"
        if way is None:
            print(f"{head}  not done in {row['gaveUpAfterSeconds']} s", flush=True)
            continue
        a = row["answers"][way]
        print(f"{head}  peer {ms[way]:>10.2f} ms: {ms[way] / ms['cede cold']:>7.0f} x cold, {ms[way] / ms['cede warm']:>7.0f} x warm; "
              f"{a['same']} of {a['of']} answers are cede's", flush=True)


def short(ms):
    return f"{ms:.3f}" if ms < 1 else f"{ms:.1f}" if ms < 100 else f"{ms:,.0f}"


def markdown(rows):
    """The table of docs/benchmarks.md."""
    yield "| original | nodes | floor | cede, cold | cede, warm: median (mean) | original | × cold | × warm: median (mean) | same answers |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        ms = row["ms"]
        for way, a in row["answers"].items():
            yield (f"| {row['peer']}, {way} | {row['nodes']:,} | {short(ms['floor'])} | {short(ms['cede cold'])} | {short(ms['cede warm'])} ({short(row['warmMean'])}) | {short(ms[way])} "
                   f"| {ms[way] / ms['cede cold']:,.0f} | {ms[way] / ms['cede warm']:,.0f} ({ms[way] / row['warmMean']:,.0f}) | {a['same']} of {a['of']} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build_dir")
    p.add_argument("--peers", default=",".join(PEERS))
    p.add_argument("--nodes", default="100,300,1000,3000,5000,10000")
    p.add_argument("--decisions", type=int, help="of each (usually 10, 3 from 3,000 nodes on and for KAI)")
    p.add_argument("--out")
    p.add_argument("--table", action="store_true", help="measure nothing; print what is in --out as Markdown")
    o = p.parse_args()
    if o.table:
        with open(o.out, encoding="utf-8") as f:
            print("\n".join(markdown(json.load(f))))
        return 0
    if not shutil.which("go"):
        print("bench-peers: Go is not installed, skipped")
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for peer in o.peers.split(","):
            program = build(o.build_dir, peer)
            if not program:
                print(f"bench-peers: {PEERS[peer]['name']} {version(peer)} cannot be built (above), skipped")
                continue
            for nodes in map(int, o.nodes.split(",")):
                rows.append(measure(o.build_dir, peer, program, nodes, os.path.join(folder, "state.json"), o.decisions))
                show(rows[-1])
                if o.out:
                    with open(o.out, "w", encoding="utf-8") as f:
                        json.dump(rows, f, indent=1)
                        f.write("\n")
                if "gaveUpAfterSeconds" in rows[-1]:
                    break
    return 0


if __name__ == "__main__":
    sys.exit(main())
