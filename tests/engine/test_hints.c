/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event wakes a pod that which plugin refused. Nodes and pods are written as words:
 *
 *	node	a=b (label)  !k (taint, NoSchedule unless it says otherwise)  #cpu=4 (allocatable)  cordoned
 *	pod	a=b (label)  @n (its node)  ^n (the node it is nominated to)  #cpu=4 (asks)  %80 (port)
 *		~k (tolerates; ~ alone: all)  ?a=b (node selector)  *a=b (node affinity)  &g (gate)  /ns (namespace)
 *
 * and what a pod says about others as one of "+zone app=a" (affinity), "-zone app=a" (anti-affinity), "=zone 1 app=a"
 * (spread).
 */
#include "filters/relations.h"

#include "engine/hints.h"

static struct engine_config *config;
static struct hints hints;

static int open_engine(void **state)
{
	fixture_open(state);
	config = engine_config_new();
	config->profile = PROFILE_KUBERNETES;
	return 0;
}

/* After the cluster is there: pods and nodes may come later all the same. */
static void start_engine(void)
{
	struct err e;

	hints.engine = engine_new(f.cluster, config, NULL, 0, &e);
	assert_non_null(hints.engine);
}

static int close_engine(void **state)
{
	engine_free(hints.engine);
	hints.engine = NULL;
	engine_config_free(config);
	return fixture_close(state);
}

static void reset_engine(void)
{
	close_engine(NULL);
	open_engine(NULL);
	start_engine();
}

static void expect_hint(const char *says, const char *plugin, pod_id pod, const struct cluster_event *ev, bool wakes)
{
	bool got = hints_ask(&hints, plugin, pod, ev) == HINT_QUEUE;

	if (got != wakes)
		fail_msg("%s: %s", says, got ? "woken" : "left asleep");
	if (got && !hints_interest(&hints, plugin, ev))
		fail_msg("%s: woken by what it does not listen to", says);
}

/* ---- words ---- */

static const char *joined(const char *to, const char *word)
{
	return arena_printf(f.arena, "%s %s", to ? to : "", word);
}

static struct node_text node_text_of(const char *s)
{
	struct node_text t = {.name = "n"};
	char *w;

	while ((w = next_word(&s))) {
		if (*w == '!')
			t.taints = joined(t.taints,
					  strchr(w, ':') ? w + 1 : arena_printf(f.arena, "%s:NoSchedule", w + 1));
		else if (*w == '#')
			t.has = joined(t.has, w + 1);
		else if (str_eq(w, "cordoned"))
			t.is_cordoned = true;
		else
			t.labels = joined(t.labels, w);
	}
	return t;
}

static const char **pod_field(struct pod_text *t, char mark)
{
	switch (mark) {
	case '@':
		return &t->node;
	case '^':
		return &t->nominated;
	case '#':
		return &t->asks;
	case '%':
		return &t->ports;
	case '~':
		return &t->tolerations;
	case '?':
		return &t->selector;
	case '*':
		return &t->required;
	case '&':
		return &t->gates;
	case '/':
		return &t->ns;
	default:
		return NULL;
	}
}

static const struct shape *relation_of(const char *s)
{
	struct shape *shape = arena_type(f.arena, struct shape);

	if (s && *s == '=')
		*shape = spreads_of(s + 1);
	else if (s && *s == '+')
		shape->affinity = terms_of(s + 1);
	else if (s)
		shape->anti_affinity = terms_of(s + 1);
	return shape;
}

static struct pod_text pod_text_of(const char *name, const char *s, const char *relation)
{
	struct pod_text t = {.name = name, .shape = relation_of(relation)};
	char *w;

	while ((w = next_word(&s))) {
		const char **field = pod_field(&t, *w);
		bool is_list = *w == '#' || *w == '~';

		if (!field)
			t.labels = joined(t.labels, w);
		else if (str_eq(w, "~"))
			*field = ":";
		else
			*field = is_list ? joined(*field, w + 1) : w + 1;
	}
	return t;
}

/* ---- nodes ---- */

