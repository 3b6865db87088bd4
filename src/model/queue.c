/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which id a new queue gets is a function of the ids in use alone: the smallest that is free. So is everything else
 * that can be seen of the tree (children are sorted, arrays end at the last live id). Undoing changes in reverse order
 * therefore brings back the very same tree.
 */
#include "model/queue.h"

#include <string.h>

#include "base/text.h"

static struct queue *at(struct queue_tree *t, queue_id id)
{
	assert(id < t->q.n && t->q.v[id].is_live);
	return &t->q.v[id];
}

/* ---- names ---- */

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static char lower(char c)
{
	return (char)(is_upper(c) ? c + ('a' - 'A') : c);
}

static void add_lower(struct text *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		text_add_char(out, lower(s[i]));
}

void queue_segment_text(const char *name, size_t len, struct text *out)
{
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '.')
			text_add(out, "_dot_");
		else
			add_lower(out, &name[i], 1);
	}
}

bool queue_name_is_valid(const char *name, size_t len)
{
	if (len < 1 || len > 64)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool is_word = (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9');
		if (!is_word && (c == '\0' || strchr("_:#/@-", c) == NULL))
			return false;
	}
	return true;
}

static queue_id find_lower(const struct queue_tree *t, const char *path, size_t len)
{
	name_id id = names_find(t->names, path, len);
	return id != NAME_NONE ? map_get(&t->by_path, id) : QUEUE_NONE;
}

queue_id queue_tree_find(const struct queue_tree *t, const char *path, size_t len)
{
	size_t i = 0;
	while (i < len && !is_upper(path[i]))
		i++;
	if (i == len)
		return find_lower(t, path, len);
	struct text low = {0};
	add_lower(&low, path, len);
	queue_id id = find_lower(t, low.s, low.n);
	text_free(&low);
	return id;
}

queue_id queue_tree_find_kai(const struct queue_tree *t, name_id kai_name)
{
	return kai_name != NAME_NONE ? map_get(&t->by_kai, kai_name) : QUEUE_NONE;
}

/* ---- ids ---- */

static uint32_t free_position(const struct queue_tree *t, queue_id id)
{
	uint32_t i = t->free_ids.n; /* descending, so that the smallest is at the end */
	while (i > 0 && t->free_ids.v[i - 1] < id)
		i--;
	return i;
}

static void id_take(struct queue_tree *t, queue_id id)
{
	while (t->q.n <= id) {
		array_insert(&t->free_ids, 0, t->q.n);
		array_push(&t->q, (struct queue){0});
	}
	uint32_t i = free_position(t, id);
	assert(i > 0 && t->free_ids.v[i - 1] == id);
	array_remove(&t->free_ids, i - 1);
}

static queue_id id_next(const struct queue_tree *t)
{
	return t->free_ids.n > 0 ? array_last(&t->free_ids) : t->q.n;
}

static void id_give_back(struct queue_tree *t, queue_id id)
{
	t->q.v[id] = (struct queue){0};
	array_insert(&t->free_ids, free_position(t, id), id);
	while (t->q.n > 0 && !array_last(&t->q).is_live) {
		assert(t->free_ids.v[0] == t->q.n - 1);
		array_remove(&t->free_ids, 0);
		t->q.n--;
	}
}

/* ---- links: paths, children, KAI names ---- */

