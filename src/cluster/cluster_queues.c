/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of queues become changes of the tree.
 *
 * The definitions of both sources are joined into a plan first: every queue there should be, with its path and
 * everything it was told, parents before their children. KAI's queues know their parents by name, so that is where
 * circles and missing parents are found. Then the plan is applied from the top down: a queue that is there is told
 * anew, a KAI queue that is elsewhere moves with everything in it (its new parent is in its final place already, so no
 * move can make a circle), the rest is added; what is not in the plan is drained. Everything up to there may fail and
 * is rolled back. At last pods find their queues again, and drained queues without any go.
 */
#include "cluster/resolve.h"

#include <stdio.h>
#include <string.h>

#define GPU_TYPE "nvidia.com/gpu"
#define NOWHERE UINT32_MAX

struct planned_queue {
	name_id path; /* in the plan's bag */
	const char *segment;
	const char *where; /* of the first definition; may be NULL */
	uint32_t parent;   /* position in the plan */
	uint32_t depth;	   /* root 0 */
	struct queue_spec spec;
	queue_id id;
};

enum joint { UNSEEN, ON_THE_WAY, JOINED, LEFT_OUT };

struct kai_queue {
	const struct queue_def *def;
	enum joint state;
	uint32_t below; /* position of the parent among the KAI queues; NOWHERE: a top queue */
	uint32_t at;	/* position in the plan */
};

struct plan {
	struct cluster *c;
	struct arena *arena;
	struct name_bag bag;
	ARRAY(struct planned_queue) q; /* the root first, parents before children */
	struct map by_path;
	ARRAY(struct kai_queue) kai;
	struct map by_kai;	/* name -> position in kai */
	ARRAY(char *) warnings; /* in the arena; told when all has gone well */
	struct bits used;	/* ids in the tree that are planned */
};

static void plan_free(struct plan *p)
{
	for (uint32_t i = 0; i < p->q.n; i++)
		queue_spec_free(&p->q.v[i].spec);
	array_free(&p->q);
	array_free(&p->kai);
	array_free(&p->warnings);
	map_free(&p->by_path);
	map_free(&p->by_kai);
	bits_free(&p->used);
	name_bag_drop(&p->bag);
	arena_free(p->arena);
}

#define plan_warn(p, ...) array_push(&(p)->warnings, arena_printf((p)->arena, __VA_ARGS__))

/* ---- errors say where ---- */

static enum err_code fail_at(struct err *e, enum err_code code, const char *where, const char *where_else)
{
	struct err was;

	if (e == NULL || (where == NULL && where_else == NULL))
		return code;
	was = *e;
	if (where == NULL || where_else == NULL)
		return err_fail(e, code, "%s: %s", where != NULL ? where : where_else, was.msg);
	return err_fail(e, code, "%s: %.300s; the other is at %s", where, was.msg, where_else);
}

static const char *place_text(const struct plan *p, const char *where)
{
	return where != NULL ? arena_printf(p->arena, "%s: ", where) : "";
}

/* ---- the plan: paths ---- */

static uint32_t plan_find(const struct plan *p, const char *path, size_t len)
{
	name_id id = names_find(p->c->names, path, len);

	return id != NAME_NONE ? map_get(&p->by_path, id) : MAP_NONE;
}

static uint32_t plan_enter(struct plan *p, const char *path, size_t len, uint32_t parent)
{
	const char *dot = memrchr(path, '.', len);
	const char *segment = dot != NULL ? dot + 1 : path;
	struct planned_queue q = {.parent = parent, .id = QUEUE_NONE};

	q.depth = parent == NOWHERE ? 0 : p->q.v[parent].depth + 1;
	q.path = name_bag_add(&p->bag, path, len);
	q.segment = arena_strndup(p->arena, segment, len - (size_t)(segment - path));
	queue_spec_init(&q.spec, p->c->names);
	map_put(&p->by_path, q.path, p->q.n);
	array_push(&p->q, q);
	return p->q.n - 1;
}

