# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes cluster of real components on loopback: etcd, kube-apiserver, kube-controller-manager and kwok.

    with Lab() as lab:                       # in a temporary folder, free ports; everything is stopped in the end
        lab.kubectl("apply", "-f", "-", stdin=yaml)
        subprocess.run([CEDE, "plan", "--kubeconfig", lab.kubeconfig("cede")])
        lab.restart("kube-apiserver")

RBAC is on; identities are client certificates (admin, in system:masters) and the service account kube-system/cede with the
role that packaging/kubernetes ships (cede). Every request is in the audit log (lab.audit()). Nodes are kwok's: their pods run
as soon as they are bound. Component logs are in lab.folder.
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
ROLES = os.path.join(SOURCE, "packaging", "kubernetes", "rbac.yaml")
PR_SET_PDEATHSIG = 1
PATIENCE = float(os.environ.get("CEDE_LAB_PATIENCE") or 1)  # all waits are so many times as long

AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  userGroups: ["system:serviceaccounts:kube-system"]
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
"""


class Missing(Exception):
    """The components cannot be had here, and why."""


def components():
    """The folder with the programs; builds them if need be."""
    given = os.environ.get("CEDE_CLUSTER_BIN")
    if given:
        return given
    done = subprocess.run([os.path.join(HERE, "components")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Missing(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no components")
    return done.stdout.strip()


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Lab:
    def __init__(self, folder=None, apiserver_args=(), with_controllers=True, with_kwok=True, keep=False, audit_policy=AUDIT_POLICY):
        self.bin = components()
        self.is_own = folder is None
        self.keep = keep
        self.audit_policy = audit_policy
        self.folder = folder or tempfile.mkdtemp(prefix="cede-lab-")
        os.makedirs(self.folder, exist_ok=True)
        self.apiserver_args = list(apiserver_args)
        self.with_controllers, self.with_kwok = with_controllers, with_kwok
        self.processes = {}
        self.etcd_port, self.etcd_peer, self.port, self.kcm_port, self.kwok_port = free_ports(5)
        self.server = f"https://127.0.0.1:{self.port}"
        self.commands = {}

    # ---- certificates and identities ----

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def make_ca(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                     "-out", "ca.crt", "-subj", "/CN=cede-lab", "-days", "30")
        self.openssl("genrsa", "-out", "accounts.key", "2048")
        self.make_certificate("server", "/CN=kube-apiserver",
                              "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc,DNS:lab.cede.test")

    def make_certificate(self, name, subject, extension="extendedKeyUsage=clientAuth"):
        with open(self.path(name + ".ext"), "w", encoding="utf-8") as f:
            f.write(extension + "\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name + ".key",
                     "-out", name + ".csr", "-subj", subject)
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                     "-out", name + ".crt", "-days", "30", "-extfile", name + ".ext")

    def write_kubeconfig(self, name, user, ns="kube-system", **cluster):
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "lab",
                  "clusters": [{"name": "lab", "cluster": {"server": self.server,
                                                           "certificate-authority": self.path("ca.crt"), **cluster}}],
                  "users": [{"name": name, "user": user}],
                  "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": name, "namespace": ns}}]}
        with open(self.path(name + ".kubeconfig"), "w", encoding="utf-8") as f:
            json.dump(config, f, indent=1)
        return self.path(name + ".kubeconfig")

    def add_certificate_user(self, name, subject):
        self.make_certificate(name, subject)
        self.write_kubeconfig(name, {"client-certificate": self.path(name + ".crt"), "client-key": self.path(name + ".key")}, ns="default")

    def kubeconfig(self, name="admin"):
        return self.path(name + ".kubeconfig")

    def add_cede(self):
        """The service account with the shipped role, and a token for it in a file."""
        if os.path.exists(ROLES):
            self.kubectl("apply", "-f", ROLES)
        self.new_token()
        self.write_kubeconfig("cede", {"tokenFile": self.path("cede.token")})

    def new_token(self, seconds=86400):
        token = self.kubectl("create", "token", "cede", "-n", "kube-system", f"--duration={seconds}s")
        with open(self.path("cede.token.new"), "w", encoding="utf-8") as f:
            f.write(token)
        os.rename(self.path("cede.token.new"), self.path("cede.token"))

    # ---- processes ----

    def start(self, name):
        with open(self.path(name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen(self.commands[name], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                    cwd=self.folder, preexec_fn=die_with_parent, start_new_session=True)

    def stop(self, name, how=signal.SIGTERM, patience=15):
        process = self.processes.pop(name, None)
        if not process:
            return
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def send(self, name, what):
        self.processes[name].send_signal(what)

    def restart(self, name, how=signal.SIGKILL):
        self.stop(name, how)
        self.start(name)
        if name in ("etcd", "kube-apiserver"):
            self.wait_ready()

    def prepare(self):
        with open(self.path("audit.yaml"), "w", encoding="utf-8") as f:
            f.write(self.audit_policy)
        etcd = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.etcd_peer}"
        self.commands["etcd"] = [
            self.program("etcd"), "--data-dir", self.path("etcd"), "--listen-client-urls", etcd,
            "--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}", "--unsafe-no-fsync", "--log-level", "warn"]
        self.commands["kube-apiserver"] = [
            self.program("kube-apiserver"), "--etcd-servers", etcd, "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            "--tls-cert-file", self.path("server.crt"), "--tls-private-key-file", self.path("server.key"),
            "--client-ca-file", self.path("ca.crt"), "--authorization-mode=RBAC", "--endpoint-reconciler-type=none",
            "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16",
            "--service-account-key-file", self.path("accounts.key"),
            "--service-account-signing-key-file", self.path("accounts.key"),
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--audit-policy-file", self.path("audit.yaml"), "--audit-log-path", self.path("audit.log"),
            "--audit-log-maxsize", "8192",  # MB: a new file would be begun after 100, and what was before would not be judged
            "--profiling=false", *self.apiserver_args]
        self.commands["kube-controller-manager"] = [
            self.program("kube-controller-manager"), "--kubeconfig", self.kubeconfig("controller-manager"),
            "--service-account-private-key-file", self.path("accounts.key"), "--root-ca-file", self.path("ca.crt"),
            "--leader-elect=false", "--use-service-account-credentials=true", "--bind-address=127.0.0.1", f"--secure-port={self.kcm_port}",
            "--concurrent-gc-syncs=5", "--kube-api-qps=200", "--kube-api-burst=400", "--profiling=false",
            "--authentication-skip-lookup=true"]
        self.commands["kwok"] = [
            self.program("kwok"), "--kubeconfig", self.kubeconfig("kwok"), "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40", "--config", os.path.join(HERE, "stages.yaml"), "--server-address", f"127.0.0.1:{self.kwok_port}"]

    def program(self, name):
        return os.path.join(self.bin, name)

    def __enter__(self):
        try:
            return self.up()
        except BaseException:
            self.down()
            raise

    def __exit__(self, *_):
        self.down()

    def up(self):
        self.make_ca()
        for name, subject in (("admin", "/O=system:masters/CN=admin"), ("kwok", "/O=system:masters/CN=kwok"),
                              ("controller-manager", "/CN=system:kube-controller-manager")):
            self.add_certificate_user(name, subject)
        self.prepare()
        self.start("etcd")
        self.start("kube-apiserver")
        self.wait_ready()
        if self.with_controllers:
            self.start("kube-controller-manager")
        if self.with_kwok:
            self.start("kwok")
        self.add_cede()
        return self

    def down(self):
        for name in ("kwok", "kube-controller-manager", "kube-apiserver", "etcd", *self.processes):
            self.stop(name, signal.SIGKILL if self.is_own else signal.SIGTERM)
        if self.is_own and not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- talking to it ----

    def context(self, name="admin"):
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        context.load_cert_chain(self.path(name + ".crt"), self.path(name + ".key"))
        return context

    def get(self, path, name="admin"):
        with urllib.request.urlopen(self.server + path, context=self.context(name), timeout=10) as answer:
            return answer.read()

    def wait_ready(self, seconds=120):
        end = time.monotonic() + seconds
        last = None
        while time.monotonic() < end:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}; see {self.path(name + '.log')}")
            try:
                if self.get("/readyz") == b"ok":
                    return
            except (OSError, urllib.error.URLError) as error:
                last = error
            time.sleep(0.2)
        raise RuntimeError(f"kube-apiserver is not ready after {seconds} s: {last}")

    def kubectl(self, *args, stdin=None, name="admin", check=True):
        done = subprocess.run([self.program("kubectl"), "--kubeconfig", self.kubeconfig(name), *args], input=stdin, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              env={**os.environ, "HOME": self.folder})
        if check and done.returncode:
            raise RuntimeError(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def objects(self, resource, *args):
        return json.loads(self.kubectl("get", resource, *args, "-o", "json"))["items"]

    def apply(self, *objects):
        return self.kubectl("apply", "--validate=false", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def create(self, *objects):
        return self.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def audit(self):
        """Every request that was answered, in the server's order."""
        with open(self.path("audit.log"), encoding="utf-8") as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def wait(self, what, ask, seconds=60):
        """ask() until it says something true; that."""
        end = time.monotonic() + seconds * PATIENCE
        while True:
            answer = ask()
            if answer:
                return answer
            if time.monotonic() > end:
                raise AssertionError(f"not after {seconds} s: {what}")
            time.sleep(0.1)


# ---- objects ----

def node(name, cpu="4", memory="16Gi", pods=110, labels=None, **resources):
    room = {"cpu": str(cpu), "memory": memory, "pods": str(pods), **{k.replace("__", "/"): str(v) for k, v in resources.items()}}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "type": "kwok", **(labels or {})},
                         "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": {"allocatable": room, "capacity": room, "phase": "Running"}}


def pod(name, cpu="1", ns="default", scheduler="cede", node_name=None, priority_class=None, labels=None, annotations=None,
        **spec):
    body = {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}], **spec}
    if node_name:
        body["nodeName"] = node_name
    if priority_class:
        body["priorityClassName"] = priority_class
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": ns, "labels": labels or {}, "annotations": annotations or {}}, "spec": body}
