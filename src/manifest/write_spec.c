/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shape as the spec of a pod. Of the containers only sums are known: the first one asks for all of it, the others
 * are there to be counted and to have images. A pod without containers that asks for something does so by its
 * overhead.
 */
#include "manifest/write.h"

#define NONZERO_CPU_MILLI 100
#define NONZERO_MEMORY (INT64_C(200) << 20)

/* ---- affinity ---- */

static void pod_term(struct writer *w, const char *key, const struct pod_term *t)
{
	emit_object(w->e, key);
	write_name(w, "topologyKey", t->topology_key);
	write_selector(w, "labelSelector", &t->selector);
	write_strings(w, "namespaces", t->namespaces, t->n_namespaces);
	if (t->has_ns_selector)
		write_selector(w, "namespaceSelector", &t->ns_selector);
	write_strings(w, "matchLabelKeys", t->match_keys, t->n_match_keys);
	write_strings(w, "mismatchLabelKeys", t->mismatch_keys, t->n_mismatch_keys);
	emit_end(w->e);
}

static void pod_affinity(struct writer *w, const char *key, const struct pod_terms *required,
			 const struct pod_terms *preferred)
{
	struct write_part hard = {.key = "requiredDuringSchedulingIgnoredDuringExecution", .is_list = true},
			  soft = {.key = "preferredDuringSchedulingIgnoredDuringExecution", .is_list = true};

	if (!required->n && !preferred->n)
		return;
	emit_object(w->e, key);
	for (uint32_t i = 0; i < required->n; i++) {
		part_open(w, &hard);
		pod_term(w, NULL, &required->terms[i]);
	}
	part_end(w, &hard);
	for (uint32_t i = 0; i < preferred->n; i++) {
		emit_object(part_open(w, &soft), NULL);
		emit_int(w->e, "weight", preferred->terms[i].weight);
		pod_term(w, "podAffinityTerm", &preferred->terms[i]);
		emit_end(w->e);
	}
	part_end(w, &soft);
	emit_end(w->e);
}

static void node_affinity(struct writer *w, const struct shape *s)
{
	struct write_part soft = {.key = "preferredDuringSchedulingIgnoredDuringExecution", .is_list = true};

	if (!s->has_required_terms && !s->n_preferred_nodes)
		return;
	emit_object(w->e, "nodeAffinity");
	if (s->has_required_terms) {
		emit_object(w->e, "requiredDuringSchedulingIgnoredDuringExecution");
		emit_list(w->e, "nodeSelectorTerms");
		for (uint32_t i = 0; i < s->required_terms.n; i++)
			write_node_term(w, NULL, &s->required_terms.terms[i]);
		emit_end(w->e);
		emit_end(w->e);
	}
	for (uint32_t i = 0; i < s->n_preferred_nodes; i++) {
		emit_object(part_open(w, &soft), NULL);
		emit_int(w->e, "weight", s->preferred_nodes[i].weight);
		write_node_term(w, "preference", &s->preferred_nodes[i].term);
		emit_end(w->e);
	}
	part_end(w, &soft);
	emit_end(w->e);
}

static void affinity(struct writer *w, const struct shape *s)
{
	if (!s->has_required_terms && !s->n_preferred_nodes && !s->affinity.n && !s->anti_affinity.n &&
	    !s->preferred_affinity.n && !s->preferred_anti_affinity.n)
		return;
	emit_object(w->e, "affinity");
	node_affinity(w, s);
	pod_affinity(w, "podAffinity", &s->affinity, &s->preferred_affinity);
	pod_affinity(w, "podAntiAffinity", &s->anti_affinity, &s->preferred_anti_affinity);
	emit_end(w->e);
}

/* ---- the rest of where it may run ---- */

static void tolerations(struct writer *w, const struct shape *s)
{
	static const char *const ops[] = {
		[TOLERATE_EQUAL] = "Equal", [TOLERATE_EXISTS] = "Exists", [TOLERATE_LT] = "Lt", [TOLERATE_GT] = "Gt"};
	struct write_part list = {.key = "tolerations", .is_list = true};

	for (uint32_t i = 0; i < s->n_tolerations; i++) {
		const struct toleration *t = &s->tolerations[i];

		emit_object(part_open(w, &list), NULL);
		write_name(w, "key", t->key);
		emit_str(w->e, "operator", ops[t->op]);
		write_name(w, "value", t->value);
		write_text(w, "effect", taint_effect_text(t->effect));
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void spread(struct writer *w, const struct spread *s)
{
	emit_object(w->e, NULL);
	emit_int(w->e, "maxSkew", s->max_skew);
	if (s->min_domains)
		emit_int(w->e, "minDomains", s->min_domains);
	write_name(w, "topologyKey", s->topology_key);
	emit_str(w->e, "whenUnsatisfiable", s->is_hard ? "DoNotSchedule" : "ScheduleAnyway");
	write_text(w, "nodeAffinityPolicy", s->ignores_affinity ? "Ignore" : "");
	write_text(w, "nodeTaintsPolicy", s->honors_taints ? "Honor" : "");
	write_selector(w, "labelSelector", &s->selector);
	write_strings(w, "matchLabelKeys", s->match_keys, s->n_match_keys);
	emit_end(w->e);
}

static void spreads(struct writer *w, const struct shape *s)
{
	struct write_part list = {.key = "topologySpreadConstraints", .is_list = true};

	for (uint32_t i = 0; i < s->n_spreads; i++) {
		part_open(w, &list);
		spread(w, &s->spreads[i]);
	}
	part_end(w, &list);
}

static void gates(struct writer *w, const struct shape *s)
{
	struct write_part list = {.key = "schedulingGates", .is_list = true};

	for (uint32_t i = 0; i < s->n_gates; i++) {
		emit_object(part_open(w, &list), NULL);
		emit_str(w->e, "name", str(w, s->gates[i]));
		emit_end(w->e);
	}
	part_end(w, &list);
}

/* ---- containers ---- */

static const struct res_amount *find_amount(const struct res_list *l, res_id type)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].type == type)
			return &l->v[i];
	return NULL;
}

