#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The frame of the console: it is served whole and safe, says what it knows and what it does not, and comes back after a restart."""
import glob
import http.client
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, SOURCE, Folder, Server, open_console, run  # noqa: E402

WEB = os.path.join(SOURCE, "web", "console")
BANNED = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(\"style|https?://(?!www\.w3\.org/2000/svg)"


def sources(s, browser):
    for path in sorted(glob.glob(os.path.join(WEB, "**", "*.*"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            found = re.findall(BANNED, f.read()) if not path.endswith(".svg") else []
        s.equal(f"{os.path.relpath(path, WEB)} parses no markup and asks nobody else", found, [])


def headers(s, browser):
    with Server(*EXAMPLE) as server:
        host = server.url.split("://")[1]
        for path, kind in (("/", "text/html"), ("/app.js", "text/javascript"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"), ("/views/overview.js", "text/javascript")):
            c = http.client.HTTPConnection(host, timeout=120)
            c.request("GET", path)
            a = c.getresponse()
            a.read()
            policy = a.getheader("Content-Security-Policy") or ""
            s.true(f"{path} is served as {kind}, under a strict policy", a.status == 200 and a.getheader("Content-Type").startswith(kind) and
                   a.getheader("X-Content-Type-Options") == "nosniff" and "default-src 'none'" in policy and "unsafe" not in policy, f"{a.status} {a.getheaders()}")
            c.close()


def frame(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "")
        s.equal("without an address it shows the overview", page.texts("h1"), ["Overview"])
        page.wait("document.getElementById('live').innerText.includes('Live')")
        s.true("it says that it is live", True)
        checks.everywhere(s, page, "frame")
        s.equal("asks this server alone", [r for r in page.requests if not r.startswith((server.url, "about:", "data:"))], [])
        for theme in ("light", "dark", "system"):
            page.click("#theme")
            s.equal(f"theme {theme}", (page.text("#theme"), page.js("document.documentElement.dataset.theme || 'system'")), (f"Theme: {theme}", theme))
        page.view("#/nothing-here")
        s.true("an address that leads nowhere says so", "There is no such page" in page.text("main"))
        page.view("#/overview")
        s.equal("the title of a new view has the focus", page.js("document.activeElement.tagName"), "H1")
        page.js("document.querySelector('.skip').focus()")
        page.key("Enter")
        s.equal("the skip link leads to the content, and the view stays", page.js("[document.activeElement.id, location.hash]"), ["main", "#/overview"])
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def restart(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server)
        page.wait("document.getElementById('live').innerText.includes('Live')")
        server.stop()
        page.wait("document.getElementById('live').innerText.includes('Not connected')")
        s.true("a server that is gone is told, and what was shown stays", "What is shown is from before" in page.text("#notice") and "Overview" in page.text("main"))
        page.js("window.sameOne = true; document.querySelector('#main h1').dataset.old = 1")
        server.start()
        page.wait("document.getElementById('live').innerText.includes('Live') && !document.querySelector('#main h1').dataset.old")
        s.equal("it comes back by itself, everything is loaded anew, in the same page", (page.js("window.sameOne"), page.text("#notice")), (True, ""))
        server.stop()
        page.js("location.hash = '#/overview?again=1'")
        page.wait("document.querySelector('.state.broken')")
        s.true("a view that cannot be loaded says why", "does not answer" in page.text("main"))
        server.start()
        page.wait("document.querySelector('#main h1') && document.querySelector('#main h1').innerText === 'Overview'")
        s.true("and is there when the server is", True)
        page.close()


def signing_in(s, browser):
    with Folder({"token": "a-token-of-sixteen-letters\n"}) as folder:
        with Server(*EXAMPLE, "--token-file", os.path.join(folder, "token"), listen="0.0.0.0:0") as server:
            server.url = server.url.replace("0.0.0.0", "127.0.0.1")
            page = open_console(browser, server)
            s.true("who is not known is asked for a token", "Who are you?" in page.text("main"))
            checks.everywhere(s, page, "signing in")
            page.js("document.getElementById('token').focus()")
            page.type("not-the-token-at-all")
            page.key("Enter")
            page.wait("document.querySelector('.signin [role=alert]')")
            s.true("a wrong one is refused", "not accepted" in page.text("main"))
            page.js("document.getElementById('token').focus()")
            page.type("a-token-of-sixteen-letters")
            page.click(".signin button")
            page.wait("document.querySelector('#main h1').innerText === 'Overview' && document.getElementById('live').innerText.includes('Live')")
            s.true("the right one opens it, live updates too", True)
            page.reload()
            s.equal("after a reload it is still open", page.texts("h1"), ["Overview"])
            s.equal("it is kept for this tab, and nowhere else", page.js("[sessionStorage.length, Object.keys(localStorage).join()]"), [1, "cede-theme"])
            page.close()


if __name__ == "__main__":
    run(sources, headers, frame, restart, signing_in)