/* The queue of a path, with all its ancestors. */
static uint32_t plan_path(struct plan *p, const char *path)
{
	uint32_t at = 0; /* the root */

	for (size_t len = strlen("root"); path[len] != '\0';) {
		len += 1 + strcspn(path + len + 1, ".");
		uint32_t next = plan_find(p, path, len);
		if (next == MAP_NONE) {
			next = plan_enter(p, path, len, at);
			p->q.v[next].spec.sources = FROM_YUNIKORN;
		}
		at = next;
	}
	return at;
}

static enum err_code plan_tell(struct plan *p, uint32_t at, const struct queue_def *d, struct err *e)
{
	struct planned_queue *q = &p->q.v[at];
	enum err_code code = queue_spec_merge(&q->spec, &d->spec, vocab_res(p->c->vocab), e);

	if (code != ERR_OK) {
		err_wrap(e, "queue %s", name_str(p->c->names, q->path));
		return fail_at(e, code, d->where, q->where);
	}
	if (d->kai_name != NULL && q->spec.kai_name == NAME_NONE)
		q->spec.kai_name = name_bag_add_str(&q->spec.bag, d->kai_name);
	if (q->where == NULL)
		q->where = d->where;
	return ERR_OK;
}

static enum err_code plan_yunikorn(struct plan *p, const struct queue_def *d, struct err *e)
{
	bool is_path = strncmp(d->path, "root", 4) == 0 && (d->path[4] == '\0' || d->path[4] == '.');

	if (!is_path)
		return fail_at(e, err_fail(e, ERR_INPUT, "queue %s: the path of a queue begins with root", d->path),
			       d->where, NULL);
	return plan_tell(p, plan_path(p, d->path), d, e);
}

/* ---- the plan: KAI's queues ---- */

static enum err_code kai_enter(struct plan *p, const struct queue_def *d, struct err *e)
{
	name_id name = name_bag_add_str(&p->bag, d->kai_name);
	uint32_t i = map_get(&p->by_kai, name);

	if (name == NAME_NONE)
		return fail_at(e, err_fail(e, ERR_INPUT, "a Queue without a name"), d->where, NULL);
	if (i == MAP_NONE) {
		map_put(&p->by_kai, name, p->kai.n);
		array_push(&p->kai, ((struct kai_queue){.def = d, .below = NOWHERE, .at = NOWHERE}));
		return ERR_OK;
	}
	const struct queue_def *other = p->kai.v[i].def;
	if (strcmp(other->kai_parent, d->kai_parent) == 0)
		return ERR_OK; /* told twice: joined where it is told */
	enum err_code code =
		err_fail(e, ERR_CONFLICT, "queue %s: parentQueue: one definition says '%s', the other '%s'",
			 d->kai_name, other->kai_parent, d->kai_parent);
	return fail_at(e, code, other->where, d->where);
}

static enum err_code fail_cycle(const struct plan *p, uint32_t i, struct err *e)
{
	struct text way = {0};
	uint32_t at = i;

	do {
		text_printf(&way, "%s -> ", p->kai.v[at].def->kai_name);
		at = p->kai.v[at].below;
	} while (at != i);
	text_add(&way, p->kai.v[i].def->kai_name);
	enum err_code code = err_fail(e, ERR_CONFLICT, "queue %s: its parents form a cycle: %s",
				      p->kai.v[i].def->kai_name, text_str(&way));
	text_free(&way);
	return fail_at(e, code, p->kai.v[i].def->where, NULL);
}

/* As the tree would say it; but before the paths of a long chain of parents are all written out. */
static enum err_code fail_depth(const struct plan *p, uint32_t parent, const struct queue_def *d, struct err *e)
{
	enum err_code code = err_fail(e, ERR_LIMIT, "queue %.300s.%s: queues are nested more than %d deep",
				      name_str(p->c->names, p->q.v[parent].path), d->kai_name, QUEUE_DEPTH_MAX);

	return fail_at(e, code, d->where, NULL);
}

