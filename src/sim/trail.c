/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trail.h"

#include "base/clock.h"
#include "explain/plan_view.h"
#include "sim/report_log.h"
#include "units/timestamp.h"

/* ---- marks ---- */

static uint64_t mix_name(uint64_t h, struct sim *s, pod_id pod)
{
	struct ledger *l = cluster_ledger(sim_cluster(s));
	const struct names *names = vocab_names(ledger_vocab(l));
	const struct pod *p = ledger_pod(l, pod);
	name_id ns = labelset_get(ledger_vocab(l), p->labelset)->ns;

	h = hash_mix(h, hash_bytes(name_str(names, ns), name_len(names, ns)));
	return hash_mix(h, hash_bytes(name_str(names, p->name), name_len(names, p->name)));
}

static uint64_t mix_node(uint64_t h, struct sim *s, node_id node)
{
	struct ledger *l = cluster_ledger(sim_cluster(s));
	const struct names *names = vocab_names(ledger_vocab(l));
	name_id name = node == NODE_NONE ? NAME_NONE : ledger_node(l, node)->name;

	return hash_mix(h, hash_bytes(name_str(names, name), name_len(names, name)));
}

void trail_decision(struct trail *t, struct sim *s, const struct decision *d)
{
	uint64_t h = hash_u64((uint64_t)sim_now(s));

	h = hash_mix(h, (uint64_t)d->outcome);
	if (d->pod != POD_NONE)
		h = mix_name(h, s, d->pod);
	h = mix_node(h, s, d->node);
	for (uint32_t i = 0; i < d->n_victims; i++)
		h = mix_name(h, s, d->victims[i].pod);
	array_push(&t->marks, h);
}

void trail_free(struct trail *t)
{
	array_free(&t->marks);
}

uint64_t trail_part(const struct trail *a, const struct trail *b)
{
	uint32_t n = a->marks.n < b->marks.n ? a->marks.n : b->marks.n;

	for (uint32_t i = 0; i < n; i++)
		if (a->marks.v[i] != b->marks.v[i])
			return (uint64_t)i + 1;
	return a->marks.n == b->marks.n ? 0 : (uint64_t)n + 1;
}

bool trail_write(const struct trail *t, FILE *to)
{
	return fwrite(&t->marks.n, sizeof(t->marks.n), 1, to) == 1 &&
	       fwrite(t->marks.v, sizeof(*t->marks.v), t->marks.n, to) == t->marks.n;
}

bool trail_read(struct trail *ret, FILE *from)
{
	uint32_t n;

	*ret = (struct trail){0};
	if (fread(&n, sizeof(n), 1, from) != 1)
		return false;
	array_reserve(&ret->marks, n);
	ret->marks.n = (uint32_t)fread(ret->marks.v, sizeof(*ret->marks.v), n, from);
	return ret->marks.n == n;
}

/* ---- words ---- */

static struct plan_view view_of(struct sim *s, struct decisions *one, const struct decision *d)
{
	*one = (struct decisions){.v = {.v = (struct decision *)d, .n = 1, .cap = 1}};
	return (struct plan_view){.cluster = sim_cluster(s), .plan = one, .now_ns = sim_now(s)};
}

static void victims_text(struct sim *s, const struct plan_view *v, const struct decision *d, struct text *out)
{
	enum { TOLD = 4 };

	for (uint32_t i = 0; i < d->n_victims && i < TOLD; i++) {
		text_add(out, i ? "; " : ", and ");
		pod_path(v, d->victims[i].pod, out);
		text_printf(out, " (%s) has to go: ", queue_path(v, d->victims[i].queue));
		report_eviction_text(s, d, &d->victims[i], out);
	}
	if (d->n_victims > TOLD)
		text_printf(out, "; and %u more", d->n_victims - TOLD);
}

static void subject_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	if (d->pod == POD_NONE) {
		text_add(out, action_text(d->action));
		return;
	}
	pod_path(v, d->pod, out);
	text_printf(out, " (%s)", queue_path(v, d->queue));
}

static void decided_text(struct sim *s, const struct decision *d, struct text *out)
{
	struct decisions one;
	struct plan_view v = view_of(s, &one, d);

	timestamp_text(sim_now(s), out);
	text_add(out, " ");
	subject_text(&v, d, out);
	if (d->node != NODE_NONE)
		text_printf(out, d->outcome == OUTCOME_PLACED ? " runs on %s" : " gets room on %s by %s",
			    node_text(&v, d->node), action_text(d->action));
	victims_text(s, &v, d, out);
}

static void waits_text(struct sim *s, const struct decision *d, struct text *out)
{
	struct decisions one;
	struct plan_view v = view_of(s, &one, d);
	struct text why = {0};

	timestamp_text(sim_now(s), out);
	text_add(out, " ");
	subject_text(&v, d, out);
	text_add(out, " waits");
	protection_text(&v, d, &why);
	if (why.n)
		text_printf(out, ": %s", text_str(&why));
	text_reset(&why);
	own_rule_text(&v, d, &why);
	if (why.n)
		text_printf(out, ".%s", text_str(&why));
	text_free(&why);
}

static char *pod_name(struct sim *s, const struct decision *d)
{
	struct decisions one;
	struct plan_view v = view_of(s, &one, d);
	struct text name = {0};
	char *copy;

	if (d->pod != POD_NONE)
		pod_path(&v, d->pod, &name);
	copy = mem_strdup(text_str(&name));
	text_free(&name);
	return copy;
}

