/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which plugins run where. kube-scheduler's rules for joining the defaults with a profile's configuration: `multiPoint`
 * is a list for all points at once; a point's own list comes first where a plugin stands in both, then the multiPoint
 * plugins, then the rest of the point's own list.
 */
#include "filters/framework.h"

#include <stdlib.h>

#include "filters/builtin.h"
#include "filters/framework_internal.h"
#include "filters/volumes.h"

static const char *const point_names[POINT_COUNT] = {
	[POINT_MULTI] = "multiPoint",	  [POINT_PRE_ENQUEUE] = "preEnqueue",
	[POINT_QUEUE_SORT] = "queueSort", [POINT_PRE_FILTER] = "preFilter",
	[POINT_FILTER] = "filter",	  [POINT_POST_FILTER] = "postFilter",
	[POINT_PRE_SCORE] = "preScore",	  [POINT_SCORE] = "score",
	[POINT_RESERVE] = "reserve",	  [POINT_PERMIT] = "permit",
	[POINT_PRE_BIND] = "preBind",	  [POINT_BIND] = "bind",
	[POINT_POST_BIND] = "postBind",
};

static bool implements(const struct cede_plugin *p, enum plugin_point point)
{
	switch (point) {
	case POINT_PRE_ENQUEUE:
		return p->pre_enqueue != NULL;
	case POINT_QUEUE_SORT:
		return p->queue_sort != NULL;
	case POINT_PRE_FILTER:
		return p->pre_filter != NULL;
	case POINT_FILTER:
		return p->filter != NULL;
	case POINT_POST_FILTER:
		return p->post_filter || p->may_evict || p->victim_order || p == &default_preemption_plugin;
	case POINT_PRE_SCORE:
		return p->pre_score != NULL;
	case POINT_SCORE:
		return p->score != NULL;
	case POINT_RESERVE:
		return p->reserve || p->unreserve;
	case POINT_PERMIT:
		return p->permit != NULL;
	case POINT_PRE_BIND:
		return p->pre_bind != NULL;
	case POINT_BIND:
		return p->bind != NULL;
	case POINT_POST_BIND:
		return p->post_bind != NULL;
	default:
		return false;
	}
}

/* ---- lists of plugin names ---- */

struct name_list {
	ARRAY(struct plugin_ref) v;
};

static uint32_t list_find(const struct plugin_ref *v, uint32_t n, const char *name)
{
	uint32_t i = 0;

	while (i < n && !str_eq(v[i].name, name))
		i++;
	return i;
}

static bool is_disabled(const struct plugin_set *s, const char *name)
{
	return list_find(s->disabled, s->n_disabled, name) < s->n_disabled ||
	       list_find(s->disabled, s->n_disabled, "*") < s->n_disabled;
}

/*
 * The default list with a profile's multiPoint put on top of it:
 * disabled ones go, enabled ones replace in place or come last.
 */
static void multi_list(const struct framework *f, const struct plugin_set *custom, struct name_list *out)
{
	for (uint32_t i = 0; i < f->plugins.n; i++) {
		const char *name = f->plugins.v[i].table->name;
		uint32_t at = list_find(custom->enabled, custom->n_enabled, name);
		struct plugin_ref ref = {.name = name, .weight = f->plugins.v[i].weight};

		if (at < custom->n_enabled && custom->enabled[at].weight)
			ref.weight = custom->enabled[at].weight;
		if (!is_disabled(custom, name))
			array_push(&out->v, ref);
	}
	for (uint32_t i = 0; i < custom->n_enabled; i++)
		if (list_find(out->v.v, out->v.n, custom->enabled[i].name) == out->v.n)
			array_push(&out->v, custom->enabled[i]);
}

static enum err_code fail_ref(const struct plugin_ref *ref, enum plugin_point point, const char *words, struct err *e)
{
	return err_fail(e, ERR_INPUT, "%s%splugins.%s: %s \"%s\"", ref->where ? ref->where : "", ref->where ? ": " : "",
			point_names[point], words, ref->name);
}