static enum err_code kai_join(struct plan *p, struct kai_queue *k, struct err *e)
{
	uint32_t parent = k->below != NOWHERE ? p->kai.v[k->below].at : 0;
	const char *name = k->def->kai_name;
	struct text path = {0};

	if (p->q.v[parent].depth + 1 >= QUEUE_DEPTH_MAX)
		return fail_depth(p, parent, k->def, e);
	text_printf(&path, "%s.", name_str(p->c->names, p->q.v[parent].path));
	queue_segment_text(name, strlen(name), &path);
	k->at = plan_find(p, path.s, path.n);
	if (k->at == MAP_NONE)
		k->at = plan_enter(p, path.s, path.n, parent);
	text_free(&path);
	k->state = JOINED;
	return ERR_OK;
}

static void kai_leave_out(struct plan *p, struct kai_queue *k)
{
	const struct queue_def *d = k->def;

	if (k->below == NOWHERE)
		plan_warn(p, "%squeue %s: there is no queue %s to be its parent, so it is ignored",
			  place_text(p, d->where), d->kai_name, d->kai_parent);
	else
		plan_warn(p, "%squeue %s: ignored, because its parent %s is", place_text(p, d->where), d->kai_name,
			  d->kai_parent);
	k->state = LEFT_OUT;
}

/* Up to a queue that is settled, or to the top; then back down. */
static enum err_code kai_settle(struct plan *p, uint32_t i, struct err *e)
{
	ARRAY(uint32_t) way = {0};
	enum err_code code = ERR_OK;
	bool is_orphan = false;

	for (;;) {
		struct kai_queue *k = &p->kai.v[i];
		if (k->state == ON_THE_WAY)
			code = fail_cycle(p, i, e);
		if (k->state != UNSEEN)
			break;
		k->state = ON_THE_WAY;
		array_push(&way, i);
		if (k->def->kai_parent[0] == '\0')
			break;
		k->below = map_get(&p->by_kai, names_find(p->c->names, k->def->kai_parent, strlen(k->def->kai_parent)));
		is_orphan = k->below == NOWHERE;
		if (is_orphan)
			break;
		i = k->below;
	}
	while (code == ERR_OK && way.n > 0) {
		struct kai_queue *k = &p->kai.v[array_pop(&way)];
		if (is_orphan || (k->below != NOWHERE && p->kai.v[k->below].state == LEFT_OUT))
			kai_leave_out(p, k);
		else
			code = kai_join(p, k, e);
		is_orphan = false;
	}
	array_free(&way);
	return code;
}

static enum err_code plan_kai(struct plan *p, const struct queue_def *defs, uint32_t n, struct err *e)
{
	enum err_code code = ERR_OK;

	for (uint32_t i = 0; i < n && code == ERR_OK; i++)
		code = kai_enter(p, &defs[i], e);
	for (uint32_t i = 0; i < p->kai.n && code == ERR_OK; i++)
		code = kai_settle(p, i, e);
	for (uint32_t i = 0; i < n && code == ERR_OK; i++) {
		name_id name = names_find(p->c->names, defs[i].kai_name, strlen(defs[i].kai_name));
		const struct kai_queue *k = &p->kai.v[map_get(&p->by_kai, name)];
		if (k->state == JOINED)
			code = plan_tell(p, k->at, &defs[i], e);
	}
	return code;
}

/* ---- the plan: KAI's shares ---- */

static void warn_unset_limits(struct plan *p, const struct planned_queue *q, const res_id *types)
{
	static const char *const words[KAI_RES] = {[KAI_GPU] = "gpu", [KAI_CPU] = "cpu", [KAI_MEMORY] = "memory"};

	struct text unset = {0};

	for (int i = 0; i < KAI_RES; i++)
		if (q->spec.kai[i].limit == 0 && !res_has(&q->spec.max, types[i]))
			text_printf(&unset, "%s%s", unset.n > 0 ? ", " : "", words[i]);
	if (unset.n > 0)
		plan_warn(p, "%squeue %s: no limit is set for %s, which means none at all in KAI; -1 means no limit",
			  place_text(p, q->where), name_str(p->c->names, q->spec.kai_name), text_str(&unset));
	text_free(&unset);
}

