#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede serve, asked as browsers and programs do: the same JSON as the command line's, pages, what if, events, hostile requests."""
import json
import os
import ssl
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import NOW, Folder, Suite, cede  # noqa: E402
from server import EXAMPLE, Server  # noqa: E402

t = Suite()
MARKUP = "<img src=x onerror=alert(1)>"


def same_as_the_command_line(s):
    t.equal("the plan is that of cede plan, byte by byte", s.ask("/api/v1/plan"), (200, cede("plan", *EXAMPLE, "-o", "json").out))
    t.equal("over several cycles too", s.ask("/api/v1/plan?cycles=3"), (200, cede("plan", *EXAMPLE, "--cycles", "3", "-o", "json").out))
    t.equal("the cluster is that of cede show", s.json("/api/v1/cluster"), (200, json.loads(cede("show", *EXAMPLE, "-o", "json").out)))
    t.equal("the settings are those of cede config print", s.ask("/configz"), (200, cede("config", "print", *EXAMPLE, "-o", "json").out))
    for name in ("vision/notebook-ann", "web/report-0", "root.ads"):
        for output in ("json", "yaml", "text", "wide"):
            here = cede("explain", *EXAMPLE, name, "-o", output).out
            t.equal(f"explain {name} as {output}", s.ask(f"/api/v1/explain/{name}?output={output}"), (200, here))
            t.equal(f"cede explain --server {name} as {output}", cede("explain", "--server", s.url, name, "-o", output).out, here)
    here = cede("plan", *EXAMPLE, "-o", "json").out
    t.equal("asking has changed nothing", s.ask("/api/v1/plan"), (200, here))


def leaving():
    """Until when the room of a pod that is being deleted is counted on: said by a server as by the command."""
    def pod(name, **more):
        meta = {"namespace": "ns", "name": name, **more.pop("metadata", {})}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": {"phase": "Running" if "nodeName" in more else "Pending"},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **more}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "10"}}}
    items = [node, pod("old", nodeName="n", metadata={"deletionTimestamp": "2026-11-15T11:59:00Z"}), pod("new")]
    with Folder({"all.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": items})}) as folder, Server("-f", folder, *NOW) as s:
        here = cede("explain", "-f", folder, *NOW, "ns/new").out
        t.true("the command says until when", "That room is counted on until 12:04:00." in " ".join(here.split()), here)
        t.equal("and so does a server", s.ask("/api/v1/explain/ns/new?output=text"), (200, here))


def lists(s):
    whole = json.loads(cede("show", *EXAMPLE, "-o", "json").out)
    status, summary = s.json("/api/v1/cluster?summary=true")
    t.equal("a summary has neither nodes nor pods", (status, sorted(summary)), (200, sorted(set(whole) - {"nodes", "pods"})))
    t.equal("queues", s.json("/api/v1/queues")[1]["items"], whole["queues"])
    t.equal("nodes", s.json("/api/v1/nodes")[1]["items"], whole["nodes"])
    t.equal("one node", [n["node"] for n in s.json("/api/v1/nodes?name=a100-2")[1]["items"]], ["a100-2"])
    t.equal("pods", s.json("/api/v1/pods")[1]["items"], whole["pods"])
    rows = [
        ("pods that wait", "state=waiting", lambda p: p["state"] == "waiting"),
        ("pods of a node", "node=a100-3", lambda p: p.get("node") == "a100-3"),
        ("pods of a queue and those below it", "queue=root.research", lambda p: p.get("queue", "").startswith("root.research")),
        ("not of a queue that begins the same", "queue=root.resea", lambda p: False),
        ("pods of a namespace", "namespace=vision", lambda p: p["pod"].startswith("vision/")),
        ("all at once", "queue=root.research.vision&state=running&node=a100-2",
         lambda p: p.get("queue") == "root.research.vision" and p["state"] == "running" and p.get("node") == "a100-2"),
    ]
    for name, query, wanted in rows:
        status, found = s.json("/api/v1/pods?" + query)
        expected = [p for p in whole["pods"] if wanted(p)]
        t.equal(name, (status, found["items"], found["total"]), (200, expected, len(expected)))
    for path, key in (("/api/v1/pods", "pod"), ("/api/v1/nodes", "node")):
        pages, after = [], ""
        while True:
            page = s.json(f"{path}?limit=4&after={after}")[1]
            pages += page["items"]
            if "next" not in page:
                break
            after = page["next"]
        t.equal(f"pages of {path} are all of it, each once", [x[key] for x in pages], [x[key] for x in whole[key + "s"]])


