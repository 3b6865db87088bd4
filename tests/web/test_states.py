#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The states of a view that cannot be shown: loading, busy, broken, unauthorised, nobody there; each says what it is, and what happens next.

The server's answers are changed in the browser, before the page sees them: the page itself is the real one.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, Server, is_harmless, run  # noqa: E402

ANSWER = """
(() => {
	const real = window.fetch;
	window.answers = %s;
	window.fetch = (path, options) => {
		const rule = Object.keys(window.answers).find(k => String(path).startsWith(k)), a = rule && window.answers[rule];
		if (!a)
			return real(path, options);
		if (a.never)
			return new Promise((_, fail) => options.signal && options.signal.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError"))));
		if (a.fails)
			return Promise.reject(new TypeError("Failed to fetch"));
		return Promise.resolve(new Response(a.body, {status: a.status, headers: a.headers || {}}));
	};
})();
"""


def error(status, message, **headers):
    return {"status": status, "body": json.dumps({"kind": "Error", "code": status, "message": message}), "headers": headers}


def opened(browser, server, answers, hash="#/overview"):
    page = browser.open()
    page.call("Page.addScriptToEvaluateOnNewDocument", source=ANSWER % json.dumps(answers))
    page.go(f"{server.url}/{hash}")
    return page


def failing(s, browser, server):
    overview = "/api/v1/overview"
    rows = [
        ("busy: it says so, and when it tries again", {overview: error(503, "questions may take a tenth of the time", **{"Retry-After": "77"})},
         ["The server is busy.", "Questions may take a tenth of the time.", "in 77 seconds", "Try again"]),
        ("an error of the server, in its words", {overview: error(500, "the ledger is upside down")}, ["The server could not answer.", "The ledger is upside down.", "Try again"]),
        ("an answer of somebody in between, which is no JSON", {overview: {"status": 502, "body": "<h1>Bad gateway</h1>"}}, ["The server could not answer.", "502", "Try again"]),
        ("nobody there", {overview: {"fails": True}}, ["The server does not answer.", "every few seconds", "Try again"]),
        ("an answer that cannot be read", {overview: {"status": 200, "body": "{\"kind\": "}}, ["This view is broken.", "JSON", "Try again"]),
        ("a thing that is not there", {overview: error(404, "there is nothing under this path")}, ["There is no such thing.", "There is nothing under this path."]),
        ("a right that is missing", {overview: error(403, "the owner of this token may not read this path")}, ["This is not for you to see", "cede-reader", "Sign in"]),
        ("words of an error that are markup", {overview: error(500, HOSTILE)}, ["The server could not answer.", HOSTILE]),
    ]
    for name, answers, words in rows:
        page = opened(browser, server, answers)
        page.wait("document.querySelector('.state.broken, .state.signin')")
        text = page.text("main")
        s.true(name, all(w in text for w in words) and is_harmless(page), text)
        s.equal(f"{name}: nothing to complain about, in both themes", [x for dark in (False, True) for x in (page.theme(dark), checks.complaints(page))[1]], [])
        page.close()


def retrying(s, browser, server):
    page = opened(browser, server, {"/api/v1/overview": error(503, "busy", **{"Retry-After": "1"})})
    page.wait("document.querySelector('.state.broken')")
    page.js("window.answers = {}")
    page.wait("document.querySelector('#verdict')")
    s.true("what was busy is tried again by itself", True)
    page.js(f"window.answers = {json.dumps({'/api/v1/queues': error(500, 'broken now')})}")
    page.js("location.hash = '#/queues'")
    page.wait("document.querySelector('.state.broken')")
    page.js("window.answers = {}")
    page.click(".state.broken button")
    page.wait("document.querySelector('#tree')")
    s.true("and the rest when somebody asks for it", True)
    page.js(f"window.answers = {json.dumps({'/api/v1/queues': error(500, 'broken while it is shown')})}")
    server.read_anew()
    page.wait("document.getElementById('notice').innerText.includes('broken while it is shown')")
    s.true("a refresh that fails leaves what is shown, and says so", page.count("#tree tbody tr") == 8 and "could not be refreshed" in page.text("#notice"))
    s.equal("nothing to complain about", checks.complaints(page), [])
    page.js("window.answers = {}")
    server.read_anew()
    page.wait("document.getElementById('notice').hidden")
    s.true("until one does not fail", True)
    page.close()


