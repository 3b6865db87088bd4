/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_bound.h"

#include "engine/search_bound_internal.h"
#include "engine/search_cache.h"

struct search_bounds *search_bounds_new(void)
{
	return mem_alloc(sizeof(struct search_bounds));
}

void search_bounds_free(struct search_bounds *b)
{
	if (!b)
		return;
	node_rows_free(&b->rows);
	classes_free(b);
	memories_free(b);
	for (int i = 0; i < SETS; i++)
		mem_free(b->sets[i].v);
	mem_free(b->once.v);
	mem_free(b->shapes);
	mem_free(b->candidates);
	mem_free(b->listed);
	bits_free(&b->few);
	bits_free(&b->made);
	array_free(&b->made_list);
	array_free(&b->own_nodes);
	mem_free(b->own_at);
	mem_free(b->made_at);
	mem_free(b);
}

static struct search_bounds *bounds_of(const struct node_search *g)
{
	return search_cache_bounds(g->s->search_cache);
}

/* ---- who is protected ---- */

static bool is_listing(const struct search_bounds *b)
{
	const struct protected_list *l = b->g->s->protected;

	return l && l->v.n < l->max;
}

/* What the kind does not tell is asked of the rules themselves, so what is told is what decided. */
static void tell_by_rows(struct search_bounds *b, bool is_known)
{
	struct node_search *g = b->g;

	if (!b->is_listing || (is_known && !b->n_listed && !b->has_groups))
		return;
	judge_look_at(g->s->j, b->types);
	node_search_list_begin(g);
	if (!is_known || b->has_groups)
		node_search_list_all(g);
	if (is_known && !b->has_groups)
		node_search_list_some(g, b->listed, b->n_listed);
	node_search_list_end(g, false);
}

/* Can the class tell, or do rows have to be looked at? */
static bool class_tells(const struct search_bounds *b, const struct class_node *x)
{
	return !b->has_own && !x->has_groups && x->n_listed <= LISTED;
}

static void tell_by_class(struct search_bounds *b, struct search_class *c, const struct class_node *x, node_id node)
{
	const struct pod_rows *rows = node_rows_of(&b->rows, b->g->s->c->ledger, node);
	const struct kind_answers *answers = kinds_for(b, c->short_types);
	const uint32_t *listed;

	if (!x->n_listed)
		return;
	listed = class_listed(b, c, rows, node);
	b->g->node = node;
	for (uint32_t i = 0; i < x->n_listed; i++) {
		const struct pod_row *row = &rows->v[listed[i]];
		const struct kind_answer *a = &answers->v[row->kind];
		enum kind_says says;
		bool is_odd = row_is_exception(b, a, row, false, &says);

		if (!is_odd && row_is_unknown(b, a, row))
			continue;
		if (!b->g->is_listing) {
			judge_look_at(b->g->s->j, c->short_types);
			node_search_list_begin(b->g);
		}
		node_search_list(b->g, row->pod, row_verdict(a, is_odd));
	}
	if (b->g->is_listing)
		node_search_list_end(b->g, true);
}

/* ---- one node ---- */

/*
 * Inside a queue only lower priorities go. Others are kept by that and not by time: where nobody wants to hear of more
 * than times, nodes without a lower pod of the queue have nothing to say.
 */
static bool asks_lower(const struct node_search *g)
{
	const struct judge *j = g->s->j;

	return (j->action == ACTION_PREEMPT || j->action == ACTION_DISPLACE) && j->p->queue != QUEUE_NONE &&
	       judge_asks(j, RULE_PRIORITY) && !profile_get(j->settings.profile)->has_group_priorities &&
	       (!g->s->protected || g->s->tells_times);
}

static bool has_lower(struct search_bounds *b, node_id node)
{
	const struct pod_rows *rows = node_rows_of(&b->rows, b->g->s->c->ledger, node);
	const struct pod *p = b->g->s->j->p;

	for (uint32_t i = 0; i < rows->n && row_priority(&b->rows, &rows->v[i]) < p->priority; i++)
		if (b->rows.kinds.v[rows->v[i].kind].queue == p->queue)
			return true;
	return false;
}