enum usage_kind shape_usage_kind(const struct shape *s)
{
	bool is_more = s->usage.n > s->request.n;

	for (uint32_t i = 0; i < s->request.n; i++) {
		const struct res_amount *used = find_amount(&s->usage, s->request.v[i].type);

		if (!used || used->amount < s->request.v[i].amount)
			return USAGE_OTHER;
		is_more |= used->amount > s->request.v[i].amount;
	}
	return is_more ? USAGE_GROWN : USAGE_AS_REQUESTED;
}

static uint32_t count_containers(const struct shape *s)
{
	uint32_t n = s->n_containers > s->n_images ? s->n_containers : s->n_images;
	bool needs_one = s->n_ports || shape_usage_kind(s) != USAGE_AS_REQUESTED;

	return !n && needs_one ? 1 : n;
}

/* As Kubernetes scores: what is asked, or a little for each container where nothing is. */
static int64_t scored(const struct shape *s, res_id type, int64_t usual)
{
	const struct res_amount *asked = find_amount(&s->request, type);

	return asked ? asked->amount : usual * count_containers(s);
}

bool shape_needs_scoring(const struct shape *s)
{
	return s->nonzero_cpu_milli != scored(s, RES_CPU, NONZERO_CPU_MILLI) ||
	       s->nonzero_memory != scored(s, RES_MEMORY, NONZERO_MEMORY);
}

static void ports(struct writer *w, const struct shape *s)
{
	static const char *const words[] = {[PROTO_TCP] = "TCP", [PROTO_UDP] = "UDP", [PROTO_SCTP] = "SCTP"};
	struct write_part list = {.key = "ports", .is_list = true};

	for (uint32_t i = 0; i < s->n_ports; i++) {
		emit_object(part_open(w, &list), NULL);
		emit_int(w->e, "containerPort", s->ports[i].port);
		emit_int(w->e, "hostPort", s->ports[i].port);
		write_name(w, "hostIP", s->ports[i].ip);
		emit_str(w->e, "protocol", words[s->ports[i].protocol]);
		emit_end(w->e);
	}
	part_end(w, &list);
}

static void resources(struct writer *w, const struct res_list *requests)
{
	if (!requests->n)
		return;
	emit_object(w->e, "resources");
	write_amounts(w, "requests", requests);
	emit_end(w->e);
}

/* A container that asks nothing, and says so where otherwise a little would be assumed for it. */
static void other_container(struct writer *w, const struct shape *s, uint32_t i)
{
	struct res_amount zero[2];
	struct res_list requests = {0, zero};

	emit_strf(w->e, "name", MAIN_CONTAINER "-%u", i + 1);
	if (i < s->n_images)
		emit_str(w->e, "image", str(w, s->images[i]));
	if (find_amount(&s->request, RES_CPU))
		zero[requests.n++] = (struct res_amount){.type = RES_CPU};
	if (find_amount(&s->request, RES_MEMORY))
		zero[requests.n++] = (struct res_amount){.type = RES_MEMORY};
	resources(w, &requests);
}

static void main_container(struct writer *w, const struct shape *s)
{
	emit_str(w->e, "name", MAIN_CONTAINER);
	if (s->n_images)
		emit_str(w->e, "image", str(w, s->images[0]));
	ports(w, s);
	resources(w, &s->request);
}

static void containers(struct writer *w, const struct shape *s)
{
	uint32_t n = count_containers(s);

	if (!n && s->request.n)
		write_amounts(w, "overhead", &s->request);
	emit_list(w->e, "containers");
	for (uint32_t i = 0; i < n; i++) {
		emit_object(w->e, NULL);
		if (i)
			other_container(w, s, i);
		else
			main_container(w, s);
		emit_end(w->e);
	}
	emit_end(w->e);
}

void write_shape(struct writer *w, const struct shape *s)
{
	const char *scheduler = str(w, s->scheduler_name);

	write_text(w, "schedulerName", str_eq(scheduler, "default-scheduler") ? "" : scheduler);
	write_text(w, "preemptionPolicy", s->never_preempts ? "Never" : "");
	write_labels(w, "nodeSelector", &s->node_selector, NULL, 0);
	affinity(w, s);
	tolerations(w, s);
	spreads(w, s);
	gates(w, s);
	containers(w, s);
}
