/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manifest/tree.h"

enum { MAX_REASON = 400, MAX_PIECES = 24 };

void facts_add(struct text *facts, enum fact_kind kind, const char *value)
{
	if (!value || !*value)
		return;
	text_add_char(facts, (char)kind);
	text_add_n(facts, value, strlen(value) + 1);
}

const char *facts_next(const struct text *facts, size_t *at, enum fact_kind *ret_kind)
{
	const char *s;

	if (*at >= facts->n)
		return NULL;
	*ret_kind = (enum fact_kind)facts->s[*at];
	s = facts->s + *at + 1;
	*at += strlen(s) + 2;
	return s;
}

const char *facts_get(const struct text *facts, enum fact_kind kind)
{
	enum fact_kind k;
	const char *s;

	for (size_t at = 0; (s = facts_next(facts, &at, &k));)
		if (k == kind)
			return s;
	return "";
}

bool facts_has(const struct text *facts, enum fact_kind kind, const char *value)
{
	enum fact_kind k;
	const char *s;

	for (size_t at = 0; (s = facts_next(facts, &at, &k));)
		if (k == kind && str_eq(s, value))
			return true;
	return false;
}

/* ---- from JSON ---- */

static const char *string_of(const struct tree *t, const char *key)
{
	const struct tree *value = tree_get(t, key);

	return tree_is(value, TREE_STRING) ? value->text : "";
}

static void add_rule(struct text *facts, const char *rule)
{
	if (*rule && !facts_has(facts, FACT_RULE, rule))
		facts_add(facts, FACT_RULE, rule);
}

static void add_victims(struct text *facts, const struct tree *victims)
{
	int64_t lost = 0;
	char words[32];

	for (uint32_t i = 0; tree_is(victims, TREE_LIST) && i < victims->n; i++) {
		const struct tree *v = victims->items[i], *seconds = tree_get(v, "lostSeconds");

		facts_add(facts, FACT_VICTIM, string_of(v, "pod"));
		facts_add(facts, FACT_QUEUE, string_of(v, "queue"));
		add_rule(facts, string_of(v, "rule"));
		if (tree_is(seconds, TREE_NUMBER))
			lost += strtoll(seconds->text, NULL, 10);
	}
	snprintf(words, sizeof(words), "%lld", (long long)lost);
	facts_add(facts, FACT_LOST, lost ? words : "");
}

/* ---- why it waits, in the words that many pods share: without numbers of its own, in an order of its own ---- */

struct piece {
	const char *s;
	size_t n;
};

struct pieces {
	struct piece v[MAX_PIECES];
	uint32_t n;
};