def what_if(s):
    setting = "queue.root.ads.ranking.guaranteed.nvidia.com/gpu=8"
    here = json.loads(cede("plan", *EXAMPLE, "--set", setting, "-o", "json").out)
    status, there = s.json("/api/v1/whatif", method="POST", body=json.dumps({"kind": "WhatIf", "set": [setting]}))
    t.equal("a setting differs as in cede plan --set", (status, there), (200, here))
    t.true("and it does differ", bool(here["notEvicted"]), str(here))
    for verb, name in (("drain", "a100-1"), ("remove", "vision/sweep-3")):
        here = json.loads(cede("plan", *EXAMPLE, "--" + verb, name, "-o", "json").out)
        status, there = s.json("/api/v1/whatif", method="POST", body=json.dumps({"kind": "WhatIf", verb: [name]}))
        t.equal(f"{verb} differs as in cede plan --{verb}", (status, there), (200, here))
    status, nothing = s.json("/api/v1/whatif", method="POST", body='{"kind": "WhatIf"}')
    t.equal("nothing changed: nothing differs", (status, nothing["today"], [nothing[k] for k in ("notEvicted", "newlyEvicted", "otherAnswers")]),
            (200, nothing["then"], [[], [], []]))
    status, hard = s.json("/api/v1/whatif", method="POST", body="apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n")
    t.equal("settings as a document", (status, hard["then"]["profile"]), (200, "kubernetes"))
    rows = [
        ("nothing", "", "expected settings or objects"),
        ("no YAML", "a: [", "request:"),
        ("a kind of its own, and a misspelt field", '{"kind": "WhatIf", "sett": []}', "request:1:20: sett: expected set"),
        ("a list that is none", '{"kind": "WhatIf", "set": "a=b"}', "expected a list"),
        ("a setting nobody knows", '{"kind": "WhatIf", "set": ["rules.optout.mode=hard"]}', "did you mean"),
        ("a node that is not there", '{"kind": "WhatIf", "drain": ["a100-9"]}', "a100-9"),
        ("plugins, which are code", "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nplugins: [{path: /tmp/x.so}]\n", "plugin"),
        ("documents behind it", '{"kind": "WhatIf"}\n---\na: b\n', "request:"),
    ]
    for name, body, words in rows:
        status, said = s.json("/api/v1/whatif", method="POST", body=body)
        t.true(f"what if: {name}: 400 and why", status == 400 and said["kind"] == "Error" and words in said["message"], f"{status} {said}")


def decisions(s):
    status, first = s.json("/api/v1/decisions?limit=2")
    plan = json.loads(cede("plan", *EXAMPLE, "-o", "json").out)
    t.equal("decisions are those of the plan", [d["decision"]["pod"] for d in first["items"]], [d["pod"] for d in plan["decisions"][:2]])
    status, rest = s.json(f"/api/v1/decisions?since={first['next']}")
    t.equal("and the next page goes on", [d["decision"]["pod"] for d in rest["items"]], [d["pod"] for d in plan["decisions"][2:]])
    t.equal("both are complete", (first["complete"], rest["complete"], first["more"], rest["more"]), (True, True, True, False))


