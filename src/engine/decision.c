/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/decision.h"

const char *outcome_text(enum outcome o)
{
	static const char *const texts[] = {
		[OUTCOME_PLACED] = "placed", [OUTCOME_NOMINATED] = "nominated", [OUTCOME_WAITING] = "waiting",
		[OUTCOME_GATED] = "gated",   [OUTCOME_EVICTED] = "evicted",
	};

	return texts[o];
}

/* One that is there. Lists come in one order mostly: it is looked for from where the last was found. */
static struct protected_pod *find(struct protected_list *l, pod_id pod)
{
	for (uint32_t i = 0; i < l->v.n; i++) {
		uint32_t at = (l->at + i) % l->v.n;

		if (l->v.v[at].pod != pod)
			continue;
		l->at = at;
		return &l->v.v[at];
	}
	return NULL;
}

/*
 * It is protected from one member of a gang by a rule that does not end by itself, and from another by one that does,
 * or that ends sooner: then is the time to try again.
 */
static void tell_sooner(struct protected_list *l, const struct protected_pod *x)
{
	struct protected_pod *was = x->verdict.until_ns == TIME_NONE ? NULL : find(l, x->pod);

	if (was && was->verdict.answer == IS_PROTECTED &&
	    (was->verdict.until_ns == TIME_NONE || x->verdict.until_ns < was->verdict.until_ns))
		*was = *x;
}

static void see_all(struct protected_list *l)
{
	for (uint32_t i = 0; i < l->v.n; i++)
		bits_set(&l->seen, l->v.v[i].pod);
	l->is_unseen = false;
}

void protected_add(struct protected_list *l, const struct protected_pod *x)
{
	if (l->is_unseen)
		see_all(l);
	if (bits_has(&l->seen, x->pod)) {
		tell_sooner(l, x);
		return;
	}
	if (l->v.n >= l->max)
		return;
	bits_set(&l->seen, x->pod);
	array_push(&l->v, *x);
	if (l->is_of_times)
		protected_cut(l);
}

void protected_merge(struct protected_list *into, const struct protected_list *from)
{
	for (uint32_t i = 0; i < from->v.n && (i > 0 || into->v.n < into->max); i++)
		protected_add(into, &from->v.v[i]);
}

/* A candidate may be refused in several ways, and is told of only once. */
static bool has_refused(const struct protected_list *l)
{
	uint32_t i = 0;

	while (i < l->v.n && !l->v.v[i].is_refused_in_set)
		i++;
	return i < l->v.n;
}

void protected_hand_over(struct protected_list *into, struct protected_list *from)
{
	struct protected_list was = *into;

	if (into->v.n || into->is_of_times || from->v.n > into->max || has_refused(from)) {
		protected_merge(into, from);
		return;
	}
	into->v = from->v;
	into->is_unseen = true;
	from->v = was.v;
}

static bool ends_before(const struct protected_pod *a, const struct protected_pod *b)
{
	int64_t x = a->verdict.until_ns, y = b->verdict.until_ns;

	return x != TIME_NONE && (y == TIME_NONE || x < y);
}

static void keep_first_end(struct protected_list *l)
{
	struct protected_pod kept[2] = {l->v.v[0]};
	uint32_t n = 1;

	for (uint32_t i = 0; i < l->v.n; i++) {
		bits_clear(&l->seen, l->v.v[i].pod);
		if (ends_before(&l->v.v[i], &kept[0]))
			kept[0] = l->v.v[i];
	}
	for (uint32_t i = 0; i < l->v.n && n == 1; i++)
		if (l->v.v[i].verdict.answer == IS_SPARED && l->v.v[i].pod != kept[0].pod)
			kept[n++] = l->v.v[i];
	l->v.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		bits_set(&l->seen, kept[i].pod);
		array_push(&l->v, kept[i]);
	}
}

void protected_cut(struct protected_list *l)
{
	if (l->is_of_times && l->v.n >= l->max)
		keep_first_end(l);
	else if (l->v.n > l->max)
		l->v.n = l->max;
}

void protected_drop_spared(struct protected_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->v.n; i++) {
		if (l->v.v[i].verdict.answer == IS_SPARED)
			bits_clear(&l->seen, l->v.v[i].pod);
		else
			l->v.v[n++] = l->v.v[i];
	}
	l->v.n = n;
}

void protected_clear(struct protected_list *l)
{
	for (uint32_t i = 0; i < l->v.n && !l->is_unseen; i++)
		bits_clear(&l->seen, l->v.v[i].pod);
	l->v.n = l->at = 0;
	l->is_unseen = false;
}

void protected_free(struct protected_list *l)
{
	array_free(&l->v);
	bits_free(&l->seen);
	*l = (struct protected_list){.max = l->max, .is_of_times = l->is_of_times};
}

void decision_keep_protected(struct decision *d, const struct protected_list *l, struct arena *keep)
{
	struct protected_pod *v = arena_take(keep, (l->v.n + (size_t)1) * sizeof(*v));

	if (l->v.n)
		memcpy(v, l->v.v, l->v.n * sizeof(*v));
	d->protected = v;
	d->n_protected = l->v.n;
}

static bool is_same_verdict(const struct rule_verdict *a, const struct rule_verdict *b)
{
	return a->answer == b->answer && a->rule == b->rule && a->reason == b->reason && a->queue == b->queue &&
	       a->type == b->type && a->podset == b->podset && a->keeps_minimum == b->keeps_minimum &&
	       a->until_ns == b->until_ns && !memcmp(a->num, b->num, sizeof(a->num)) && a->plugin == b->plugin &&
	       a->words == b->words;
}

bool protected_is(const struct protected_list *l, const struct protected_pod *v, uint32_t n)
{
	bool is_same = l->v.n == n;

	for (uint32_t i = 0; is_same && i < n; i++)
		is_same = l->v.v[i].pod == v[i].pod && l->v.v[i].node == v[i].node && l->v.v[i].queue == v[i].queue &&
			  l->v.v[i].is_refused_in_set == v[i].is_refused_in_set &&
			  is_same_verdict(&l->v.v[i].verdict, &v[i].verdict);
	return is_same;
}

void decisions_count(struct decisions *to, const struct decision *d)
{
	to->placed += d->outcome == OUTCOME_PLACED;
	to->nominated += d->outcome == OUTCOME_NOMINATED;
	to->waiting += d->outcome == OUTCOME_WAITING;
	to->gated += d->outcome == OUTCOME_GATED;
	to->victims += d->n_victims;
}

void decisions_add(struct decisions *to, const struct decision *d)
{
	array_push(&to->v, *d);
	decisions_count(to, d);
}

int64_t decisions_fair_share(const struct decisions *d, uint32_t cycle, queue_id q, res_id r)
{
	for (const struct cycle_shares *s = d->shares; s; s = s->next) {
		if (s->cycle != cycle || q >= s->n)
			continue;
		for (enum kai_res k = 0; k < KAI_RES; k++)
			if (s->types[k] == r && r != RES_NONE)
				return s->fair[q][k];
	}
	return -1;
}
