/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of the log: pages of them in either order, those that somebody looks for, and how many there were when. */
#include <stdlib.h>

#include "base/clock.h"
#include "explain/emit_fields.h"
#include "manifest/tree.h"
#include "serve/log_internal.h"
#include "serve/views_internal.h"

enum { MAX_BUCKETS = 400, MAX_DEPTH = 40 };

/* ---- one decision ---- */

/* Decisions are shallow; a journal that somebody wrote may hold anything. */
static void emit_tree(struct emit *e, const char *key, const struct tree *t, uint32_t depth)
{
	if (depth == MAX_DEPTH) {
		emit_str(e, key, NULL);
		return;
	}
	switch (t->kind) {
	case TREE_MAP:
		emit_object(e, key);
		for (uint32_t i = 0; i < t->n; i++)
			emit_tree(e, t->fields[i].key, t->fields[i].value, depth + 1);
		emit_end(e);
		break;
	case TREE_LIST:
		emit_list(e, key);
		for (uint32_t i = 0; i < t->n; i++)
			emit_tree(e, NULL, t->items[i], depth + 1);
		emit_end(e);
		break;
	case TREE_STRING:
		emit_str(e, key, t->text);
		break;
	case TREE_NULL:
		emit_str(e, key, NULL);
		break;
	default:
		emit_plain(e, key, t->text);
	}
}

/* Of the protected only how many, and by which rules. */
static void emit_protected(struct emit *e, const struct tree *list)
{
	int64_t n = list->n;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct tree *more = tree_get(list->items[i], "more");

		if (tree_is(more, TREE_NUMBER))
			n += strtoll(more->text, NULL, 10);
	}
	emit_int(e, "protectedPods", n);
}

static void emit_rules(struct emit *e, const struct text *facts)
{
	enum fact_kind kind;
	const char *s;

	emit_list(e, "rules");
	for (size_t at = 0; (s = facts_next(facts, &at, &kind));)
		if (kind == FACT_RULE)
			emit_str(e, NULL, s);
	emit_end(e);
}

void log_emit_brief(struct emit *e, const struct log_entry *x)
{
	struct arena *a = arena_new(4096);
	const struct tree *d;
	struct err err = {0};

	emit_int(e, "id", (int64_t)x->id);
	emit_time(e, "at", x->wall_ns);
	emit_some(e, "user", facts_get(&x->facts, FACT_USER));
	emit_rules(e, &x->facts);
	emit_object(e, "decision");
	if (!tree_parse_json("decision", x->json, x->n, a, &d, &err) && d->kind == TREE_MAP)
		for (uint32_t i = 0; i < d->n; i++) {
			const struct tree_field *f = &d->fields[i];

			if (str_eq(f->key, "protected") && f->value->kind == TREE_LIST)
				emit_protected(e, f->value);
			else
				emit_tree(e, f->key, f->value, 0);
		}
	emit_end(e);
	arena_free(a);
}

static void add_string(struct text *out, const char *s)
{
	struct emit e;

	emit_init(&e, out, EMIT_JSON_LINE);
	emit_str(&e, NULL, s);
	while (out->n && out->s[out->n - 1] == '\n')
		out->n--;
}

static void add_whole(struct text *out, const struct log_entry *x)
{
	const char *user = facts_get(&x->facts, FACT_USER);
	struct text when = {0};

	timestamp_text(x->wall_ns, &when);
	text_printf(out, "{\"id\": %llu, \"at\": \"%s\"", (unsigned long long)x->id, text_str(&when));
	if (*user) {
		text_add(out, ", \"user\": ");
		add_string(out, user);
	}
	text_add(out, ", \"decision\": ");
	text_add_n(out, x->json, x->n);
	text_add_char(out, '}');
	text_free(&when);
}

