/* SPDX-License-Identifier: Apache-2.0 */
/* A pod's spec as a shape: everything that decides where it may run. Requests are in pod_requests.c. */
#include "manifest/pod_spec.h"

#include <stdio.h>

static enum err_code name_list(const struct reader *r, const struct at *a, struct name_bag *bag, uint32_t *ret_n,
			       const name_id **ret, struct err *e)
{
	name_id *v = arena_n(r->scratch, at_count(a) + 1, name_id);

	TRY(at_want(r, a, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(a); i++) {
		struct at s = at_item(a, i);

		if (s.t->kind != TREE_STRING)
			return at_expected(r, &s, e, "a string");
		v[i] = name_bag_add(bag, s.t->text, s.t->n);
	}
	*ret_n = at_count(a);
	*ret = v;
	return ERR_OK;
}

static enum err_code pod_term(const struct reader *r, const struct at *a, struct name_bag *bag, struct pod_term *ret,
			      struct err *e)
{
	struct at selector = at_field(a, "labelSelector"), namespaces = at_field(a, "namespaces"),
		  ns_selector = at_field(a, "namespaceSelector"), match = at_field(a, "matchLabelKeys"),
		  mismatch = at_field(a, "mismatchLabelKeys");
	const char *key = "";

	if (!a->t)
		return at_expected(r, a, e, "a map with topologyKey and labelSelector");
	TRY(at_label_selector(r, &selector, r->scratch, bag, &ret->selector, e));
	TRY(get_text(r, a, "topologyKey", &key, e));
	if (!*key && !r->is_lenient) {
		struct at k = at_field(a, "topologyKey");

		return at_expected(r, &k, e, "a node label's key");
	}
	ret->topology_key = name_bag_add_str(bag, key);
	TRY(name_list(r, &namespaces, bag, &ret->n_namespaces, &ret->namespaces, e));
	ret->has_ns_selector = ns_selector.t != NULL;
	TRY(at_label_selector(r, &ns_selector, r->scratch, bag, &ret->ns_selector, e));
	TRY(name_list(r, &match, bag, &ret->n_match_keys, &ret->match_keys, e));
	return name_list(r, &mismatch, bag, &ret->n_mismatch_keys, &ret->mismatch_keys, e);
}

static enum err_code required_terms(const struct reader *r, const struct at *affinity, struct name_bag *bag,
				    struct pod_terms *ret, struct err *e)
{
	struct at list = at_field(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	struct pod_term *terms = arena_n(r->scratch, at_count(&list) + 1, struct pod_term);

	TRY(at_want(r, affinity, TREE_MAP, e));
	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i);

		TRY(pod_term(r, &t, bag, &terms[i], e));
	}
	*ret = (struct pod_terms){at_count(&list), terms};
	return ERR_OK;
}

static enum err_code preferred_terms(const struct reader *r, const struct at *affinity, struct name_bag *bag,
				     struct pod_terms *ret, struct err *e)
{
	struct at list = at_field(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
	struct pod_term *terms = arena_n(r->scratch, at_count(&list) + 1, struct pod_term);

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i), term = at_field(&t, "podAffinityTerm");

		TRY(get_int32(r, &t, "weight", &terms[i].weight, e));
		TRY(pod_term(r, &term, bag, &terms[i], e));
	}
	*ret = (struct pod_terms){at_count(&list), terms};
	return ERR_OK;
}

static enum err_code node_affinity(const struct reader *r, const struct at *affinity, struct name_bag *bag,
				   struct shape *s, struct err *e)
{
	struct at node = at_field(affinity, "nodeAffinity"),
		  required = at_field(&node, "requiredDuringSchedulingIgnoredDuringExecution"),
		  terms = at_field(&required, "nodeSelectorTerms"),
		  preferred = at_field(&node, "preferredDuringSchedulingIgnoredDuringExecution");
	struct node_term *t = arena_n(r->scratch, at_count(&terms) + 1, struct node_term);
	struct preferred_node_term *p = arena_n(r->scratch, at_count(&preferred) + 1, struct preferred_node_term);

