/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt for one pod: PreFilter, Filter, Score, Reserve to PostBind. */
#include <inttypes.h>
#include <stdio.h>

#include "filters/builtin.h"
#include "filters/framework_internal.h"

static const struct framework_plugin *plugin_at(const struct cede_cycle *c, uint32_t i)
{
	return &c->framework->plugins.v[i];
}

static struct status by_plugin(struct cede_verdict v, uint32_t plugin)
{
	return (struct status){v, plugin};
}

static struct status success(void)
{
	return (struct status){cede_ok(), PLUGIN_FRAMEWORK};
}

/* ---- PreFilter ---- */

static bool set_is_empty(const struct cede_cycle *c)
{
	return c->has_node_set && !c->n_absent && bits_next(&c->node_set, 0) == UINT32_MAX;
}

static bool has_name(const name_id *names, uint32_t n, name_id name)
{
	for (uint32_t i = 0; i < n; i++)
		if (names[i] == name)
			return true;
	return false;
}

/* What is in the set so far and in this one. The bits are taken over. */
static void restrict_to(struct cede_cycle *c, struct bits *mine, const name_id *absent, uint32_t n_absent)
{
	name_id *both = arena_n(c->arena, n_absent + 1, name_id);
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_absent; i++)
		if (!c->has_node_set || has_name(c->absent, c->n_absent, absent[i]))
			both[n++] = absent[i];
	c->absent = both;
	c->n_absent = n;
	if (!c->has_node_set) {
		c->node_set = *mine;
	} else {
		for (uint32_t i = bits_next(&c->node_set, 0); i != UINT32_MAX; i = bits_next(&c->node_set, i + 1))
			if (!bits_has(mine, i))
				bits_clear(&c->node_set, i);
		bits_free(mine);
	}
	c->has_node_set = true;
	c->node_set_plugins |= UINT64_C(1) << c->running;
}

void cycle_restrict(struct cede_cycle *c, const struct cede_plugin *p, const node_id *nodes, uint32_t n)
{
	struct bits mine = {0};

	(void)p;
	for (uint32_t i = 0; i < n; i++)
		if (nodes[i] < ledger_node_limit(c->ledger) && ledger_node(c->ledger, nodes[i])->is_live)
			bits_set(&mine, nodes[i]);
	restrict_to(c, &mine, NULL, 0);
}

void cycle_restrict_names(struct cede_cycle *c, const struct cede_plugin *p, const name_id *names, uint32_t n)
{
	name_id *absent = arena_n(c->arena, n + 1, name_id);
	struct bits mine = {0};
	uint32_t n_absent = 0;

	(void)p;
	for (uint32_t i = 0; i < n; i++) {
		node_id node = ledger_node_find(c->ledger, names[i]);

		if (node != NODE_NONE && ledger_node(c->ledger, node)->is_live)
			bits_set(&mine, node);
		else
			absent[n_absent++] = names[i];
	}
	restrict_to(c, &mine, absent, n_absent);
}

/* True: go on with the next plugin. */
static bool pre_filter_one(struct cede_cycle *c, uint32_t i)
{
	const struct framework_plugin *p = plugin_at(c, i);
	struct cede_verdict v;

	c->running = i;
	v = p->table->pre_filter(p->self, c);
	switch (v.code) {
	case CEDE_SUCCESS:
		if (!set_is_empty(c))
			return true;
		c->pre_filter = status_of_framework(CEDE_UNRESOLVABLE, FW_EMPTY, c->node_set_plugins);
		return false;
	case CEDE_SKIP:
		c->skip_filter |= UINT64_C(1) << i;
		return true;
	case CEDE_UNSCHEDULABLE:
	case CEDE_PENDING:
		c->pre_filter = by_plugin(v, i);
		return true;
	case CEDE_UNRESOLVABLE:
	case CEDE_ERROR:
		c->pre_filter = by_plugin(v, i);
		return false;
	default:
		framework_eject(c->framework, i, "pre_filter gave an answer that does not exist");
		c->skip_filter |= UINT64_C(1) << i;
		return true;
	}
}

static void run_pre_filters(struct cede_cycle *c)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[POINT_PRE_FILTER].n; k++) {
		uint32_t i = f->order[POINT_PRE_FILTER].v[k];

		if (!f->plugins.v[i].is_disabled && !pre_filter_one(c, i))
			return;
	}
}

/* ---- Filter ---- */