def refusals(s):
    rows = [
        ("a pod that is not there", "/api/v1/explain/vision/notebook-an", 404, "did you mean vision/notebook-ann?"),
        ("no name at all", "/api/v1/explain/", 404, "nothing under this path"),
        ("a name that is markup", "/api/v1/explain/a/%3Cimg%20src=x%20onerror=alert(1)%3E", 404, "onerror"),
        ("a state that is none", "/api/v1/pods?state=dead", 400, "state: expected waiting"),
        ("a page too long", "/api/v1/pods?limit=100000000", 400, "limit: expected a number from 1 to 5000"),
        ("a page of letters", "/api/v1/nodes?limit=x", 400, "limit"),
        ("no such path", "/api/v2/pods", 404, "nothing under this path"),
        ("cycles without end", "/api/v1/plan?cycles=1000000", 400, "cycles"),
        ("an output nobody knows", "/api/v1/explain/vision/notebook-ann?output=xml", 400, "output"),
    ]
    for name, path, code, words in rows:
        status, said = s.json(path)
        t.true(f"refused: {name}", status == code and said["code"] == code and words in said["message"], f"{status} {said}")
    status, metrics = s.ask("/metrics")
    t.true("metrics are those of the cluster", status == 200 and 'cede_queue_used{queue="root.ads",resource="nvidia.com/gpu"} 8\n' in metrics, metrics)
    t.true("what a queue lacks", 'cede_queue_below_guarantee{queue="root.ads",resource="nvidia.com/gpu"} 4\n' in metrics, metrics)
    for path in ("/livez", "/readyz"):
        t.equal(path, s.ask(path), (200, "ok\n"))