/* By its rows. False: no set on this node is enough. */
static bool bound_by_rows(struct search_bounds *b, node_id node, struct node_bound *ret)
{
	bool lacks, is_known;

	if (b->asks_lower && !has_lower(b, node))
		return false;
	lacks = rows_measure_lacks(b, node, false);
	b->is_listing = is_listing(b);
	is_known = rows_look(b, node, true);
	if (b->has_groups && b->g->s->lacking) { /* what goes elsewhere with a group counts below the maximum too */
		lacks = rows_measure_lacks(b, node, true);
		rows_look(b, node, true);
	}
	tell_by_rows(b, is_known);
	*ret = (struct node_bound){.highest = INT32_MIN, .at = ret->at};
	if (!is_known || !lacks || rows_bound(b, ret))
		return true;
	if (!b->g->s->lacking)
		return false;
	/* Not enough below a maximum: looked at only where nothing else is found, for who is refused there. */
	rows_measure_lacks(b, node, true);
	*ret = (struct node_bound){.opted_out = INT64_MAX, .is_refined = true, .at = ret->at};
	return rows_are_enough(b);
}

/* One of few, by the pods of its queue: one of them has to go. */
static bool bound_roughly(const struct search_bounds *b, node_id node, struct node_bound *ret)
{
	const struct few_node *x = &b->own_nodes.v[b->own_at[node]];

	*ret = (struct node_bound){.highest = x->lowest, .lost = x->lost, .at = ret->at};
	return true;
}

/* By its class, if there is one that can tell. */
static bool bound_anew(struct search_bounds *b, node_id node, struct node_bound *ret)
{
	const struct class_node *x;
	struct search_class *c;
	bool is_found;

	if (b->is_by_rows)
		return bound_by_rows(b, node, ret);
	rows_measure_lacks(b, node, false);
	c = class_for(b);
	x = c ? class_node_of(b, c, node) : NULL;
	if (!x || (is_listing(b) && !class_tells(b, x)))
		return bound_by_rows(b, node, ret);
	if (is_listing(b))
		tell_by_class(b, c, x, node);
	b->has_last |= x->has_last;
	is_found = class_bound(b, c, node, ret);
	memory_keep(b, c, x, node, ret, is_found);
	return is_found;
}

/* From the memory, if it knows the node and who is protected there. */
static const struct bound_entry *find_known(struct search_bounds *b, node_id node)
{
	const struct bound_entry *e = memory_find(b, node);
	const struct class_node *x;
	struct search_class *c;

	if (!e || !is_listing(b) || (e->is_silent && !b->has_own))
		return e;
	c = &b->classes[e->class_at];
	x = class_node_of(b, c, node);
	if (!class_tells(b, x))
		return NULL;
	tell_by_class(b, c, x, node);
	return e;
}

/* ---- the search ---- */

bool search_bound_serves(const struct node_search *g)
{
	return !g->looks_at_all && !g->plugins_judge && g->want.n <= WANTED;
}

static bool same_basis(const struct shapes_basis *a, const struct shapes_basis *b)
{
	return a->reuses == b->reuses && a->n_wanted == b->n_wanted &&
	       !memcmp(a->wanted, b->wanted, sizeof(a->wanted)) &&
	       !memcmp(a->capacity, b->capacity, sizeof(a->capacity));
}

/* What is known of shapes is kept as long as the same types are wanted and the cluster is as large as it was. */
static void begin_shapes(struct search_bounds *b)
{
	const struct cede_cycle *c = b->g->s->c;
	const struct want *w = &b->g->want;
	uint32_t n = shape_limit(c->vocab);
	struct shapes_basis is = {.reuses = vocab_reuses(c->vocab), .n_wanted = w->n};

	memcpy(is.capacity, ledger_capacity(c->ledger), ledger_stride(c->ledger) * sizeof(*is.capacity));
	memcpy(is.wanted, w->type, w->n * sizeof(*w->type));
	if (!b->shapes_stamp || !same_basis(&is, &b->basis))
		b->shapes_stamp++;
	b->basis = is;
	if (b->n_shapes >= n)
		return;
	b->shapes = mem_resize(b->shapes, n, sizeof(*b->shapes));
	memset(b->shapes + b->n_shapes, 0, (n - b->n_shapes) * sizeof(*b->shapes));
	b->n_shapes = n;
}