static enum err_code add_to_point(struct framework *f, enum plugin_point point, const struct plugin_ref *ref,
				  bool is_explicit, struct err *e)
{
	uint32_t i = framework_plugin_find(f, ref->name);

	if (i == UINT32_MAX)
		return fail_ref(ref, point, "no plugin is called", e);
	if (!implements(f->plugins.v[i].table, point)) {
		if (!is_explicit)
			return ERR_OK;
		return fail_ref(ref, point, "has no place for plugin", e);
	}
	if (f->plugins.v[i].points >> point & 1)
		return ERR_OK;
	f->plugins.v[i].points |= 1u << point;
	if (point == POINT_SCORE)
		f->plugins.v[i].weight = ref->weight ? ref->weight : 1;
	array_push(&f->order[point], i);
	return ERR_OK;
}

static enum err_code build_point(struct framework *f, const struct name_list *multi, enum plugin_point point,
				 const struct plugin_set *own, struct err *e)
{
	enum err_code rc = ERR_OK;

	for (uint32_t i = 0; !rc && i < own->n_enabled; i++)
		if (list_find(multi->v.v, multi->v.n, own->enabled[i].name) < multi->v.n)
			rc = add_to_point(f, point, &own->enabled[i], true, e);
	for (uint32_t i = 0; !rc && i < multi->v.n; i++)
		if (!is_disabled(own, multi->v.v[i].name))
			rc = add_to_point(f, point, &multi->v.v[i], false, e);
	for (uint32_t i = 0; !rc && i < own->n_enabled; i++)
		rc = add_to_point(f, point, &own->enabled[i], true, e);
	return rc;
}

static enum err_code check_points(const struct framework *f, struct err *e)
{
	if (f->order[POINT_QUEUE_SORT].n != 1)
		return err_fail(e, ERR_INPUT,
				"plugins.queueSort: exactly one plugin must order the waiting pods, found %u",
				f->order[POINT_QUEUE_SORT].n);
	if (!f->order[POINT_BIND].n)
		return err_fail(e, ERR_INPUT, "plugins.bind: at least one plugin must bind pods");
	return ERR_OK;
}

static void find_followers(struct framework *f)
{
	for (uint32_t k = 0; k < f->order[POINT_PRE_FILTER].n; k++) {
		uint32_t i = f->order[POINT_PRE_FILTER].v[k];
		const struct cede_plugin *p = f->plugins.v[i].table;

		if (p->add_pod || p->remove_pod || p->pod_leaving)
			array_push(&f->followers, i);
	}
}

/* Of those that share a guess the first: who asks for another is told by looking at all. */
static void guess_places(struct framework *f)
{
	for (uint32_t i = f->plugins.n; i-- > 0;) {
		uint64_t hash = (uintptr_t)f->plugins.v[i].table * UINT64_C(0x9E3779B97F4A7C15);

		f->guesses[hash >> (64 - TABLE_BITS)] = (uint8_t)i;
	}
}

static enum err_code build_points(struct framework *f, const struct kube_profile *profile, struct err *e)
{
	struct name_list multi = {0};
	enum err_code rc = ERR_OK;

	multi_list(f, &profile->points[POINT_MULTI], &multi);
	for (uint32_t i = 0; !rc && i < multi.v.n; i++)
		if (framework_plugin_find(f, multi.v.v[i].name) == UINT32_MAX)
			rc = fail_ref(&multi.v.v[i], POINT_MULTI, "no plugin is called", e);
	for (int p = POINT_MULTI + 1; !rc && p < POINT_COUNT; p++)
		rc = build_point(f, &multi, (enum plugin_point)p, &profile->points[p], e);
	array_free(&multi.v);
	find_followers(f);
	guess_places(f);
	return rc ? rc : check_points(f, e);
}

/* ---- the framework ---- */

static void on_add(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	struct framework *f = ctx;

	if (f->has_roster)
		roster_add(&f->roster, l, pod);
	if (f->has_claim_users)
		claim_users_add(&f->claim_users, l, pod, node);
	if (f->cycle)
		cycle_pod_moved(f->cycle, pod, node, true);
}

