/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_write.h - a mixed world (mixed_world.h) as documents, one per object. For tests only. */
#pragma once

#include "properties/mixed_world.h"

static const char *const m_type_names[M_TYPES] = {"vcore", "memory", "nvidia.com/gpu", "pods"};

static inline struct text *doc_new(struct docs *d)
{
	struct text none = {0};

	array_push(&d->v, none);
	return &array_last(&d->v);
}

static inline void docs_free(struct docs *d)
{
	for (uint32_t i = 0; i < d->v.n; i++)
		text_free(&d->v.v[i]);
	array_free(&d->v);
}

/* "2027-...Z", so many seconds before now; good until the next but three. */
static inline const char *m_time(int64_t ago);

/* A start as it is written: true, an hour ahead, or from before there were clocks that counted seconds. */
static inline const char *m_stamp_text(enum m_stamp stamp, int64_t ago)
{
	return stamp == STAMP_FUTURE ? m_time(-3600) : stamp == STAMP_ANCIENT ? "1700-01-01T00:00:00Z" : m_time(ago);
}

static inline const char *m_time(int64_t ago)
{
	static char buf[4][40];
	static unsigned turn;
	struct text t = {0};
	char *out = buf[turn++ % 4];

	timestamp_text(MIXED_NOW_NS - ago * NS_PER_S, &t);
	snprintf(out, sizeof(buf[0]), "%s", text_str(&t));
	text_free(&t);
	return out;
}

/* ---- queues ---- */

static inline void write_amounts(struct text *t, const char *key, const int64_t *v)
{
	bool is_first = true;

	text_printf(t, "%s: {", key);
	for (int i = 0; i < M_TYPES; i++) {
		if (!v[i])
			continue;
		text_printf(t, "%s%s: %" PRId64 "%s", is_first ? "" : ", ", m_type_names[i], v[i],
			    i == M_CPU	 ? "m"
			    : i == M_MEM ? "Mi"
					 : "");
		is_first = false;
	}
	text_add(t, "}");
}

static inline void write_props(const struct m_queue *q, int number, struct text *t, int pad)
{
	static const char *const policies[] = {"", "default", "fence", "disabled"};

	text_pad(t, ' ', (size_t)pad);
	text_printf(t, "properties: {application.sort.policy: %s", number % 2 ? "fair" : "fifo");
	if (number % 3 == 0)
		text_add(t, ", application.sort.priority: disabled");
	if (q->policy != M_UNSAID)
		text_printf(t, ", preemption.policy: %s", policies[q->policy]);
	if (q->delay != UNSET_S)
		text_printf(t, ", preemption.delay: %" PRId64 "s", q->delay);
	if (q->offset)
		text_printf(t, ", priority.offset: \"%" PRId64 "\"", q->offset);
	if (q->is_priority_fence)
		text_add(t, ", priority.policy: fence");
	if (q->quota_delay)
		text_printf(t, ", quota.preemption.delay: %" PRId64 "s", q->quota_delay);
	text_add(t, "}\n");
}

static inline void write_yunikorn_queue(const struct mixed *m, int i, struct text *t, int pad)
{
	const struct m_queue *q = &m->q[i];
	bool has_children = false;

	text_pad(t, ' ', (size_t)pad);
	text_printf(t, "- name: q%d\n", i);
	text_pad(t, ' ', (size_t)pad + 2);
	text_add(t, "resources: {");
	write_amounts(t, "guaranteed", q->guaranteed);
	text_add(t, ", ");
	write_amounts(t, "max", q->max);
	text_add(t, "}\n");
	write_props(q, i, t, pad + 2);
	if (q->limit) {
		text_pad(t, ' ', (size_t)pad + 2);
		text_printf(t, "limits: [{limit: x, users: [\"*\"], maxresources: {vcore: %" PRId64 "m}}]\n", q->limit);
	}
	for (int k = i + 1; k < m->n_queues; k++) {
		if (m->q[k].parent != i)
			continue;
		if (!has_children) {
			text_pad(t, ' ', (size_t)pad + 2);
			text_add(t, "queues:\n");
			has_children = true;
		}
		write_yunikorn_queue(m, k, t, pad + 2);
	}
}

