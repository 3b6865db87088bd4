/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for people: decisions on standard output, the rest on standard error. */
#include <stdio.h>

#include "base/emit.h"
#include "base/log.h"
#include "base/map.h"
#include "run/daemon_internal.h"
#include "units/timestamp.h"

#define DECISIONS_PER_S 200.0
#define DECISIONS_AT_ONCE 2000.0
#define WARNINGS_PER_S 5.0
#define WARNINGS_AT_ONCE 200.0

/* A storm of decisions or troubles must not become a storm of lines. *ret_left_out: not told before this one. */
static bool may_speak(const struct daemon *d, struct line_flow *f, double per_s, double at_once, uint64_t *ret_left_out)
{
	int64_t now_ns = clock_now(&d->steady);
	double spent = f->spent - (double)time_since(now_ns, f->at_ns) / 1e9 * per_s;

	f->spent = spent < 0 ? 0 : spent;
	f->at_ns = now_ns;
	if (f->spent > at_once - 1) {
		f->n_left_out++;
		return false;
	}
	f->spent += 1;
	*ret_left_out = f->n_left_out;
	f->n_left_out = 0;
	return true;
}

static void write_line(struct daemon *d, bool is_warning, const char *words)
{
	struct text line = {0}, at = {0};
	struct emit e;

	if (!d->o->is_json) {
		log_line(is_warning ? LOG_WARN : LOG_INFO, "%s", words);
		return;
	}
	timestamp_text(clock_now(&d->wall), &at);
	emit_init(&e, &line, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_str(&e, "time", text_str(&at));
	emit_str(&e, "level", is_warning ? "warning" : "info");
	emit_str(&e, "message", words);
	emit_end(&e);
	if (is_warning || d->o->verbose)
		fprintf(stderr, "%s%s", text_str(&line), line.n && line.s[line.n - 1] == '\n' ? "" : "\n");
	text_free(&line);
	text_free(&at);
}

void lines_said(struct daemon *d, bool is_warning, const char *words)
{
	uint64_t left_out = 0;
	struct text before = {0};

	if (is_warning && !may_speak(d, &d->warning_lines, WARNINGS_PER_S, WARNINGS_AT_ONCE, &left_out))
		return;
	if (left_out) {
		text_printf(&before, "%llu warnings were not told", (unsigned long long)left_out);
		write_line(d, true, text_str(&before));
		text_free(&before);
	}
	write_line(d, is_warning, words);
}

static void decision_line(const struct plan_view *v, const struct decision *x, struct text *out)
{
	if (x->pod != POD_NONE)
		pod_path(v, x->pod, out);
	else
		text_add(out, x->group != GROUP_NONE ? "group " : queue_path(v, x->queue));
	if (x->pod == POD_NONE && x->group != GROUP_NONE)
		group_path(v, x->group, out);
	text_printf(out, ": %s", outcome_text(x->outcome));
	if (x->node != NODE_NONE)
		text_printf(out, " %s %s", x->outcome == OUTCOME_PLACED ? "on" : "to", node_text(v, x->node));
	for (uint32_t i = 0; i < x->n_victims; i++) {
		text_add(out, i ? "; " : "; has to go: ");
		pod_path(v, x->victims[i].pod, out);
		text_add(out, " (");
		eviction_text(v, x, &x->victims[i], out);
		text_add(out, ")");
	}
	if (x->outcome == OUTCOME_WAITING && x->message)
		text_printf(out, ": %s", x->message);
}

/* The same of the same pod is said once. */
static bool is_news(struct daemon *d, const struct plan_view *v, const struct decision *x, const struct text *said)
{
	uint32_t hash = (uint32_t)(hash_bytes(said->s, said->n) >> 33); /* not MAP_NONE */
	struct text path = {0};
	uint64_t key;

	if (x->pod == POD_NONE)
		return true;
	pod_path(v, x->pod, &path);
	key = hash_bytes(path.s, path.n);
	text_free(&path);
	if (map_get(&d->told, key) == hash)
		return false;
	if (d->told.n > 500000) {
		map_free(&d->told);
		d->told = (struct map){0};
	}
	map_put(&d->told, key, hash);
	return true;
}

bool lines_decision(struct daemon *d, const struct plan_view *v, const struct decision *x)
{
	struct text said = {0}, line = {0};
	uint64_t left_out = 0;
	struct emit e;
	bool is_new;

	decision_line(v, x, &said);
	is_new = is_news(d, v, x, &said);
	if (is_new && (d->o->is_dry || d->o->verbose) &&
	    may_speak(d, &d->decision_lines, DECISIONS_PER_S, DECISIONS_AT_ONCE, &left_out)) {
		if (left_out && !d->o->is_json)
			text_printf(&line, "(%llu decisions were not told)\n", (unsigned long long)left_out);
		if (d->o->is_json) {
			emit_init(&e, &line, EMIT_JSON_LINE);
			plan_emit_decision(v, &e, x);
		} else {
			timestamp_text(time_floor(v->now_ns, NS_PER_S), &line);
			text_printf(&line, " %s\n", text_str(&said));
		}
		fwrite(text_str(&line), 1, line.n, stdout);
		fflush(stdout);
	}
	text_free(&said);
	text_free(&line);
	return is_new;
}
