/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - a small cluster written as text, and a framework on it that runs one plugin, for the tests of filters and
 * scores.
 *
 *	put_node((struct node_text){.name = "n1", .has = "cpu=4 memory=8Gi", .labels = "zone=a"});
 *	pod_id p = put_pod((struct pod_text){.name = "p", .asks = "cpu=5"});
 *	assert_string_equal(filter_text("NodeResourcesFit", p, "n1"), "UNRESOLVABLE Insufficient cpu");
 *
 * Lists are words between blanks. What text cannot say goes into a shape of the test's own, given as pod_text.shape.
 * Texts that come back are good until the test ends.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "filters/builtin.h"
#include "filters/framework.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
	struct vocab *vocab;
	struct names *names;
	struct arena *arena; /* of the test */
	struct name_bag bag;
	struct cluster *cluster;
	struct ledger *ledger;
	struct plugin_args args;
	struct framework *framework;
	struct cede_cycle cycle;
	bool is_begun;
};

static struct fixture f;

static inline int fixture_open(void **state)
{
	struct cluster_options options = cluster_options_default();

	f = (struct fixture){.vocab = vocab_new(), .arena = arena_new(1 << 14)};
	f.names = vocab_names(f.vocab);
	f.bag = name_bag_of(f.names);
	options.profile = PROFILE_KUBERNETES;
	f.cluster = cluster_new(f.vocab, &options);
	f.ledger = cluster_ledger(f.cluster);
	ledger_check_always(f.ledger, true);
	plugin_args_default(&f.args);
	return 0;
}

static inline void cycle_stop(void)
{
	if (f.is_begun)
		cycle_end(&f.cycle);
	framework_free(f.framework);
	f.framework = NULL;
	f.is_begun = false;
}

static inline int fixture_close(void **state)
{
	cycle_stop();
	cluster_free(f.cluster);
	name_bag_drop(&f.bag);
	vocab_free(f.vocab);
	arena_free(f.arena);
	return 0;
}

/* Everything anew, for the next row of a table. */
static inline void fixture_reset(void)
{
	fixture_close(NULL);
	fixture_open(NULL);
}

/* says: the sentence of the row. */
static inline void expect_text(const char *says, const char *got, const char *wanted)
{
	if (!str_eq(got, wanted))
		fail_msg("%s: got \"%s\", not \"%s\"", says, got, wanted);
}

/* ---- words ---- */

static inline name_id name_of(const char *s)
{
	return name_bag_add_str(&f.bag, s);
}

/* The next word of *ps, stepping past it; NULL: there is none. */
static inline char *next_word(const char **ps)
{
	const char *s = *ps ? *ps + strspn(*ps, " ") : "";
	size_t len = strcspn(s, " ");

	*ps = s + len;
	return len ? arena_strndup(f.arena, s, len) : NULL;
}

static inline uint32_t count_words(const char *s)
{
	uint32_t n = 0;

	while (next_word(&s))
		n++;
	return n;
}

/* Cuts s at the first c; what follows it, or NULL. */
static inline char *cut(char *s, char c)
{
	char *at = strchr(s, c);

	if (at)
		*at++ = '\0';
	return at;
}

/* "x=1 y= z" : a key alone has the empty value. */
static inline struct labels labels_of(const char *s)
{
	struct label *kv = arena_n(f.arena, count_words(s) + 1, struct label);
	uint32_t n = 0;
	char *w;

	while ((w = next_word(&s))) {
		char *value = cut(w, '=');

		kv[n++] = (struct label){name_of(w), name_of(value ? value : "")};
	}
	return (struct labels){labels_sort(kv, n), kv};
}

/* "cpu=500m nvidia.com/gpu=2" */
static inline struct res_vec amounts_of(const char *s)
{
	struct res_vec v = {0};
	char *w;

	while ((w = next_word(&s))) {
		char *value = cut(w, '=');
		struct quantity q;
		int64_t amount;
		res_id r;

		assert_int_equal(res_types_add(vocab_res(f.vocab), w, strlen(w), &r, NULL), ERR_OK);
		assert_int_equal(quantity_parse(value, strlen(value), &q, NULL), ERR_OK);
		assert_int_equal(res_amount_of(r, &q, &amount, NULL), ERR_OK);
		res_put(&v, r, amount);
	}
	return v;
}

static inline struct res_list list_of(const struct res_vec *v)
{
	struct res_amount *out = arena_n(f.arena, RES_MAX, struct res_amount);
	uint32_t n = 0;

	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(v, r))
			out[n++] = (struct res_amount){r, v->v[r]};
	return (struct res_list){n, out};
}

