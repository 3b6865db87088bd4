/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in words, and the sentence in which kube-scheduler adds them up. */
#include <stdio.h>
#include <stdlib.h>

#include "filters/framework_internal.h"

/* "[NodeAffinity NodeName]", sorted by name. */
static void plugin_names(const struct framework *f, uint64_t mask, struct text *out)
{
	const char *names[PLUGINS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->plugins.n; i++) {
		uint32_t at = n;

		if (!(mask >> i & 1))
			continue;
		for (; at > 0 && strcmp(names[at - 1], f->plugins.v[i].table->name) > 0; at--)
			names[at] = names[at - 1];
		names[at] = f->plugins.v[i].table->name;
		n++;
	}
	text_add_char(out, '[');
	for (uint32_t i = 0; i < n; i++)
		text_printf(out, "%s%s", i ? " " : "", names[i]);
	text_add_char(out, ']');
}

static void framework_reason_text(const struct framework *f, const struct cede_verdict *v, struct text *out)
{
	bool is_one = (v->detail & (v->detail - 1)) == 0;

	switch ((enum framework_reason)v->reason) {
	case FW_OUTSIDE:
		text_add(out, "node(s) didn't satisfy plugin(s) ");
		plugin_names(f, v->detail, out);
		break;
	case FW_EMPTY:
		text_add(out, is_one ? "node(s) didn't satisfy plugin " : "node(s) didn't satisfy plugin(s) ");
		plugin_names(f, v->detail, out);
		text_add(out, is_one ? "" : " simultaneously");
		break;
	case FW_NO_VICTIMS:
		text_add(out, "No preemption victims found for incoming pod");
		break;
	case FW_NOT_HELPFUL:
		text_add(out, "Preemption is not helpful for scheduling");
		break;
	case FW_NO_NODES:
		text_add(out, "no nodes available to schedule pods");
		break;
	case FW_NEEDLESS:
		text_printf(out, "expected at least one victim pod on node \"%s\"",
			    name_str(vocab_names(ledger_vocab(f->ledger)),
				     ledger_node(f->ledger, (node_id)v->detail)->name));
		break;
	case FW_NONE:
		break;
	}
}

bool status_reason(const struct cede_cycle *c, const struct status *s, size_t i, struct text *out)
{
	const struct framework_plugin *p;
	char words[1024];

	if (s->plugin == PLUGIN_FRAMEWORK) {
		if (i || s->verdict.reason == FW_NONE)
			return false;
		framework_reason_text(c->framework, &s->verdict, out);
		return true;
	}
	p = &c->framework->plugins.v[s->plugin];
	if (p->table->reason_text) {
		if (!p->table->reason_text(p->self, c, s->verdict, i, words, sizeof(words)))
			return false;
		text_add(out, words);
		return true;
	}
	if (i || s->verdict.reason >= p->table->n_reasons)
		return false;
	text_add(out, p->table->reasons[s->verdict.reason]);
	return true;
}

void status_message(const struct cede_cycle *c, const struct status *s, struct text *out)
{
	struct text one = {0};

	for (size_t i = 0; status_reason(c, s, i, &one); i++) {
		text_printf(out, "%s%s", i ? ", " : "", text_str(&one));
		text_reset(&one);
	}
	text_free(&one);
}

const char *status_plugin_name(const struct framework *f, const struct status *s)
{
	return s->plugin == PLUGIN_FRAMEWORK ? "" : f->plugins.v[s->plugin].table->name;
}

/* ---- the histogram ---- */

struct bucket {
	char *reason;
	uint32_t count;
};

struct histogram {
	ARRAY(struct bucket) v;
};

static void count_reason(struct histogram *h, const char *reason, uint32_t count)
{
	for (uint32_t i = 0; i < h->v.n; i++) {
		if (!str_eq(h->v.v[i].reason, reason))
			continue;
		h->v.v[i].count += count;
		return;
	}
	struct bucket b = {mem_strdup(reason), count};
	array_push(&h->v, b);
}

static void count_status(const struct cede_cycle *c, struct histogram *h, const struct status *s, uint32_t count)
{
	struct text one = {0};

	for (size_t i = 0; status_reason(c, s, i, &one); i++) {
		count_reason(h, text_str(&one), count);
		text_reset(&one);
	}
	text_free(&one);
}

/* Few different answers, many nodes: the last one seen is nearly always the next one. */
static void count_all(const struct cede_cycle *c, struct histogram *h, const struct status *statuses, uint32_t n)
{
	ARRAY(struct status_count) runs = {0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = runs.n;

		while (k > 0 && !status_same(&runs.v[k - 1].s, &statuses[i]))
			k--;
		if (k) {
			runs.v[k - 1].count++;
		} else {
			struct status_count r = {statuses[i], 1};

			array_push(&runs, r);
		}
	}
	for (uint32_t i = 0; i < runs.n; i++)
		count_status(c, h, &runs.v[i].s, runs.v[i].count);
	array_free(&runs);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted as strings, count first, as Kubernetes does: "10 a" before "2 b". */
static void histogram_text(const struct histogram *h, struct text *out)
{
	char **lines = mem_alloc((h->v.n + 1) * sizeof(*lines));

	for (uint32_t i = 0; i < h->v.n; i++) {
		struct text t = {0};

		text_printf(&t, "%u %s", h->v.v[i].count, h->v.v[i].reason);
		lines[i] = mem_strdup(text_str(&t));
		text_free(&t);
	}
	qsort(lines, h->v.n, sizeof(*lines), by_text);
	for (uint32_t i = 0; i < h->v.n; i++) {
		text_printf(out, "%s%s", i ? ", " : " ", lines[i]);
		mem_free(lines[i]);
	}
	if (h->v.n)
		text_add_char(out, '.');
	mem_free(lines);
}

void fit_error_text(const struct cede_cycle *c, const struct fit_error *fe, struct text *out)
{
	struct histogram h = {0};

	text_printf(out, "0/%u nodes are available:", fe->n_all);
	if (fe->pre_filter_msg && *fe->pre_filter_msg) {
		text_printf(out, " %s.", fe->pre_filter_msg);
	} else {
		uint32_t n = fe->n;

		count_all(c, &h, fe->statuses, fe->n);
		for (uint32_t i = 0; i < fe->n_counts; i++) {
			count_status(c, &h, &fe->counts[i].s, fe->counts[i].count);
			n += fe->counts[i].count;
		}
		if (fe->absent && fe->n_all > n)
			count_status(c, &h, fe->absent, fe->n_all - n);
		histogram_text(&h, out);
	}
	if (fe->post_filter_msg && *fe->post_filter_msg)
		text_printf(out, " %s", fe->post_filter_msg);
	for (uint32_t i = 0; i < h.v.n; i++)
		mem_free(h.v.v[i].reason);
	array_free(&h.v);
}