static inline void write_partition(struct mixed *m)
{
	struct text *t;

	if (!m->has_yunikorn)
		return;
	t = doc_new(&m->docs);
	text_printf(t,
		    "partitions:\n- name: default\n  preemption: {enabled: %s, quotapreemptionenabled: %s}\n"
		    "  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n",
		    m->reclaim_is_off ? "false" : "true", m->quota_is_on ? "true" : "false");
	for (int i = 0; i < m->n_queues; i++)
		if (m->q[i].parent < 0 && (m->q[i].kind & IS_YUNIKORN))
			write_yunikorn_queue(m, i, t, 4);
}

static inline void write_kai_share(struct text *t, const char *name, int64_t quota, int64_t max, int weight)
{
	text_printf(t, "%s: {quota: %" PRId64 ", limit: %" PRId64 ", overQuotaWeight: %d}", name, quota, max ? max : -1,
		    weight);
}

static inline void write_kai_queue(struct mixed *m, int i)
{
	struct text *t = doc_new(&m->docs);
	const struct m_queue *q = &m->q[i];
	bool is_own = q->kind == IS_KAI; /* otherwise queues.yaml says how much */

	text_printf(t, "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q%d}\nspec:\n", i);
	text_printf(t, "  priority: %d\n  resources: {", q->kai_priority);
	write_kai_share(t, "gpu", is_own ? q->guaranteed[M_GPU] : 0, is_own ? q->max[M_GPU] : 0, q->weight);
	text_add(t, ", ");
	write_kai_share(t, "cpu", is_own ? q->guaranteed[M_CPU] : 0, is_own ? q->max[M_CPU] : 0, q->weight);
	text_add(t, ", ");
	write_kai_share(t, "memory", 0, 0, q->weight);
	text_add(t, "}\n");
	if (q->parent >= 0)
		text_printf(t, "  parentQueue: q%d\n", q->parent);
	if (q->preempt != UNSET_S)
		text_printf(t, "  preemptMinRuntime: %" PRId64 "s\n", q->preempt);
	if (q->reclaim != UNSET_S)
		text_printf(t, "  reclaimMinRuntime: %" PRId64 "s\n", q->reclaim);
}

/* ---- the rest ---- */

static inline void write_nodes(struct mixed *m)
{
	for (int i = 0; i < m->n_nodes; i++) {
		const struct m_node *n = &m->n[i];
		struct text *t = doc_new(&m->docs);

		text_printf(t,
			    "apiVersion: v1\nkind: Node\nmetadata: {name: n%d, labels: {kubernetes.io/hostname: n%d, "
			    "zone: z%d}}\nspec: {unschedulable: %s",
			    i, i, n->zone, n->is_closed ? "true" : "false");
		if (n->is_tainted)
			text_add(t, ", taints: [{key: only, value: some, effect: NoSchedule}]");
		text_printf(t,
			    "}\nstatus: {allocatable: {cpu: %" PRId64 "m, memory: %" PRId64
			    "Mi, nvidia.com/gpu: \"%" PRId64 "\", pods: \"%" PRId64 "\"}}\n",
			    n->room[M_CPU], n->room[M_MEM], n->room[M_GPU], n->room[M_PODS]);
	}
}

static inline void write_classes(struct mixed *m)
{
	for (int i = 0; i < M_CLASSES; i++) {
		struct text *t = doc_new(&m->docs);

		text_printf(t, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: c%d%s}\n", i,
			    m->c[i].opted_out ? ", annotations: {yunikorn.apache.org/allow-preemption: \"false\"}"
					      : "");
		text_printf(t, "value: %" PRId64 "\n%s", m->c[i].value,
			    m->c[i].never ? "preemptionPolicy: Never\n" : "");
	}
}