static const struct {
	const char *says, *plugin;
	uint32_t actions;
	const char *before, *after, *pod, *relation; /* before: NULL if there was none */
	bool wakes;
} node_rows[] = {
	{"a name may belong to a new node", "NodeName", EV_ADD, NULL, "", "", NULL, true},
	{"a name does not come by a label", "NodeName", EV_NODE_LABEL, "", "a=b", "", NULL, false},

	{"a new node without a cordon", "NodeUnschedulable", EV_ADD, NULL, "", "", NULL, true},
	{"a new node with one", "NodeUnschedulable", EV_ADD, NULL, "cordoned", "", NULL, false},
	{"a cordon is lifted", "NodeUnschedulable", EV_NODE_TAINT, "cordoned", "", "", NULL, true},
	{"there was no cordon", "NodeUnschedulable", EV_NODE_TAINT, "", "", "", NULL, false},
	{"a cordon is put", "NodeUnschedulable", EV_NODE_TAINT, "", "cordoned", "", NULL, false},

	{"a new node without taints", "TaintToleration", EV_ADD, NULL, "", "", NULL, true},
	{"a new node that repels it", "TaintToleration", EV_ADD, NULL, "!k", "", NULL, false},
	{"a new node it tolerates", "TaintToleration", EV_ADD, NULL, "!k", "~k", NULL, true},
	{"a taint goes", "TaintToleration", EV_NODE_TAINT, "!k", "", "", NULL, true},
	{"a taint goes that did not repel it", "TaintToleration", EV_NODE_TAINT, "!k", "", "~k", NULL, false},
	{"one of two taints goes", "TaintToleration", EV_NODE_TAINT, "!k !j:NoExecute", "!j:NoExecute", "", NULL,
	 false},
	{"a preference was never in the way", "TaintToleration", EV_NODE_TAINT, "!k:PreferNoSchedule", "", "", NULL,
	 false},

	{"a new node that matches", "NodeAffinity", EV_ADD, NULL, "a=b", "?a=b", NULL, true},
	{"a new node that does not", "NodeAffinity", EV_ADD, NULL, "a=c", "?a=b", NULL, false},
	{"labels match now", "NodeAffinity", EV_NODE_LABEL, "a=c", "a=b", "*a=b", NULL, true},
	{"labels matched before", "NodeAffinity", EV_NODE_LABEL, "a=b", "a=b x=y", "*a=b", NULL, false},
	{"labels do not match now", "NodeAffinity", EV_NODE_LABEL, "a=b", "a=c", "*a=b", NULL, false},
	{"selector and terms must both match", "NodeAffinity", EV_ADD, NULL, "a=b", "?a=b *x", NULL, false},
	{"a term may name the node", "NodeAffinity", EV_ADD, NULL, "", "*@n", NULL, true},

	{"a new node has free ports", "NodePorts", EV_ADD, NULL, "", "%80", NULL, true},
	{"a label frees no port", "NodePorts", EV_NODE_LABEL, "", "a=b", "%80", NULL, false},

	{"a new node that is large enough", "NodeResourcesFit", EV_ADD, NULL, "#cpu=4 #pods=9", "#cpu=4", NULL, true},
	{"a new node that is too small", "NodeResourcesFit", EV_ADD, NULL, "#cpu=4 #pods=9", "#cpu=5", NULL, false},
	{"a new node without the type", "NodeResourcesFit", EV_ADD, NULL, "#cpu=4 #pods=9", "#nvidia.com/gpu=1", NULL,
	 false},
	{"a new node without places for pods", "NodeResourcesFit", EV_ADD, NULL, "#cpu=4", "#cpu=1", NULL, false},
	{"a node grew in what it asks", "NodeResourcesFit", EV_NODE_ALLOCATABLE, "#cpu=2 #pods=9", "#cpu=4 #pods=9",
	 "#cpu=1", NULL, true},
	{"a node grew and is still too small", "NodeResourcesFit", EV_NODE_ALLOCATABLE, "#cpu=2 #pods=9",
	 "#cpu=4 #pods=9", "#cpu=5", NULL, false},
	{"a node grew in what it does not ask", "NodeResourcesFit", EV_NODE_ALLOCATABLE, "#cpu=4 #pods=9",
	 "#cpu=4 #memory=2Gi #pods=9", "#cpu=1", NULL, false},
	{"a node has more places for pods", "NodeResourcesFit", EV_NODE_ALLOCATABLE, "#cpu=4 #pods=1", "#cpu=4 #pods=2",
	 "#cpu=1", NULL, true},
	{"a node shrank", "NodeResourcesFit", EV_NODE_ALLOCATABLE, "#cpu=8 #pods=9", "#cpu=4 #pods=9", "#cpu=1", NULL,
	 false},
	{"a label is no room", "NodeResourcesFit", EV_NODE_LABEL, "#cpu=2 #pods=9", "#cpu=4 #pods=9", "#cpu=1", NULL,
	 false},
	{"two changes at once are heard by who hears one", "NodeResourcesFit", EV_NODE_LABEL | EV_NODE_ALLOCATABLE,
	 "#cpu=2 #pods=9", "#cpu=4 #pods=9", "#cpu=1", NULL, true},
	{"a change of nothing in particular is heard by none", "NodeResourcesFit", EV_UPDATE, "#cpu=2 #pods=9",
	 "#cpu=4 #pods=9", "#cpu=1", NULL, false},

	{"affinity: a new node with the key", "InterPodAffinity", EV_ADD, NULL, "zone=1", "", "+zone app=a", true},
	{"affinity: a new node without", "InterPodAffinity", EV_ADD, NULL, "", "", "+zone app=a", false},
	{"affinity: a node gets the key", "InterPodAffinity", EV_NODE_LABEL, "", "zone=1", "", "+zone app=a", true},
	{"affinity: a node moves", "InterPodAffinity", EV_NODE_LABEL, "zone=1", "zone=2", "", "+zone app=a", true},
	{"affinity: a node stays", "InterPodAffinity", EV_NODE_LABEL, "zone=1", "zone=1 x=y", "", "+zone app=a", false},
	{"affinity: a node loses the key", "InterPodAffinity", EV_NODE_LABEL, "zone=1", "", "", "+zone app=a", false},
	{"anti-affinity: any new node", "InterPodAffinity", EV_ADD, NULL, "", "", "-zone app=a", true},
	{"others' anti-affinity: any new node", "InterPodAffinity", EV_ADD, NULL, "", "", NULL, true},
	{"anti-affinity: a node loses the key", "InterPodAffinity", EV_NODE_LABEL, "zone=1", "", "", "-zone app=a",
	 true},
	{"anti-affinity: a node moves", "InterPodAffinity", EV_NODE_LABEL, "zone=1", "zone=2", "", "-zone app=a", true},
	{"anti-affinity: a node gets the key", "InterPodAffinity", EV_NODE_LABEL, "", "zone=2", "", "-zone app=a",
	 false},

	{"spread: a new node with all keys", "PodTopologySpread", EV_ADD, NULL, "zone=1 host=n", "",
	 "=zone 1 app=a|host 1 app=a", true},
	{"spread: a new node with one of two", "PodTopologySpread", EV_ADD, NULL, "zone=1", "",
	 "=zone 1 app=a|host 1 app=a", false},
	{"spread: a node gets the keys", "PodTopologySpread", EV_NODE_LABEL, "", "zone=1", "", "=zone 1 app=a", true},
	{"spread: a node loses them", "PodTopologySpread", EV_NODE_LABEL, "zone=1", "", "", "=zone 1 app=a", true},
	{"spread: a node moves", "PodTopologySpread", EV_NODE_LABEL, "zone=1", "zone=2", "", "=zone 1 app=a", true},
	{"spread: a node stays", "PodTopologySpread", EV_NODE_LABEL, "zone=1", "zone=1 x=y", "", "=zone 1 app=a",
	 false},
	{"spread: taints of a node that counts", "PodTopologySpread", EV_NODE_TAINT, "zone=1", "zone=1 !k", "",
	 "=zone 1 app=a", true},
	{"spread: taints of one that does not", "PodTopologySpread", EV_NODE_TAINT, "", "!k", "", "=zone 1 app=a",
	 false},
	{"spread: a node that counts goes", "PodTopologySpread", EV_DELETE, NULL, "zone=1", "", "=zone 1 app=a", true},
	{"spread: one goes that did not count", "PodTopologySpread", EV_DELETE, NULL, "", "", "=zone 1 app=a", false},
	{"spread: soft constraints never refused it", "PodTopologySpread", EV_NODE_LABEL, "zone=1", "zone=2", "",
	 "=zone 1 soft app=a", false},

	{"a gate is not opened by nodes", "SchedulingGates", EV_ADD, NULL, "", "", NULL, false},
	{"a plugin without a row listens to everything", "somebody-else", EV_NODE_CONDITION, "", "", "", NULL, true},
};