static void forget_node(struct search_bounds *b, const struct ledger *l, node_id node)
{
	node_rows_forget(&b->rows, node);
	if (node < b->rows.n)
		node_rows_of(&b->rows, l, node);
	for (int i = 0; i < CLASSES; i++)
		if (node < b->classes[i].n_nodes && b->classes[i].nodes[node]) {
			b->classes[i].nodes[node]->generation = 0;
			class_blocks_forget_node(b, &b->classes[i].blocks, node);
		}
	memories_forget_node(b, node);
}

/* Who is alone in its group counts as one without: nodes where that changed are looked at anew. */
static void follow_lone(struct search_bounds *b, const struct ledger *l)
{
	uint64_t n = ledger_lone_changes(l);

	if (b->lone_changes < n && ledger_lone_change(l, b->lone_changes) == NODE_NONE)
		node_rows_forget_all(&b->rows);
	else
		for (uint64_t i = b->lone_changes; i < n; i++)
			forget_node(b, l, ledger_lone_change(l, i));
	b->lone_changes = n;
}

/* The only one of the waiting pod's group that is on a node. */
static pod_id own_of(const struct node_search *g)
{
	const struct ledger *l = g->s->c->ledger;
	const struct pod *p = g->s->j->p;
	const struct group *own = p->podset == PODSET_NONE ? NULL : ledger_group(l, p->group);

	return own && own->n_on_nodes == 1 ? own->mix : POD_NONE;
}

static struct search_bounds *begin(struct node_search *g)
{
	struct search_bounds *b = bounds_of(g);
	const struct ledger *l = g->s->c->ledger;

	b->g = g;
	b->stamp++;
	b->n_sets = 0;
	b->cycle = ledger_cycle(l);
	b->own = own_of(g);
	node_rows_begin(&b->rows, l);
	follow_lone(b, l);
	begin_shapes(b);
	kinds_begin(b);
	for (uint32_t k = 0; k < g->want.n; k++)
		b->path_lacks[k] =
			g->s->lacking >> g->want.type[k] & 1 ? node_search_path_lacks(g, g->want.type[k]) : 0;
	return b;
}

/* Does any pod of the application run? */
static bool has_own(const struct node_search *g)
{
	const struct ledger *l = g->s->c->ledger;
	pod_id pod = ledger_app_first(l, g->s->j->ns, g->s->j->app);

	while (pod != POD_NONE && ledger_pod(l, pod)->state != POD_PLACED)
		pod = ledger_app_next(l, pod);
	return pod != POD_NONE;
}

/* ---- searches that ask few, or all but few ---- */

enum { REPEATED = 3 };

/* Was it so the last times that one of this shape searched inside a queue? Then what nodes say is worth keeping. */
static bool is_repeated(struct search_bounds *b)
{
	const struct pod *p = b->g->s->j->p;
	struct search_inside *last = &b->inside[p->shape % MEMORIES];

	if (last->shape != p->shape || last->queue != p->queue)
		*last = (struct search_inside){p->shape, p->queue, 0};
	return ++last->n > REPEATED;
}

static void add_own(struct search_bounds *b, const struct pod *p)
{
	const struct shape_answer *shape = shape_of(b, p->shape);
	bool is_alone = p->group == GROUP_NONE; /* of others it does not tell who goes with it */
	int64_t lost = is_alone ? lost_if_gone(b, p->priority, pod_since(p), shape) : 0;
	int32_t priority = is_alone ? p->priority : INT32_MIN;
	struct few_node *x;

	if (!bits_has(&b->few, p->node)) {
		bits_set(&b->few, p->node);
		b->own_at[p->node] = b->own_nodes.n;
		array_push(&b->own_nodes, ((struct few_node){.node = p->node, .lowest = INT32_MAX, .lost = INT64_MAX}));
	}
	x = &b->own_nodes.v[b->own_at[p->node]];
	for (uint32_t k = 0; k < b->g->want.n; k++)
		x->frees[k] += shape->frees[k];
	x->lowest = priority < x->lowest ? priority : x->lowest;
	x->lost = lost < x->lost ? lost : x->lost;
}

enum { AHEAD = 16 };