static void on_remove(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	struct framework *f = ctx;

	if (f->has_roster)
		roster_remove(&f->roster, l, pod);
	if (f->has_claim_users)
		claim_users_remove(&f->claim_users, l, pod, node);
	if (f->cycle)
		cycle_pod_moved(f->cycle, pod, node, false);
}

static void on_leaving(void *ctx, const struct ledger *l, pod_id pod, bool is_leaving)
{
	struct framework *f = ctx;

	(void)l;
	if (f->cycle)
		cycle_pod_leaving(f->cycle, pod, is_leaving);
}

static void on_hold(void *ctx, const struct ledger *l, pod_id pod, node_id node, bool holds)
{
	struct framework *f = ctx;

	if (f->has_roster)
		roster_hold(&f->roster, l, pod, holds);
	if (f->cycle)
		spread_pod_holds(f->cycle, pod, node, holds);
}

static void on_node(void *ctx, const struct ledger *l, node_id node)
{
	struct framework *f = ctx;

	if (ledger_node(l, node)->is_live != (framework_place(f, node) != UINT32_MAX))
		f->nodes_are_known = false;
	if (f->has_claim_users)
		claim_users_node(&f->claim_users, l, node);
	topologies_node_changed(&f->topologies, l, node);
	spread_nodes_forget(&f->spread_nodes);
	for (uint32_t i = 0; i < f->n_cached; i++) {
		f->cached[i].is_complete = false;
		if (node < f->cached[i].n)
			f->cached[i].verdicts[node] = STATIC_UNKNOWN;
	}
}

static enum err_code check(void *ctx, const struct ledger *l, struct err *e)
{
	const struct framework *f = ctx;
	enum err_code rc = f->has_roster ? roster_check(&f->roster, l, e) : ERR_OK;

	return rc != ERR_OK || !f->has_claim_users ? rc : claim_users_check(&f->claim_users, l, e);
}

/* Plugins from files come created; whoever loaded them destroys them. */
static enum err_code add_builtins(struct framework *f, struct err *e)
{
	for (size_t i = 0; i < builtin_plugin_count; i++) {
		struct framework_plugin p = {.table = builtin_plugins[i], .weight = builtin_weight(builtin_plugins[i])};
		char why[256] = "";

		if (p.table->create && !p.table->create(NULL, 0, &p.self, why, sizeof(why)))
			return err_fail(e, ERR_INTERNAL, "plugin %s: %s", p.table->name, why);
		array_push(&f->plugins, p);
		f->n_builtins = f->plugins.n;
	}
	return ERR_OK;
}

struct framework *framework_new(struct cluster *c, const struct kube_profile *profile,
				const struct framework_plugin *extra, uint32_t n_extra, struct err *e)
{
	struct framework *f = mem_alloc(sizeof(*f));
	struct ledger_listener listener = {.ctx = f,
					   .on_add = on_add,
					   .on_remove = on_remove,
					   .on_leaving = on_leaving,
					   .on_hold = on_hold,
					   .on_node = on_node,
					   .hears_of_moves_alone = true,
					   .check = check};
	enum err_code rc;

	f->cluster = c;
	f->ledger = cluster_ledger(c);
	f->args = profile->args;
	rc = add_builtins(f, e);
	for (uint32_t i = 0; i < n_extra; i++)
		array_push(&f->plugins, extra[i]);
	if (!rc && f->plugins.n > PLUGINS_MAX)
		rc = err_fail(e, ERR_LIMIT, "plugins: at most %d are possible", PLUGINS_MAX);
	if (!rc)
		rc = build_points(f, profile, e);
	if (rc) {
		framework_free(f);
		return NULL;
	}
	ledger_listen(f->ledger, &listener);
	f->is_listening = true;
	return f;
}