	TRY(at_want(r, &node, TREE_MAP, e));
	TRY(at_want(r, &required, TREE_MAP, e));
	TRY(at_want(r, &terms, TREE_LIST, e));
	TRY(at_want(r, &preferred, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&terms); i++) {
		struct at x = at_item(&terms, i);

		TRY(at_node_term(r, &x, r->scratch, bag, &t[i], e));
	}
	for (uint32_t i = 0; i < at_count(&preferred); i++) {
		struct at x = at_item(&preferred, i), preference = at_field(&x, "preference");

		TRY(get_int32(r, &x, "weight", &p[i].weight, e));
		TRY(at_node_term(r, &preference, r->scratch, bag, &p[i].term, e));
	}
	s->has_required_terms = required.t != NULL;
	s->required_terms = (struct node_terms){at_count(&terms), t};
	s->n_preferred_nodes = at_count(&preferred);
	s->preferred_nodes = p;
	return ERR_OK;
}

static enum err_code affinities(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
				struct err *e)
{
	struct at a = at_field(spec, "affinity"), pod = at_field(&a, "podAffinity"),
		  anti = at_field(&a, "podAntiAffinity");

	TRY(at_want(r, &a, TREE_MAP, e));
	TRY(node_affinity(r, &a, bag, s, e));
	TRY(required_terms(r, &pod, bag, &s->affinity, e));
	TRY(preferred_terms(r, &pod, bag, &s->preferred_affinity, e));
	TRY(required_terms(r, &anti, bag, &s->anti_affinity, e));
	return preferred_terms(r, &anti, bag, &s->preferred_anti_affinity, e);
}

static enum err_code node_selector(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
				   struct err *e)
{
	struct label *kv;
	uint32_t n;

	TRY(get_labels(r, spec, "nodeSelector", bag, &kv, &n, e));
	n = labels_sort(kv, n);
	s->node_selector = (struct labels){n, kv};
	return ERR_OK;
}

static enum err_code toleration(const struct reader *r, const struct at *a, struct name_bag *bag,
				struct toleration *ret, struct err *e)
{
	static const char *const ops[] = {
		[TOLERATE_EQUAL] = "Equal", [TOLERATE_EXISTS] = "Exists", [TOLERATE_LT] = "Lt", [TOLERATE_GT] = "Gt"};
	const char *key = "", *value = "", *op = "", *effect = "";
	struct at o = at_field(a, "operator"), f = at_field(a, "effect");
	bool is_known = false;

	TRY(get_text(r, a, "key", &key, e));
	TRY(get_text(r, a, "value", &value, e));
	TRY(get_text(r, a, "operator", &op, e));
	TRY(get_text(r, a, "effect", &effect, e));
	for (uint32_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (!str_eq(ops[i], *op ? op : "Equal"))
			continue;
		ret->op = (enum toleration_op)i;
		is_known = true;
	}
	if (!is_known)
		return at_expected(r, &o, e, "Equal, Exists, Lt or Gt");
	if (!taint_effect_parse(effect, &ret->effect))
		return at_expected(r, &f, e, "NoSchedule, PreferNoSchedule or NoExecute");
	ret->key = name_bag_add_str(bag, key);
	ret->value = name_bag_add_str(bag, value);
	return ERR_OK;
}

static enum err_code tolerations(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
				 struct err *e)
{
	struct at list = at_field(spec, "tolerations");
	struct toleration *v = arena_n(r->scratch, at_count(&list) + 1, struct toleration);

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i);

		TRY(toleration(r, &t, bag, &v[i], e));
	}
	s->n_tolerations = at_count(&list);
	s->tolerations = v;
	return ERR_OK;
}

/* One of two words; absent is the first. */
static enum err_code one_of(const struct reader *r, const struct at *up, const char *key, const char *usual,
			    const char *other, bool *ret_is_other, struct err *e)
{
	struct at a = at_field(up, key);
	const char *s = usual;
	char what[80];

	TRY(get_text(r, up, key, &s, e));
	*ret_is_other = str_eq(s, other);
	if (*ret_is_other || !*s || str_eq(s, usual))
		return ERR_OK;
	snprintf(what, sizeof(what), "%s or %s", usual, other);
	return at_expected(r, &a, e, what);
}

