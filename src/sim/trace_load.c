/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_load.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manifest/fields.h"
#include "sim/trace_rows.h"

enum { NODES_MAX = 1000000, NAME_BYTES = 64, CPU_MILLI = 1000 };
#define ROOM_OVER_DEMAND 1.25 /* of a cluster made for the load, over its mean demand */

struct trace_sums { /* of the first reading */
	uint32_t n_jobs, n_unusable;
	int64_t first_ns, last_ns;
	uint32_t most_pods; /* of one job */
	double work;	    /* amount times seconds */
	bool is_unordered;
};

struct trace_load {
	struct trace_options o;
	char *path;
	struct trace_reader reader;
	bool is_reading;
	struct trace_sums sums;
	ARRAY(struct trace_row) rows; /* sorted; only if the file is not */
	uint32_t n_given;	      /* handed out so far */
	int64_t last_given_ns;
	struct vocab *vocab;
	struct obj_pod template;      /* of the job handed out last */
	struct trace_row template_of; /* what it was made for; n_pods 0: there is none */
	char name[NAME_BYTES];
	uint32_t n_nodes;
	ARRAY(char *) notes;
};

/* ---- reading ---- */

static enum err_code reading_begin(struct trace_load *t, struct err *e)
{
	TRY(trace_input_open(&t->reader.in, t->path, e));
	t->is_reading = true;
	return t->reader.kind->begin(&t->reader, e);
}

static void reading_end(struct trace_load *t)
{
	if (!t->is_reading)
		return;
	t->reader.kind->end(&t->reader);
	trace_input_close(&t->reader.in);
	t->is_reading = false;
}

/* The next job that can be used. */
static enum err_code next_row(struct trace_load *t, struct trace_row *ret, bool *ret_has, struct err *e)
{
	do {
		TRY(t->reader.kind->next(&t->reader, ret, ret_has, e));
		t->sums.n_unusable += *ret_has && !ret->n_pods;
	} while (*ret_has && !ret->n_pods);
	return ERR_OK;
}

static double row_work(const struct trace_row *r)
{
	return (double)r->amount * r->n_pods * ((double)r->run_ns / 1e9);
}

static enum err_code add_row(struct trace_load *t, const struct trace_row *r, struct err *e)
{
	struct trace_sums *s = &t->sums;

	if (s->n_jobs == INT32_MAX)
		return err_fail(e, ERR_LIMIT, "%s: more than two thousand million jobs", t->path);
	s->is_unordered |= s->n_jobs && r->arrives_ns < s->last_ns;
	if (!s->n_jobs || r->arrives_ns < s->first_ns)
		s->first_ns = r->arrives_ns;
	if (!s->n_jobs || r->arrives_ns > s->last_ns)
		s->last_ns = r->arrives_ns;
	s->n_jobs++;
	s->most_pods = r->n_pods > s->most_pods ? r->n_pods : s->most_pods;
	s->work += row_work(r);
	t->reader.queues.v[r->queue].work += row_work(r);
	return ERR_OK;
}

static enum err_code measure(struct trace_load *t, struct err *e)
{
	struct trace_row row;
	bool has;

	TRY(reading_begin(t, e));
	for (;;) {
		TRY(next_row(t, &row, &has, e));
		if (!has)
			break;
		TRY(add_row(t, &row, e));
	}
	reading_end(t);
	if (!t->sums.n_jobs)
		return err_fail(e, ERR_INPUT, "%s: there is no job in it that can be simulated", t->path);
	return ERR_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_row *x = a, *y = b;