static void add_brief(struct text *out, const struct log_entry *x)
{
	struct emit e;

	emit_init(&e, out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	log_emit_brief(&e, x);
	emit_end(&e);
	while (out->n && out->s[out->n - 1] == '\n')
		out->n--;
}

/* ---- pages ---- */

struct finding {
	const struct log_query *q;
	struct text *out;
	uint32_t n;
	uint64_t next;
	bool has_more;
};

/* False: the page is full. */
static bool look_at(struct finding *f, const struct log_entry *x)
{
	if (f->n == f->q->limit) {
		f->has_more = true;
		return false;
	}
	f->next = x->id;
	if (!x->is_decision || !facts_pass(&x->facts, x->wall_ns, &f->q->filter))
		return true;
	text_add(f->out, f->n++ ? ",\n  " : "\n  ");
	if (f->q->is_brief)
		add_brief(f->out, x);
	else
		add_whole(f->out, x);
	return true;
}

static void find_forward(struct serve_log *l, struct finding *f, uint64_t since)
{
	for (uint32_t i = log_position(l, since); i < l->n && look_at(f, log_at(l, i)); i++)
		;
}

static void find_backward(struct serve_log *l, struct finding *f)
{
	uint64_t before = f->q->before;

	for (uint32_t i = before ? log_position(l, before - 1) : l->n; i > 0 && look_at(f, log_at(l, i - 1)); i--)
		;
}

void serve_log_decisions(struct serve_log *l, const struct log_query *q, struct text *out)
{
	struct finding f = {.q = q, .out = out};
	uint64_t since;

	pthread_mutex_lock(&l->lock);
	since = q->since ? q->since : l->began;
	text_printf(out, "{\"kind\": \"DecisionList\", \"complete\": %s, \"items\": [",
		    (q->is_newest_first ? l->lost > l->began : since < l->lost || since > l->last) ? "false" : "true");
	if (since > l->last)
		since = l->lost;
	f.next = q->is_newest_first ? q->before : since;
	if (q->is_newest_first)
		find_backward(l, &f);
	else
		find_forward(l, &f, since);
	text_printf(out, "%s], \"next\": %llu, \"more\": %s}\n", f.n ? "\n" : "", (unsigned long long)f.next,
		    f.has_more ? "true" : "false");
	pthread_mutex_unlock(&l->lock);
}

/* ---- how many there were when ---- */

struct counted {
	int64_t first_ns, last_ns;
	uint32_t n;
};

static struct counted count_all(struct serve_log *l, const struct fact_filter *f)
{
	struct counted c = {.first_ns = TIME_NONE, .last_ns = TIME_NONE};

	for (uint32_t i = 0; i < l->n; i++) {
		const struct log_entry *x = log_at(l, i);

		if (!x->is_decision || !facts_pass(&x->facts, x->wall_ns, f))
			continue;
		if (!c.n++ || x->wall_ns < c.first_ns)
			c.first_ns = x->wall_ns;
		if (c.last_ns == TIME_NONE || x->wall_ns > c.last_ns)
			c.last_ns = x->wall_ns;
	}
	return c;
}

struct buckets {
	int64_t from_ns, step_ns;
	uint32_t n;
	uint32_t of[SHOW_WAITS + 1][MAX_BUCKETS];
};

static void count_into(struct serve_log *l, const struct fact_filter *f, struct buckets *b)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct log_entry *x = log_at(l, i);
		int64_t at;

		if (!x->is_decision || !facts_pass(&x->facts, x->wall_ns, f))
			continue;
		at = time_since(x->wall_ns, b->from_ns) / b->step_ns;
		if (at < 0 || at >= b->n)
			continue;
		for (enum fact_show show = SHOW_EVICTIONS; show <= SHOW_WAITS; show++)
			b->of[show][at] += facts_show(&x->facts, show);
	}
}

static void emit_counts(struct emit *e, const char *key, const struct buckets *b, enum fact_show show)
{
	emit_list(e, key);
	for (uint32_t i = 0; i < b->n; i++)
		emit_int(e, NULL, b->of[show][i]);
	emit_end(e);
}

/* Steps of whole seconds, so that two of the same span are the same. */
static void set_span(struct buckets *b, const struct counted *c, const struct fact_filter *f, uint32_t n)
{
	int64_t to_ns = f->to_ns != TIME_NONE ? f->to_ns : c->last_ns;

	b->from_ns = f->from_ns != TIME_NONE ? f->from_ns : c->first_ns;
	b->step_ns = (time_since(to_ns, b->from_ns) / n / NS_PER_S + 1) * NS_PER_S;
	b->n = (uint32_t)(time_since(to_ns, b->from_ns) / b->step_ns) + 1;
	b->n = b->n < n ? b->n : n;
}

void serve_log_timeline(struct serve_log *l, const struct fact_filter *f, uint32_t n, struct text *out)
{
	struct buckets b = {.n = 0};
	struct counted c;
	struct emit e;
	bool is_complete;

	assert(n >= 1 && n <= MAX_BUCKETS);
	pthread_mutex_lock(&l->lock);
	is_complete = l->lost <= l->began;
	c = count_all(l, f);
	if (c.n) {
		set_span(&b, &c, f, n);
		count_into(l, f, &b);
	}
	pthread_mutex_unlock(&l->lock);
	emit_init(&e, out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_str(&e, "kind", "Timeline");
	emit_bool(&e, "complete", is_complete);
	emit_int(&e, "total", c.n);
	if (c.n) {
		emit_time(&e, "from", b.from_ns);
		emit_time(&e, "first", c.first_ns);
		emit_time(&e, "last", c.last_ns);
		emit_int(&e, "stepSeconds", b.step_ns / NS_PER_S);
	}
	emit_counts(&e, "evictions", &b, SHOW_EVICTIONS);
	emit_counts(&e, "placements", &b, SHOW_PLACEMENTS);
	emit_counts(&e, "waits", &b, SHOW_WAITS);
	emit_end(&e);
}

/* ---- for the cluster's thread ---- */

void serve_log_each(struct serve_log *l, bool (*look)(void *ctx, int64_t at_ns, const struct text *facts), void *ctx)
{
	pthread_mutex_lock(&l->lock);
	for (uint32_t i = l->n; i-- > 0;) {
		const struct log_entry *x = log_at(l, i);

		if (x->is_decision && !look(ctx, x->wall_ns, &x->facts))
			break;
	}
	pthread_mutex_unlock(&l->lock);
}