static inline void write_spaces(struct mixed *m)
{
	for (int ns = 0; ns < 2; ns++) {
		text_printf(doc_new(&m->docs), "apiVersion: v1\nkind: Namespace\nmetadata: {name: s%d}\n", ns);
		text_printf(doc_new(&m->docs),
			    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: dep, namespace: s%d, uid: dep%d, "
			    "labels: {kai.scheduler/preemptibility: non-preemptible}}\n",
			    ns, ns);
		for (int i = 0; i < M_OWNERS; i++) {
			struct text *t = doc_new(&m->docs);

			text_printf(t,
				    "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: o%d\n  namespace: s%d\n"
				    "  uid: o%d-%d\n",
				    i, ns, i, ns);
			if (i == 0)
				text_printf(t,
					    "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: dep, "
					    "uid: dep%d, controller: true}]\n",
					    ns);
			if (i == 1)
				text_add(t, "  labels: {kai.scheduler/preemptibility: preemptible}\n");
		}
		text_printf(doc_new(&m->docs),
			    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds, namespace: s%d, uid: ds%d}\n",
			    ns, ns);
	}
}

static inline void write_budgets(struct mixed *m)
{
	for (int i = 0; i < m->n_budgets; i++) {
		struct text *t = doc_new(&m->docs);

		text_printf(t,
			    "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b%d, namespace: s%d}\n"
			    "status: {disruptionsAllowed: %" PRId64 "}\nspec: {selector: ",
			    i, m->b[i].ns, m->b[i].allowed);
		if (m->b[i].team < 0)
			text_add(t, "{}}\n");
		else
			text_printf(t, "{matchLabels: {team: t%d}}}\n", m->b[i].team);
	}
}

static inline void write_queue_name(const struct mixed *m, int q, bool is_kai, struct text *t)
{
	if (q < 0)
		text_add(t, "nowhere");
	else if (is_kai && (m->q[q].kind & IS_KAI))
		text_printf(t, "q%d", q);
	else
		text_add(t, m->q[q].path);
}

static inline void write_kai_group(struct mixed *m, int i)
{
	const struct m_group *g = &m->g[i];
	struct text *t = doc_new(&m->docs);

	text_printf(t,
		    "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata:\n  name: g%d\n  namespace: s%d\n"
		    "  annotations: {x: y",
		    i, g->ns);
	if (g->ago != UNSET_S || g->stamp != STAMP_TRUE)
		text_printf(t, ", kai.scheduler/last-start-timestamp: \"%s\"", m_stamp_text(g->stamp, g->ago));
	if (g->stale != UNSET_S)
		text_printf(t, ", kai.scheduler/stale-podgroup-timestamp: \"%s\"", m_time(g->stale));
	text_printf(t, "}\nspec: {preemptibility: \"%s\"", preemptibility_text(g->preemptibility));
	if (g->queue != NO_QUEUE) {
		text_add(t, ", queue: ");
		write_queue_name(m, g->queue, true, t);
	}
	if (g->class >= 0)
		text_printf(t, ", priorityClassName: c%d", g->class);
	if (g->n_parts == 1)
		text_printf(t, ", minMember: %" PRId64 "}\n", g->min[0]);
	else
		text_printf(t,
			    ", subGroups: [{name: part0, minMember: %" PRId64 "}, {name: part1, minMember: %" PRId64
			    "}]}\n",
			    g->min[0], g->min[1]);
}

static inline void write_kube_group(struct mixed *m, int i)
{
	const struct m_group *g = &m->g[i];
	struct text *t = doc_new(&m->docs);

	text_printf(t,
		    "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g%d, namespace: s%d}\n"
		    "spec: {schedulingPolicy: ",
		    i, g->ns);
	if (g->is_gang)
		text_printf(t, "{gang: {minCount: %" PRId64 "}}", g->min[0]);
	else
		text_add(t, "{basic: {}}");
	if (g->goes_whole)
		text_add(t, ", disruptionMode: {all: {}}");
	if (g->class >= 0)
		text_printf(t, ", priorityClassName: c%d", g->class);
	text_add(t, g->never ? ", preemptionPolicy: Never}\n" : "}\n");
}

/* ---- pods ---- */