	if (x->arrives_ns != y->arrives_ns)
		return x->arrives_ns < y->arrives_ns ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static enum err_code sort(struct trace_load *t, struct err *e)
{
	struct trace_row row;
	bool has;

	TRY(reading_begin(t, e));
	array_reserve(&t->rows, t->sums.n_jobs);
	for (;;) {
		TRY(next_row(t, &row, &has, e));
		if (!has)
			break;
		array_push(&t->rows, row);
	}
	reading_end(t);
	qsort(t->rows.v, t->rows.n, sizeof(*t->rows.v), by_time);
	return ERR_OK;
}

/* ---- what is made for it ---- */

static uint32_t compress_of(const struct trace_load *t)
{
	return t->o.compress ? t->o.compress : 1;
}

/* Mean demand, in whatever is counted, while jobs arrive. */
static double mean_demand(const struct trace_load *t)
{
	double seconds = (double)time_since(t->sums.last_ns, t->sums.first_ns) / 1e9 / compress_of(t);

	return t->sums.work / (seconds > 1 ? seconds : 1);
}

static uint32_t nodes_for(const struct trace_load *t)
{
	double n = ROOM_OVER_DEMAND * mean_demand(t) / t->reader.kind->node_amount + 1;

	if (t->o.nodes)
		return t->o.nodes;
	if (n < t->sums.most_pods)
		return t->sums.most_pods;
	return n < NODES_MAX ? (uint32_t)n : NODES_MAX;
}

static void note(struct trace_load *t, struct text *words)
{
	array_push(&t->notes, mem_strdup(text_str(words)));
	text_reset(words);
}

static void add_notes(struct trace_load *t)
{
	const struct trace_kind *k = t->reader.kind;
	struct text w = {0};

	for (const char *const *rule = k->rules; *rule; rule++) {
		text_add(&w, *rule);
		note(t, &w);
	}
	if (t->sums.n_unusable) {
		text_printf(&w, "left out: %" PRIu32 " jobs, because %s", t->sums.n_unusable, k->unusable);
		note(t, &w);
	}
	if (compress_of(t) > 1) {
		text_printf(&w, "compressed: arrivals come %" PRIu32 " times faster, run times are as they were",
			    compress_of(t));
		note(t, &w);
	}
	if (t->sums.is_unordered) {
		text_add(&w, "the file is not in order of time and was sorted");
		note(t, &w);
	}
	text_free(&w);
}

static uint64_t guaranteed_of(const struct trace_load *t, uint32_t queue, double room)
{
	return t->sums.work > 0 ? (uint64_t)(t->reader.queues.v[queue].work / t->sums.work * room) : 0;
}

static void yunikorn_queues(const struct trace_load *t, double room, struct text *out)
{
	const struct trace_reader *r = &t->reader;

	text_add(out, "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n");
	for (uint32_t i = 0; i < r->queues.n; i++) {
		uint64_t guaranteed = guaranteed_of(t, i, room);

		text_printf(out, "    - name: \"%s\"\n", name_str(r->names, r->queues.v[i].name));
		if (guaranteed)
			text_printf(out, "      resources: {guaranteed: {\"%s\": %" PRIu64 "}}\n",
				    str_eq(r->kind->resource, "cpu") ? "vcore" : r->kind->resource, guaranteed);
	}
}

static void kai_queues(const struct trace_load *t, double room, struct text *out)
{
	const struct trace_reader *r = &t->reader;
	const bool is_cpu = str_eq(r->kind->resource, "cpu");

	for (uint32_t i = 0; i < r->queues.n; i++) {
		uint64_t guaranteed = guaranteed_of(t, i, room) * (is_cpu ? CPU_MILLI : 1);
		static const char none[] = "{quota: 0, limit: -1}";
		char share[64];

		snprintf(share, sizeof(share), "{quota: %" PRIu64 ", limit: -1}", guaranteed);
		text_printf(out,
			    "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: \"%s\"}\n"
			    "spec: {resources: {gpu: %s, cpu: %s, memory: %s}}\n---\n",
			    name_str(r->names, r->queues.v[i].name), is_cpu ? none : share, is_cpu ? share : none,
			    none);
	}
}

void trace_cluster(const struct trace_load *t, struct text *out)
{
	const struct trace_reader *r = &t->reader;
	const double room = (double)t->n_nodes * r->kind->node_amount;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		text_printf(out,
			    "apiVersion: v1\nkind: Node\nmetadata: {name: node-%04" PRIu32 "}\n"
			    "status: {allocatable: {%s\"%s\": %" PRIu32 ", pods: 110}}\n---\n",
			    i, str_eq(r->kind->resource, "cpu") ? "" : "cpu: 96, memory: 768Gi, ", r->kind->resource,
			    r->kind->node_amount);
	if (t->o.has_yunikorn_queues)
		yunikorn_queues(t, room, out);
	else
		kai_queues(t, room, out);
}

/* ---- jobs, one after the other ---- */

static bool same_template(const struct trace_row *a, const struct trace_row *b)
{
	return a->n_pods && a->queue == b->queue && a->amount == b->amount && a->priority == b->priority;
}

static void drop_template(struct trace_load *t)
{
	if (t->template_of.n_pods)
		obj_pod_drop(t->vocab, &t->template);
	t->template_of = (struct trace_row){0};
}

/* Pods of one kind share their shape in the vocab, whether or not the template is kept. */
static enum err_code make_template(struct trace_load *t, const struct trace_row *row, struct err *e)
{
	const bool is_cpu = str_eq(t->reader.kind->resource, "cpu");
	const struct load_request request = {t->reader.kind->resource, (int64_t)row->amount * (is_cpu ? CPU_MILLI : 1)};
	const char *name = name_str(t->reader.names, t->reader.queues.v[row->queue].name);
	char path[NAME_BYTES + 16];
	struct load_pod pod = {.ns = name,
			       .kai_queue = t->o.has_yunikorn_queues ? NULL : name,
			       .queue = path,
			       .has_priority = true,
			       .priority = row->priority,
			       .preemptibility = PREEMPTIBLE};