/* Both lines of memory that it may be in. */
static void fetch_ahead(const struct pod *p)
{
	__builtin_prefetch(p);
	__builtin_prefetch(&p->started_ns);
}

/* The nodes on which pods of its queue are, and what they hold there. They are far from each other: fetched ahead. */
static void find_own(struct search_bounds *b, const pod_id *v, uint32_t n)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct pod *pods = n ? ledger_pod(l, 0) : NULL;

	if (b->n_own_at < ledger_node_limit(l)) {
		b->n_own_at = ledger_node_limit(l);
		b->own_at = mem_resize(b->own_at, b->n_own_at, sizeof(*b->own_at));
	}
	bits_reset(&b->few);
	b->own_nodes.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			fetch_ahead(&pods[v[i + AHEAD]]);
		if (pods[v[i]].state == POD_PLACED)
			add_own(b, &pods[v[i]]);
	}
}

/* Were all of them gone, would the pod have room? */
static bool may_be_enough(struct search_bounds *b, const struct few_node *x)
{
	struct node_search *g = b->g;

	g->node = x->node;
	node_search_measure_room(g);
	for (uint32_t k = 0; k < g->want.n; k++)
		if (g->want.amount[k] > g->room[k] + x->frees[k])
			return false;
	return true;
}

/* Inside its queue a search asks nobody else: where pods of it are on few nodes, the others are not looked at. */
static bool is_of_few(struct search_bounds *b, uint32_t n_nodes)
{
	const struct judge *j = b->g->s->j;
	const pod_id *v;
	uint32_t n = 0;

	if ((j->action != ACTION_PREEMPT && j->action != ACTION_DISPLACE) || j->p->queue == QUEUE_NONE)
		return false;
	v = ledger_queue_pods(j->ledger, j->p->queue, &n);
	if (n > n_nodes / 2 || is_repeated(b))
		return false;
	find_own(b, v, n);
	for (uint32_t i = 0; i < b->own_nodes.n && !b->g->s->protected; i++) { /* nobody has to be told of */
		const struct few_node *x = &b->own_nodes.v[i];

		if (!may_be_enough(b, x) || (b->asks_lower && !has_lower(b, x->node)))
			bits_clear(&b->few, x->node);
	}
	return true;
}

/* Nobody may go: of so many the first nodes fill the list of those who are protected. */
static bool is_soon_told(const struct search_bounds *b)
{
	return !b->g->s->tells_times && b->n_asked / 8 >= b->g->s->protected->max;
}

/* What the nodes are looked at by: what is known of them, or their rows where little is looked at. */
static void begin_nodes(struct search_bounds *b, const node_id *nodes, uint32_t n, enum kinds_say says)
{
	b->is_of_few = is_of_few(b, n);
	b->is_rough = b->is_of_few && !b->g->s->protected && !b->g->s->lacking;
	b->is_by_rows = b->is_of_few || b->g->s->lacking || (says == ALL_KEPT && is_soon_told(b)) ||
			!search_cache_keeps_bounds(b->g->s->search_cache, n);
	if (!b->is_by_rows)
		memory_begin(b, nodes, n);
}

enum { WIDE_PART = 16 };

/* Between queues those of the own one are not asked. Are they few, bounds that count them too are hardly lower. */
static bool is_wide(const struct search_bounds *b)
{
	const struct judge *j = b->g->s->j;
	int64_t n;

	if (j->action != ACTION_RECLAIM || b->g->s->protected || j->p->queue == QUEUE_NONE || j->p->group != GROUP_NONE)
		return false;
	n = ledger_queue_used(j->ledger, j->p->queue)[RES_PODS];
	return n > 0 && n <= ledger_pod_limit(j->ledger) / WIDE_PART;
}

/* ---- all nodes ---- */

static uint32_t bound_each(struct search_bounds *b, const node_id *nodes, uint32_t from, uint32_t to,
			   struct node_bound *ret)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct bound_entry *e;

		if (b->is_of_few && !bits_has(&b->few, nodes[i]))
			continue;
		e = find_known(b, nodes[i]);
		ret[count].at = i;
		if (e)
			ret[count] = entry_bound(e, b->g->s->j->now_ns, i);
		b->has_last |= e && e->has_last;
		count += e ? !e->is_out : bound_anew(b, nodes[i], &ret[count]);
	}
	return count;
}