static void nodes_wake_whom_they_help(void **state)
{
	(void)state;
	start_engine();
	for (size_t i = 0; i < COUNT(node_rows); i++) {
		struct cluster_event ev = {.resource = EV_NODE, .actions = node_rows[i].actions, .pod = POD_NONE};
		pod_id pod = put_pod(pod_text_of("w", node_rows[i].pod, node_rows[i].relation));
		struct obj_node before = {0};

		ev.node = put_node(node_text_of(node_rows[i].after));
		if (node_rows[i].before) {
			before = node_object(node_text_of(node_rows[i].before));
			ev.before = &before;
		}
		expect_hint(node_rows[i].says, node_rows[i].plugin, pod, &ev, node_rows[i].wakes);
		if (ev.before)
			obj_node_drop(f.vocab, &before);
		reset_engine();
	}
}

/* What the profile does not look at is no reason to sleep. */
static void ignored_types_need_not_be_there(void **state)
{
	static const char *const ignored[] = {"nvidia.com/gpu"};
	struct cluster_event ev = {.resource = EV_NODE, .actions = EV_ADD, .pod = POD_NONE};
	struct plugin_args *args = &config->kube_profiles[0].args;
	pod_id pod = put_pod(pod_text_of("w", "#nvidia.com/gpu=1", NULL));

	(void)state;
	args->n_ignored_resources = 1;
	args->ignored_resources = ignored;
	start_engine();
	ev.node = put_node(node_text_of("#cpu=1 #pods=9"));
	expect_hint("a new node without what nobody looks at", "NodeResourcesFit", pod, &ev, true);
}