static void take_missing(struct res_vec *to, const struct res_vec *from)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(from, r) && !res_has(to, r))
			res_put(to, r, from->v[r]);
}

/* What queues.yaml states counts; KAI's shares fill in the rest. */
static enum err_code plan_shares(struct plan *p, struct err *e)
{
	for (uint32_t i = 0; i < p->q.n; i++) {
		struct planned_queue *q = &p->q.v[i];
		struct res_vec guaranteed, max;
		res_id types[KAI_RES] = {[KAI_CPU] = RES_CPU, [KAI_MEMORY] = RES_MEMORY};
		if (!q->spec.has_kai_resources)
			continue;
		enum err_code code =
			res_types_add(vocab_res(p->c->vocab), GPU_TYPE, strlen(GPU_TYPE), &types[KAI_GPU], e);
		if (code != ERR_OK)
			return fail_at(e, code, q->where, NULL);
		warn_unset_limits(p, q, types);
		queue_kai_vectors(&q->spec, types[KAI_GPU], &guaranteed, &max);
		take_missing(&q->spec.guaranteed, &guaranteed);
		take_missing(&q->spec.max, &max);
	}
	return ERR_OK;
}

static enum err_code plan_make(struct plan *p, const struct queue_set *yunikorn, const struct queue_set *kai,
			       struct err *e)
{
	enum err_code code = ERR_OK;

	plan_enter(p, "root", strlen("root"), NOWHERE);
	for (uint32_t i = 0; i < yunikorn->n && code == ERR_OK; i++)
		code = plan_yunikorn(p, &yunikorn->defs[i], e);
	if (code == ERR_OK)
		code = plan_kai(p, kai->defs, kai->n, e);
	if (code == ERR_OK)
		code = plan_shares(p, e);
	struct queue_spec *root = &p->q.v[0].spec;
	root->is_parent = true;
	if (root->sources == 0)
		root->sources = FROM_NOBODY;
	return code;
}

/* ---- applying it ---- */

static void spec_copy(const struct cluster *c, const struct queue_spec *from, struct queue_spec *ret)
{
	queue_spec_init(ret, c->names);
	enum err_code code = queue_spec_merge(ret, from, vocab_res(c->vocab), NULL);
	assert(code == ERR_OK); /* nothing is stated in an empty one */
}

/* Two queues never have one KAI name, not even on the way. */
static void take_kai_name(struct cluster *c, name_id name, queue_id keeps)
{
	queue_id q = queue_tree_find_kai(tree_of(c), name);
	struct queue_spec spec;

	if (q == QUEUE_NONE || q == keeps)
		return;
	spec_copy(c, &queue_get(tree_of(c), q)->spec, &spec);
	spec.kai_name = NAME_NONE;
	ledger_queue_set(c->ledger, q, &spec);
}

/* The queue that is in its place already, or the same KAI queue elsewhere, which then moves. */
static queue_id find_present(const struct plan *p, const struct planned_queue *q, bool *ret_moves)
{
	const struct queue_tree *t = tree_of(p->c);
	const char *path = name_str(p->c->names, q->path);
	queue_id id = queue_tree_find(t, path, strlen(path));

	*ret_moves = id == QUEUE_NONE;
	if (id == QUEUE_NONE)
		id = queue_tree_find_kai(t, q->spec.kai_name);
	*ret_moves &= id != QUEUE_NONE;
	return id;
}

static enum err_code apply_one(struct plan *p, struct planned_queue *q, struct err *e)
{
	struct cluster *c = p->c;
	queue_id parent = q->parent != NOWHERE ? p->q.v[q->parent].id : QUEUE_NONE;
	enum err_code code = ERR_OK;
	bool moves;