/* "a in (b,c),!d,e>5"; "" matches everything. */
static inline struct selector selector_of(const char *s)
{
	struct selector ret;

	assert_int_equal(selector_parse(f.arena, &f.bag, s, strlen(s), &ret, NULL), ERR_OK);
	return ret;
}

/* A term of node affinity: names of nodes after @, all of which the node must have, then a selector: "@n1 a=b,c". */
static inline struct node_term node_term_of(const char *s)
{
	struct requirement *fields = arena_n(f.arena, strlen(s) + 1, struct requirement);
	struct node_term t = {.fields = fields};
	struct selector labels;

	for (s += strspn(s, " "); *s == '@'; s += strspn(s, " ")) {
		const char *name = next_word(&s) + 1;
		size_t len = strlen(name);

		assert_int_equal(node_field_make(f.arena, &f.bag, "metadata.name", strlen("metadata.name"), SEL_IN,
						 &name, &len, 1, &fields[t.n_fields++], NULL),
				 ERR_OK);
	}
	labels = selector_of(s);
	t.n_exprs = labels.n;
	t.exprs = labels.reqs;
	return t;
}

/* Terms between bars; a term that is "?" is one that could not be read, and "" (no terms) is a list without any. */
static inline struct node_terms node_terms_of(const char *s)
{
	struct node_term *terms = arena_n(f.arena, strlen(s) + 1, struct node_term);
	char *rest = *s ? arena_strndup(f.arena, s, strlen(s)) : NULL;
	uint32_t n = 0;

	while (rest) {
		char *term = rest;

		rest = cut(rest, '|');
		if (str_eq(term, "?"))
			terms[n++].is_invalid = true;
		else
			terms[n++] = node_term_of(term);
	}
	return (struct node_terms){n, terms};
}

/* "5:a=b|2:c=d" */
static inline const struct preferred_node_term *preferred_of(const char *s, uint32_t *ret_n)
{
	struct preferred_node_term *terms = arena_n(f.arena, strlen(s) + 1, struct preferred_node_term);
	char *rest = arena_strndup(f.arena, s, strlen(s));

	*ret_n = 0;
	while (rest) {
		char *term = rest, *text;

		rest = cut(rest, '|');
		text = cut(term, ':');
		terms[*ret_n].weight = (int32_t)strtol(term, NULL, 10);
		terms[(*ret_n)++].term = node_terms_of(text).n ? node_terms_of(text).terms[0] : (struct node_term){0};
	}
	return terms;
}

/* "key=value:NoSchedule key2:NoExecute" */
static inline struct taint *taints_of(const char *s, struct name_bag *bag, uint32_t *ret_n)
{
	struct taint *v = mem_alloc((count_words(s) + 1) * sizeof(*v));
	char *w;

	*ret_n = 0;
	while ((w = next_word(&s))) {
		char *effect = cut(w, ':'), *value = cut(w, '=');
		struct taint t = {.key = name_bag_add_str(bag, w), .value = name_bag_add_str(bag, value ? value : "")};

		assert_true(taint_effect_parse(effect, &t.effect));
		v[(*ret_n)++] = t;
	}
	return v;
}

/*
 * "key=value:NoSchedule" is Equal, "key:NoExecute" Exists, "key" Exists for any effect, ":" Exists for any key,
 * "key<5:NoSchedule" Lt, "key>5:NoSchedule" Gt.
 */
static inline const struct toleration *tolerations_of(const char *s, uint32_t *ret_n)
{
	struct toleration *v = arena_n(f.arena, count_words(s) + 1, struct toleration);
	char *w;

	*ret_n = 0;
	while ((w = next_word(&s))) {
		char *effect = cut(w, ':'), op = w[strcspn(w, "=<>")], *value = op ? cut(w, op) : NULL;
		struct toleration t = {.key = name_of(w), .value = name_of(value ? value : "")};

		t.op = op == '=' ? TOLERATE_EQUAL : op == '<' ? TOLERATE_LT : op == '>' ? TOLERATE_GT : TOLERATE_EXISTS;
		assert_true(taint_effect_parse(effect ? effect : "", &t.effect));
		v[(*ret_n)++] = t;
	}
	return v;
}