static inline void write_labels(const struct mixed *m, const struct m_pod *p, struct text *t)
{
	text_add(t, "  labels: {x: y");
	if (p->team >= 0)
		text_printf(t, ", team: t%d", p->team);
	if (p->app >= 0)
		text_printf(t, ", applicationId: a%d", p->app);
	if (p->is_driver)
		text_add(t, ", spark-role: driver");
	if (p->label != PREEMPTIBILITY_UNSET)
		text_printf(t, ", kai.scheduler/preemptibility: %s", preemptibility_text(p->label));
	if (p->queue != NO_QUEUE) {
		text_add(t, p->asks_kai || p->queue < 0 ? ", kai.scheduler/queue: " : ", queue: ");
		write_queue_name(m, p->queue, p->asks_kai, t);
	}
	if (p->group >= 0 && m->g[p->group].n_parts > 1)
		text_printf(t, ", kai.scheduler/subgroup-name: part%d", p->part);
	text_add(t, "}\n  annotations: {x: y");
	if (p->opted_out)
		text_add(t, ", yunikorn.apache.org/allow-preemption: \"false\"");
	if (p->checkpoint != UNSET_S)
		text_printf(t, ", cede.dev/checkpointed-at: \"%s\"", m_time(p->checkpoint));
	if (p->group >= 0 && !m->g[p->group].is_k8s)
		text_printf(t, ", pod-group-name: g%d", p->group);
	text_add(t, "}\n");
}

static inline void write_owner(const struct m_pod *p, struct text *t)
{
	if (p->is_daemon)
		text_printf(t,
			    "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: ds%d, "
			    "controller: true}]\n",
			    p->ns);
	else if (p->owner >= 0)
		text_printf(t,
			    "  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: o%d, uid: o%d-%d, "
			    "controller: true}]\n",
			    p->owner, p->owner, p->ns);
}

static inline void write_affinity(const struct m_pod *p, struct text *t)
{
	static const char term[] = "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: "
				   "{matchLabels: {team: t%d}}}]";

	text_add(t, "  affinity: {");
	if (p->pin >= 0)
		text_printf(t,
			    "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
			    "[{matchFields: [{key: metadata.name, operator: In, values: [n%d]}]}]}}, ",
			    p->pin);
	if (p->avoids_team) {
		text_add(t, "podAntiAffinity: {");
		text_printf(t, term, "kubernetes.io/hostname", avoided_team(p));
		text_add(t, "}");
	} else if (p->needs_team) {
		text_add(t, "podAffinity: {");
		text_printf(t, term, "zone", needed_team(p));
		text_add(t, "}");
	}
	text_add(t, "}\n");
}

static inline void write_spec(const struct mixed *m, const struct m_pod *p, struct text *t)
{
	text_add(t, "spec:\n");
	if (p->has_priority)
		text_printf(t, "  priority: %" PRId64 "\n", p->priority);
	if (p->class >= 0)
		text_printf(t, "  priorityClassName: c%d\n", p->class);
	if (p->node != NOWHERE)
		text_printf(t, "  nodeName: n%d\n", p->node);
	if (p->never)
		text_add(t, "  preemptionPolicy: Never\n");
	text_add(t, p->is_foreign ? "  schedulerName: another\n" : "  schedulerName: default-scheduler\n");
	if (p->is_gated)
		text_add(t, "  schedulingGates: [{name: later}]\n");
	if (p->tolerates)
		text_add(t, "  tolerations: [{key: only, operator: Exists}]\n");
	if (p->zone >= 0)
		text_printf(t, "  nodeSelector: {zone: z%d}\n", p->zone);
	if (p->group >= 0 && m->g[p->group].is_k8s)
		text_printf(t, "  schedulingGroup: {podGroupName: g%d}\n", p->group);
	if (p->pin >= 0 || p->avoids_team || p->needs_team)
		write_affinity(p, t);
	if (p->spreads)
		text_printf(t,
			    "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
			    "DoNotSchedule, labelSelector: {matchLabels: {team: t%d}}}]\n",
			    p->team);
	text_printf(t, "  containers: [{name: c, resources: {requests: {cpu: %" PRId64 "m", p->ask[M_CPU]);
	if (p->ask[M_MEM])
		text_printf(t, ", memory: %" PRId64 "Mi", p->ask[M_MEM]);
	if (p->ask[M_GPU])
		text_printf(t, ", nvidia.com/gpu: \"%" PRId64 "\"", p->ask[M_GPU]);
	text_printf(t, "}}%s}]\n", p->has_port ? ", ports: [{containerPort: 80, hostPort: 80}]" : "");
}