	q->id = find_present(p, q, &moves);
	if (q->spec.kai_name != NAME_NONE)
		take_kai_name(c, q->spec.kai_name, q->id);
	if (moves)
		code = ledger_queue_move(c->ledger, q->id, parent, e);
	if (code == ERR_OK && q->id == QUEUE_NONE)
		code = ledger_queue_add(c->ledger, parent, q->segment, strlen(q->segment), &q->spec, &q->id, e);
	else if (code == ERR_OK)
		ledger_queue_set(c->ledger, q->id, &q->spec);
	if (code != ERR_OK)
		return fail_at(e, code, q->where, NULL);
	if (queue_get(tree_of(c), q->id)->is_draining)
		ledger_queue_drain(c->ledger, q->id, false);
	bits_set(&p->used, q->id);
	return ERR_OK;
}

static void implicit_spec(const struct cluster *c, struct queue_spec *ret)
{
	queue_spec_init(ret, c->names);
	ret->sources = FROM_NOBODY;
}

static bool is_default_place(const struct cluster *c, const struct queue *q)
{
	const char *path = name_str(c->names, q->path);

	return strcmp(path, "root.default") == 0 || strcmp(path, "root.default.default") == 0;
}

/* A queue nobody defines any more. Those of pods without a queue live on as if nobody ever had. */
static void retire(struct cluster *c, queue_id id)
{
	const struct queue *q = queue_get(tree_of(c), id);
	struct queue_spec spec;

	if (!(q->spec.sources & (FROM_YUNIKORN | FROM_KAI)))
		return;
	if (!is_default_place(c, q)) {
		if (!q->is_draining)
			ledger_queue_drain(c->ledger, id, true);
		c->is_draining = true;
		return;
	}
	implicit_spec(c, &spec);
	ledger_queue_set(c->ledger, id, &spec);
}

static enum err_code apply(struct plan *p, struct err *e)
{
	enum err_code code = ERR_OK;

	for (uint32_t i = 0; i < p->q.n && code == ERR_OK; i++)
		code = apply_one(p, &p->q.v[i], e);
	const struct queue_tree *t = tree_of(p->c);
	for (queue_id id = 0; id < t->q.n && code == ERR_OK; id++)
		if (queue_get(t, id)->is_live && !bits_has(&p->used, id))
			retire(p->c, id);
	return code;
}

/* ---- queues that nobody needs ---- */

static bool is_implicit(const struct queue *q)
{
	return q->spec.sources == FROM_NOBODY;
}

static bool is_needless(const struct cluster *c, queue_id id)
{
	const struct queue *q = queue_get(tree_of(c), id);
	uint32_t n_pods;

	if (!q->is_live || q->children.n > 0 || (!q->is_draining && queue_is_defined(q)))
		return false;
	ledger_queue_pods(c->ledger, id, &n_pods);
	return n_pods == 0 && (q->is_draining || !cluster_queue_has_groups(c, id));
}

static void drop_queue(struct cluster *c, queue_id id)
{
	cluster_detach_queue(c, id);
	ledger_queue_drop(c->ledger, id);
}

/* root.default.default is there because root.default had other children: when they are gone so is the reason. */
static bool collapse_default(struct cluster *c)
{
	const struct queue_tree *t = tree_of(c);
	queue_id inner = queue_tree_find(t, "root.default.default", strlen("root.default.default"));

	if (inner == QUEUE_NONE || !is_implicit(queue_get(t, inner)) || queue_get(t, inner)->children.n > 0)
		return false;
	const struct queue *outer = queue_get(t, queue_get(t, inner)->parent);
	if ((outer->spec.is_parent && queue_is_defined(outer)) || outer->children.n > 1)
		return false;
	drop_queue(c, inner);
	return true;
}

static bool drop_needless(struct cluster *c)
{
	const struct queue_tree *t = tree_of(c);
	bool dropped = false;

	for (queue_id id = t->q.n; id-- > 1;) {
		if (id >= t->q.n || !is_needless(c, id))
			continue;
		drop_queue(c, id);
		dropped = true;
	}
	return dropped;
}

