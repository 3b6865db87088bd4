# SPDX-License-Identifier: Apache-2.0
"""Judges a scheduler by the API server's audit log alone: what it asked for, what it was answered, and in which order.

    violations = judge(lab.audit(), Case(scheduler="system:serviceaccount:kube-system:cede", ...))

Times in the log have microseconds, and requests overlap. Of two that overlap nobody can say which came first, so each is counted at the moment that
is kinder to the scheduler: room is taken when a binding was answered, and free when a deletion was asked for that succeeded. Of a request whose client was
killed, or that ran into a time limit, the log does not know what came of it (5xx): a deletion and a condition may have been carried out, and count so. What
is complained about is certain.

The log has to be written with POLICY: the judge needs the bodies of bindings, deletions, status patches and leases, and pods and nodes as they were
answered.
"""
import re
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [kwok]
  verbs: [get, list, watch]
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - {group: "", resources: [pods, nodes]}
  - {group: coordination.k8s.io, resources: [leases]}
  namespaces: []
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
"""
# Bodies of subresources are of their own: pods/binding and pods/status fall under the third rule.

SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    number, suffix = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(text)).groups()
    return Fraction(number) * SUFFIXES[suffix]


@dataclass
class Case:
    scheduler: str  # its user name
    lease: tuple = None  # (namespace, name), if it has one
    protected: set = field(default_factory=set)  # uids of pods that no decision may take


@dataclass
class Pod:
    uid: str
    name: str
    requests: dict
    node: str = None
    bound_at: str = None  # answered
    gone_at: str = None  # asked for
    condition_at: str = None
    n_binds: int = 0
    n_deletes: int = 0


def requests_of(spec):
    total = defaultdict(Fraction)
    for container in spec.get("containers", []):
        for kind, amount in container.get("resources", {}).get("requests", {}).items():
            total[kind] += quantity(amount)
    total["pods"] = Fraction(1)
    return total


class Judge:
    def __init__(self, case):
        self.case = case
        self.violations = []
        self.pods = {}  # by uid
        self.named = {}  # (ns, name) -> uid of the one that is there
        self.room = {}  # node -> resources
        self.on_node = defaultdict(list)
        self.identities = {}  # credential -> holder name
        self.holder = None
        self.held_since = None
        self.counts = defaultdict(int)

    def complain(self, event, words):
        self.violations.append(f"{event['stageTimestamp']} {words}")

    # ---- what events say ----

    @staticmethod
    def is_good(event):
        return 200 <= event.get("responseStatus", {}).get("code", 0) < 300

    @staticmethod
    def is_doubtful(event):
        return event.get("responseStatus", {}).get("code", 0) in (0, 500, 503, 504)

    @staticmethod
    def what(event):
        ref = event.get("objectRef") or {}
        resource = ref.get("resource", "")
        return resource + ("/" + ref["subresource"] if ref.get("subresource") else ""), ref.get("namespace", ""), ref.get("name", "")

    @staticmethod
    def credential(event):
        user = event["user"]
        return (user.get("extra", {}).get("authentication.kubernetes.io/credential-id") or [user["username"]])[0]

    def by_scheduler(self, event):
        return event["user"]["username"] == self.case.scheduler

    # ---- the order of the log ----

    def take(self, event):
        if event.get("stage") != "ResponseComplete" or event["verb"] not in ("create", "update", "patch", "delete"):
            return
        what, ns, name = self.what(event)
        if what == "leases" and self.case.lease == (ns, name or (event.get("requestObject") or {}).get("metadata", {}).get("name")):
            self.take_lease(event)
            return
        if self.by_scheduler(event):
            self.check_leads(event, what, ns, name)
        handler = {"pods": self.take_pod, "nodes": self.take_node, "pods/binding": self.take_binding, "pods/status": self.take_status,
                   "pods/eviction": self.take_eviction}.get(what)
        if handler and self.is_good(event):
            handler(event, ns, name)
        elif self.is_doubtful(event) and what == "pods/status":
            self.take_status(event, ns, name)
        elif self.is_doubtful(event) and what == "pods" and event["verb"] == "delete":
            self.maybe_deleted(event, ns, name)

    def take_lease(self, event):
        spec = (event.get("requestObject") or {}).get("spec", {})
        credential = self.credential(event)
        holder = spec.get("holderIdentity")
        if holder and self.by_scheduler(event):
            self.identities[credential] = holder
        if self.is_good(event) and holder is not None and holder != self.holder:
            self.holder, self.held_since = holder or None, event["stageTimestamp"]

    def check_leads(self, event, what, ns, name):
        """Who asks for a write has to be the holder; one that was asked for before the other's lease was answered is in doubt, and passes."""
        if not self.case.lease:
            return
        me = self.identities.get(self.credential(event))
        if me is None or (self.holder != me and event["requestReceivedTimestamp"] > self.held_since):
            self.complain(event, f"{event['verb']} {what} {ns}/{name} by {me or 'somebody without a lease'}, while {self.holder} holds the lease")

    def take_node(self, event, ns, name):
        said = event.get("responseObject") or {}
        if event["verb"] == "delete":
            self.room.pop(name, None)
        elif said.get("status", {}).get("allocatable"):
            self.room[said["metadata"]["name"]] = {k: quantity(v) for k, v in said["status"]["allocatable"].items() if k in ("cpu", "memory", "pods")}

    def take_pod(self, event, ns, name):
        if event["verb"] == "create":
            self.pod_made(event, event.get("responseObject") or {})
        elif event["verb"] == "delete":
            self.pod_deleted(event, ns, name)

    def pod_made(self, event, said):
        meta, spec = said.get("metadata", {}), said.get("spec", {})
        if "uid" not in meta:
            raise ValueError("the log has no bodies of pods: it was not written with POLICY")
        pod = Pod(meta["uid"], f"{meta['namespace']}/{meta['name']}", requests_of(spec))
        self.pods[pod.uid] = pod
        self.named[meta["namespace"], meta["name"]] = pod.uid
        if spec.get("nodeName"):
            self.settle(event, pod, spec["nodeName"])

    def settle(self, event, pod, node):
        pod.node, pod.bound_at = node, event["stageTimestamp"]
        self.on_node[node].append(pod)

    def take_binding(self, event, ns, name):
        body = event.get("requestObject") or {}
        uid = body.get("metadata", {}).get("uid") or self.named.get((ns, name))
        pod = self.pods.get(uid)
        if not pod:
            return
        pod.n_binds += 1
        if pod.n_binds > 1:
            self.complain(event, f"{pod.name} ({uid}) was bound twice")
        self.settle(event, pod, body["target"]["name"])
        if self.by_scheduler(event):
            self.counts["binds"] += 1
            self.check_room(event, body["target"]["name"], pod)

    def check_room(self, event, node, pod):
        room = self.room.get(node)
        if room is None:
            self.complain(event, f"{pod.name} was bound to {node}, which is not there")
            return
        there = [p for p in self.on_node[node] if not p.gone_at or p.gone_at > event["stageTimestamp"]]
        self.waiting_checks.append((event, node, pod, there, room))

    def end_checks(self):
        """Deletions that were asked for before a binding was answered may stand behind it in the log."""
        for event, node, pod, there, room in self.waiting_checks:
            there = [p for p in there if not p.gone_at or p.gone_at > event["stageTimestamp"]]
            for kind, has in room.items():
                taken = sum((p.requests.get(kind, Fraction(0)) for p in there), Fraction(0))
                if taken > has:
                    self.complain(event, f"{pod.name} was bound to {node}, where {float(taken):g} of {float(has):g} {kind} are taken then: "
                                  + ", ".join(sorted(p.name for p in there)))
                    break

    def take_status(self, event, ns, name):
        body = event.get("requestObject") or {}
        uid = body.get("metadata", {}).get("uid") or self.named.get((ns, name))
        pod = self.pods.get(uid)
        for condition in (body.get("status") or {}).get("conditions") or []:
            if pod and condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
                pod.condition_at = pod.condition_at or event["stageTimestamp"]
                if self.by_scheduler(event) and condition.get("reason") != "PreemptionByScheduler":
                    self.complain(event, f"{pod.name}: DisruptionTarget with the reason {condition.get('reason')}")

    def pod_deleted(self, event, ns, name):
        said, asked = event.get("responseObject") or {}, event.get("requestObject") or {}
        precondition = (asked.get("preconditions") or {}).get("uid")
        uid = precondition or said.get("metadata", {}).get("uid") or self.named.get((ns, name))
        pod = self.pods.get(uid)
        if not pod:
            return
        if self.by_scheduler(event):
            self.scheduler_deleted(event, pod, precondition)
        grace = said.get("metadata", {}).get("deletionGracePeriodSeconds")
        if not grace:
            self.gone(event, pod)

    def maybe_deleted(self, event, ns, name):
        uid = ((event.get("requestObject") or {}).get("preconditions") or {}).get("uid") or self.named.get((ns, name))
        if uid in self.pods:
            self.gone(event, self.pods[uid])

    def gone(self, event, pod):
        pod.gone_at = pod.gone_at or event["requestReceivedTimestamp"]
        if pod.node and pod in self.on_node[pod.node]:
            self.on_node[pod.node].remove(pod)

    def scheduler_deleted(self, event, pod, precondition):
        self.counts["deletes"] += 1
        pod.n_deletes += 1
        if pod.n_deletes > 1:
            self.complain(event, f"{pod.name} ({pod.uid}) was deleted twice")
        if not precondition:
            self.complain(event, f"{pod.name} was deleted without a precondition on its uid")
        if not pod.condition_at:
            self.complain(event, f"{pod.name} was deleted without DisruptionTarget before")
        if pod.uid in self.case.protected:
            self.complain(event, f"{pod.name} was protected, and deleted")

    def take_eviction(self, event, ns, name):
        """The Eviction API puts the condition on itself."""
        uid = self.named.get((ns, name))
        pod = self.pods.get(uid)
        if pod and self.by_scheduler(event):
            pod.condition_at = pod.condition_at or event["requestReceivedTimestamp"]
            options = (event.get("requestObject") or {}).get("deleteOptions") or {}
            self.scheduler_deleted(event, pod, (options.get("preconditions") or {}).get("uid"))
            self.gone(event, pod)

    waiting_checks = None


def judge(events, case):
    """Everything that is certainly wrong, in the order of the log; and how much there was to judge."""
    j = Judge(case)
    j.waiting_checks = []
    for event in events:
        j.take(event)
    j.end_checks()
    return sorted(j.violations), dict(j.counts)
