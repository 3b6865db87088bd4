// SPDX-License-Identifier: Apache-2.0

// Command yunikorn lets YuniKorn core's own preemption decide for waiting pods of a cluster that bench/peers wrote, and
// prints what it took in milliseconds of the processor and what it decided.
//
// A decision is Preemptor.TryPreemption: victims by queue, then by node, and the choice. What comes before it in
// YuniKorn (trying to place the ask on every node) and what its shim does (Kubernetes' filters on each candidate node:
// here the answer is always yes, for these pods ask for room alone, and that the core has checked) is not counted.
// Each decision is taken back, so that all are taken on the same cluster.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"

	"github.com/apache/yunikorn-core/pkg/common/configs"
	"github.com/apache/yunikorn-core/pkg/common/resources"
	"github.com/apache/yunikorn-core/pkg/common/security"
	"github.com/apache/yunikorn-core/pkg/log"
	"github.com/apache/yunikorn-core/pkg/plugins"
	"github.com/apache/yunikorn-core/pkg/scheduler/objects"
	siCommon "github.com/apache/yunikorn-scheduler-interface/lib/go/common"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

// object is what is read of a Node, a Pod or the ConfigMap with the queues.
type object struct {
	Kind     string
	Metadata struct {
		Name              string
		CreationTimestamp time.Time
		Annotations       map[string]string
	}
	Data map[string]string
	Spec struct {
		NodeName   string
		Priority   int32
		Containers []struct {
			Resources struct{ Requests map[string]string }
		}
	}
	Status struct{ Allocatable map[string]string }
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

// shim says yes to every set of victims that the core proposes.
type shim struct{}

func (shim) UpdateAllocation(*si.AllocationResponse) error   { return nil }
func (shim) UpdateApplication(*si.ApplicationResponse) error { return nil }
func (shim) UpdateNode(*si.NodeResponse) error               { return nil }
func (shim) Predicates(*si.PredicatesArgs) error             { return nil }
func (shim) SendEvent([]*si.EventRecord)                     {}

func (shim) PreemptionPredicates(args *si.PreemptionPredicatesArgs) *si.PreemptionPredicatesResponse {
	return &si.PreemptionPredicatesResponse{Success: true, Index: args.StartIndex}
}

func (shim) UpdateContainerSchedulingState(*si.UpdateContainerSchedulingStateRequest) {}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "yunikorn:", err)
		os.Exit(1)
	}
}

type world struct {
	mapping *objects.AppQueueMapping
	queues  map[string]*objects.Queue
	nodes   objects.NodeCollection
	byName  map[string]*objects.Node
	apps    map[string]*objects.Application
	running []*objects.Allocation
	asks    []*objects.Allocation
}

func processorMs() float64 {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return float64(t.Nano()) / 1e6
}

// amounts are a pod's or node's resources as the shim tells the core of them.
func amounts(of map[string]string, extra map[string]resources.Quantity) *resources.Resource {
	out := resources.NewResource()
	for name, text := range of {
		var q resources.Quantity
		var err error
		switch name {
		case "cpu":
			name = siCommon.CPU
			q, err = resources.ParseVCore(text)
		default:
			q, err = resources.ParseQuantity(text)
		}
		must(err)
		out.Resources[name] = q
	}
	for name, q := range extra {
		out.Resources[name] = q
	}
	return out
}

func (w *world) addQueues(conf configs.QueueConfig, parent *objects.Queue) {
	conf.Parent = len(conf.Queues) > 0
	q, err := objects.NewConfiguredQueue(conf, parent, false, w.mapping)
	must(err)
	w.queues[q.QueuePath] = q
	for _, child := range conf.Queues {
		w.addQueues(child, q)
	}
}

func (w *world) addNode(o *object) {
	n := objects.NewNode(&si.NodeInfo{NodeID: o.Metadata.Name, SchedulableResource: amounts(o.Status.Allocatable, nil).ToProto()})
	must(w.nodes.AddNode(n))
	w.byName[o.Metadata.Name] = n
}

func (w *world) application(o *object) *objects.Application {
	id, path := o.Metadata.Annotations["yunikorn.apache.org/app-id"], o.Metadata.Annotations["yunikorn.apache.org/queue"]
	if app, ok := w.apps[id]; ok {
		return app
	}
	app := objects.NewApplication(&si.AddApplicationRequest{ApplicationID: id, PartitionName: "default", QueueName: path,
		GangSchedulingStyle: "Soft"}, security.UserGroup{User: "bench"}, nil, "")
	q := w.queues[path]
	if q == nil {
		must(fmt.Errorf("%s: there is no queue %q", o.Metadata.Name, path))
	}
	app.SetQueue(q)
	q.AddApplication(app)
	w.mapping.AddAppQueueMapping(id, q)
	w.apps[id] = app
	return app
}