/* ---- other pods, and the pod itself ---- */

static const struct pod_row {
	const char *says, *plugin;
	uint32_t actions;
	const char *before, *after, *theirs; /* of the other pod; before: NULL if there was none */
	const char *pod, *relation;
	bool wakes;
} pod_rows[] = {
	{"a pod that ran goes", "NodeResourcesFit", EV_DELETE, NULL, "@n", NULL, "#cpu=1", NULL, true},
	{"a nominated pod goes", "NodeResourcesFit", EV_DELETE, NULL, "^n", NULL, "#cpu=1", NULL, true},
	{"a pod without a node goes", "NodeResourcesFit", EV_DELETE, NULL, "", NULL, "#cpu=1", NULL, false},
	{"a pod comes", "NodeResourcesFit", EV_ADD, NULL, "@n", NULL, "#cpu=1", NULL, false},
	{"a pod takes less of what it asks", "NodeResourcesFit", EV_POD_SCALE_DOWN, "@n #cpu=2", "@n #cpu=1", NULL,
	 "#cpu=1", NULL, true},
	{"a pod takes less of something else", "NodeResourcesFit", EV_POD_SCALE_DOWN, "@n #cpu=2 #memory=1Gi",
	 "@n #cpu=2", NULL, "#cpu=1", NULL, false},
	{"a pod takes more", "NodeResourcesFit", EV_POD_SCALE_UP, "@n #cpu=1", "@n #cpu=2", NULL, "#cpu=1", NULL,
	 false},

	{"a pod with its port goes", "NodePorts", EV_DELETE, NULL, "@n %80", NULL, "%80", NULL, true},
	{"a pod with another port goes", "NodePorts", EV_DELETE, NULL, "@n %81", NULL, "%80", NULL, false},
	{"a pod with its port goes that had no node", "NodePorts", EV_DELETE, NULL, "%80", NULL, "%80", NULL, false},

	{"affinity: whom it wants comes", "InterPodAffinity", EV_ADD, NULL, "@n app=a", NULL, "", "+zone app=a", true},
	{"affinity: one of two terms wants him", "InterPodAffinity", EV_ADD, NULL, "@n app=a", NULL, "",
	 "+zone app=a|zone x=y", false},
	{"affinity: of another namespace", "InterPodAffinity", EV_ADD, NULL, "/other @n app=a", NULL, "", "+zone app=a",
	 false},
	{"affinity: whom it wants goes", "InterPodAffinity", EV_DELETE, NULL, "@n app=a", NULL, "", "+zone app=a",
	 false},
	{"no terms: nobody is wanted", "InterPodAffinity", EV_ADD, NULL, "@n app=a", NULL, "", NULL, false},
	{"affinity: becomes wanted", "InterPodAffinity", EV_POD_LABEL, "@n", "@n app=a", NULL, "", "+zone app=a", true},
	{"affinity: was wanted", "InterPodAffinity", EV_POD_LABEL, "@n app=a", "@n app=a x=y", NULL, "", "+zone app=a",
	 false},
	{"anti-affinity: no longer unwanted", "InterPodAffinity", EV_POD_LABEL, "@n app=a", "@n", NULL, "",
	 "-zone app=a", true},
	{"anti-affinity: still unwanted by another term", "InterPodAffinity", EV_POD_LABEL, "@n app=a x=y", "@n x=y",
	 NULL, "", "-zone app=a|zone x=y", false},
	{"anti-affinity: becomes unwanted", "InterPodAffinity", EV_POD_LABEL, "@n", "@n app=a", NULL, "", "-zone app=a",
	 false},
	{"anti-affinity: one whom it does not want goes", "InterPodAffinity", EV_DELETE, NULL, "@n app=a", NULL, "",
	 "-zone app=b|zone app=a", true},
	{"anti-affinity: another goes", "InterPodAffinity", EV_DELETE, NULL, "@n app=c", NULL, "", "-zone app=a",
	 false},
	{"one goes who did not want it", "InterPodAffinity", EV_DELETE, NULL, "@n", "-zone app=w", "app=w", NULL, true},
	{"one goes who did not want others", "InterPodAffinity", EV_DELETE, NULL, "@n", "-zone app=v", "app=w", NULL,
	 false},

	{"spread: one that counts comes", "PodTopologySpread", EV_ADD, NULL, "@n app=a", NULL, "", "=zone 1 app=a",
	 true},
	{"spread: one that counts goes", "PodTopologySpread", EV_DELETE, NULL, "@n app=a", NULL, "",
	 "=host 1 app=b|zone 1 app=a", true},
	{"spread: one that does not count goes", "PodTopologySpread", EV_DELETE, NULL, "@n app=b", NULL, "",
	 "=zone 1 app=a", false},
	{"spread: one of another namespace goes", "PodTopologySpread", EV_DELETE, NULL, "/other @n app=a", NULL, "",
	 "=zone 1 app=a", false},
	{"spread: begins to count", "PodTopologySpread", EV_POD_LABEL, "@n", "@n app=a", NULL, "", "=zone 1 app=a",
	 true},
	{"spread: counts no longer", "PodTopologySpread", EV_POD_LABEL, "@n app=a", "@n", NULL, "", "=zone 1 app=a",
	 true},
	{"spread: counts as before", "PodTopologySpread", EV_POD_LABEL, "@n app=a", "@n app=a x=y", NULL, "",
	 "=zone 1 app=a", false},

	{"the end of a victim only makes its preemptor's gate be tested", "DefaultPreemption", EV_DELETE, NULL, "@n",
	 NULL, "", NULL, false},
	{"cordons do not depend on pods", "NodeUnschedulable", EV_DELETE, NULL, "@n", NULL, "", NULL, false},
	{"taints do not depend on pods", "TaintToleration", EV_DELETE, NULL, "@n", NULL, "", NULL, false},
	{"a plugin without a row", "somebody-else", EV_POD_SCALE_UP, "@n", "@n", NULL, "", NULL, true},
};

