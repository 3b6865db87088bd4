# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium as tests need it: pages that are opened, clicked, typed into and looked at, over the browser's own protocol.

The browser is spoken to through a pipe, so nothing but the standard library is needed and no port is taken. Nothing sleeps for a while and hopes: wait()
asks until something is true, for as long as a loaded machine may need.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_S = 180
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--mute-audio", "--disable-extensions", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--force-color-profile=srgb",
         "--ignore-certificate-errors", "--disable-features=Translate,OptimizationHints,MediaRouter", "about:blank"]


class Broken(Exception):
    """What the page or the browser said went wrong."""


class Browser:
    """`with Browser() as b: page = b.open(url)`."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="cede-web-", ignore_cleanup_errors=True)
        from_us, self.to = os.pipe()
        self.come, to_us = os.pipe()

        def hand_over():
            """The browser reads from 3 and writes to 4."""
            a, b = os.dup2(from_us, 100), os.dup2(to_us, 101)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([PROGRAM, *FLAGS, f"--user-data-dir={self.profile.name}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=hand_over)
        os.close(from_us)
        os.close(to_us)
        self.rest, self.last, self.pages = b"", 0, {}
        return self

    def __exit__(self, *ignored):
        try:
            self.call("Browser.close")
        except (Broken, OSError):
            self.process.kill()
        try:
            self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.come)
        self.profile.cleanup()

    def read(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.come], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise Broken("the browser said nothing in time")
            data = os.read(self.come, 1 << 20)
            if not data:
                raise Broken("the browser ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message and message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].heard(message["method"], message["params"])
        return message

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until, me = time.monotonic() + PATIENCE_S, self.last
        while True:
            answer = self.read(until)
            if answer.get("id") == me:
                if "error" in answer:
                    raise Broken(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, url=None, width=1400, height=1000, dark=False):
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        self.pages[session] = page
        page.start(width, height, dark)
        if url:
            page.go(url)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.complaints, self.requests, self.failed = [], [], []

    def heard(self, method, params):
        if method == "Runtime.exceptionThrown":
            d = params["exceptionDetails"]
            self.complaints.append(d.get("exception", {}).get("description") or d["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            e = params["entry"]
            (self.failed if e["source"] == "network" else self.complaints).append(e["text"] + " " + e.get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def start(self, width, height, dark):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.theme(dark)

    def size(self, width, height=1000):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def js(self, expression, **more):
        """The value of an expression; promises are waited for."""
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True, **more)
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise Broken(d.get("exception", {}).get("description") or d["text"])
        return r["result"].get("value")

    def wait(self, expression, patience=PATIENCE_S):
        """Until it is true. What throws is not true yet."""
        until, pause, why = time.monotonic() + patience, 0.01, ""
        while True:
            try:
                if self.js(f"Boolean({expression})"):
                    return
            except Broken as error:
                why = str(error)
            if time.monotonic() > until:
                raise Broken(f"never came true: {expression} {why}\n{self.text()[:2000]}\n{self.complaints}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)

    def reload(self):
        """Until the view is drawn again, by a document that is not the one before."""
        self.js("window.isOld = true")
        self.call("Page.reload")
        self.wait("!window.isOld && document.documentElement.dataset.ready && !document.querySelector('main [aria-busy=true]')")

    def view(self, hash, wait=None):
        """Goes to a view of the console and waits until it is drawn."""
        self.js(f"location.hash = {json.dumps(hash)}")
        self.wait(f"document.documentElement.dataset.ready === {json.dumps(hash)} && !document.querySelector('main [aria-busy=true]')" + (f" && ({wait})" if wait else ""))

    def text(self, selector="body"):
        """As one reads it: a blank at which no line is broken is a blank."""
        return (self.js(f"(document.querySelector({json.dumps(selector)}) || {{innerText: ''}}).innerText") or "").replace("\u00a0", " ")

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(n => n.innerText.trim())")

    def count(self, selector):
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector, at=None):
        """With the mouse, at its middle or at a point in it."""
        x, y = self.js(f"""(() => {{ const n = document.querySelector({json.dumps(selector)}); n.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = n.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()""" if at else
                       f"""(() => {{ const n = document.querySelector({json.dumps(selector)}); n.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = n.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; }})()""")[:2]
        if at:
            x, y = x + at[0], y + at[1]
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none", clickCount=1)

    def hover(self, selector, dx, dy):
        x, y = self.js(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [r.left, r.top]; }})()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy)

    def key(self, key, shift=False):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        more = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes.get(key, 0), modifiers=8 if shift else 0,
                      **(more if kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=False):
        """PNG, or WebP if the name says so."""
        params = {"format": "webp", "quality": 88} if path.endswith(".webp") else {"format": "png"}
        params.update({"captureBeyondViewport": True} if whole else {})
        if whole:
            width, height = self.js("[innerWidth, document.documentElement.scrollHeight]")
            params["clip"] = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
        data = self.call("Page.captureScreenshot", **params)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