static bool is_active(const struct cede_cycle *c, uint32_t i)
{
	return !(c->skip_filter >> i & 1) && !c->framework->plugins.v[i].is_disabled;
}

static bool is_static(const struct framework_plugin *p)
{
	return p->table->flags & CEDE_FILTER_IS_STATIC;
}

/* What a filter says. One that says what no filter can say is switched off, and counts as if it had not been asked. */
static struct cede_verdict ask(const struct cede_cycle *c, uint32_t i, node_id node)
{
	const struct framework_plugin *p = plugin_at(c, i);
	struct cede_verdict v = p->table->filter(p->self, c, node);

	if (v.code <= CEDE_UNRESOLVABLE || v.code == CEDE_PENDING)
		return v;
	framework_eject(c->framework, i, "filter gave an answer that does not exist");
	return cede_ok();
}

struct filter_list { /* in their order */
	uint32_t n, v[PLUGINS_MAX];
};

static bool minds_taints_alone(const struct cede_plugin *p)
{
	return p == &node_unschedulable_plugin || p == &taint_toleration_plugin;
}

/* Those that have a say about nodes without taints, or about all. */
static void list_static(const struct cede_cycle *c, bool is_tainted, struct filter_list *ret)
{
	const struct framework *f = c->framework;

	ret->n = 0;
	for (uint32_t k = 0; k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];

		if (is_static(plugin_at(c, i)) && is_active(c, i) &&
		    (is_tainted || !minds_taints_alone(plugin_at(c, i)->table)))
			ret->v[ret->n++] = i;
	}
}

static uint8_t static_verdict(const struct cede_cycle *c, const struct filter_list *list, node_id node)
{
	for (uint32_t k = 0; k < list->n; k++)
		if (!plugin_at(c, list->v[k])->is_disabled && ask(c, list->v[k], node).code != CEDE_SUCCESS)
			return (uint8_t)(STATIC_REFUSED + list->v[k]);
	return STATIC_OK;
}

static bool was_stopped(const struct cede_cycle *c)
{
	return c->pre_filter.verdict.code == CEDE_UNRESOLVABLE || c->pre_filter.verdict.code == CEDE_ERROR;
}

/*
 * A static plugin that skips this pod would let every node pass, so skipping does not change what is kept per shape.
 * After a PreFilter that stopped the others some have no state to answer from; nothing is asked or kept then.
 */
static void fill_static(struct cede_cycle *c)
{
	struct static_cache *cache = framework_static_cache(c->framework, c->p->shape);
	const struct ledger_node *nodes = c->n_nodes ? ledger_node(c->ledger, 0) : NULL;
	struct filter_list all, plain;

	c->static_verdicts = cache->verdicts;
	if (was_stopped(c) || cache->is_complete)
		return;
	list_static(c, true, &all);
	list_static(c, false, &plain);
	cache->is_complete = true; /* a plugin that is switched off meanwhile takes that back */
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		node_id node = c->nodes[i];

		if (cache->verdicts[node] == STATIC_UNKNOWN)
			cache->verdicts[node] = static_verdict(c, nodes[node].is_tainted ? &all : &plain, node);
	}
}

static void list_asked(struct cede_cycle *c, const struct framework *f)
{
	for (uint32_t k = 0; k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];
		uint64_t bit = UINT64_C(1) << i;

		c->asked |= is_static(&f->plugins.v[i]) ? 0 : bit;
		c->counts_room |= f->plugins.v[i].table == &resources_fit_plugin ? bit : 0;
	}
}

static void set_up(struct cede_cycle *c, struct framework *f, struct arena *a, pod_id pod, int64_t now_ns)
{
	*c = (struct cede_cycle){
		.framework = f, .cluster = f->cluster, .ledger = f->ledger, .arena = a, .pod = pod, .now_ns = now_ns};
	c->vocab = ledger_vocab(f->ledger);
	c->names = vocab_names(ledger_vocab(f->ledger));
	c->states = arena_n(a, f->plugins.n + 1, void *);
	c->pre_filter = success();
	list_asked(c, f);
	c->nodes = framework_nodes(f, &c->n_nodes);
	if (pod == POD_NONE)
		return;
	c->p = ledger_pod(f->ledger, pod);
	c->shape = shape_get(c->vocab, c->p->shape);
	c->labelset = labelset_get(c->vocab, c->p->labelset);
	c->priority = c->p->priority;
	if (topologies_trim(&f->topologies, f->ledger))
		spread_nodes_forget(&f->spread_nodes);
	run_pre_filters(c);
}