static void pods_wake_whom_they_help(void **state)
{
	(void)state;
	start_engine();
	for (size_t i = 0; i < COUNT(pod_rows); i++) {
		const struct pod_row *r = &pod_rows[i];
		struct cluster_event ev = {.resource = EV_ASSIGNED_POD, .actions = r->actions, .node = NODE_NONE};
		struct obj_pod before = {0};

		put_node((struct node_text){.name = "n"});
		ev.pod = put_pod(pod_text_of("o", r->after, r->theirs));
		if (r->before) {
			before = pod_object(pod_text_of("o", r->before, r->theirs));
			ev.before = &before;
		}
		expect_hint(r->says, r->plugin, put_pod(pod_text_of("w", r->pod, r->relation)), &ev, r->wakes);
		if (ev.before)
			obj_pod_drop(f.vocab, &before);
		reset_engine();
	}
}

static const struct {
	const char *says, *plugin;
	uint32_t actions;
	const char *before, *after, *relation;
	bool wakes;
} own_rows[] = {
	{"its gates are gone", "SchedulingGates", EV_POD_GATES_GONE, "&g", "", NULL, true},
	{"its labels open no gate", "SchedulingGates", EV_POD_LABEL, "&g", "&g a=b", NULL, false},
	{"it tolerates cordons now", "NodeUnschedulable", EV_POD_TOLERATION, "", "~node.kubernetes.io/unschedulable",
	 NULL, true},
	{"it tolerates everything now", "NodeUnschedulable", EV_POD_TOLERATION, "", "~", NULL, true},
	{"it tolerates something else", "NodeUnschedulable", EV_POD_TOLERATION, "", "~k", NULL, false},
	{"it tolerates more", "TaintToleration", EV_POD_TOLERATION, "", "~k", NULL, true},
	{"it asks less", "NodeResourcesFit", EV_POD_SCALE_DOWN, "#cpu=2", "#cpu=1", NULL, true},
	{"it asks more", "NodeResourcesFit", EV_POD_SCALE_UP, "#cpu=1", "#cpu=2", NULL, false},
	{"others may like its labels", "InterPodAffinity", EV_POD_LABEL, "", "a=b", NULL, true},
	{"it counts itself no longer", "PodTopologySpread", EV_POD_LABEL, "app=a", "", "=zone 1 app=a", true},
	{"it counts itself as before", "PodTopologySpread", EV_POD_LABEL, "app=a", "app=a x=y", "=zone 1 app=a", false},
	{"taints decide which nodes count, and it tolerates more", "PodTopologySpread", EV_POD_TOLERATION, "", "~k",
	 "=zone 1 taints app=a", true},
	{"taints do not, and it tolerates more", "PodTopologySpread", EV_POD_TOLERATION, "", "~k", "=zone 1 app=a",
	 false},
	{"a node's name is not in its own hands", "NodeName", EV_POD_LABEL, "", "a=b", NULL, false},
};

