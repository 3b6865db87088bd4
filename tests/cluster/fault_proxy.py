# SPDX-License-Identifier: Apache-2.0
"""A proxy in front of an API server that makes trouble on purpose.

    with FaultProxy(lab, faults={"cut": 0.05, "500": 0.02}, seed=7) as proxy:
        proxy.kubeconfig("cede")                 # the same identity, through the proxy
        proxy.on_write = lambda kind, when: ...  # "bind", "condition", "delete", "status", "event", "lease", ...; "before" or "after" it was carried out
        proxy.calm()                             # no more trouble

Faults, each with its probability per request:
  delay     answered late
  409 410 429 500 503   answered so, and nothing was carried out (410 for lists and watches alone, 409 for writes alone)
  garbage   200 with bytes that are no JSON          half      the first half of the true answer, as if it were all
  hang      no answer for some seconds, then none    cut       carried out, and the connection closed instead of an answer
  watch     a watch is cut in the middle of a line, after a while
"""
import http.client
import http.server
import json
import random
import re
import ssl
import threading
import time

ALL = ("delay", "409", "410", "429", "500", "503", "garbage", "half", "hang", "cut", "watch")
HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-authorization", "te", "trailer", "content-length"}


def kind_of(method, path, body):
    """What a write is; "" for reads."""
    if method == "GET":
        return ""
    if path.endswith("/binding"):
        return "bind"
    if "/leases" in path:
        return "lease"
    if "/events" in path:
        return "event"
    if path.endswith("/status") and "/pods/" in path:
        return "condition" if b"DisruptionTarget" in body else "status"
    if method == "DELETE" and "/pods/" in path:
        return "delete"
    return "other"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_any(self):
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_watch = "watch=true" in self.path or "watch=1" in self.path
        kind = kind_of(self.command, self.path.split("?")[0], body)
        fault = proxy.choose(kind, is_watch)
        proxy.count(kind or ("watch" if is_watch else "read"), fault)
        if kind:
            proxy.tell(kind, "before")
        if fault == "delay":
            time.sleep(proxy.rng.uniform(0.1, 1.5))
        if fault == "hang":
            time.sleep(proxy.hang_seconds)
            self.close_connection = True
            return
        if fault in ("409", "410", "429", "500", "503"):
            self.refuse(int(fault))
            return
        if fault == "garbage":
            self.answer(200, {"Content-Type": "application/json"}, b"\x00\xff{]<html>" * 5)
            return
        self.forward(body, kind, is_watch, fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def refuse(self, code):
        words = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}[code]
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": words, "message": "a fault of the test", "code": code}
        headers = {"Content-Type": "application/json", **({"Retry-After": "1"} if code in (429, 503) else {})}
        self.answer(code, headers, json.dumps(status).encode())

    def answer(self, code, headers, body):
        self.send_response(code)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def upstream(self, body):
        lab = self.server.proxy.lab
        context = ssl.create_default_context(cafile=lab.path("ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", lab.port, context=context, timeout=600)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP and k.lower() not in ("host", "accept-encoding")}
        connection.request(self.command, self.path, body or None, headers)
        return connection, connection.getresponse()

    def forward(self, body, kind, is_watch, fault):
        try:
            connection, said = self.upstream(body)
        except OSError:
            self.close_connection = True
            return
        try:
            if is_watch and said.status == 200:
                self.stream(said, fault)
                return
            answer = said.read()
            if kind:
                self.server.proxy.tell(kind, "after")
            if fault == "cut":
                self.close_connection = True
                return
            if fault == "half":
                answer = answer[:len(answer) // 2]
            self.answer(said.status, {k: v for k, v in said.getheaders() if k.lower() not in HOP}, answer)
        finally:
            connection.close()

    def stream(self, said, fault):
        """A watch, chunk by chunk; with the fault it ends in the middle of a line."""
        proxy = self.server.proxy
        self.send_response(200)
        self.send_header("Content-Type", said.getheader("Content-Type") or "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = proxy.rng.randrange(200, 8000) if fault == "watch" else None
        while data := said.read1(65536):
            if left is not None and len(data) >= left:
                data = data[:max(left - 1, 1)]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
                break
            if left is not None:
                left -= len(data)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        else:
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # a client that was killed


class FaultProxy:
    def __init__(self, lab, faults=None, seed=1, hang_seconds=3):
        self.lab, self.faults, self.hang_seconds = lab, dict(faults or {}), hang_seconds
        self.rng = random.Random(seed)
        self.lock = threading.Lock()
        self.on_write = None
        self.counts = {}

    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.proxy = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.lab.path("server.crt"), self.lab.path("server.key"))
        context.set_alpn_protocols(["http/1.1"])
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, name):
        """The identity of this name, through the proxy."""
        with open(self.lab.kubeconfig(name), encoding="utf-8") as f:
            text = re.sub(r"https://127\.0\.0\.1:\d+", f"https://127.0.0.1:{self.port}", f.read())
        path = self.lab.path(f"{name}.proxy.{self.port}.kubeconfig")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def choose(self, kind, is_watch):
        with self.lock:
            for fault, probability in self.faults.items():
                if fault == "watch" and not is_watch or fault == "409" and not kind or fault in ("cut", "half") and is_watch:
                    continue
                if fault == "410" and kind:
                    continue
                if self.rng.random() < probability:
                    return fault
        return None

    def count(self, what, fault):
        with self.lock:
            key = (what, fault or "fine")
            self.counts[key] = self.counts.get(key, 0) + 1

    def tell(self, kind, when):
        if self.on_write:
            self.on_write(kind, when)

    def calm(self):
        self.faults = {}
        self.on_write = None