static bool is_told(const struct search_bounds *b, const struct bound_block *k)
{
	return is_listing(b) && (!k->is_silent || b->has_own);
}

static uint32_t bound_block(struct search_bounds *b, const node_id *nodes, uint32_t from, uint32_t to, bool as_block,
			    struct node_bound *ret)
{
	const struct bound_block *k = as_block ? block_find(b, from, is_listing(b)) : NULL;
	uint32_t count;

	if (k && !is_told(b, k)) {
		b->has_last |= k->has_last;
		*ret = k->least;
		return k->is_open;
	}
	count = bound_each(b, nodes, from, to, ret);
	if (!k)
		block_keep(b, from);
	return count;
}

static uint32_t end_bounds(const struct search_bounds *b, uint32_t n)
{
	b->g->spares_nobody = !b->has_last;
	return n;
}

/* Those few of them that are in the list, as rows were made for it. Who is protected is told to nobody. */
static uint32_t bound_few(const struct search_bounds *b, struct node_bound *ret)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->own_nodes.n; i++) {
		node_id node = b->own_nodes.v[i].node;
		uint32_t at = bits_has(&b->few, node) ? b->made_at[node] : UINT32_MAX;

		if (at >= b->made_list.n || b->made_list.v[at] != node)
			continue;
		ret[count].at = at;
		count += bound_roughly(b, node, &ret[count]);
	}
	return count;
}

uint32_t search_bound_all(struct node_search *g, const node_id *nodes, uint32_t n, bool with_blocks,
			  struct node_bound *ret)
{
	struct search_bounds *b = begin(g);
	uint32_t count = 0;
	enum kinds_say says;

	g->has_bounds = true;
	b->has_last = false;
	b->memory = NULL;
	b->is_rough = false;
	b->is_wide = is_wide(b);
	b->asks_lower = asks_lower(g);
	rows_make(b, nodes, n);
	b->has_own = b->own != POD_NONE || has_own(g);
	classes_begin(b);
	says = g->s->lacking ? SOME_MAY_GO : kinds_say(b);
	b->has_last &= says == ALL_KEPT; /* else nodes tell */
	if (says == SOME_MAY_GO || (says == ALL_KEPT && is_listing(b)))
		begin_nodes(b, nodes, n, says);
	if (b->is_rough)
		return end_bounds(b, bound_few(b, ret));
	/* Where nobody may go, nodes are looked at for who is protected alone. */
	for (uint32_t i = 0, end; i < n && (says == SOME_MAY_GO || (says == ALL_KEPT && is_listing(b))); i = end) {
		end = block_end(b, i, n);
		count += bound_block(b, nodes, i, end, with_blocks, &ret[count]);
	}
	return end_bounds(b, count);
}

uint32_t search_bound_open(struct node_search *g, const struct node_bound *block, struct node_bound *ret)
{
	struct search_bounds *b = bounds_of(g);
	uint32_t from = block->at, n;

	if (block_open(b, from, ret, &n))
		return n;
	n = bound_each(b, b->memory->list->v, from, block_end(b, from, b->memory->list->n), ret);
	block_keep(b, from);
	return n;
}

/* ---- who may go on a node ---- */

/* As the kind tells; false: it stays. */
static bool row_goes(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row, bool *ret_open)
{
	enum kind_says says = (enum kind_says)a->says;
	bool is_odd = row_is_exception(b, a, row, true, &says), is_apart = a->is_of_group || row->pod == b->own;

	*ret_open = is_odd || is_apart || says != MAY;
	return is_apart || says == MAY || says == OPEN || (says == LAST && b->g->s->with_opted_out);
}

uint32_t search_bound_who(struct node_search *g, struct row_says *ret)
{
	struct search_bounds *b = bounds_of(g);
	const struct pod_rows *rows = node_rows_of(&b->rows, g->s->c->ledger, g->node);
	struct kind_answers *answers;
	uint32_t n = 0;

	b->types = g->short_here | g->s->lacking;
	answers = kinds_for(b, b->types);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct pod_row *row = &rows->v[i];
		struct kind_answer *a = answers ? &answers->v[row->kind] : NULL;

		ret[n] = (struct row_says){.pod = row->pod, .is_open = true};
		if (a && a->stamp != b->stamp)
			kind_ask(b, row->kind, a, row->pod);
		n += !a || row_goes(b, a, row, &ret[n].is_open);
	}
	return n;
}