void framework_free(struct framework *f)
{
	if (!f)
		return;
	if (f->is_listening)
		ledger_unlisten(f->ledger, f);
	for (uint32_t i = 0; i < f->n_cached; i++) {
		shape_drop(ledger_vocab(f->ledger), f->cached[i].shape);
		mem_free(f->cached[i].verdicts);
	}
	for (uint32_t i = 0; i < f->n_builtins; i++)
		if (f->plugins.v[i].table->destroy)
			f->plugins.v[i].table->destroy(f->plugins.v[i].self);
	for (int p = 0; p < POINT_COUNT; p++)
		array_free(&f->order[p]);
	array_free(&f->followers);
	array_free(&f->plugins);
	array_free(&f->nodes);
	array_free(&f->places);
	roster_free(&f->roster);
	claim_users_free(&f->claim_users);
	topologies_free(&f->topologies, f->ledger);
	spread_nodes_free(&f->spread_nodes, ledger_vocab(f->ledger));
	text_free(&f->complaints);
	mem_free(f);
}

uint32_t framework_plugin_count(const struct framework *f)
{
	return f->plugins.n;
}

const struct framework_plugin *framework_plugin(const struct framework *f, uint32_t i)
{
	return &f->plugins.v[i];
}

uint32_t framework_plugin_find(const struct framework *f, const char *name)
{
	for (uint32_t i = 0; i < f->plugins.n; i++)
		if (f->plugins.v[i].table->name == name) /* as most who ask have it */
			return i;
	for (uint32_t i = 0; i < f->plugins.n; i++)
		if (str_eq(f->plugins.v[i].table->name, name))
			return i;
	return UINT32_MAX;
}

const struct plugin_args *framework_args(const struct framework *f)
{
	return &f->args;
}

const uint32_t *framework_point(const struct framework *f, enum plugin_point p, uint32_t *ret_n)
{
	*ret_n = f->order[p].n;
	return f->order[p].v;
}

bool framework_preempts(const struct framework *f)
{
	uint32_t i = framework_plugin_find(f, default_preemption_plugin.name);

	return i != UINT32_MAX && (f->plugins.v[i].points >> POINT_POST_FILTER & 1);
}

bool framework_counts_room(const struct framework *f)
{
	uint32_t i = framework_plugin_find(f, resources_fit_plugin.name);
	const struct plugin_args *a = framework_args(f);

	return i != UINT32_MAX && (f->plugins.v[i].points >> POINT_FILTER & 1) && !a->n_ignored_resources &&
	       !a->n_ignored_groups;
}

bool framework_has_post_filter(const struct framework *f)
{
	for (uint32_t k = 0; k < f->order[POINT_POST_FILTER].n; k++) {
		const struct framework_plugin *p = &f->plugins.v[f->order[POINT_POST_FILTER].v[k]];

		if (p->table->post_filter && !p->is_disabled)
			return true;
	}
	return false;
}

const struct roster *framework_roster(struct framework *f)
{
	if (!f->has_roster)
		roster_fill(&f->roster, f->ledger);
	f->has_roster = true;
	return &f->roster;
}

const struct roster *framework_roster_pods(struct framework *f)
{
	framework_roster(f);
	if (!f->roster.has_pods)
		roster_fill_pods(&f->roster, f->ledger);
	return &f->roster;
}

bool framework_has_terms(struct framework *f)
{
	return ledger_with_terms(f->ledger) > 0;
}

const struct claim_users *framework_claim_users(struct framework *f)
{
	for (node_id n = 0; !f->has_claim_users && n < ledger_node_limit(f->ledger); n++) {
		const struct ledger_node *node = ledger_node(f->ledger, n);

		if (node->is_live)
			bits_set(&f->claim_users.live, n);
		for (uint32_t i = 0; i < node->pods.n; i++)
			claim_users_add(&f->claim_users, f->ledger, node->pods.v[i], n);
	}
	f->has_claim_users = true;
	return &f->claim_users;
}

const struct topology *framework_topology(struct framework *f, name_id key)
{
	return topologies_get(&f->topologies, f->ledger, key);
}

struct spread_nodes_cache *framework_spread_nodes(struct framework *f)
{
	return &f->spread_nodes;
}

const char *framework_complaints(const struct framework *f)
{
	return text_str(&f->complaints);
}