/* "8080 8080/UDP 10.0.0.1:8080/TCP" */
static inline const struct host_port *ports_of(const char *s, uint32_t *ret_n)
{
	struct host_port *v = arena_n(f.arena, count_words(s) + 1, struct host_port);
	char *w;

	*ret_n = 0;
	while ((w = next_word(&s))) {
		char *protocol = cut(w, '/'), *port = cut(w, ':');

		v[(*ret_n)++] = (struct host_port){
			.ip = port ? name_of(w) : NAME_NONE,
			.port = (uint16_t)strtol(port ? port : w, NULL, 10),
			.protocol = !protocol || str_eq(protocol, "TCP") ? PROTO_TCP
				    : str_eq(protocol, "UDP")		 ? PROTO_UDP
									 : PROTO_SCTP,
		};
	}
	return v;
}

static inline const name_id *names_of(const char *s, uint32_t *ret_n)
{
	name_id *v = arena_n(f.arena, count_words(s) + 1, name_id);
	char *w;

	*ret_n = 0;
	while ((w = next_word(&s)))
		v[(*ret_n)++] = name_of(w);
	return v;
}

/* ---- objects ---- */

struct node_text {
	const char *name;
	const char *has; /* allocatable; NULL: plenty */
	const char *labels;
	const char *taints;
	const char *images; /* "nginx:1=30Mi" */
	bool is_cordoned;
};

/* The object alone, for whoever wants to say what a node was before. */
static inline struct obj_node node_object(struct node_text t)
{
	struct obj_node o = {.name = names_hold_str(f.names, t.name), .bag = name_bag_of(f.names)};
	struct labels labels = labels_of(t.labels);
	const char *images = t.images;
	char *w;

	o.allocatable = amounts_of(t.has ? t.has : "cpu=64 memory=256Gi pods=110");
	o.labelset = labelset_hold(f.vocab, NAME_NONE, labels.kv, labels.n);
	o.is_unschedulable = t.is_cordoned;
	o.taints = taints_of(t.taints, &o.bag, &o.n_taints);
	o.images = mem_alloc((count_words(images) + 1) * sizeof(*o.images));
	while ((w = next_word(&images))) {
		char *size = cut(w, '=');
		struct quantity q;

		assert_int_equal(quantity_parse(size, strlen(size), &q, NULL), ERR_OK);
		o.images[o.n_images++] = (struct obj_image){name_bag_add_str(&o.bag, w), quantity_value(&q)};
	}
	return o;
}

static inline node_id put_node(struct node_text t)
{
	struct obj_node o = node_object(t);

	assert_int_equal(cluster_put_node(f.cluster, &o, NULL), ERR_OK);
	return ledger_node_find(f.ledger, name_of(t.name));
}

struct pod_text {
	const char *name, *ns; /* ns NULL: "default" */
	const char *node;      /* where it runs; NULL: it waits */
	const char *labels;
	/* Requests; NULL: a pod without containers. In scores cpu and memory that are missing count 100m and 200Mi. */
	const char *asks;
	const char *selector; /* nodeSelector */
	const char *required; /* node affinity, see node_terms_of */
	const char *preferred;
	const char *tolerations, *ports, *images, *gates;
	int32_t priority;
	int64_t created_s, started_s;	    /* 0: not known */
	int64_t checkpointed_s, started_ns; /* the latter beyond that second */
	const char *nominated;		    /* the node it is nominated to */
	const char *priority_class;
	const char *k8s_group;	   /* the PodGroup it names in spec.schedulingGroup */
	bool is_leaving;	   /* somebody deleted it, */
	bool is_preempted;	   /* a scheduler did */
	const struct shape *shape; /* to start from; NULL: empty */
	const char *uid;
	const char *volumes; /* see volumes_in */
};

static inline void draft_amounts(struct shape *s, const char *asks)
{
	struct res_vec v = amounts_of(asks);

	s->request = s->usage = list_of(&v);
	s->nonzero_cpu_milli = res_has(&v, RES_CPU) ? v.v[RES_CPU] : 100;
	s->nonzero_memory = res_has(&v, RES_MEMORY) ? v.v[RES_MEMORY] : INT64_C(200) << 20;
}

static inline shape_id shape_of(const struct pod_text *t)
{
	struct shape s = t->shape ? *t->shape : (struct shape){0};

	if (t->asks)
		draft_amounts(&s, t->asks);
	if (t->selector)
		s.node_selector = labels_of(t->selector);
	if (t->required) {
		s.has_required_terms = true;
		s.required_terms = node_terms_of(t->required);
	}
	if (t->preferred)
		s.preferred_nodes = preferred_of(t->preferred, &s.n_preferred_nodes);
	if (t->tolerations)
		s.tolerations = tolerations_of(t->tolerations, &s.n_tolerations);
	if (t->ports)
		s.ports = ports_of(t->ports, &s.n_ports);
	if (t->images) {
		s.images = names_of(t->images, &s.n_images);
		s.n_containers = s.n_images;
	}
	if (t->gates)
		s.gates = names_of(t->gates, &s.n_gates);
	return shape_hold(f.vocab, &s);
}

