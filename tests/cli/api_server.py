# SPDX-License-Identifier: Apache-2.0
"""An API server for tests: lists, and single objects, of the documents it is given, in pages; over TLS if wanted.

    with ApiServer(objects) as server:
        server.answers["/api/v1/pods"] = [(500, b"...")]      # said first, instead of the list
        cede("plan", "--kubeconfig", server.kubeconfig())

Objects are dictionaries as `kubectl get -o json` shows them. server.asked is what was asked: method, path and headers.
"""
import http.server
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

RESOURCES = {
    "/api/v1/nodes": ("v1", "Node"), "/api/v1/namespaces": ("v1", "Namespace"), "/api/v1/pods": ("v1", "Pod"),
    "/api/v1/services": ("v1", "Service"), "/api/v1/replicationcontrollers": ("v1", "ReplicationController"),
    "/apis/apps/v1/deployments": ("apps/v1", "Deployment"), "/apis/apps/v1/replicasets": ("apps/v1", "ReplicaSet"),
    "/apis/apps/v1/statefulsets": ("apps/v1", "StatefulSet"), "/apis/apps/v1/daemonsets": ("apps/v1", "DaemonSet"),
    "/apis/batch/v1/jobs": ("batch/v1", "Job"),
    "/apis/policy/v1/poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget"),
    "/apis/scheduling.k8s.io/v1/priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"),
}
KAI = {
    "/apis/scheduling.run.ai/v2/queues": ("scheduling.run.ai/v2", "Queue"),
    "/apis/scheduling.run.ai/v2alpha2/podgroups": ("scheduling.run.ai/v2alpha2", "PodGroup"),
}


def status(code, message):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}).encode()


class ApiServer:
    def __init__(self, objects=(), with_tls=False, with_kai=True, with_watches=False):
        self.objects = list(objects)
        self.resources = {**RESOURCES, **(KAI if with_kai else {})}
        self.answers, self.asked = {}, []
        self.with_tls, self.with_watches = with_tls, with_watches
        self.news = {}  # what changed since it was listed, told by watches: ConfigMaps by name, of others one by path
        self.pauses = {}  # seconds that a list takes, by path
        self.folder = tempfile.mkdtemp(prefix="cede-test-")

    def __enter__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16

            def do_GET(self):
                code, body, headers = outer.answer(self)
                self.send_response(code)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        if self.with_tls:
            self.make_certificate()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(self.folder, "s.crt"), os.path.join(self.folder, "s.key"))
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"{'https' if self.with_tls else 'http'}://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "s.key",
                        "-out", "s.crt", "-subj", "/CN=test", "-days", "2", "-addext", "subjectAltName=DNS:api.test"],
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kubeconfig(self, user=None, ns="kube-system", **cluster):
        config = {"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": ns}}],
                  "clusters": [{"name": "k", "cluster": {"server": self.url, **cluster}}],
                  "users": [{"name": "u", "user": user or {"token": "hush-hush"}}]}
        path = os.path.join(self.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        return path

    def answer(self, request):
        url = urllib.parse.urlparse(request.path)
        query = urllib.parse.parse_qs(url.query)
        length = int(request.headers.get("Content-Length") or 0)
        request.body = request.rfile.read(length)
        self.asked.append((request.command, request.path, dict(request.headers)))
        planned = self.answers.get(url.path)
        if planned:
            code, body, *headers = planned.pop(0)
            return code, body, headers[0] if headers else {}
        if "watch" in query and self.with_watches and "sendInitialEvents" not in query:
            return 200, self.watch(url.path, query), {}
        if "watch" in query:  # a server of long ago; a real one is in tests/cluster
            return 422, status(422, "sendInitialEvents is forbidden"), {}
        if url.path in self.resources:
            time.sleep(self.pauses.get(url.path, 0))
            return 200, self.page(*self.resources[url.path], query), {}
        if url.path.endswith("/configmaps"):
            name = self.selected(query)
            items = [o for o in self.objects if o["kind"] == "ConfigMap" and o["metadata"]["name"] == name and url.path == f"/api/v1/namespaces/{o['metadata'].get('namespace')}/configmaps"]
            items = [{**o, "metadata": {"resourceVersion": "1", "uid": "u-" + name, **o["metadata"]}} for o in items]
            return 200, json.dumps({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "77"}, "items": items}).encode(), {}
        for o in self.objects:
            meta = o["metadata"]
            if url.path == f"/api/v1/namespaces/{meta.get('namespace')}/configmaps/{meta['name']}" and o["kind"] == "ConfigMap":
                return 200, json.dumps(o).encode(), {}
        return 404, status(404, "the server could not find the requested resource"), {}

    @staticmethod
    def selected(query):
        return query.get("fieldSelector", ["="])[0].partition("=")[2]

    def watch(self, path, query):
        """One that ends after a second, as one whose time is over, with what happened meanwhile."""
        time.sleep(1)
        changed = self.news.get(self.selected(query) or path)
        is_new = changed and int(query.get("resourceVersion", ["0"])[0]) < int(changed["metadata"]["resourceVersion"])
        return json.dumps({"type": "MODIFIED", "object": changed}).encode() + b"\n" if is_new else b""

    def page(self, api, kind, query):
        """As the real one writes them: items of its own kinds do not say what they are; those of others come first and do."""
        items = [o for o in self.objects if o["kind"] == kind and o["apiVersion"] == api]
        start, limit = int(query.get("continue", ["0"])[0].strip("=") or 0), int(query.get("limit", ["0"])[0]) or len(items)
        rest = {"resourceVersion": "77"}
        if start + limit < len(items):
            rest["continue"] = f"{start + limit}="
        part = [{**o, "metadata": {"resourceVersion": "1", **o["metadata"]}} for o in items[start:start + limit]]
        if "run.ai" in api:
            return json.dumps({"apiVersion": api, "items": part, "kind": kind + "List", "metadata": rest}).encode()
        part = [{k: v for k, v in o.items() if k not in ("kind", "apiVersion")} for o in part]
        return json.dumps({"kind": kind + "List", "apiVersion": api, "metadata": rest, "items": part}).encode()