static enum err_code spread(const struct reader *r, const struct at *a, struct name_bag *bag, struct spread *ret,
			    struct err *e)
{
	struct at selector = at_field(a, "labelSelector"), keys = at_field(a, "matchLabelKeys");
	const char *key = "";
	bool is_soft;

	TRY(at_want(r, a, TREE_MAP, e));
	ret->max_skew = 1;
	TRY(get_int32(r, a, "maxSkew", &ret->max_skew, e));
	TRY(get_int32(r, a, "minDomains", &ret->min_domains, e));
	if (ret->max_skew < 1 && !r->is_lenient) {
		struct at m = at_field(a, "maxSkew");

		return at_expected(r, &m, e, "a number above 0");
	}
	TRY(get_text(r, a, "topologyKey", &key, e));
	ret->topology_key = name_bag_add_str(bag, key);
	TRY(one_of(r, a, "whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway", &is_soft, e));
	ret->is_hard = !is_soft;
	TRY(one_of(r, a, "nodeAffinityPolicy", "Honor", "Ignore", &ret->ignores_affinity, e));
	TRY(one_of(r, a, "nodeTaintsPolicy", "Ignore", "Honor", &ret->honors_taints, e));
	TRY(at_label_selector(r, &selector, r->scratch, bag, &ret->selector, e));
	return name_list(r, &keys, bag, &ret->n_match_keys, &ret->match_keys, e);
}

static enum err_code spreads(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
			     struct err *e)
{
	struct at list = at_field(spec, "topologySpreadConstraints");
	struct spread *v = arena_n(r->scratch, at_count(&list) + 1, struct spread);

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i);

		TRY(spread(r, &t, bag, &v[i], e));
	}
	s->n_spreads = at_count(&list);
	s->spreads = v;
	return ERR_OK;
}

static enum err_code host_port(const struct reader *r, const struct at *a, bool is_host_network, struct name_bag *bag,
			       struct host_port *ret, struct err *e)
{
	const char *protocol = "TCP", *ip = "";
	struct at p = at_field(a, "protocol");
	int64_t port = 0;

	TRY(get_int(r, a, "hostPort", 0, 65535, &port, e));
	if (!port && is_host_network)
		TRY(get_int(r, a, "containerPort", 0, 65535, &port, e));
	TRY(get_text(r, a, "protocol", &protocol, e));
	TRY(get_text(r, a, "hostIP", &ip, e));
	if (str_eq(protocol, "UDP"))
		ret->protocol = PROTO_UDP;
	else if (str_eq(protocol, "SCTP"))
		ret->protocol = PROTO_SCTP;
	else if (*protocol && !str_eq(protocol, "TCP"))
		return at_expected(r, &p, e, "TCP, UDP or SCTP");
	ret->ip = !str_eq(ip, "0.0.0.0") ? name_bag_add_str(bag, ip) : NAME_NONE;
	ret->port = (uint16_t)port;
	return ERR_OK;
}

struct containers {
	ARRAY(struct host_port) ports;
	ARRAY(name_id) images;
	uint32_t n;
};

/* "nginx" -> "nginx:latest"; a colon before the last slash is a registry's port, not a tag. */
static name_id image_name(const struct reader *r, struct name_bag *bag, const char *image)
{
	const char *slash = strrchr(image, '/'), *colon = strrchr(image, ':');

	if (strchr(image, '@') || (colon && (!slash || colon > slash)))
		return name_bag_add_str(bag, image);
	return name_bag_add_str(bag, arena_printf(r->scratch, "%s:latest", image));
}

static enum err_code container(const struct reader *r, const struct at *a, bool has_ports, bool is_host_network,
			       struct name_bag *bag, struct containers *out, struct err *e)
{
	struct at ports = at_field(a, "ports");
	const char *image = "";

	TRY(get_text(r, a, "image", &image, e));
	if (*image)
		array_push(&out->images, image_name(r, bag, image));
	out->n++;
	TRY(at_want(r, &ports, TREE_LIST, e));
	for (uint32_t i = 0; has_ports && i < at_count(&ports); i++) {
		struct at p = at_item(&ports, i);
		struct host_port port = {0};

		TRY(host_port(r, &p, is_host_network, bag, &port, e));
		if (port.port)
			array_push(&out->ports, port);
	}
	return ERR_OK;
}