/*
 * "claim:c ephemeral:v gce:disk ebs:vol iscsi:iqn rbd:image@pool@monitor@monitor csi:driver", each with "!" behind it
 * if it is read only. The claim of an ephemeral volume is called after the pod and the volume.
 */
static inline struct pod_volumes *volumes_in(const char *s, const char *pod)
{
	static const char *const words[VOLUME_SOURCES] = {
		[VOLUME_CLAIM] = "claim",   [VOLUME_EPHEMERAL] = "ephemeral",
		[VOLUME_CSI] = "csi",	    [VOLUME_ISCSI] = "iscsi",
		[VOLUME_RBD] = "rbd",	    [VOLUME_EBS] = "ebs",
		[VOLUME_GCE] = "gce",	    [VOLUME_AZURE_DISK] = "azure",
		[VOLUME_CINDER] = "cinder", [VOLUME_PORTWORX] = "portworx",
	};
	struct pod_volume *v = arena_n(f.arena, count_words(s) + 1, struct pod_volume);
	name_id *monitors = arena_n(f.arena, s ? strlen(s) + 1 : 1, name_id);
	uint32_t n = 0, n_monitors = 0;
	char *w, *id, *more;

	for (; (w = next_word(&s)); n++) {
		struct text handle = {0};

		v[n] = (struct pod_volume){.is_read_only = cut(w, '!') != NULL};
		id = cut(w, ':');
		while (!words[v[n].source] || !str_eq(words[v[n].source], w))
			v[n].source++;
		more = cut(id, '@');
		if (more) {
			char *monitor = cut(more, '@');

			v[n].pool = name_of(more);
			v[n].first_monitor = n_monitors;
			for (; monitor; v[n].n_monitors++) {
				char *next = cut(monitor, '@');

				monitors[n_monitors++] = name_of(monitor);
				monitor = next;
			}
		}
		v[n].name = name_of(id);
		v[n].id =
			v[n].source == VOLUME_EPHEMERAL ? name_of(arena_printf(f.arena, "%s-%s", pod, id)) : v[n].name;
		if (v[n].source >= VOLUME_EBS && volume_handle(v[n].source, id, "", &handle))
			v[n].handle = name_of(text_str(&handle));
		text_free(&handle);
	}
	return pod_volumes_new(f.names, v, n, monitors, n_monitors);
}

static inline struct obj_pod pod_object(struct pod_text t)
{
	struct labels labels = labels_of(t.labels);

	return (struct obj_pod){
		.name = names_hold_str(f.names, t.name),
		.group = t.k8s_group ? names_hold_str(f.names, t.k8s_group) : NAME_NONE,
		.group_is_k8s = t.k8s_group != NULL,
		.node_name = names_hold_str(f.names, t.node),
		.nominated_node = names_hold_str(f.names, t.nominated),
		.labelset = labelset_hold(f.vocab, name_of(t.ns ? t.ns : "default"), labels.kv, labels.n),
		.shape = shape_of(&t),
		.has_priority = !t.priority_class,
		.priority = t.priority,
		.priority_class = names_hold_str(f.names, t.priority_class),
		.phase = t.node ? PHASE_RUNNING : PHASE_PENDING,
		.created_ns = t.created_s ? t.created_s * NS_PER_S : TIME_NONE,
		.started_ns = t.started_s ? t.started_s * NS_PER_S + t.started_ns : TIME_NONE,
		.scheduled_ns = TIME_NONE,
		.deleted_ns = t.is_leaving || t.is_preempted ? NS_PER_S : TIME_NONE,
		.is_preempted = t.is_preempted,
		.checkpointed_ns = t.checkpointed_s ? t.checkpointed_s * NS_PER_S : TIME_NONE,
		.uid = uid_hold(f.names, t.uid ? t.uid : "", t.uid ? strlen(t.uid) : 0),
		.volumes = volumes_in(t.volumes, t.name),
	};
}

static inline pod_id put_pod(struct pod_text t)
{
	const char *ns = t.ns ? t.ns : "default";
	struct obj_pod o = pod_object(t);

	assert_int_equal(cluster_put_pod(f.cluster, &o, NULL), ERR_OK);
	return cluster_find_pod(f.cluster, ns, t.name);
}