bool trail_words_decision(struct trail_words *w, struct sim *s, const struct decision *d, uint64_t number)
{
	struct text sentence = {0};

	if (number != w->stop_at || w->is_found)
		return w->is_found;
	decided_text(s, d, &sentence);
	w->is_found = true;
	w->at_ns = sim_now(s);
	w->pod = pod_name(s, d);
	w->sentence = mem_strdup(text_str(&sentence));
	text_free(&sentence);
	return true;
}

static struct trail_waiting *waiting_of(struct trail_words *w, const char *pod)
{
	uint64_t key = hash_bytes(pod, strlen(pod));
	uint32_t at = map_get(&w->at, key);

	if (at != MAP_NONE)
		return str_eq(w->waiting.v[at].pod, pod) ? &w->waiting.v[at] : NULL;
	if (w->waiting.n == TRAIL_WAITING_MAX)
		return NULL;
	map_put(&w->at, key, w->waiting.n);
	array_push(&w->waiting, ((struct trail_waiting){.pod = mem_strdup(pod)}));
	return &array_last(&w->waiting);
}

/* The first thing that is said of a pod after the decision before: that is what the other side did otherwise. */
void trail_words_waiting(struct trail_words *w, struct sim *s, const struct decision *d, uint64_t last_number)
{
	struct text sentence = {0};
	struct trail_waiting *x;
	char *pod;

	if (w->is_found || last_number + 1 < w->stop_at || d->pod == POD_NONE)
		return;
	pod = pod_name(s, d);
	x = waiting_of(w, pod);
	if (x && !x->sentence) {
		waits_text(s, d, &sentence);
		x->at_ns = sim_now(s);
		x->sentence = mem_strdup(text_str(&sentence));
		text_free(&sentence);
	}
	mem_free(pod);
}

void trail_words_free(struct trail_words *w)
{
	for (uint32_t i = 0; i < w->waiting.n; i++) {
		mem_free(w->waiting.v[i].pod);
		mem_free(w->waiting.v[i].sentence);
	}
	array_free(&w->waiting);
	map_free(&w->at);
	mem_free(w->pod);
	mem_free(w->sentence);
}

/* ---- between processes ---- */

static bool put_text(FILE *to, const char *s)
{
	uint32_t n = s ? (uint32_t)strlen(s) : 0;

	return fwrite(&n, sizeof(n), 1, to) == 1 && fwrite(s ? s : "", 1, n, to) == n;
}

static char *get_text(FILE *from)
{
	uint32_t n;
	char *s;

	if (fread(&n, sizeof(n), 1, from) != 1 || n > 1 << 24)
		return NULL;
	s = mem_alloc((size_t)n + 1);
	if (fread(s, 1, n, from) == n)
		return s;
	mem_free(s);
	return NULL;
}

bool trail_words_write(const struct trail_words *w, FILE *to)
{
	uint32_t head[2] = {w->is_found, w->waiting.n};
	bool ok = fwrite(head, sizeof(head), 1, to) == 1 && fwrite(&w->at_ns, sizeof(w->at_ns), 1, to) == 1;

	ok = ok && put_text(to, w->pod) && put_text(to, w->sentence);
	for (uint32_t i = 0; ok && i < w->waiting.n; i++)
		ok = put_text(to, w->waiting.v[i].pod) && put_text(to, w->waiting.v[i].sentence) &&
		     fwrite(&w->waiting.v[i].at_ns, sizeof(int64_t), 1, to) == 1;
	return ok;
}

bool trail_words_read(struct trail_words *ret, FILE *from)
{
	uint32_t head[2];

	*ret = (struct trail_words){0};
	if (fread(head, sizeof(head), 1, from) != 1 || fread(&ret->at_ns, sizeof(ret->at_ns), 1, from) != 1)
		return false;
	ret->is_found = head[0];
	ret->pod = get_text(from);
	ret->sentence = get_text(from);
	for (uint32_t i = 0; i < head[1]; i++) {
		struct trail_waiting x = {.pod = get_text(from), .sentence = get_text(from)};

		array_push(&ret->waiting, x);
		if (!x.pod || !x.sentence || fread(&ret->waiting.v[i].at_ns, sizeof(int64_t), 1, from) != 1)
			return false;
	}
	return ret->pod && ret->sentence;
}

static const char *waits_there(const struct trail_words *w, const char *pod, int64_t at_ns)
{
	for (uint32_t i = 0; i < w->waiting.n; i++)
		if (str_eq(w->waiting.v[i].pod, pod) && w->waiting.v[i].at_ns <= at_ns)
			return w->waiting.v[i].sentence;
	return NULL;
}

/* Whoever decided later first says why it did not do what the other did. */
static char *later_text(const struct trail_words *later, const struct trail_words *earlier)
{
	const char *waits = earlier->is_found ? waits_there(later, earlier->pod, earlier->at_ns) : NULL;
	struct text out = {0};
	char *copy;

	if (waits)
		text_printf(&out, "%s", waits);
	if (later->is_found)
		text_printf(&out, waits ? ". Its next decision: %s" : "%s", later->sentence);
	else
		text_add(&out, waits ? ". Nothing is decided after that" : "nothing more is decided");
	copy = mem_strdup(text_str(&out));
	text_free(&out);
	return copy;
}

static bool is_earlier(const struct trail_words *a, const struct trail_words *b)
{
	return a->is_found && (!b->is_found || a->at_ns <= b->at_ns);
}

void trail_explain(const struct trail_words *first, const struct trail_words *other, int64_t *ret_at_ns,
		   char **ret_first, char **ret_other)
{
	bool is_first = is_earlier(first, other);

	*ret_at_ns = is_first ? first->at_ns : other->at_ns;
	*ret_first = is_first ? mem_strdup(first->sentence) : later_text(first, other);
	*ret_other = is_first ? later_text(other, first) : mem_strdup(other->sentence);
}