void cycle_begin(struct cede_cycle *c, struct framework *f, struct arena *a, pod_id pod, int64_t now_ns)
{
	assert(!f->cycle);
	set_up(c, f, a, pod, now_ns);
	fill_static(c);
	f->cycle = c;
}

void cycle_begin_aside(struct cede_cycle *c, struct framework *f, struct arena *a, pod_id pod, int64_t now_ns)
{
	set_up(c, f, a, pod, now_ns);
}

void cycle_end_aside(struct cede_cycle *c)
{
	bits_free(&c->node_set);
	*c = (struct cede_cycle){0};
}

void cycle_end(struct cede_cycle *c)
{
	c->framework->cycle = NULL;
	bits_free(&c->node_set);
}

void cycle_pod_moved(struct cede_cycle *c, pod_id pod, node_id node, bool is_added)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->followers.n; k++) {
		uint32_t i = f->followers.v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		void (*hook)(void *, struct cede_cycle *, cede_pod, cede_node) =
			is_added ? p->table->add_pod : p->table->remove_pod;

		if (hook && is_active(c, i))
			hook(p->self, c, pod, node);
	}
}

void cycle_pod_leaving(struct cede_cycle *c, pod_id pod, bool is_leaving)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->followers.n; k++) {
		uint32_t i = f->followers.v[k];
		const struct framework_plugin *p = plugin_at(c, i);

		if (p->table->pod_leaving && is_active(c, i))
			p->table->pod_leaving(p->self, c, pod, ledger_pod(c->ledger, pod)->node, is_leaving);
	}
}

/* Only the reason of a static refusal is asked for again; that it refuses is known. */
static struct status static_refusal(const struct cede_cycle *c, uint32_t i, node_id node)
{
	const struct framework_plugin *p = plugin_at(c, i);

	return by_plugin(p->table->filter(p->self, c, node), i);
}

/* What was kept is forgotten when a plugin is switched off in the middle of a cycle. */
static uint32_t static_rank(const struct cede_cycle *c, node_id node)
{
	uint8_t v = c->static_verdicts[node];
	struct filter_list list;

	if (v == STATIC_UNKNOWN && !was_stopped(c)) {
		list_static(c, true, &list);
		v = static_verdict(c, &list, node);
	}
	return v >= STATIC_REFUSED ? (uint32_t)(v - STATIC_REFUSED) : UINT32_MAX;
}

struct status cycle_filter_but(const struct cede_cycle *c, node_id node, uint64_t open, bool *ret_is_open)
{
	const struct framework *f = c->framework;
	uint32_t refused_by = static_rank(c, node);
	uint64_t asked = c->asked & ~c->skip_filter;

	*ret_is_open = false;
	if (!status_is_success(&c->pre_filter) && !c->is_dry_run)
		return c->pre_filter;
	if (c->has_node_set && !bits_has(&c->node_set, node))
		return status_of_framework(CEDE_UNRESOLVABLE, FW_OUTSIDE, c->node_set_plugins);
	for (uint32_t k = 0; (asked || refused_by != UINT32_MAX) && k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];
		uint64_t bit = UINT64_C(1) << i;
		struct cede_verdict v;

		if (i == refused_by)
			return static_refusal(c, i, node);
		if (!(asked & bit) || plugin_at(c, i)->is_disabled)
			continue;
		*ret_is_open = open & bit;
		if (*ret_is_open)
			break;
		v = ask(c, i, node);
		if (v.code != CEDE_SUCCESS)
			return by_plugin(v, i);
	}
	return success();
}

struct status cycle_filter(const struct cede_cycle *c, node_id node)
{
	bool is_open;

	return cycle_filter_but(c, node, 0, &is_open);
}

bool cycle_asks(const struct cede_cycle *c, const struct cede_plugin *filter)
{
	uint32_t i = framework_index(c->framework, filter);

	return i < c->framework->plugins.n && plugin_at(c, i)->points >> POINT_FILTER & 1 && is_active(c, i);
}

bool cycle_counts_room(const struct cede_cycle *c)
{
	return cycle_asks(c, &resources_fit_plugin);
}

bool cycle_room_comes_first(const struct cede_cycle *c)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];

		if (is_active(c, i) && !is_static(plugin_at(c, i)))
			return plugin_at(c, i)->table == &resources_fit_plugin && !f->args.n_ignored_resources &&
			       !f->args.n_ignored_groups;
	}
	return false;
}