static inline void write_pod(const struct mixed *m, const struct m_pod *p, struct text *t)
{
	text_printf(t,
		    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: s%d\n  uid: %s\n"
		    "  creationTimestamp: \"%s\"\n",
		    p->name, p->ns, p->name, m_time(p->age));
	if (p->state == M_LEAVES)
		text_printf(t, "  deletionTimestamp: \"%s\"\n", m_time(p->late));
	write_labels(m, p, t);
	write_owner(p, t);
	write_spec(m, p, t);
	if (p->node != NOWHERE)
		text_printf(t, "status: {phase: Running, startTime: \"%s\"}\n", m_stamp_text(p->stamp, p->age));
	else if (p->nomination != NOWHERE)
		text_printf(t, "status: {phase: Pending, nominatedNodeName: n%d}\n", p->nomination);
}

/* ---- all of it ---- */

static inline void write_settings(struct mixed *m)
{
	struct text *t = doc_new(&m->settings);

	text_add(t, "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n");
	if (m->has_names)
		text_add(t, "schedulerNames: [default-scheduler]\n");
	text_printf(t, "rules: {opt-out: {mode: %s}, guarantee: {types: %s}}\n", m->opt_out_is_hard ? "hard" : "soft",
		    m->judges_all_types ? "all" : "short");
	t = doc_new(&m->settings);
	text_printf(t,
		    "actions: \"allocate, consolidation, reclaim, preempt, stalegangeviction\"\ntiers:\n- plugins:\n"
		    "  - name: predicates\n  - name: proportion\n  - name: priority\n  - name: elastic\n"
		    "  - name: minruntime\n    arguments: {defaultPreemptMinRuntime: %" PRId64
		    "s, defaultReclaimMinRuntime: %" PRId64 "s, reclaimResolveMethod: %s}\n",
		    m->preempt, m->reclaim, m->by_leaf ? "queue" : "lca");
}

static inline void mixed_write(struct mixed *m)
{
	write_partition(m);
	for (int i = 0; i < m->n_queues; i++)
		if (m->q[i].kind & IS_KAI)
			write_kai_queue(m, i);
	write_nodes(m);
	write_classes(m);
	write_spaces(m);
	write_budgets(m);
	for (int i = 0; i < m->n_groups; i++) {
		if (m->g[i].is_k8s)
			write_kube_group(m, i);
		else
			write_kai_group(m, i);
	}
	for (uint32_t i = 0; i < m->p.n; i++)
		write_pod(m, &m->p.v[i], doc_new(&m->docs));
	write_settings(m);
}

static inline void mixed_free(struct mixed *m)
{
	docs_free(&m->docs);
	docs_free(&m->settings);
	array_free(&m->p);
}

/* All objects as one file, in another order for another turn; 0: as written. */
static inline void mixed_text(const struct mixed *m, uint64_t turn, struct text *out)
{
	struct rng r = {turn};
	uint32_t n = m->docs.v.n, *order = mem_alloc((n + 1) * sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; turn && i > 1; i--) {
		uint32_t k = rng_below(&r, i), was = order[i - 1];

		order[i - 1] = order[k];
		order[k] = was;
	}
	for (uint32_t i = 0; i < n; i++)
		text_printf(out, "---\n%s", text_str(&m->docs.v.v[order[i]]));
	for (uint32_t i = 0; i < m->settings.v.n; i++)
		text_printf(out, "---\n%s", text_str(&m->settings.v.v[i]));
	mem_free(order);
}