static bool is_sidecar(const struct at *container)
{
	const char *policy = map_text(container->t, "restartPolicy");

	return policy && str_eq(policy, "Always");
}

static enum err_code all_containers(const struct reader *r, const struct at *spec, struct name_bag *bag,
				    struct containers *out, struct err *e)
{
	struct at init = at_field(spec, "initContainers"), main = at_field(spec, "containers");
	bool is_host_network = false;

	TRY(get_bool(r, spec, "hostNetwork", &is_host_network, e));
	TRY(at_want(r, &init, TREE_LIST, e));
	TRY(at_want(r, &main, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&init); i++) {
		struct at c = at_item(&init, i);

		TRY(container(r, &c, is_sidecar(&c), is_host_network, bag, out, e));
	}
	for (uint32_t i = 0; i < at_count(&main); i++) {
		struct at c = at_item(&main, i);

		TRY(container(r, &c, true, is_host_network, bag, out, e));
	}
	return ERR_OK;
}

static enum err_code containers(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
				struct err *e)
{
	struct containers c = {0};
	enum err_code rc = all_containers(r, spec, bag, &c, e);

	if (!rc) {
		struct host_port *ports = arena_n(r->scratch, c.ports.n + 1, struct host_port);
		name_id *images = arena_n(r->scratch, c.images.n + 1, name_id);

		if (c.ports.n)
			memcpy(ports, c.ports.v, c.ports.n * sizeof(*ports));
		if (c.images.n)
			memcpy(images, c.images.v, c.images.n * sizeof(*images));
		s->n_ports = c.ports.n;
		s->ports = ports;
		s->n_images = c.images.n;
		s->images = images;
		s->n_containers = c.n;
	}
	array_free(&c.ports);
	array_free(&c.images);
	return rc;
}

static enum err_code gates(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
			   struct err *e)
{
	struct at list = at_field(spec, "schedulingGates");
	name_id *v = arena_n(r->scratch, at_count(&list) + 1, name_id);

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at g = at_item(&list, i);
		const char *name = "";

		TRY(get_text(r, &g, "name", &name, e));
		v[i] = name_bag_add_str(bag, name);
	}
	s->n_gates = at_count(&list);
	s->gates = v;
	return ERR_OK;
}

bool pod_claims_volumes(const struct at *spec)
{
	struct at volumes = at_field(spec, "volumes"), claims = at_field(spec, "resourceClaims");

	for (uint32_t i = 0; i < at_count(&volumes); i++)
		if (tree_get(volumes.t->items[i], "persistentVolumeClaim") ||
		    tree_get(volumes.t->items[i], "ephemeral"))
			return true;
	return at_count(&claims) > 0;
}

/* The one node a pod's required terms name: what the DaemonSet controller writes. */
static name_id only_node(const struct shape *s)
{
	const struct node_term *t = s->required_terms.terms;

	if (s->required_terms.n != 1 || t->is_invalid || t->n_fields != 1 || t->fields[0].op != SEL_IN)
		return NAME_NONE;
	return t->fields[0].values[0];
}

enum err_code pod_spec(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
		       struct err *e)
{
	const char *scheduler = "default-scheduler";

	TRY(at_want(r, spec, TREE_MAP, e));
	TRY(node_selector(r, spec, bag, s, e));
	TRY(affinities(r, spec, bag, s, e));
	TRY(tolerations(r, spec, bag, s, e));
	TRY(spreads(r, spec, bag, s, e));
	TRY(containers(r, spec, bag, s, e));
	TRY(gates(r, spec, bag, s, e));
	TRY(one_of(r, spec, "preemptionPolicy", "PreemptLowerPriority", "Never", &s->never_preempts, e));
	TRY(get_text(r, spec, "schedulerName", &scheduler, e));
	s->scheduler_name = name_bag_add_str(bag, *scheduler ? scheduler : "default-scheduler");
	s->has_claims = pod_claims_volumes(spec);
	s->runs_on = only_node(s);
	return ERR_OK;
}
