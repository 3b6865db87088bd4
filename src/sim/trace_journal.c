/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "journal/journal.h"
#include "manifest/fields.h"
#include "manifest/manifest.h"

struct seen {		       /* a pod, under whatever names it was made again */
	char *first_key, *key; /* NS/NAME of the first, and of the latest */
	char *owner;	       /* "NS KIND/NAME", "" if nobody makes it again */
	bool is_first;	       /* it was there in the first run */
	bool is_here, had_to_go;
	int64_t arrives_ns, started_ns; /* TIME_NONE: it never ran */
	int64_t ended_ns;		/* TIME_NONE: not as far as anybody knows */
	int64_t longest_ns;		/* of the runs that were cut short */
	struct obj_pod template;	/* of those that arrive */
	bool has_template;
};

struct trace_journal {
	char *path;
	struct journal *journal;
	struct journal_run first;
	uint32_t first_at, n_passed_over; /* number of the first run; runs without a cluster */
	int64_t last_ns;		  /* of the run read last */
	struct vocab *vocab;
	ARRAY(struct seen) pods;
	ARRAY(uint32_t) order; /* arrivals, by time */
	uint32_t n_given;
	char *name; /* of the job given last */
	struct text note;
};

/* ---- the first run ---- */

static enum err_code find_first(struct trace_journal *t, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(t->journal); i++) {
		struct journal_run run;

		TRY(journal_read(t->journal, journal_run_id(t->journal, i), true, &run, e));
		if (run.has_state) {
			t->first = run;
			t->first_at = i;
			return ERR_OK;
		}
		t->n_passed_over++;
		journal_run_free(&run);
	}
	return err_fail(e, ERR_INPUT,
			"%s: none of its %" PRIu32 " runs kept its cluster; those of cede plan --journal do, those of "
			"a daemon do not",
			t->path, journal_run_count(t->journal));
}

enum err_code trace_journal_open(const char *path, struct trace_journal **ret, struct err *e)
{
	struct trace_journal *t = mem_alloc(sizeof(*t));
	enum err_code rc;

	t->path = mem_strdup(path);
	rc = journal_open(path, JOURNAL_READ, &t->journal, e);
	if (!rc)
		rc = find_first(t, e);
	if (rc)
		trace_journal_free(t);
	else
		*ret = t;
	return rc;
}

int64_t trace_journal_from(const struct trace_journal *t)
{
	return t->first.now_ns;
}

const char *trace_journal_profile(const struct trace_journal *t)
{
	return t->first.profile;
}

void trace_journal_cluster(const struct trace_journal *t, bool with_settings, struct text *out)
{
	text_add(out, t->first.state);
	for (uint32_t i = 0; with_settings && i < t->first.n_settings; i++)
		text_printf(out, "\n---\n%s", t->first.settings[i].document);
}

/* ---- who was there ---- */

static char *taken(struct text *t)
{
	char *s = mem_strdup(text_str(t));

	text_free(t);
	return s;
}

static char *key_of(struct vocab *v, const struct obj_pod *o)
{
	struct text t = {0};

	text_printf(&t, "%s/%s", name_str(vocab_names(v), labelset_get(v, o->labelset)->ns),
		    name_str(vocab_names(v), o->name));
	return taken(&t);
}

static char *owner_of(struct vocab *v, const struct obj_pod *o)
{
	struct text t = {0};

	if (o->owner_kind != OWNER_NONE && o->owner_name != NAME_NONE)
		text_printf(&t, "%s %d/%s", name_str(vocab_names(v), labelset_get(v, o->labelset)->ns),
			    (int)o->owner_kind, name_str(vocab_names(v), o->owner_name));
	return taken(&t);
}

static struct seen *find(struct trace_journal *t, const char *key)
{
	for (uint32_t i = t->pods.n; i-- > 0;)
		if (str_eq(t->pods.v[i].key, key))
			return &t->pods.v[i];
	return NULL;
}

/* The work of the same owner that had to go and has not come back yet. */
static struct seen *find_predecessor(struct trace_journal *t, const char *owner)
{
	for (uint32_t i = 0; *owner && i < t->pods.n; i++)
		if (t->pods.v[i].had_to_go && !t->pods.v[i].is_here && str_eq(t->pods.v[i].owner, owner))
			return &t->pods.v[i];
	return NULL;
}

