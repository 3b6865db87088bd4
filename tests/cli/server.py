# SPDX-License-Identifier: Apache-2.0
"""cede serve, started for a test and ended with it; and questions to it."""
import http.client
import json
import signal
import socket
import subprocess
import urllib.parse

from harness import CEDE, NOW, SOURCE, environment

EXAMPLE = ["-f", "examples/gpu-cluster", *NOW]
PATIENCE_S = 300


class Server:
    """`with Server("-f", folder) as s: s.get("overview")`. On a free port; on the same one when it is started again."""

    def __init__(self, *args, listen="127.0.0.1:0"):
        self.args, self.listen, self.process = args, listen, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *ignored):
        self.stop()

    def start(self):
        self.process = subprocess.Popen([CEDE, "serve", "--listen", self.listen, *self.args], cwd=SOURCE, env=environment(), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(line + self.process.stderr.read())
        self.url = line.split()[2]
        self.listen = self.url.split("://")[1]
        self.host, self.port = self.listen.rsplit(":", 1)

    def stop(self):
        """What it has said stands in out and err, how it ended in process.returncode."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.out, self.err = self.process.communicate(timeout=PATIENCE_S)

    def read_anew(self):
        self.process.send_signal(signal.SIGHUP)

    def connect(self):
        return http.client.HTTPConnection(self.host, int(self.port), timeout=PATIENCE_S)

    def ask(self, path, method="GET", body=None, headers=None, **query):
        """Status and words. A path that does not begin with "/" is one below /api/v1/."""
        c = self.connect()
        c.request(method, (path if path.startswith("/") else "/api/v1/" + path) + ("?" + urllib.parse.urlencode(query) if query else ""), body, headers or {})
        answer = c.getresponse()
        said = answer.read().decode()
        c.close()
        return answer.status, said

    def json(self, path, **more):
        status, said = self.ask(path, **more)
        return status, json.loads(said)

    def get(self, path, **query):
        """What it says of this, and it has to say something."""
        status, said = self.ask(path, **query)
        if status != 200:
            raise RuntimeError(f"{path} {query}: {status} {said}")
        return json.loads(said)

    def raw(self, data):
        """The first of what is answered; b"": the connection was closed, or nothing came so far."""
        with socket.create_connection((self.host, int(self.port)), timeout=1) as s:
            try:
                s.sendall(data)
                return s.recv(65536)
            except OSError:
                return b""
