#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run in profile kai, with KAI's own objects under the shipped CRDs: a gang, a reclaim by fair share, the end of a window with nothing else happening;
and the self check."""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import SOURCE, node, pod, run  # noqa: E402
from daemon import Daemon, bound, condition, deletions, events, get, messages, node_of, stamp, written  # noqa: E402

NO_LIMIT = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
WINDOW_S = 60


def queue(name, cpu, parent=None, **spec):
    resources = {"gpu": NO_LIMIT, "memory": NO_LIMIT, "cpu": {"quota": cpu * 1000, "limit": -1, "overQuotaWeight": 1}}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"resources": resources, **({"parentQueue": parent} if parent else {}), **spec}}


def group(name, queue_name, members):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": "default"},
            "spec": {"queue": queue_name, "minMember": members}}


def member(name, group_name, cpu):
    return pod(name, cpu=cpu, annotations={"pod-group-name": group_name})


def CL_8_gang(lab, suite):
    lab.kubectl("apply", "-k", os.path.join(SOURCE, "packaging", "kubernetes", "crds"))
    for name in ("queues.scheduling.run.ai", "podgroups.scheduling.run.ai"):
        lab.kubectl("wait", "--for=condition=Established", "crd", name, "--timeout=60s")
    lab.create(node("n0"), node("n1"), queue("top", 8), queue("a", 4, "top"), queue("b", 4, "top", reclaimMinRuntime=f"{WINDOW_S}s"))
    lab.daemon = Daemon(lab, "--profile", "kai")
    lab.create(group("train", "b", 3), member("train-0", "train", 2), member("train-1", "train", 2))
    c = lab.wait("condition", lambda: condition(lab, "train-0"))
    suite.true("CL_8 a gang below its minimum does not start", not node_of(lab, "train-0") and not node_of(lab, "train-1"), c["message"])
    lab.create(member("train-2", "train", 2))
    suite.equal("CL_8 when it is complete all of it starts", len(bound(lab, "train-0", "train-1", "train-2")), 3)
    started = lab.wait("start", lambda: get(lab, "train", kind="podgroup.scheduling.run.ai")["metadata"].get("annotations", {}).get("kai.scheduler/last-start-timestamp"))
    suite.true("MR_8 its start is written back to the PodGroup", started, str(started))


def CL_5_reclaim_when_the_window_ends(lab, suite):
    """b uses six of its four cores, inside its window; a wants its own."""
    since, started = len(lab.audit()), stamp(get(lab, "train", kind="podgroup.scheduling.run.ai")["metadata"]["annotations"]["kai.scheduler/last-start-timestamp"])
    lab.create(group("serve", "a", 1), member("serve-0", "serve", 4))
    bound(lab, "serve-0", seconds=240)
    said = messages(lab, "serve-0")
    suite.true("CL_9 the message says that a minimum runtime protects them, and until when", any("min-runtime" in m and "until" in m for m in said), str(said))
    gone = deletions(lab, since)
    suite.equal("GQ_1 CL_8 the gang over its share goes as a whole", sorted(name for name, _ in gone), ["train-0", "train-1", "train-2"])
    after = (gone[0][1] - started).total_seconds()
    suite.true("CL_5 not before its window has ended", after >= WINDOW_S, f"{after:.1f} s after its start")
    before = [a for a in lab.audit()[since:] if a["verb"] in ("create", "update", "patch", "delete") and a.get("objectRef", {}).get("resource") in ("pods", "nodes", "podgroups", "queues")
              and 0 < (gone[0][1] - stamp(a["requestReceivedTimestamp"])).total_seconds() < 5 and "kube-system:cede" not in a["user"]["username"]
              and a["objectRef"].get("subresource") != "status"]
    suite.equal("CL_5 and nothing else happened: time alone woke it", [(a["verb"], a["objectRef"]) for a in before], [])
    note = lab.wait("event", lambda: events(lab, "train-0", "Preempted"))[0]["note"]
    suite.true("CL_9 the event names the action and both queues", note.startswith("cede: reclaim for default/serve-0") and "root.top.b" in note, note)


def CL_6_self_check(lab, suite):
    lab.daemon.process.send_signal(signal.SIGUSR1)
    lab.wait("self check", lambda: "self check: " in lab.daemon.said(), 90)
    suite.true("CL_6 the cluster is known as it is", "self check: the cluster is known as it is" in lab.daemon.said(), lab.daemon.said()[-1500:])


def ending(lab, suite):
    suite.equal("SIGTERM: exit 0", lab.daemon.end(), 0)
    refused = [(a["verb"], a["requestURI"]) for a in lab.audit() if "serviceaccount:kube-system:cede" in a["user"]["username"] and a["responseStatus"]["code"] == 403]
    suite.equal("CL_10 nothing was forbidden under the shipped role", refused, [])
    suite.true("there was something to judge", written(lab), "")


run(CL_8_gang, CL_5_reclaim_when_the_window_ends, CL_6_self_check, ending)