	if (same_template(&t->template_of, row))
		return ERR_OK;
	drop_template(t);
	snprintf(path, sizeof(path), "root.%s", name);
	pod.requests = &request;
	pod.n_requests = 1;
	TRY(load_template(t->vocab, &pod, &t->template, e));
	t->template_of = *row;
	return ERR_OK;
}

static int64_t arrival(const struct trace_load *t, const struct trace_row *row)
{
	int64_t since_ns = time_since(row->arrives_ns, t->sums.first_ns) / compress_of(t);

	return time_add(t->sums.first_ns, since_ns);
}

static enum err_code fill_job(struct trace_load *t, const struct trace_row *row, struct sim_job *ret, struct err *e)
{
	TRY(make_template(t, row, e));
	snprintf(t->name, sizeof(t->name), "%s-%" PRIu32, t->reader.kind->prefix, row->line);
	*ret = (struct sim_job){
		.arrives_ns = arrival(t, row),
		.name = t->name,
		.template = &t->template,
		.n_pods = row->n_pods,
		.min_member = row->n_pods > 1 ? row->n_pods : 0,
		.run_ns = row->run_ns,
		.checkpoint_ns = t->o.checkpoint_ns,
		.grace_ns = SIM_GRACE_NS,
		.lingers_ns = SIM_GRACE_NS,
		.controller = row->n_pods > 1 ? SIM_OPERATOR : SIM_JOB,
	};
	return ERR_OK;
}

static enum err_code take_row(struct trace_load *t, struct trace_row *ret, bool *ret_has, struct err *e)
{
	if (t->rows.n) {
		*ret_has = t->n_given < t->rows.n;
		if (*ret_has)
			*ret = t->rows.v[t->n_given];
		return ERR_OK;
	}
	if (!t->is_reading)
		TRY(reading_begin(t, e));
	return next_row(t, ret, ret_has, e);
}

static enum err_code next_job(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e)
{
	struct trace_load *t = ctx;
	struct trace_row row;

	*ret_has = false;
	if (t->n_given == trace_load_count(t))
		return ERR_OK;
	TRY(take_row(t, &row, ret_has, e));
	if (!*ret_has)
		return ERR_OK;
	if (row.queue >= t->reader.queues.n || row.arrives_ns < t->last_given_ns)
		return err_fail(e, ERR_CONFLICT, "%s: the file has changed while it was read", t->path);
	t->last_given_ns = row.arrives_ns;
	TRY(fill_job(t, &row, ret, e));
	t->n_given++;
	return ERR_OK;
}

static void free_jobs(void *ctx)
{
	struct trace_load *t = ctx;

	drop_template(t);
	reading_end(t);
}

struct sim_load trace_load_jobs(struct trace_load *t, struct vocab *v)
{
	free_jobs(t);
	t->vocab = v;
	t->n_given = 0;
	t->last_given_ns = TIME_FIRST;
	return (struct sim_load){t, next_job, free_jobs};
}

double trace_load_done(void *trace_load)
{
	const struct trace_load *t = trace_load;

	return (double)t->n_given / trace_load_count(t);
}

/* ---- open and close ---- */

static enum err_code prepare(struct trace_load *t, struct err *e)
{
	TRY(measure(t, e));
	if (t->sums.is_unordered) {
		uint32_t n_unusable = t->sums.n_unusable;

		TRY(sort(t, e));
		t->sums.n_unusable = n_unusable;
	}
	t->n_nodes = nodes_for(t);
	add_notes(t);
	return ERR_OK;
}

enum err_code trace_load_open(const struct trace_options *o, struct trace_load **ret, struct err *e)
{
	struct trace_load *t;
	enum err_code rc;

	if (str_eq(o->path, "-"))
		return err_fail(e, ERR_INPUT, "a trace is read twice: it must be a file, not standard input");
	t = mem_alloc(sizeof(*t));
	t->o = *o;
	t->path = mem_strdup(o->path);
	t->reader.kind = &trace_kinds[o->format];
	t->reader.names = names_new();
	t->reader.seed = o->seed;
	rc = prepare(t, e);
	if (rc)
		trace_load_free(t);
	else
		*ret = t;
	return rc;
}

void trace_load_free(struct trace_load *t)
{
	if (!t)
		return;
	free_jobs(t);
	for (uint32_t i = 0; i < t->notes.n; i++)
		mem_free(t->notes.v[i]);
	for (uint32_t i = 0; i < t->reader.queues.n; i++)
		names_drop(t->reader.names, t->reader.queues.v[i].name);
	array_free(&t->notes);
	array_free(&t->rows);
	array_free(&t->reader.queues);
	map_free(&t->reader.queue_at);
	names_free(t->reader.names);
	mem_free(t->path);
	mem_free(t);
}

int64_t trace_load_from(const struct trace_load *t)
{
	return t->sums.first_ns;
}

uint32_t trace_load_count(const struct trace_load *t)
{
	return t->o.max_jobs && t->o.max_jobs < t->sums.n_jobs ? t->o.max_jobs : t->sums.n_jobs;
}

uint32_t trace_note_count(const struct trace_load *t)
{
	return t->notes.n;
}

const char *trace_note(const struct trace_load *t, uint32_t i)
{
	return t->notes.v[i];
}