bool cluster_drop_idle_queues(struct cluster *c)
{
	const struct queue_tree *t = tree_of(c);
	bool dropped = false;

	while (drop_needless(c) || collapse_default(c))
		dropped = true; /* and a parent may be a leaf now */
	c->is_draining = false;
	for (queue_id id = 0; id < t->q.n; id++)
		c->is_draining |= queue_get(t, id)->is_live && queue_get(t, id)->is_draining;
	return dropped;
}

queue_id cluster_default_leaf(struct cluster *c)
{
	struct default_place place = resolve_default(tree_of(c));
	struct queue_spec spec;

	if (place.queue != QUEUE_NONE || place.parent == QUEUE_NONE)
		return place.queue;
	implicit_spec(c, &spec);
	enum err_code code =
		ledger_queue_add(c->ledger, place.parent, "default", strlen("default"), &spec, &place.queue, NULL);
	assert(code == ERR_OK); /* it was not there, and it is not deep */
	return place.queue;
}

/* ---- sets ---- */

void queue_set_free(struct queue_set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		queue_spec_free(&s->defs[i].spec);
	arena_free(s->arena);
	*s = (struct queue_set){0};
}

static const char *keep_string(struct arena *a, const char *s)
{
	return s != NULL ? arena_strndup(a, s, strlen(s)) : NULL;
}

/* The set as it will be kept; the specs in it are still the caller's. */
static struct queue_set set_of(enum queue_source source, const struct queue_def *defs, uint32_t n)
{
	struct queue_set s = {.arena = arena_new(4096), .n = n};

	s.defs = arena_n(s.arena, n, struct queue_def);
	for (uint32_t i = 0; i < n; i++) {
		const struct queue_def *d = &defs[i];
		s.defs[i] = (struct queue_def){
			.path = keep_string(s.arena, d->path),
			.kai_name = keep_string(s.arena, d->kai_name),
			.kai_parent = keep_string(s.arena, d->kai_parent != NULL ? d->kai_parent : ""),
			.spec = d->spec,
			.where = keep_string(s.arena, d->where),
		};
		s.defs[i].spec.sources = source;
	}
	return s;
}

static bool has_access_lists(const struct queue_set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->defs[i].spec.submit_acl != NAME_NONE || s->defs[i].spec.admin_acl != NAME_NONE)
			return true;
	return false;
}

static enum err_code plan_and_apply(struct plan *p, const struct queue_set *yunikorn, const struct queue_set *kai,
				    struct err *e)
{
	ledger_mark mark = ledger_get_mark(p->c->ledger);
	enum err_code code = plan_make(p, yunikorn, kai, e);

	if (code == ERR_OK)
		code = apply(p, e);
	if (code != ERR_OK) {
		ledger_rollback(p->c->ledger, mark);
		return code;
	}
	for (uint32_t i = 0; i < p->warnings.n; i++)
		cluster_warn(p->c, "%s", p->warnings.v[i]);
	p->c->has_yunikorn = yunikorn->n > 0;
	p->c->has_acl = has_access_lists(yunikorn);
	p->c->is_reshaped = p->c->is_unsettled = p->c->is_draining = true;
	cluster_keep(p->c, mark);
	return ERR_OK;
}

enum err_code cluster_put_queues(struct cluster *c, enum queue_source source, struct queue_def *defs, uint32_t n,
				 struct err *e)
{
	assert(source == FROM_YUNIKORN || source == FROM_KAI);
	uint32_t mine = source == FROM_KAI;
	struct queue_set set = set_of(source, defs, n);
	struct plan p = {.c = c, .arena = arena_new(4096), .bag = name_bag_of(c->names)};
	enum err_code code = plan_and_apply(&p, mine ? &c->sets[0] : &set, mine ? &set : &c->sets[1], e);

	plan_free(&p);
	if (code != ERR_OK) {
		arena_free(set.arena);
		return code;
	}
	for (uint32_t i = 0; i < n; i++)
		queue_spec_init(&defs[i].spec, c->names);
	queue_set_free(&c->sets[mine]);
	c->sets[mine] = set;
	return ERR_OK;
}