static void its_own_change_wakes_a_pod(void **state)
{
	(void)state;
	start_engine();
	for (size_t i = 0; i < COUNT(own_rows); i++) {
		struct cluster_event ev = {
			.resource = EV_TARGET_POD, .actions = own_rows[i].actions, .node = NODE_NONE};
		struct obj_pod before = pod_object(pod_text_of("w", own_rows[i].before, own_rows[i].relation));

		ev.pod = put_pod(pod_text_of("w", own_rows[i].after, own_rows[i].relation));
		ev.before = &before;
		expect_hint(own_rows[i].says, own_rows[i].plugin, ev.pod, &ev, own_rows[i].wakes);
		obj_pod_drop(f.vocab, &before);
		reset_engine();
	}
}

/* ---- all together ---- */

static void gates_are_the_profiles_own(void **state)
{
	pod_id gated = put_pod((struct pod_text){.name = "g", .gates = "x"}),
	       open = put_pod((struct pod_text){.name = "h"});

	(void)state;
	start_engine();
	assert_string_equal(hints_gate(&hints, gated), "SchedulingGates");
	assert_null(hints_gate(&hints, open));
}

static struct cede_verdict ticket_pre_enqueue(void *self, const struct cede_cycle *c)
{
	const char *ticket = cede_pod_label(c, cede_cycle_pod(c), "ticket");