func (w *world) addPod(o *object) {
	app := w.application(o)
	alloc := objects.NewAllocationFromSI(&si.Allocation{
		AllocationKey: o.Metadata.Name, ApplicationID: app.ApplicationID, PartitionName: "default", NodeID: o.Spec.NodeName,
		Priority:         o.Spec.Priority,
		ResourcePerAlloc: amounts(o.Spec.Containers[0].Resources.Requests, map[string]resources.Quantity{"pods": 1}).ToProto(),
		PreemptionPolicy: &si.PreemptionPolicy{AllowPreemptOther: true,
			AllowPreemptSelf: o.Metadata.Annotations["yunikorn.apache.org/allow-preemption"] != "false"},
		AllocationTags: map[string]string{siCommon.CreationTime: strconv.FormatInt(o.Metadata.CreationTimestamp.Unix(), 10)},
	})
	if o.Spec.NodeName == "" {
		must(app.AddAllocationAsk(alloc))
		w.asks = append(w.asks, alloc)
		return
	}
	app.AddAllocation(alloc)
	w.byName[o.Spec.NodeName].AddAllocation(alloc)
	app.GetQueue().IncAllocatedResource(alloc.GetAllocatedResource(), false)
	w.running = append(w.running, alloc)
}

func readWorld(path string) *world {
	f, err := os.Open(path)
	must(err)
	defer f.Close()
	var list struct{ Items []*object }
	must(json.NewDecoder(f).Decode(&list))
	w := &world{mapping: objects.NewAppQueueMapping(), queues: map[string]*objects.Queue{}, byName: map[string]*objects.Node{},
		nodes: objects.NewNodeCollection("default"), apps: map[string]*objects.Application{}}
	for _, o := range list.Items {
		switch {
		case o.Kind == "ConfigMap":
			var conf configs.SchedulerConfig
			must(yaml.Unmarshal([]byte(o.Data["queues.yaml"]), &conf))
			w.addQueues(conf.Partitions[0].Queues[0], nil)
		case o.Kind == "Node":
			w.addNode(o)
		case o.Kind == "Pod":
			w.addPod(o)
		}
	}
	return w
}

func (w *world) decide(ask *objects.Allocation) (answer, float64) {
	app := w.apps[ask.GetApplicationID()]
	a := answer{Pod: ask.GetAllocationKey(), Victims: []string{}}
	runtime.GC()
	began := processorMs()
	p := objects.NewPreemptor(app, resources.NewResource(), 0, ask, w.nodes.GetFullNodeIterator(), true)
	if !p.CheckPreconditions() {
		must(fmt.Errorf("%s may not preempt", a.Pod))
	}
	reserved, ok := p.TryPreemption()
	ms := processorMs() - began
	if ok {
		a.Node = reserved.NodeID
	}
	for _, alloc := range w.running {
		if alloc.IsPreempted() {
			a.Victims = append(a.Victims, alloc.GetAllocationKey())
			alloc.MarkUnPreempted()
			w.apps[alloc.GetApplicationID()].GetQueue().DecPreemptingResource(alloc.GetAllocatedResource())
		}
	}
	sort.Strings(a.Victims)
	return a, ms
}

func main() {
	n := flag.Int("decisions", 5, "how many")
	flag.Parse()
	quiet := zap.NewNop()
	log.InitializeLogger(quiet, &zap.Config{Level: zap.NewAtomicLevelAt(zap.FatalLevel)})
	plugins.RegisterSchedulerPlugin(shim{})
	w := readWorld(flag.Arg(0))
	r := result{Ms: map[string][]float64{}, Answers: map[string][]answer{}}
	sort.Slice(w.asks, func(i, j int) bool {
		return strings.Compare(w.asks[i].GetAllocationKey(), w.asks[j].GetAllocationKey()) < 0
	})
	for i := 0; i < *n && i < len(w.asks); i++ {
		a, ms := w.decide(w.asks[i])
		r.Ms["preemption"] = append(r.Ms["preemption"], ms)
		r.Answers["preemption"] = append(r.Answers["preemption"], a)
	}
	must(json.NewEncoder(os.Stdout).Encode(&r))
}
