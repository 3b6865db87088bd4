/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manifest/tree.h"

enum { MAX_REASON = 400, MAX_RULES = 24 };

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

/* "0/6 nodes are available: 1 Insufficient cpu, 5 node(s) had taints. preemption: …": what it says without numbers. */
static void add_reasons(struct text *out, const char *message)
{
	const char *s = strstr(message, "nodes are available: "), *end;

	if (!s) {
		text_add_n(out, message, strnlen(message, MAX_REASON));
		return;
	}
	s += strlen("nodes are available: ");
	end = strstr(s, ". ");
	end = end ? end : s + strlen(s);
	while (s < end && out->n < MAX_REASON) {
		const char *comma = strstr(s, ", ");
		size_t n;

		comma = comma && comma < end ? comma : end;
		while (isdigit((unsigned char)*s) || *s == ' ')
			s++;
		n = comma > s ? (size_t)(comma - s) : 0;
		while (n && s[n - 1] == '.')
			n--;
		text_add(out, out->n ? ", " : "");
		text_add_n(out, s, n);
		s = comma < end ? comma + 2 : end;
	}
}

/* What keeps it, in the words that many pods share. */
static void add_reason(struct text *facts, const struct tree *d)
{
	const struct tree *protected = tree_get(d, "protected");
	const char *own = string_of(d, "rule"), *seen[MAX_RULES];
	struct text words = {0};
	uint32_t n_seen = 0;

	if (*own)
		text_printf(&words, "held back by %s", own);
	else
		add_reasons(&words, string_of(d, "message"));
	for (uint32_t i = 0; tree_is(protected, TREE_LIST) && i < protected->n && n_seen < MAX_RULES; i++) {
		const char *rule = string_of(protected->items[i], "rule");
		uint32_t k = 0;

		while (k < n_seen && !str_eq(seen[k], rule))
			k++;
		if (k < n_seen || !*rule)
			continue;
		seen[n_seen++] = rule;
		add_rule(facts, rule);
		text_printf(&words, "%s%s", n_seen > 1 ? ", " : words.n ? "; protected by " : "protected by ", rule);
	}
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