static bool is_same_piece(struct piece a, struct piece b)
{
	return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

static void add_piece(struct pieces *all, const char *s, size_t n)
{
	struct piece p = {s, n};

	for (uint32_t i = 0; i < all->n; i++)
		if (is_same_piece(all->v[i], p))
			return;
	if (n && all->n < MAX_PIECES)
		all->v[all->n++] = p;
}

static int by_words(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

	return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

static void join(struct text *out, const char *lead, struct pieces *all)
{
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_words);
	for (uint32_t i = 0; i < all->n && out->n < MAX_REASON; i++) {
		text_add(out, i ? ", " : lead);
		text_add_n(out, all->v[i].s, all->v[i].n);
	}
}

/* "1 Insufficient cpu, 5 node(s) had untolerated taint(s). preemption: …": which come first depends on the numbers. */
static void add_node_reasons(struct text *out, const char *s)
{
	const char *end = strstr(s, ". ");
	struct pieces all = {.n = 0};

	end = end ? end : s + strlen(s);
	while (end > s && end[-1] == '.')
		end--;
	while (s < end) {
		const char *comma = strstr(s, ", ");

		comma = comma && comma < end ? comma : end;
		while (s < comma && (isdigit((unsigned char)*s) || *s == ' '))
			s++;
		add_piece(&all, s, (size_t)(comma - s));
		s = comma < end ? comma + 2 : end;
	}
	join(out, "", &all);
}

/* "queue root.a uses 3 of at most 4 cpu and the pod wants 2.": what others use and this one wants differ by the pod. */
static bool add_limit(struct text *out, const char *message)
{
	const char *most = strstr(message, " of at most "), *verb = strstr(message, " uses "), *end;
	const char *says = " may use";

	if (!verb) {
		verb = strstr(message, " runs ");
		says = " may run";
	}
	if (!most || !verb || verb > most)
		return false;
	most += strlen(" of");
	end = strstr(most, " and the pod wants");
	end = end ? end : most + strcspn(most, ".");
	text_add_n(out, message, (size_t)(verb - message));
	text_add(out, says);
	text_add_n(out, most, (size_t)(end - most));
	return true;
}

static void add_message(struct text *out, const char *message)
{
	static const char nodes[] = "nodes are available: ";
	const char *s = strstr(message, nodes);
	size_t n = strnlen(message, MAX_REASON);

	if (s) {
		add_node_reasons(out, s + strlen(nodes));
		return;
	}
	if (add_limit(out, message))
		return;
	while (n && message[n - 1] == '.')
		n--;
	text_add_n(out, message, n);
}

static void add_reason(struct text *facts, const struct tree *d)
{
	const struct tree *protected = tree_get(d, "protected");
	const char *own = string_of(d, "rule");
	struct pieces rules = {.n = 0};
	struct text words = {0};

	if (*own)
		text_printf(&words, "held back by %s", own);
	else
		add_message(&words, string_of(d, "message"));
	for (uint32_t i = 0; tree_is(protected, TREE_LIST) && i < protected->n; i++) {
		const char *rule = string_of(protected->items[i], "rule");

		add_piece(&rules, rule, strlen(rule));
		add_rule(facts, rule);
	}
	join(&words, words.n ? "; protected by " : "protected by ", &rules);
	facts_add(facts, FACT_REASON, text_str(&words));
	text_free(&words);
}

void facts_read(struct text *facts, const char *json, size_t n)
{
	struct arena *a = arena_new(4096);
	const struct tree *d;
	struct err e = {0};

	if (!tree_parse_json("decision", json, n, a, &d, &e)) {
		facts_add(facts, FACT_POD, string_of(d, "pod"));
		facts_add(facts, FACT_GROUP, string_of(d, "group"));
		facts_add(facts, FACT_QUEUE, string_of(d, "queue"));
		facts_add(facts, FACT_OUTCOME, string_of(d, "outcome"));
		facts_add(facts, FACT_ACTION, string_of(d, "action"));
		facts_add(facts, FACT_NODE, string_of(d, "node"));
		facts_add(facts, FACT_UNTIL, string_of(d, "until"));
		add_rule(facts, string_of(d, "rule"));
		add_victims(facts, tree_get(d, "victims"));
		add_reason(facts, d);
	}
	arena_free(a);
}

/* ---- what somebody looks for ---- */

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '.');
}

enum { WANTS_QUEUE = 1, WANTS_RULE = 2, WANTS_USER = 4, WANTS_POD = 8 };

static unsigned fact_answers(enum fact_kind kind, const char *s, const struct fact_filter *f)
{
	switch (kind) {
	case FACT_QUEUE:
		return f->queue && is_below(s, f->queue) ? WANTS_QUEUE : 0;
	case FACT_RULE:
		return f->rule && str_eq(s, f->rule) ? WANTS_RULE : 0;
	case FACT_USER:
	case FACT_VICTIM_USER:
		return f->user && str_eq(s, f->user) ? WANTS_USER : 0;
	case FACT_POD:
	case FACT_GROUP:
	case FACT_VICTIM:
		return f->pod && strstr(s, f->pod) ? WANTS_POD : 0;
	default:
		return 0;
	}
}

bool facts_show(const struct text *facts, enum fact_show show)
{
	const char *outcome = facts_get(facts, FACT_OUTCOME);

	switch (show) {
	case SHOW_EVICTIONS:
		return *facts_get(facts, FACT_VICTIM) != '\0';
	case SHOW_PLACEMENTS:
		return str_eq(outcome, "placed") || str_eq(outcome, "nominated");
	case SHOW_WAITS:
		return str_eq(outcome, "waiting") || str_eq(outcome, "gated");
	default:
		return true;
	}
}

static bool is_in_time(int64_t at_ns, const struct fact_filter *f)
{
	return (f->from_ns == TIME_NONE || at_ns >= f->from_ns) && (f->to_ns == TIME_NONE || at_ns < f->to_ns);
}

static bool is_single(const struct text *facts, enum fact_kind kind, const char *wanted)
{
	return !wanted || str_eq(facts_get(facts, kind), wanted);
}

bool facts_pass(const struct text *facts, int64_t at_ns, const struct fact_filter *f)
{
	unsigned open = (f->queue ? WANTS_QUEUE : 0) | (f->rule ? WANTS_RULE : 0) | (f->user ? WANTS_USER : 0) |
			(f->pod ? WANTS_POD : 0);
	enum fact_kind kind;
	const char *s;

	if (!is_in_time(at_ns, f) || !facts_show(facts, f->show) || !is_single(facts, FACT_ACTION, f->action) ||
	    !is_single(facts, FACT_OUTCOME, f->outcome) || !is_single(facts, FACT_NODE, f->node))
		return false;
	for (size_t at = 0; open && (s = facts_next(facts, &at, &kind));)
		open &= ~fact_answers(kind, s, f);
	return !open;
}
