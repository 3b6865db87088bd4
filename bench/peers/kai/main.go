// SPDX-License-Identifier: Apache-2.0

// Command kai lets KAI's own actions decide for the waiting pods of a cluster that bench/peers wrote, and prints what
// it took in milliseconds of the processor and what was decided.
//
// The objects are those of the file, with a PodGroup for each pod as KAI's pod grouper makes one, in fake API clients;
// KAI's own cache reads them. A cycle is what KAI does each time: "open" makes a session of a snapshot of the cache,
// "actions" are its actions in their order. What would be written to the API server is noted instead, so that each
// cycle begins with the same cluster.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	kaifake "github.com/NVIDIA/KAI-scheduler/pkg/apis/client/clientset/versioned/fake"
	kaiv2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
	kaiv2alpha2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2alpha2"
	"github.com/NVIDIA/KAI-scheduler/pkg/common/constants"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/actions"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/eviction_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/pod_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/podgroup_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/cache"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf_util"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/framework"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/log"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/metrics"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/plugins"
)

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
		fmt.Fprintln(os.Stderr, "kai:", err)
		os.Exit(1)
	}
}

func processorMs() float64 {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return float64(t.Nano()) / 1e6
}

type cluster struct {
	kube, kai  []kruntime.Object
	waiting    map[string]bool
	priorities map[int32]bool
}

// addPod adds a pod, its group, and the class of its priority if it is the first of it.
func (c *cluster) addPod(p *v1.Pod) {
	p.UID = types.UID(p.Name)
	p.Spec.SchedulerName = constants.DefaultSchedulerName
	p.Annotations = map[string]string{constants.PodGroupAnnotationForPod: p.Name}
	c.waiting[p.Name] = p.Spec.NodeName == ""
	class := fmt.Sprintf("priority-%d", *p.Spec.Priority)
	if !c.priorities[*p.Spec.Priority] {
		c.priorities[*p.Spec.Priority] = true
		c.kube = append(c.kube, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Value: *p.Spec.Priority})
	}
	c.kube = append(c.kube, p)
	c.kai = append(c.kai, &kaiv2alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID, CreationTimestamp: p.CreationTimestamp},
		Spec:       kaiv2alpha2.PodGroupSpec{MinMember: 1, Queue: p.Labels["kai.scheduler/queue"], PriorityClassName: class},
	})
}

func readCluster(path string) *cluster {
	f, err := os.Open(path)
	must(err)
	defer f.Close()
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	must(json.NewDecoder(f).Decode(&list))
	c := &cluster{waiting: map[string]bool{}, priorities: map[int32]bool{}}
	for _, raw := range list.Items {
		var kind metav1.TypeMeta
		must(json.Unmarshal(raw, &kind))
		switch kind.Kind {
		case "Node":
			n := &v1.Node{}
			must(json.Unmarshal(raw, n))
			c.kube = append(c.kube, n)
		case "Pod":
			p := &v1.Pod{}
			must(json.Unmarshal(raw, p))
			c.addPod(p)
		case "Queue":
			q := &kaiv2.Queue{}
			must(json.Unmarshal(raw, q))
			c.kai = append(c.kai, q)
		}
	}
	return c
}

// observer is KAI's cache, but that it notes what would be written.
type observer struct {
	cache.Cache
	waiting map[string]bool
	victims map[string][]string // by the group that they make room for
	nodes   map[string]string
}

func (o *observer) Bind(p *pod_info.PodInfo, host string, _ map[string]string) error {
	o.nodes[p.Name] = host
	return nil
}

func (o *observer) TaskPipelined(p *pod_info.PodInfo, _ string) { o.nodes[p.Name] = p.NodeName }

func (o *observer) Evict(p *v1.Pod, _ *podgroup_info.PodGroupInfo, why eviction_info.EvictionMetadata, _ string) error {
	preemptor := ""
	if why.Preemptor != nil {
		preemptor = why.Preemptor.Name
	}
	o.victims[preemptor] = append(o.victims[preemptor], p.Name)
	return nil
}

func (o *observer) RecordJobStatusEvent(*podgroup_info.PodGroupInfo) error { return nil }

// answers are those for the pods that waited; victims that get another place have none.
func (o *observer) answers() []answer {
	out := []answer{}
	for pod, node := range o.nodes {
		if !o.waiting[pod] {
			continue
		}
		sort.Strings(o.victims[pod])
		out = append(out, answer{pod, node, append([]string{}, o.victims[pod]...)})
	}
	sort.Slice(out, func(i, j int) bool { return strings.Compare(out[i].Pod, out[j].Pod) < 0 })
	return out
}

func params() *conf.SchedulerParams {
	return &conf.SchedulerParams{SchedulerName: constants.DefaultSchedulerName, PartitionParams: &conf.SchedulingNodePoolParams{},
		MaxNumberConsolidationPreemptees: 16, UseSchedulingSignatures: true, FullHierarchyFairness: true,
		AllowConsolidatingReclaim: true, NumOfStatusRecordingWorkers: 1, GlobalDefaultStalenessGracePeriod: time.Minute,
		SchedulePeriod: time.Second}
}

func newCache(c *cluster, p *conf.SchedulerParams) cache.Cache {
	kube, kai := fake.NewSimpleClientset(c.kube...), kaifake.NewSimpleClientset(c.kai...)
	sc := cache.New(&cache.SchedulerCacheParams{KubeClient: kube, KAISchedulerClient: kai, SchedulerName: p.SchedulerName,
		NodePoolParams: p.PartitionParams, FullHierarchyFairness: true, AllowConsolidatingReclaim: true,
		NumOfStatusRecordingWorkers: 1, DiscoveryClient: kube.Discovery()})
	stop := make(chan struct{})
	sc.Run(stop)
	sc.WaitForCacheSync(stop)
	return sc
}

func cycle(sc cache.Cache, waiting map[string]bool, p *conf.SchedulerParams, ms map[string][]float64) []answer {
	o := &observer{Cache: sc, waiting: waiting, victims: map[string][]string{}, nodes: map[string]string{}}
	config, err := conf_util.GetDefaultSchedulerConf()
	must(err)
	runtime.GC()
	began := processorMs()
	ssn, err := framework.OpenSession(o, config, p, "bench", http.NewServeMux())
	must(err)
	opened := processorMs()
	list, err := conf_util.GetActionsFromConfig(config)
	must(err)
	for _, a := range list {
		metrics.SetCurrentAction(string(a.Name()))
		log.InfraLogger.SetAction(string(a.Name()))
		a.Execute(ssn)
	}
	ended := processorMs()
	framework.CloseSession(ssn)
	ms["open"] = append(ms["open"], opened-began)
	ms["actions"] = append(ms["actions"], ended-opened)
	return o.answers()
}

func main() {
	n := flag.Int("decisions", 5, "how many cycles")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctrllog.SetLogger(logr.Discard())
	must(log.InitLoggers(0))
	log.InfraLogger.SetSessionID("bench")
	actions.InitDefaultActions()
	plugins.InitDefaultPlugins()
	p := params()
	c := readCluster(flag.Arg(0))
	sc := newCache(c, p)
	r := result{Ms: map[string][]float64{}, Answers: map[string][]answer{}}
	for i := 0; i < *n; i++ {
		r.Answers["actions"] = append(r.Answers["actions"], cycle(sc, c.waiting, p, r.Ms)...)
	}
	must(json.NewEncoder(os.Stdout).Encode(&r))
}