static struct seen *new_pod(struct trace_journal *t, const struct pod *p, bool is_first, const char *key,
			    const char *owner)
{
	struct seen x = {.first_key = mem_strdup(key),
			 .key = mem_strdup(key),
			 .owner = mem_strdup(owner),
			 .is_first = is_first,
			 .arrives_ns = p->created_ns == TIME_NONE ? t->last_ns : p->created_ns,
			 .started_ns = TIME_NONE,
			 .ended_ns = TIME_NONE};

	if (!is_first) {
		x.arrives_ns = x.arrives_ns < t->last_ns ? t->last_ns : x.arrives_ns;
		x.template = obj_pod_copy(t->vocab, p->obj);
		x.has_template = true;
	}
	array_push(&t->pods, x);
	return &array_last(&t->pods);
}

static void see_pod(struct trace_journal *t, const struct pod *p, bool is_first)
{
	char *key = key_of(t->vocab, p->obj), *owner = owner_of(t->vocab, p->obj);
	struct seen *x = find(t, key);

	if (!x) {
		x = find_predecessor(t, owner);
		if (x) { /* made again */
			mem_free(x->key);
			x->key = mem_strdup(key);
			x->had_to_go = false;
			x->started_ns = TIME_NONE;
		}
	}
	if (!x)
		x = new_pod(t, p, is_first, key, owner);
	x->is_here = true;
	if (p->state != POD_WAITING && p->started_ns != TIME_NONE)
		x->started_ns = p->started_ns;
	mem_free(key);
	mem_free(owner);
}

static void end_those_who_left(struct trace_journal *t, int64_t now_ns)
{
	for (uint32_t i = 0; i < t->pods.n; i++) {
		struct seen *x = &t->pods.v[i];

		if (x->is_here || x->had_to_go || x->ended_ns != TIME_NONE)
			continue;
		x->ended_ns = now_ns;
	}
}

static void cut_short(struct seen *x, int64_t now_ns)
{
	int64_t ran = x->started_ns == TIME_NONE ? 0 : time_since(now_ns, x->started_ns);

	x->had_to_go = true;
	x->longest_ns = ran > x->longest_ns ? ran : x->longest_ns;
}

static void mark_victims(struct trace_journal *t, const struct journal_run *run)
{
	for (uint32_t i = 0; i < run->n_decisions; i++)
		for (uint32_t k = 0; k < run->decisions[i].n_victims; k++) {
			struct seen *x = find(t, run->decisions[i].victims[k].pod);

			if (x)
				cut_short(x, run->now_ns);
		}
}

static void see_cluster(struct trace_journal *t, const struct cluster *c, bool is_first)
{
	const struct ledger *l = cluster_ledger((struct cluster *)c);

	for (uint32_t i = 0; i < t->pods.n; i++)
		t->pods.v[i].is_here = false;
	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		enum pod_state state = ledger_pod(l, i)->state;

		if (state == POD_WAITING || state == POD_PLACED || state == POD_LEAVING)
			see_pod(t, ledger_pod(l, i), is_first);
	}
}

static enum err_code see_run(struct trace_journal *t, const struct journal_run *run, bool is_first, struct err *e)
{
	struct manifest *m = manifest_new(t->vocab);
	struct engine_config *config = engine_config_new();
	struct cluster *c = NULL;
	struct cluster_options o;
	enum err_code rc = manifest_read_bytes(m, t->path, run->state, strlen(run->state), e);

	if (!rc)
		rc = manifest_configure(m, config, e);
	o = engine_config_cluster_options(config, run->now_ns);
	if (!rc)
		rc = manifest_build(m, &o, &c, e);
	if (!rc) {
		see_cluster(t, c, is_first);
		end_those_who_left(t, run->now_ns);
		mark_victims(t, run);
		t->last_ns = run->now_ns;
	}
	cluster_free(c);
	manifest_free(m);
	engine_config_free(config);
	return rc;
}

static enum err_code see_others(struct trace_journal *t, struct err *e)
{
	enum err_code rc = ERR_OK;

	for (uint32_t i = t->first_at + 1; !rc && i < journal_run_count(t->journal); i++) {
		struct journal_run run;

		rc = journal_read(t->journal, journal_run_id(t->journal, i), true, &run, e);
		if (rc)
			break;
		if (!run.has_state || run.now_ns < t->last_ns)
			t->n_passed_over++;
		else
			rc = see_run(t, &run, false, e);
		journal_run_free(&run);
	}
	return rc;
}

/* ---- jobs ---- */