bool cycle_is_by_room(const struct cede_cycle *c)
{
	const struct framework *f = c->framework;
	bool has_fit = false;

	for (uint32_t k = 0; k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];
		const struct framework_plugin *p = plugin_at(c, i);

		if (p->table == &resources_fit_plugin)
			has_fit = true;
		else if (!(c->skip_filter >> i & 1) && !p->is_disabled && !is_static(p))
			return false;
	}
	return has_fit;
}

bool cycle_knows_who_matters(const struct cede_cycle *c)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[POINT_FILTER].n; k++) {
		uint32_t i = f->order[POINT_FILTER].v[k];
		const struct cede_plugin *p = plugin_at(c, i)->table;

		if (is_active(c, i) && !is_static(plugin_at(c, i)) && p != &resources_fit_plugin &&
		    p != &inter_pod_affinity_plugin && p != &pod_topology_spread_plugin)
			return false;
	}
	return true;
}

bool cycle_cares_about(const struct cede_cycle *c, const struct pod *p)
{
	return affinity_cares(c, p) || spread_cares(c, p);
}

/* ---- Score ---- */

static bool run_pre_scores(struct cede_cycle *c, const node_id *nodes, uint32_t n, struct err *e)
{
	const struct framework *f = c->framework;

	c->skip_score = 0;
	for (uint32_t k = 0; k < f->order[POINT_PRE_SCORE].n; k++) {
		uint32_t i = f->order[POINT_PRE_SCORE].v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		struct cede_verdict v;

		if (p->is_disabled)
			continue;
		v = p->table->pre_score(p->self, c, nodes, n);
		if (v.code == CEDE_SKIP)
			c->skip_score |= UINT64_C(1) << i;
		else if (v.code != CEDE_SUCCESS)
			return err_fail(e, ERR_INTERNAL, "running PreScore of plugin %s failed", p->table->name) ==
			       ERR_OK;
	}
	return true;
}

static bool scores_in_range(const int64_t *scores, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (scores[i] < 0 || scores[i] > CEDE_SCORE_MAX)
			return false;
	return true;
}

static void score_one(struct cede_cycle *c, uint32_t plugin, const node_id *nodes, uint32_t n, int64_t *scores)
{
	const struct framework_plugin *p = plugin_at(c, plugin);

	for (uint32_t i = 0; i < n; i++)
		scores[i] = p->table->score(p->self, c, nodes[i]);
	if (p->table->normalize)
		p->table->normalize(p->self, c, nodes, scores, n);
}

enum err_code cycle_scores(struct cede_cycle *c, const node_id *nodes, uint32_t n, int64_t *ret_totals, int64_t *per,
			   struct err *e)
{
	const struct framework *f = c->framework;
	int64_t *scores = arena_n(c->arena, n + 1, int64_t);

	memset(ret_totals, 0, n * sizeof(*ret_totals));
	if (!run_pre_scores(c, nodes, n, e))
		return ERR_INTERNAL;
	for (uint32_t k = 0; k < f->order[POINT_SCORE].n; k++) {
		uint32_t plugin = f->order[POINT_SCORE].v[k];
		const struct framework_plugin *p = plugin_at(c, plugin);

		if (p->is_disabled || (c->skip_score >> plugin & 1))
			continue;
		score_one(c, plugin, nodes, n, scores);
		if (!scores_in_range(scores, n)) {
			framework_eject(c->framework, plugin, "a score outside 0 to 100");
			continue;
		}
		for (uint32_t i = 0; i < n; i++) {
			ret_totals[i] += scores[i] * p->weight;
			if (per)
				per[(size_t)plugin * n + i] = scores[i] * p->weight;
		}
	}
	return ERR_OK;
}

/* ---- PreEnqueue, Reserve to PostBind ---- */

struct status cycle_pre_enqueue(struct cede_cycle *c)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[POINT_PRE_ENQUEUE].n; k++) {
		uint32_t i = f->order[POINT_PRE_ENQUEUE].v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		struct cede_verdict v = cede_ok();

		if (!p->is_disabled)
			v = p->table->pre_enqueue(p->self, c);
		if (v.code != CEDE_SUCCESS)
			return by_plugin(v, i);
	}
	return success();
}

static void unreserve_all(struct cede_cycle *c, node_id node)
{
	const struct framework *f = c->framework;

	for (uint32_t k = f->order[POINT_RESERVE].n; k-- > 0;) {
		const struct framework_plugin *p = plugin_at(c, f->order[POINT_RESERVE].v[k]);

		if (p->table->unreserve)
			p->table->unreserve(p->self, c, node);
	}
}