	(void)self;
	return ticket && str_eq(ticket, "yes") ? cede_ok() : cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
}

static void a_gate_of_ones_own_sees_the_pod(void **state)
{
	static const char *const reasons[] = {"no ticket"};
	static const struct cede_plugin table = {.abi = CEDE_PLUGIN_ABI,
						 .name = "ticket",
						 .pre_enqueue = ticket_pre_enqueue,
						 .reasons = reasons,
						 .n_reasons = 1};
	static const struct framework_plugin extra[] = {{.table = &table}};
	pod_id first = put_pod((struct pod_text){.name = "a"}),
	       second = put_pod((struct pod_text){.name = "b", .labels = "ticket=yes"}),
	       third = put_pod((struct pod_text){.name = "c", .labels = "ticket=no"});
	struct err e;

	(void)state;
	hints.engine = engine_new(f.cluster, config, extra, 1, &e);
	assert_non_null(hints.engine);
	assert_string_equal(hints_gate(&hints, first), "ticket");
	assert_null(hints_gate(&hints, second));
	assert_string_equal(hints_gate(&hints, third), "ticket");
}

static void tell(struct waiting *w, enum event_resource resource, uint32_t actions, pod_id pod)
{
	struct cluster_event ev = {.resource = resource, .actions = actions, .pod = pod, .node = node_of("n")};

	waiting_event(w, &ev, 0);
}

/* A pod too large for what is free, one that is gated, and what it takes to wake each. */
static void a_queue_with_hints(void **state)
{
	const char *fit[] = {"NodeResourcesFit"};
	struct waiting_options o;
	struct waiting *w;
	pod_id big, gated, runs;

	(void)state;
	put_node((struct node_text){.name = "n", .has = "cpu=4 pods=9"});
	runs = put_pod((struct pod_text){.name = "r", .node = "n", .asks = "cpu=3"});
	big = put_pod((struct pod_text){.name = "b", .asks = "cpu=4"});
	gated = put_pod((struct pod_text){.name = "g", .gates = "x"});
	config->initial_backoff_ns = 2 * NS_PER_S;
	start_engine();
	o = hints_options(&hints);
	assert_int_equal(o.initial_backoff_ns, 2 * NS_PER_S);
	w = waiting_new(f.ledger, &o);
	waiting_add(w, big, 0);
	waiting_add(w, gated, 0);
	assert_int_equal(waiting_where(w, gated), WAITING_GATED);
	assert_int_equal(waiting_pop(w, 0), big);
	waiting_failed(w, big, fit, 1, NULL, 0);
	tell(w, EV_NODE, EV_NODE_LABEL, POD_NONE);
	assert_int_equal(waiting_where(w, big), WAITING_UNSCHEDULABLE);
	tell(w, EV_ASSIGNED_POD, EV_DELETE, runs);
	assert_int_equal(waiting_where(w, big), WAITING_BACKOFF);
	put_pod((struct pod_text){.name = "g"});
	waiting_update(w, gated, EV_POD_GATES_GONE, NULL, 0);
	assert_int_equal(waiting_where(w, gated), WAITING_ACTIVE);
	waiting_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes_wake_whom_they_help, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(ignored_types_need_not_be_there, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(pods_wake_whom_they_help, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(its_own_change_wakes_a_pod, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(gates_are_the_profiles_own, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(a_gate_of_ones_own_sees_the_pod, open_engine, close_engine),
		cmocka_unit_test_setup_teardown(a_queue_with_hints, open_engine, close_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