bool search_bound_refuses_nobody(struct node_search *g, node_id node)
{
	struct search_bounds *b = bounds_of(g);
	const struct pod_rows *rows = node_rows_of(&b->rows, g->s->c->ledger, node);

	if (rows->has_groups)
		return false;
	victim_set_begin(&g->set, node, true);
	if (rows->queue != QUEUE_NONE)
		return victim_set_is_free(&g->set, rows->queue);
	for (uint32_t i = 0; i < rows->n; i++)
		if (!victim_set_is_free(&g->set, b->rows.kinds.v[rows->v[i].kind].queue))
			return false;
	return true;
}

/* ---- a closer look ---- */

/* By the candidates, who are enough. */
static void tighten(struct search_bounds *b, struct node_bound *ret)
{
	struct node_bound x = *ret;

	x.is_below = !b->is_clear;
	x.highest = row_priority(&b->rows, b->candidates[b->enough].row);
	x.lost = rows_least_cover(b);
	if (node_bound_cmp(&x, ret) > 0)
		*ret = x;
}

/* Could everybody who may go be enough? Below a maximum it is looked at anyway, for who is refused there. */
static bool may_suffice(const struct search_bounds *b)
{
	return b->enough != UINT32_MAX || b->g->s->lacking || rows_are_enough(b);
}

/* Drivers go where nobody else is enough: the others alone are looked at, and all of them where they are not. */
static void refine_by_drivers(struct search_bounds *b, node_id node, struct node_bound *ret)
{
	bool by_drivers;

	if (b->has_groups && b->g->s->lacking) {
		rows_measure_lacks(b, node, true);
		rows_look(b, node, false);
	}
	by_drivers = b->has_drivers;
	ret->needs_drivers = by_drivers && b->enough == UINT32_MAX;
	if (ret->needs_drivers)
		rows_look(b, node, true);
	if (b->enough != UINT32_MAX)
		tighten(b, ret);
	if (!b->has_own && !b->is_wide && !b->has_too_big)
		memory_refined(b, node, ret, by_drivers);
}

bool search_bound_refine(struct node_search *g, node_id node, struct node_bound *ret)
{
	struct search_bounds *b = bounds_of(g);
	bool lacks = rows_measure_lacks(b, node, false), is_known;

	ret->is_refined = true;
	b->is_listing = b->has_too_big = false;
	is_known = (lacks || b->is_rough) && rows_look(b, node, ret->opted_out);
	if (b->is_rough && b->has_last) /* nobody looked before */
		g->spares_nobody = false;
	if (!lacks || !is_known)
		return true;
	if (!ret->opted_out)
		refine_by_drivers(b, node, ret);
	return may_suffice(b);
}

int node_bound_cmp(const struct node_bound *a, const struct node_bound *b)
{
	if (a->opted_out != b->opted_out)
		return a->opted_out < b->opted_out ? -1 : 1;
	if (a->needs_drivers != b->needs_drivers)
		return a->needs_drivers ? 1 : -1;
	if (a->is_below != b->is_below)
		return a->is_below ? 1 : -1;
	if (a->highest != b->highest)
		return a->highest < b->highest ? -1 : 1;
	if (a->lost != b->lost)
		return a->lost < b->lost ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Criteria between those that are bounded are 0 at least. */
bool node_bound_is_beaten(const struct node_bound *b, const struct set_cost *cost, uint32_t at)
{
	struct set_cost least = set_cost_none;
	int d;

	least.v[COST_OPTED_OUT] = b->opted_out;
	least.v[COST_DRIVERS] = b->needs_drivers;
	least.v[COST_BELOW] = b->is_below;
	least.v[COST_HIGHEST] = b->highest;
	least.v[COST_LOST] = b->lost;
	least.v[COST_COUNT] = 1;
	d = set_cost_cmp(&least, cost);
	return d > 0 || (d == 0 && b->at > at);
}