void framework_eject(struct framework *f, uint32_t plugin, const char *why)
{
	struct framework_plugin *p = &f->plugins.v[plugin];

	if (!p->is_disabled)
		text_printf(&f->complaints, "plugin %s is switched off: %s\n", p->table->name, why);
	p->is_disabled = true;
	for (uint32_t i = 0; i < f->n_cached; i++) {
		f->cached[i].is_complete = false;
		if (f->cached[i].n)
			memset(f->cached[i].verdicts, STATIC_UNKNOWN, f->cached[i].n);
	}
}

/* ---- nodes in the order of their names ---- */

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct framework *f = ctx;
	const struct names *names = vocab_names(ledger_vocab(f->ledger));

	return name_cmp(names, ledger_node(f->ledger, *(const node_id *)a)->name,
			ledger_node(f->ledger, *(const node_id *)b)->name);
}

/* An API server lists nodes by name. */
static bool is_in_order(const struct framework *f)
{
	const struct names *names = vocab_names(ledger_vocab(f->ledger));
	const char *last = "";

	if (ledger_nodes_by_name(f->ledger))
		return true;
	for (uint32_t i = 0; i < f->nodes.n; i++) {
		const char *name = name_str(names, ledger_node(f->ledger, f->nodes.v[i])->name);

		if (strcmp(last, name) > 0)
			return false;
		last = name;
	}
	return true;
}

static void list_nodes(struct framework *f)
{
	uint32_t limit = ledger_node_limit(f->ledger);
	const struct ledger_node *nodes = limit ? ledger_node(f->ledger, 0) : NULL;

	array_reserve(&f->nodes, limit);
	array_reserve(&f->places, limit);
	f->nodes.n = 0;
	for (node_id n = 0; n < limit; n++) {
		if (nodes[n].is_live)
			f->nodes.v[f->nodes.n++] = n;
		f->places.v[n] = UINT32_MAX;
	}
	f->places.n = limit;
	if (!is_in_order(f))
		qsort_r(f->nodes.v, f->nodes.n, sizeof(*f->nodes.v), by_name, f);
	for (uint32_t i = 0; i < f->nodes.n; i++)
		f->places.v[f->nodes.v[i]] = i;
	f->nodes_versions++;
	f->nodes_are_known = true;
}

const node_id *framework_nodes(struct framework *f, uint32_t *ret_n)
{
	if (!f->nodes_are_known)
		list_nodes(f);
	*ret_n = f->nodes.n;
	return f->nodes.v;
}

uint64_t framework_nodes_version(const struct framework *f)
{
	return f->nodes_versions;
}

uint32_t framework_place(const struct framework *f, node_id node)
{
	return node < f->places.n ? f->places.v[node] : UINT32_MAX;
}

/* ---- answers that depend on the pod's shape and the node's object alone ---- */

static struct static_cache *cache_slot(struct framework *f, shape_id shape)
{
	struct static_cache *c;

	for (uint32_t i = 0; i < f->n_cached; i++)
		if (f->cached[i].shape == shape)
			return &f->cached[i];
	if (f->n_cached < STATIC_SHAPES) {
		c = &f->cached[f->n_cached++];
	} else {
		c = &f->cached[f->next_victim++ % STATIC_SHAPES];
		shape_drop(ledger_vocab(f->ledger), c->shape);
		if (c->n)
			memset(c->verdicts, STATIC_UNKNOWN, c->n);
	}
	c->shape = shape;
	c->is_complete = false;
	shape_keep(ledger_vocab(f->ledger), shape);
	return c;
}

struct static_cache *framework_static_cache(struct framework *f, shape_id shape)
{
	struct static_cache *c = cache_slot(f, shape);
	uint32_t n = ledger_node_limit(f->ledger);

	if (c->n < n) {
		c->verdicts = mem_resize(c->verdicts, n, 1);
		memset(c->verdicts + c->n, STATIC_UNKNOWN, n - c->n);
		c->n = n;
		c->is_complete = false;
	}
	return c;
}