def hostile(s):
    rows = [
        ("no request at all", b"hello\r\n\r\n"),
        ("half a request", b"GET /api/v1/pl"),
        ("a path without end", b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("headers without end", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n"),
        ("bytes that are no text", b"GET /api/v1/explain/\xff\xfe/\x80 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a zero in a path", b"GET /api/v1/explain/a%00b/c HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a body longer than it says", b"POST /api/v1/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabcdefgh"),
        ("a body of negative length", b"POST /api/v1/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Length: -3\r\n\r\nabc"),
        ("chunks that lie", b"POST /api/v1/whatif HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc"),
        ("lengths that contradict each other",
         b"POST /api/v1/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\nabc"),
        ("a thousand requests in one", b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000),
    ]
    for name, data in rows:
        said = s.raw(data)
        t.true(f"hostile: {name}: answered or closed, and alive", s.ask("/livez")[0] == 200 and s.process.poll() is None, repr(said[:200]))
    status, said = s.json("/api/v1/whatif", method="POST", body="x" * (2 << 20))
    t.equal("hostile: a body beyond the limit", (status, said["kind"]), (413, "Error"))


def events():
    with Server(*EXAMPLE) as s:
        def follow(last, until):
            c = s.connect()
            c.request("GET", "/api/v1/events", headers={"Last-Event-ID": str(last)} if last is not None else {})
            answer = c.getresponse()
            said = ""
            while until not in said:
                said += answer.read1().decode()
            c.close()
            return said
        newest = s.json("/api/v1/decisions?limit=1000")[1]["next"]
        first = follow(1, "event: decision")
        t.true("events: from before the start: load everything anew", "event: reset" in first, first)
        s.read_anew()
        later = follow(newest, "event: cluster")
        t.true("events: SIGHUP reads anew, and those who follow hear of it", later.count("event: decision") == 5 and "event: reset" not in later, later)


def journal():
    with tempfile.TemporaryDirectory(prefix="cede-test-") as folder:
        path = os.path.join(folder, "journal.db")
        for moment in ("12:00:00", "12:05:00"):
            cede("plan", "-f", "examples/gpu-cluster", "--now", f"2026-11-15T{moment}Z", "--journal", path)
        with Server("--journal", path) as s:
            found = s.json("/api/v1/decisions")[1]["items"]
            t.equal("journal: the decisions of both runs", sorted({d["at"] for d in found}), ["2026-11-15T12:00:00Z", "2026-11-15T12:05:00Z"])
            t.equal("journal: the plan of the latest run, decided again", s.json("/api/v1/plan")[1]["decisions"],
                    json.loads(cede("plan", "-f", "examples/gpu-cluster", "--now", "2026-11-15T12:05:00Z", "-o", "json").out)["decisions"])
        t.equal("journal: it ends well", s.process.returncode, 0)


def names_as_markup():
    pod = f"""
apiVersion: v1
kind: Node
metadata: {{name: n1}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: "a", namespace: default, labels: {{queue: "root.{MARKUP}"}}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "1"}}}}}}]}}
"""
    with Folder({"a.yaml": pod}) as folder, Server("-f", folder) as s:
        c = s.connect()
        c.request("GET", "/api/v1/pods")
        answer = c.getresponse()
        t.equal("names that are markup stay data", (answer.status, answer.getheader("Content-Type"), answer.getheader("X-Content-Type-Options")),
                (200, "application/json", "nosniff"))


def with_a_token():
    with Folder({"token": "a-token-of-sixteen-letters\n"}) as folder, Server(*EXAMPLE, "--token-file", os.path.join(folder, "token")) as s:
        rows = [("without it", {}, 401), ("with another", {"Authorization": "Bearer another-token-of-many-letters"}, 401), ("with it", {"Authorization": "Bearer a-token-of-sixteen-letters"}, 200)]
        for name, headers, status in rows:
            t.equal(f"a token that is given is asked for on this machine too: {name}", s.ask("overview", headers=headers)[0], status)
        t.equal("but not for the page and for those who ask whether it lives", [s.ask(path)[0] for path in ("/", "/livez", "/readyz")], [200, 200, 200])


def with_its_own_certificate():
    """The certificate that it makes is also for this machine, which is where a forwarded port is reached."""
    with Folder({"token": "a-token-of-sixteen-letters\n"}) as folder:
        token, pem = os.path.join(folder, "token"), os.path.join(folder, "cede.pem")
        with Server(*EXAMPLE, "--token-file", token, listen="0.0.0.0:0") as s:
            with open(pem, "w", encoding="ascii") as f:
                f.write(ssl.get_server_certificate(("127.0.0.1", int(s.port))))
            for host in ("127.0.0.1", "localhost"):
                found = cede("explain", "--server", f"https://{host}:{s.port}", "--token-file", token, "--ca-file", pem, "vision/sweep-4")
                t.true(f"explain --server https://{host} with the certificate that it made", found.code == 0 and found.out.startswith("vision/sweep-4 waits"), found.out + found.err)
            for name, more in (("nor without it", ["--token-file", token]), ("nor without a token", ["--ca-file", pem])):
                found = cede("explain", "--server", f"https://127.0.0.1:{s.port}", *more, "vision/sweep-4")
                t.equal(name, (found.code, found.out), (2, ""))


def starting():
    rows = [
        ("an address others can reach, without a token", ["--listen", "0.0.0.0:0"], "they need a token"),
        ("no port", ["--listen", "localhost"], "expected HOST:PORT"),
        ("a short token", ["--listen", "0.0.0.0:0", "--token-file", "/dev/null"], "at least 16"),
        ("a certificate without its key", ["--tls-cert", "/dev/null"], "together"),
    ]
    for name, args, words in rows:
        found = cede("serve", *EXAMPLE, *args)
        t.true(f"not started: {name}", found.code == 2 and words in found.err and not found.out, f"{found.code} {found.err}")
    found = cede("serve")
    t.true("not started: nothing to serve", found.code == 2 and "nothing to read" in found.err, found.err)
    found = cede("explain", "--server", "http://127.0.0.1:1", "a/b")
    t.true("explain --server: nobody there", found.code == 2 and "http://127.0.0.1:1" in found.err and not found.out, found.err)
    found = cede("explain", "--server", "ftp://x", "a/b")
    t.true("explain --server: no URL", found.code == 2 and "expected a URL" in found.err, found.err)


def main():
    with Server(*EXAMPLE) as s:
        same_as_the_command_line(s)
        lists(s)
        what_if(s)
        decisions(s)
        refusals(s)
        hostile(s)
    t.equal("SIGTERM ends it with 0, without a word", (s.process.returncode, s.out, s.err), (0, "", ""))
    leaving()
    events()
    journal()
    names_as_markup()
    with_a_token()
    with_its_own_certificate()
    starting()
    t.end()


main()