/* ---- asking ---- */

static inline node_id node_of(const char *name)
{
	return ledger_node_find(f.ledger, name_of(name));
}

/* A framework with this plugin alone (and the two every profile needs; NULL: with all), and a cycle of it for a pod. */
static inline struct cede_cycle *cycle_start(const char *plugin, pod_id pod)
{
	static const struct plugin_ref all[] = {{.name = "*"}};
	struct plugin_ref enabled[] = {{.name = "PrioritySort"}, {.name = "DefaultBinder"}, {.name = plugin}};
	struct kube_profile profile = {.args = f.args};
	struct err e;

	if (plugin)
		profile.points[POINT_MULTI] = (struct plugin_set){COUNT(enabled), COUNT(all), enabled, all};
	cycle_stop();
	f.framework = framework_new(f.cluster, &profile, NULL, 0, &e);
	assert_non_null(f.framework);
	cycle_begin(&f.cycle, f.framework, f.arena, pod, 0);
	f.is_begun = true;
	return &f.cycle;
}

static inline const char *code_text(uint8_t code)
{
	static const char *const words[] = {"SUCCESS", "ERROR", "UNSCHEDULABLE", "UNRESOLVABLE",
					    "WAIT",    "SKIP",	"PENDING"};

	return words[code];
}

/* "UNSCHEDULABLE Too many pods, Insufficient cpu" */
static inline const char *status_of(const struct status *s)
{
	struct text t = {0};
	char *ret;

	text_add(&t, code_text(s->verdict.code));
	for (size_t i = 0;; i++) {
		struct text reason = {0};
		bool is_there = s->verdict.code != CEDE_SUCCESS && s->verdict.code != CEDE_SKIP &&
				status_reason(&f.cycle, s, i, &reason);

		if (is_there)
			text_printf(&t, "%s%s", i ? ", " : " ", text_str(&reason));
		text_free(&reason);
		if (!is_there)
			break;
	}
	ret = arena_strndup(f.arena, text_str(&t), t.n);
	text_free(&t);
	return ret;
}

static inline struct status verdict_of(const char *plugin, struct cede_verdict v)
{
	return (struct status){v, framework_plugin_find(f.framework, plugin)};
}

/* What a plugin's PreFilter said: "SKIP", or the status it left. */
static inline const char *pre_filter_text(const char *plugin, pod_id pod)
{
	cycle_start(plugin, pod);
	if (f.cycle.skip_filter >> framework_plugin_find(f.framework, plugin) & 1)
		return "SKIP";
	return status_of(&f.cycle.pre_filter);
}

/* What a plugin's filter itself says, whatever its PreFilter said about nodes. */
static inline const char *filter_text(const char *plugin, pod_id pod, const char *node)
{
	const struct framework_plugin *p;
	struct status s;

	cycle_start(plugin, pod);
	p = framework_plugin(f.framework, framework_plugin_find(f.framework, plugin));
	s = verdict_of(plugin, p->table->filter(p->self, &f.cycle, node_of(node)));
	return status_of(&s);
}

/* "n1=50 n2=100" for the nodes in that order, normalised, not weighted; "SKIP", or "ERROR why" of its PreScore. */
static inline const char *scores_text(const char *plugin, pod_id pod, const char *nodes)
{
	const struct framework_plugin *p;
	cede_node *ids = arena_n(f.arena, count_words(nodes) + 1, cede_node);
	int64_t *scores = arena_n(f.arena, count_words(nodes) + 1, int64_t);
	const char *at = nodes, *ret = "", *w;
	size_t n = 0;

	cycle_start(plugin, pod);
	p = framework_plugin(f.framework, framework_plugin_find(f.framework, plugin));
	while ((w = next_word(&at)))
		ids[n++] = node_of(w);
	if (p->table->pre_score) {
		struct status s = verdict_of(plugin, p->table->pre_score(p->self, &f.cycle, ids, n));

		if (s.verdict.code != CEDE_SUCCESS)
			return status_of(&s);
	}
	for (size_t i = 0; i < n; i++)
		scores[i] = p->table->score(p->self, &f.cycle, ids[i]);
	if (p->table->normalize)
		p->table->normalize(p->self, &f.cycle, ids, scores, n);
	at = nodes;
	for (size_t i = 0; i < n; i++)
		ret = arena_printf(f.arena, "%s%s%s=%lld", ret, i ? " " : "", next_word(&at), (long long)scores[i]);
	return ret;
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)