def loading(s, browser, server):
    page = opened(browser, server, {"/api/v1/overview": {"never": True}})
    page.wait("document.querySelector('.state[role=status]')")
    s.true("while it loads it says so", "Loading overview" in page.text("main"))
    s.equal("loading: nothing to complain about, in both themes", [x for dark in (False, True) for x in (page.theme(dark), checks.complaints(page))[1] if "hardly any text" not in x], [])
    page.js("location.hash = '#/queues'")
    page.wait("document.querySelector('#tree')")
    s.true("another view can be taken meanwhile, and what was asked for before does not come back", page.texts("h1") == ["Queues"])
    page.close()


def explaining(s, browser, server):
    """Why a pod waits takes a plan: what is known without one is there before."""
    page = opened(browser, server, {"/api/v1/explain": {"never": True}}, "#/pod/vision/sweep-4")
    page.wait("document.querySelector('.verdict-line[aria-busy=true]')")
    s.true("while it is explained: what it is, and what happened to it", "root.research.vision" in page.text("#facts") and page.count("#history .decision") == 1, page.text("main"))
    s.equal("explaining: nothing to complain about, in both themes", [x for dark in (False, True) for x in (page.theme(dark), checks.complaints(page))[1]], [])
    page.close()
    page = opened(browser, server, {"/api/v1/explain": error(503, "no answer in time", **{"Retry-After": "1"})}, "#/pod/vision/sweep-4")
    page.wait("document.querySelector('.verdict-line [role=alert]')")
    s.true("a server that is busy is asked again", "The server is busy. No answer in time." in page.text(".verdict-line"), page.text("main"))
    page.js("window.answers = {}")
    page.wait("document.querySelector('.verdict-line .big')")
    page.close()
    page = opened(browser, server, {"/api/v1/explain": error(500, "the ledger is upside down")}, "#/pod/vision/sweep-4")
    page.wait("document.querySelector('[data-key=explain-again]')")
    page.js("window.answers = {}")
    page.click("[data-key=explain-again]")
    page.wait("document.querySelector('.verdict-line .big')")
    s.true("what failed is asked for again by somebody", page.text(".verdict-line .big").startswith("vision/sweep-4 waits"))
    page.close()


def daemon(s, browser, server):
    """The overview as cede run has it: who leads, lag, decision time; tests/cluster has the real one."""
    rows = [("all is well", {"role": "leads", "synced": True, "watchLagSeconds": 7.2, "stuckVictims": 0, "writesInFlight": 2, "journalLost": 0}, {"This replica": "leads", "Lag of the watches": "7s"},
             ["Everything is listed.", "the quietest was heard 7s ago", "Every victim has gone in time.", "The journal is complete."]),
            ("nothing is", {"role": "stands by", "synced": False, "watchLagSeconds": 431, "stuckVictims": 1, "writesInFlight": 0, "journalLost": 3}, {"This replica": "stands by", "Lag of the watches": "7m11s"},
             ["Not everything is listed yet: nothing is decided.", "A watch has said nothing for 7m11s.", "1 victim should have gone and is still there.", "3 records of the journal were lost."])]
    for name, facts, tiles, words in rows:
        overview = {**server.get("overview"), "source": "cluster", "daemon": facts, "decisionSeconds": {"p50": 0.0042, "p99": 0.031, "turns": 18234}}
        page = opened(browser, server, {"/api/v1/overview": {"status": 200, "body": json.dumps(overview)}})
        page.wait("document.querySelector('#verdict')")
        found = dict(zip(page.texts(".tile dt"), page.texts(".tile .value")))
        s.true(f"a daemon, {name}: in words", all(w in page.text("#verdict") for w in words), page.text("#verdict"))
        s.equal(f"a daemon, {name}: in numbers", ({k: found.get(k) for k in tiles}, found.get("Decision time")), (tiles, "4.2 ms"))
        checks.everywhere(s, page, f"a daemon, {name}", widths=(400, 1000))
        page.close()


def states(s, browser):
    with Server(*EXAMPLE) as server:
        failing(s, browser, server)
        retrying(s, browser, server)
        loading(s, browser, server)
        explaining(s, browser, server)
        daemon(s, browser, server)


if __name__ == "__main__":
    run(states)