static int by_arrival(const void *a, const void *b, void *ctx)
{
	const struct trace_journal *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (t->pods.v[x].arrives_ns != t->pods.v[y].arrives_ns)
		return t->pods.v[x].arrives_ns < t->pods.v[y].arrives_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* From its last start to its end. If it had run longer before, it went on from there. */
static int64_t run_of(const struct seen *x)
{
	int64_t last;

	if (x->ended_ns == TIME_NONE || x->started_ns == TIME_NONE)
		return SIM_ENDLESS;
	last = x->ended_ns > x->started_ns ? time_since(x->ended_ns, x->started_ns) : NS_PER_S;
	return last > x->longest_ns ? last : time_add(last, x->longest_ns);
}

static enum err_code next_job(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e)
{
	struct trace_journal *t = ctx;
	struct seen *x;

	(void)e;
	*ret_has = t->n_given < t->order.n;
	if (!*ret_has)
		return ERR_OK;
	x = &t->pods.v[t->order.v[t->n_given++]];
	mem_free(t->name);
	t->name = mem_strdup(strchr(x->first_key, '/') + 1);
	*ret = (struct sim_job){.arrives_ns = x->arrives_ns,
				.name = t->name,
				.template = &x->template,
				.n_pods = 1,
				.run_ns = x->template.run_ns > 0 ? x->template.run_ns : run_of(x),
				.grace_ns = SIM_GRACE_NS,
				.lingers_ns = SIM_GRACE_NS,
				.controller = *x->owner ? SIM_JOB : SIM_BARE};
	return ERR_OK;
}

/* As a controller would make it: on no node, never started. */
static void as_new(struct vocab *v, struct obj_pod *o)
{
	struct names *names = vocab_names(v);

	names_drop(names, o->name);
	names_drop(names, o->uid);
	names_drop(names, o->node_name);
	names_drop(names, o->nominated_node);
	o->name = o->uid = o->node_name = o->nominated_node = NAME_NONE;
	o->phase = PHASE_PENDING;
	o->is_preempted = false;
	o->created_ns = o->started_ns = o->scheduled_ns = o->deleted_ns = o->checkpointed_ns = TIME_NONE;
}

static void free_jobs(void *ctx)
{
	struct trace_journal *t = ctx;

	for (uint32_t i = 0; i < t->pods.n; i++) {
		mem_free(t->pods.v[i].first_key);
		mem_free(t->pods.v[i].key);
		mem_free(t->pods.v[i].owner);
		if (t->pods.v[i].has_template)
			obj_pod_drop(t->vocab, &t->pods.v[i].template);
	}
	array_free(&t->pods);
	array_free(&t->order);
	t->n_given = 0;
}

static void write_note(struct trace_journal *t)
{
	uint32_t n_known = 0;

	for (uint32_t i = 0; i < t->pods.n; i++)
		n_known += t->pods.v[i].ended_ns != TIME_NONE;
	text_reset(&t->note);
	text_printf(&t->note,
		    "run time: of %" PRIu32 " of %" PRIu32 " pods from their start to the run in which they were gone; "
		    "the others run to the end",
		    n_known, t->pods.n);
	if (t->n_passed_over)
		text_printf(&t->note, "; passed over: %" PRIu32 " runs without a cluster", t->n_passed_over);
}

enum err_code trace_journal_jobs(struct trace_journal *t, struct vocab *v, struct sim_load *ret, struct err *e)
{
	enum err_code rc;

	free_jobs(t);
	t->vocab = v;
	t->last_ns = t->first.now_ns;
	rc = see_run(t, &t->first, true, e);
	if (!rc)
		rc = see_others(t, e);
	for (uint32_t i = 0; !rc && i < t->pods.n; i++)
		if (t->pods.v[i].has_template) {
			as_new(v, &t->pods.v[i].template);
			array_push(&t->order, i);
		}
	if (t->order.n)
		qsort_r(t->order.v, t->order.n, sizeof(*t->order.v), by_arrival, t);
	if (!rc)
		write_note(t);
	*ret = (struct sim_load){t, next_job, free_jobs};
	return rc;
}

void trace_journal_describe(void *trace_journal, const struct obj_pod *o, struct sim_job *job)
{
	struct trace_journal *t = trace_journal;
	char *key = key_of(t->vocab, o);

	for (uint32_t i = 0; i < t->pods.n && o->run_ns <= 0; i++)
		if (t->pods.v[i].is_first && str_eq(t->pods.v[i].first_key, key))
			job->run_ns = run_of(&t->pods.v[i]);
	mem_free(key);
}

uint32_t trace_journal_count(const struct trace_journal *t)
{
	return t->order.n;
}

const char *trace_journal_note(const struct trace_journal *t)
{
	return text_str(&t->note);
}

void trace_journal_free(struct trace_journal *t)
{
	if (!t)
		return;
	free_jobs(t);
	journal_run_free(&t->first);
	journal_close(t->journal);
	text_free(&t->note);
	mem_free(t->name);
	mem_free(t->path);
	mem_free(t);
}