/* Where a segment is, or belongs, among the children of a queue. */
static uint32_t child_position(const struct queue_tree *t, queue_id parent, const char *segment, bool *ret_is_there)
{
	const struct queue *p = &t->q.v[parent];
	uint32_t low = 0, high = p->children.n;
	*ret_is_there = false;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int c = strcmp(name_str(t->names, t->q.v[p->children.v[mid]].segment), segment);
		if (c == 0) {
			*ret_is_there = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void child_link(struct queue_tree *t, queue_id parent, queue_id id)
{
	bool is_there;
	uint32_t i = child_position(t, parent, name_str(t->names, t->q.v[id].segment), &is_there);
	assert(!is_there);
	array_insert(&t->q.v[parent].children, i, id);
}

static void child_unlink(struct queue_tree *t, queue_id id)
{
	bool is_there;
	const struct queue *q = &t->q.v[id];
	uint32_t i = child_position(t, q->parent, name_str(t->names, q->segment), &is_there);
	assert(is_there);
	array_remove(&t->q.v[q->parent].children, i);
	if (t->q.v[q->parent].children.n == 0)
		array_free(&t->q.v[q->parent].children);
}

static void path_link(struct queue_tree *t, queue_id id)
{
	struct queue *q = &t->q.v[id];
	struct text path = {0};
	if (q->parent != QUEUE_NONE)
		text_printf(&path, "%s.", name_str(t->names, t->q.v[q->parent].path));
	text_add(&path, name_str(t->names, q->segment));
	q->path = names_hold(t->names, path.s, path.n);
	text_free(&path);
	map_put(&t->by_path, q->path, id);
}

static void path_unlink(struct queue_tree *t, queue_id id)
{
	struct queue *q = &t->q.v[id];
	map_del(&t->by_path, q->path);
	names_drop(t->names, q->path);
	q->path = NAME_NONE;
}

static void kai_link(struct queue_tree *t, queue_id id)
{
	if (t->q.v[id].spec.kai_name != NAME_NONE)
		map_put(&t->by_kai, t->q.v[id].spec.kai_name, id);
}

static void kai_unlink(struct queue_tree *t, queue_id id)
{
	name_id name = t->q.v[id].spec.kai_name;
	if (queue_tree_find_kai(t, name) == id)
		map_del(&t->by_kai, name);
}

/* ---- walking a subtree ---- */

/* The queue after id in depth-first order below top; QUEUE_NONE at the end. */
static queue_id next_below(const struct queue_tree *t, queue_id top, queue_id id)
{
	if (t->q.v[id].children.n > 0)
		return t->q.v[id].children.v[0];
	for (; id != top; id = t->q.v[id].parent) {
		const struct queue *p = &t->q.v[t->q.v[id].parent];
		bool is_there;
		uint32_t i = child_position(t, t->q.v[id].parent, name_str(t->names, t->q.v[id].segment), &is_there);
		if (i + 1 < p->children.n)
			return p->children.v[i + 1];
	}
	return QUEUE_NONE;
}

static void settle_props(struct queue_tree *t, queue_id top)
{
	for (queue_id id = top; id != QUEUE_NONE; id = next_below(t, top, id)) {
		struct queue *q = &t->q.v[id];
		q->props = queue_props_resolve(q->parent != QUEUE_NONE ? &t->q.v[q->parent].props : NULL, &q->spec);
	}
}

/* Paths, depths and properties of a subtree whose top has a new parent. */
static void settle(struct queue_tree *t, queue_id top)
{
	for (queue_id id = top; id != QUEUE_NONE; id = next_below(t, top, id)) {
		struct queue *q = &t->q.v[id];
		q->depth = q->parent != QUEUE_NONE ? t->q.v[q->parent].depth + 1 : 0;
		path_link(t, id);
	}
	settle_props(t, top);
}

static uint32_t deepest(const struct queue_tree *t, queue_id top)
{
	uint32_t depth = 0;
	for (queue_id id = top; id != QUEUE_NONE; id = next_below(t, top, id))
		if (t->q.v[id].depth > depth)
			depth = t->q.v[id].depth;
	return depth;
}

/* ---- structure ---- */

static void spec_move(struct queue_spec *to, struct queue_spec *from)
{
	*to = *from;
	queue_spec_init(from, to->bag.names);
}

static void enter(struct queue_tree *t, queue_id id, queue_id parent, const char *segment, size_t len,
		  struct queue_spec *spec)
{
	id_take(t, id);
	struct queue *q = &t->q.v[id];
	*q = (struct queue){.parent = parent, .is_live = true, .segment = names_hold(t->names, segment, len)};
	spec_move(&q->spec, spec);
	if (parent != QUEUE_NONE)
		child_link(t, parent, id);
	kai_link(t, id);
	settle(t, id);
}

void queue_tree_init(struct queue_tree *t, struct names *names)
{
	*t = (struct queue_tree){.names = names};
	struct queue_spec spec;
	queue_spec_init(&spec, names);
	spec.sources = FROM_NOBODY;
	spec.is_parent = true;
	enter(t, QUEUE_ROOT, QUEUE_NONE, "root", 4, &spec);
}

void queue_tree_free(struct queue_tree *t)
{
	for (queue_id id = 0; id < t->q.n; id++) {
		struct queue *q = &t->q.v[id];
		if (!q->is_live)
			continue;
		names_drop(t->names, q->path);
		names_drop(t->names, q->segment);
		queue_spec_free(&q->spec);
		array_free(&q->children);
	}
	array_free(&t->q);
	array_free(&t->free_ids);
	map_free(&t->by_path);
	map_free(&t->by_kai);
}

/* May a queue of this segment, with height levels below it, hang below parent? */
static enum err_code check_place(const struct queue_tree *t, queue_id parent, const char *segment, uint32_t height,
				 struct err *e)
{
	const char *path = name_str(t->names, t->q.v[parent].path);
	bool is_there;
	child_position(t, parent, segment, &is_there);
	if (is_there)
		return err_fail(e, ERR_CONFLICT, "queue %s.%s exists already", path, segment);
	if (t->q.v[parent].depth + 1 + height >= QUEUE_DEPTH_MAX)
		return err_fail(e, ERR_LIMIT, "queue %s.%s: queues are nested more than %d deep", path, segment,
				QUEUE_DEPTH_MAX);
	return ERR_OK;
}

static enum err_code add_lowered(struct queue_tree *t, queue_id parent, const struct text *segment,
				 struct queue_spec *spec, queue_id *ret, struct err *e)
{
	if (segment->n == 0 || memchr(segment->s, '.', segment->n) != NULL)
		return err_fail(e, ERR_INPUT, "queue %s: '%s' is not a name for a queue below it",
				name_str(t->names, t->q.v[parent].path), text_str(segment));
	enum err_code code = check_place(t, parent, segment->s, 0, e);
	if (code != ERR_OK)
		return code;
	*ret = id_next(t);
	enter(t, *ret, parent, segment->s, segment->n, spec);
	return ERR_OK;
}

enum err_code queue_tree_add(struct queue_tree *t, queue_id parent, const char *segment, size_t len,
			     struct queue_spec *spec, queue_id *ret, struct err *e)
{
	at(t, parent);
	struct text low = {0};
	add_lower(&low, segment, len);
	enum err_code code = add_lowered(t, parent, &low, spec, ret, e);
	text_free(&low);
	return code;
}

void queue_tree_restore(struct queue_tree *t, queue_id id, queue_id parent, const char *segment,
			struct queue_spec *spec)
{
	at(t, parent);
	enter(t, id, parent, segment, strlen(segment), spec);
}

void queue_tree_set(struct queue_tree *t, queue_id id, struct queue_spec *spec, struct queue_spec *ret_old)
{
	struct queue *q = at(t, id);
	struct queue_spec old = q->spec;
	kai_unlink(t, id);
	spec_move(&q->spec, spec);
	kai_link(t, id);
	settle_props(t, id);
	*ret_old = old;
}

void queue_tree_drain(struct queue_tree *t, queue_id id, bool is_draining)
{
	at(t, id)->is_draining = is_draining;
}

static void paths_unlink(struct queue_tree *t, queue_id top)
{
	for (queue_id id = top; id != QUEUE_NONE; id = next_below(t, top, id))
		path_unlink(t, id);
}

enum err_code queue_tree_move(struct queue_tree *t, queue_id id, queue_id new_parent, struct err *e)
{
	struct queue *q = at(t, id);
	at(t, new_parent);
	const char *path = name_str(t->names, q->path);
	if (queue_is_above(t, id, new_parent))
		return err_fail(e, ERR_INPUT, "queue %s cannot be below %s: parents would form a cycle", path,
				name_str(t->names, t->q.v[new_parent].path));
	if (q->parent == new_parent)
		return ERR_OK;
	uint32_t height = deepest(t, id) - q->depth;
	enum err_code code = check_place(t, new_parent, name_str(t->names, q->segment), height, e);
	if (code != ERR_OK)
		return code;
	child_unlink(t, id);
	paths_unlink(t, id);
	q->parent = new_parent;
	child_link(t, new_parent, id);
	settle(t, id);
	return ERR_OK;
}

void queue_tree_drop(struct queue_tree *t, queue_id id, struct queue_spec *ret_old)
{
	struct queue *q = at(t, id);
	assert(id != QUEUE_ROOT && q->children.n == 0);
	kai_unlink(t, id);
	child_unlink(t, id);
	path_unlink(t, id);
	names_drop(t->names, q->segment);
	*ret_old = q->spec;
	array_free(&q->children);
	id_give_back(t, id);
}

/* ---- relations ---- */

queue_id queue_lca(const struct queue_tree *t, queue_id a, queue_id b)
{
	const struct queue *q = t->q.v;
	while (q[a].depth > q[b].depth)
		a = q[a].parent;
	while (q[b].depth > q[a].depth)
		b = q[b].parent;
	while (a != b) {
		a = q[a].parent;
		b = q[b].parent;
	}
	return a;
}

queue_id queue_step_down(const struct queue_tree *t, queue_id ancestor, queue_id id)
{
	const struct queue *q = t->q.v;
	if (q[id].depth <= q[ancestor].depth)
		return QUEUE_NONE;
	while (q[id].depth > q[ancestor].depth + 1)
		id = q[id].parent;
	return q[id].parent == ancestor ? id : QUEUE_NONE;
}

bool queue_is_above(const struct queue_tree *t, queue_id ancestor, queue_id id)
{
	return ancestor == id || queue_step_down(t, ancestor, id) != QUEUE_NONE;
}

uint32_t queue_distance(const struct queue_tree *t, queue_id a, queue_id b)
{
	const struct queue *q = t->q.v;
	return q[a].depth + q[b].depth - 2 * q[queue_lca(t, a, b)].depth;
}

void queue_effective_max(const struct queue_tree *t, queue_id id, struct res_vec *ret)
{
	*ret = (struct res_vec){0};
	for (; id != QUEUE_NONE; id = t->q.v[id].parent)
		res_vec_min(ret, &t->q.v[id].spec.max);
}