void cycle_unbind(struct cede_cycle *c, node_id node)
{
	unreserve_all(c, node);
}

typedef struct cede_verdict (*node_step)(void *self, struct cede_cycle *c, cede_node node);

static node_step step_of(const struct cede_plugin *p, enum plugin_point point)
{
	return point == POINT_RESERVE ? p->reserve : point == POINT_PRE_BIND ? p->pre_bind : p->bind;
}

/* Runs one point's plugins until one refuses; for Bind until one does not skip. */
static struct status run_step(struct cede_cycle *c, enum plugin_point point, node_id node)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[point].n; k++) {
		uint32_t i = f->order[point].v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		node_step step = step_of(p->table, point);
		struct cede_verdict v;

		if (!step || p->is_disabled)
			continue;
		v = step(p->self, c, node);
		if (v.code == CEDE_SKIP)
			continue;
		if (v.code != CEDE_SUCCESS || point == POINT_BIND)
			return by_plugin(v, i);
	}
	return point == POINT_BIND ? status_of_framework(CEDE_ERROR, FW_NONE, 0) : success();
}

static bool has_node(const struct cede_cycle *c, node_id node)
{
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i] == node)
			return true;
	return false;
}

/* False: the answer breaks the contract, and the plugin is switched off. */
static bool is_post_filter_answer(struct cede_cycle *c, uint32_t plugin, struct cede_verdict v, node_id node)
{
	bool is_known = v.code == CEDE_SUCCESS || v.code == CEDE_UNSCHEDULABLE || v.code == CEDE_UNRESOLVABLE;

	if (!is_known)
		framework_eject(c->framework, plugin, "post_filter gave an answer that does not exist");
	else if (v.code == CEDE_SUCCESS && !has_node(c, node))
		framework_eject(c->framework, plugin, "post_filter named a node that does not exist");
	else
		return true;
	return false;
}

struct status cycle_post_filter(struct cede_cycle *c, bool is_after_preemption, node_id *ret_node)
{
	const struct framework *f = c->framework;
	bool is_after = false;

	for (uint32_t k = 0; k < f->order[POINT_POST_FILTER].n; k++) {
		uint32_t i = f->order[POINT_POST_FILTER].v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		struct cede_verdict v;

		is_after |= p->table == &default_preemption_plugin;
		if (is_after != is_after_preemption || !p->table->post_filter || p->is_disabled)
			continue;
		*ret_node = NODE_NONE;
		v = p->table->post_filter(p->self, c, ret_node);
		if (is_post_filter_answer(c, i, v, *ret_node) && v.code != CEDE_UNSCHEDULABLE)
			return by_plugin(v, i);
	}
	return status_of_framework(CEDE_UNSCHEDULABLE, FW_NONE, 0);
}

/* Waiting is the driver's business; here it is enough that nobody refuses. */
static struct status run_permit(struct cede_cycle *c, node_id node)
{
	const struct framework *f = c->framework;

	for (uint32_t k = 0; k < f->order[POINT_PERMIT].n; k++) {
		uint32_t i = f->order[POINT_PERMIT].v[k];
		const struct framework_plugin *p = plugin_at(c, i);
		int64_t timeout_ns = 0;
		struct cede_verdict v = cede_ok();

		if (!p->is_disabled)
			v = p->table->permit(p->self, c, node, &timeout_ns);
		if (v.code != CEDE_SUCCESS && v.code != CEDE_WAIT)
			return by_plugin(v, i);
	}
	return success();
}

bool cycle_bind(struct cede_cycle *c, node_id node, struct status *ret)
{
	const struct framework *f = c->framework;

	*ret = run_step(c, POINT_RESERVE, node);
	if (status_is_success(ret))
		*ret = run_permit(c, node);
	if (status_is_success(ret))
		*ret = run_step(c, POINT_PRE_BIND, node);
	if (status_is_success(ret))
		*ret = run_step(c, POINT_BIND, node);
	if (!status_is_success(ret)) {
		unreserve_all(c, node);
		return false;
	}
	for (uint32_t k = 0; k < f->order[POINT_POST_BIND].n; k++) {
		const struct framework_plugin *p = plugin_at(c, f->order[POINT_POST_BIND].v[k]);

		if (!p->is_disabled)
			p->table->post_bind(p->self, c, node);
	}
	return true;
}
