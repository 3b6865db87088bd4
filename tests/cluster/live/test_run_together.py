#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cede run: gangs start together or not at all, volumes get their node before their pods, windows end by themselves."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import node, pod, run  # noqa: E402
from daemon import Daemon, bound, clear, condition, deletions, events, get, messages, node_of, written  # noqa: E402

WINDOW_S = 60


def member(name, gang, n, cpu=1):
    return pod(name, cpu=cpu, annotations={"cede.dev/gang": gang, "cede.dev/min-member": str(n)})


def CL_8_gang(lab, suite):
    lab.create(node("n0"), node("n1"))
    lab.daemon = Daemon(lab)
    lab.create(*[member(f"g-{i}", "g", 3, cpu=2) for i in range(2)])
    lab.wait("condition", lambda: condition(lab, "g-0"))
    suite.true("CL_8 below its minimum nobody starts", not node_of(lab, "g-0") and not node_of(lab, "g-1"), "")
    lab.create(member("g-2", "g", 3, cpu=2))
    suite.equal("CL_8 when it is complete, all of it starts", len(bound(lab, "g-0", "g-1", "g-2")), 3)
    lab.create(*[member(f"h-{i}", "h", 2, cpu=2) for i in range(2)])
    c = lab.wait("condition", lambda: condition(lab, "h-0"))
    suite.true("CL_8 a gang for which there is room for some only waits as a whole", not node_of(lab, "h-0") and not node_of(lab, "h-1"), c["message"])
    lab.kubectl("delete", "pod", "g-0", "--wait=false")
    suite.equal("CL_8 and starts as a whole when there is", len(bound(lab, "h-0", "h-1")), 2)
    clear(lab)


def storage_class(name, provisioner):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def claim(name, cls):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": {"storageClassName": cls, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}


def volume(name, cls, on, for_claim=None):
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls, "hostPath": {"path": "/x"},
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]}}}
    if for_claim:
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": for_claim["metadata"]["name"], "uid": for_claim["metadata"]["uid"]}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def with_claim(name, claim_name):
    return pod(name, cpu=1, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}])


def selected(lab, name):
    return get(lab, name, kind="pvc")["metadata"].get("annotations", {}).get("volume.kubernetes.io/selected-node")


def VO_3_volumes(lab, suite):
    lab.create(storage_class("made", "cede.test/maker"), storage_class("local", "kubernetes.io/no-provisioner"))
    lab.create(claim("dynamic", "made"), claim("static", "local"), volume("pv-local", "local", "n1"))
    time.sleep(1)
    lab.create(with_claim("d", "dynamic"), with_claim("s", "static"))
    on = lab.wait("selected node", lambda: selected(lab, "dynamic"))
    suite.true("VO_3 a claim that waits for its first consumer gets its node", on in ("n0", "n1"), str(on))
    suite.true("VO_3 the pod is not bound before its volume is", not node_of(lab, "d"), "")
    lab.create(volume("pv-made", "made", on, for_claim=get(lab, "dynamic", kind="pvc")))  # what a provisioner does
    suite.equal("VO_3 then it is, on that node", bound(lab, "d", seconds=60), [on])
    suite.equal("VO_3 a volume that is there decides the node", bound(lab, "s", seconds=60), ["n1"])
    suite.equal("VO_3 and is the claim's", get(lab, "static", kind="pvc")["spec"].get("volumeName"), "pv-local")
    clear(lab)


def CL_5_min_runtime(lab, suite):
    """A minimum runtime ends, and that alone makes room."""
    lab.daemon.end()
    path = lab.path("kai.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("""apiVersion: v1
kind: ConfigMap
metadata: {name: kai-scheduler-default, namespace: kai-scheduler}
data:
  config.yaml: |
    tiers: [{plugins: [{name: minruntime, arguments: {defaultPreemptMinRuntime: WINDOWs, defaultReclaimMinRuntime: WINDOWs}}]}]
""".replace("WINDOW", str(WINDOW_S)))
    lab.daemon = Daemon(lab, "--config", path)
    lab.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    lab.create(pod("old-0", cpu=4), pod("old-1", cpu=4))
    bound(lab, "old-0", "old-1")
    since = len(lab.audit())
    lab.create(pod("new", cpu=3, priority_class="high"))
    bound(lab, "new", seconds=240)
    said = messages(lab, "new")
    suite.true("CL_9 the message says what protects whom, and until when", any("protected by min-runtime" in m and "until" in m for m in said), str(said))
    gone = deletions(lab, since)
    suite.equal("CL_5 one had to go", len(gone), 1)
    until = re.search(r"until (\d\d):(\d\d):(\d\d)", " ".join(said))
    late = (gone[0][1] - gone[0][1].replace(hour=int(until[1]), minute=int(until[2]), second=int(until[3]), microsecond=0)).total_seconds()
    suite.true("CL_5 when the window has ended as it said (the next full second), and nothing else happens, it gets its room", 0 <= (late + 1) % 86400 < 61,
               f"{late:.1f} s after {until[0]}: {said}")


def ending(lab, suite):
    suite.equal("SIGTERM: exit 0", lab.daemon.end(), 0)
    refused = [(a["verb"], a["requestURI"]) for a in lab.audit() if "serviceaccount:kube-system:cede" in a["user"]["username"] and a["responseStatus"]["code"] == 403]
    suite.equal("CL_10 nothing was forbidden under the shipped role", refused, [])
    suite.true("CL_9 events were written", events(lab, "new", "Scheduled"), str(written(lab)[-5:]))


run(CL_8_gang, VO_3_volumes, CL_5_min_runtime, ending)
