// SPDX-License-Identifier: Apache-2.0

// Command kube lets kube-scheduler's own code decide for waiting pods of a cluster that bench/peers wrote, and prints
// what it took in milliseconds of the processor and what it decided.
//
// A decision is one scheduling cycle up to its answer: the filters of the default profile on all nodes, then default
// preemption's dry runs and choice. Nothing is carried out, so that all decisions are taken on the same cluster, one
// thread working. "exhaustive" tries all nodes, as cede does; "sampled" is the default: a tenth of the nodes, at least
// a hundred candidates, from a random node on.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sort"
	"sync"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

type cluster struct {
	nodes   []*v1.Node
	running []*v1.Pod
	waiting []*v1.Pod
}

type answer struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node"`
	Victims []string `json:"victims"`
}

type result struct {
	Ms      map[string][]float64 `json:"ms"`
	Answers map[string][]answer  `json:"answers"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
}

func readCluster(path string) *cluster {
	f, err := os.Open(path)
	must(err)
	defer f.Close()
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	must(json.NewDecoder(f).Decode(&list))
	c := &cluster{}
	for _, raw := range list.Items {
		var kind struct {
			Kind string `json:"kind"`
		}
		must(json.Unmarshal(raw, &kind))
		switch kind.Kind {
		case "Node":
			n := &v1.Node{}
			must(json.Unmarshal(raw, n))
			c.nodes = append(c.nodes, n)
		case "Pod":
			c.addPod(raw)
		}
	}
	return c
}

func (c *cluster) addPod(raw []byte) {
	p := &v1.Pod{}
	must(json.Unmarshal(raw, p))
	p.UID = types.UID(p.Name)
	if p.Spec.NodeName != "" {
		c.running = append(c.running, p)
	} else {
		c.waiting = append(c.waiting, p)
	}
}

// chooser is a default preemption that notes its victims instead of deleting them.
type chooser struct {
	*defaultpreemption.DefaultPreemption
	mu      sync.Mutex
	victims []string
}

func newChooser(ctx context.Context, fw framework.Framework, percentage, least int32) *chooser {
	features := plfeature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	features.EnableAsyncPreemption = false
	args := &schedconfig.DefaultPreemptionArgs{MinCandidateNodesPercentage: percentage, MinCandidateNodesAbsolute: least}
	pl, err := defaultpreemption.New(ctx, args, fw, features)
	must(err)
	ch := &chooser{DefaultPreemption: pl}
	pl.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) error {
		ch.mu.Lock()
		defer ch.mu.Unlock()
		ch.victims = append(ch.victims, victim.Name)
		return nil
	}
	return ch
}

type world struct {
	ctx   context.Context
	sched *scheduler.Scheduler
	fw    framework.Framework

	snapshot *internalcache.Snapshot
}

func newWorld(c *cluster) *world {
	ctx := klog.NewContext(context.Background(), klog.Background())
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	all := int32(100)
	s, err := scheduler.New(ctx, client, factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithPercentageOfNodesToScore(&all), scheduler.WithParallelism(1))
	must(err)
	for _, p := range c.waiting { // default preemption looks the pod up
		must(factory.Core().V1().Pods().Informer().GetIndexer().Add(p))
	}
	for _, n := range c.nodes {
		s.Cache.AddNode(klog.Background(), n)
	}
	for _, p := range c.running {
		must(s.Cache.AddPod(klog.Background(), p))
	}
	fw := s.Profiles[v1.DefaultSchedulerName]
	snapshot, ok := fw.SnapshotSharedLister().(*internalcache.Snapshot)
	if !ok {
		must(fmt.Errorf("unexpected snapshot %T", fw.SnapshotSharedLister()))
	}
	return &world{ctx, s, fw, snapshot}
}

func processorMs() float64 {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return float64(t.Nano()) / 1e6
}

func (w *world) decide(ch *chooser, pod *v1.Pod) (answer, float64) {
	info, err := framework.NewPodInfo(pod)
	must(err)
	ch.victims = nil
	a := answer{Pod: pod.Name, Victims: []string{}}
	runtime.GC()
	began := processorMs()
	must(w.sched.Cache.UpdateSnapshot(klog.Background(), w.snapshot))
	state := framework.NewCycleState()
	_, err = w.sched.SchedulePod(w.ctx, w.fw, state, &framework.QueuedPodInfo{PodInfo: info})
	fit, ok := err.(*framework.FitError)
	if !ok {
		must(fmt.Errorf("%s: expected that it fits nowhere, got %v", pod.Name, err))
	}
	nominated, status := ch.Evaluator.Preempt(w.ctx, state, pod, fit.Diagnosis.NodeToStatus)
	ms := processorMs() - began
	if status.IsSuccess() && nominated != nil && nominated.NominatingInfo != nil {
		a.Node = nominated.NominatedNodeName
	}
	a.Victims = append(a.Victims, ch.victims...)
	sort.Strings(a.Victims)
	return a, ms
}

func main() {
	n := flag.Int("decisions", 5, "how many")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	c := readCluster(flag.Arg(0))
	w := newWorld(c)
	r := result{Ms: map[string][]float64{}, Answers: map[string][]answer{}}
	for _, way := range []struct {
		name string
		ch   *chooser
	}{
		{"exhaustive", newChooser(w.ctx, w.fw, 100, math.MaxInt32)},
		{"sampled", newChooser(w.ctx, w.fw, 10, 100)},
	} {
		for i := 0; i < *n && i < len(c.waiting); i++ {
			a, ms := w.decide(way.ch, c.waiting[i])
			r.Ms[way.name] = append(r.Ms[way.name], ms)
			r.Answers[way.name] = append(r.Answers[way.name], a)
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(&r))
}
