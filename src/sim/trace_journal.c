/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/emit.h"
#include "base/map.h"
#include "journal/journal.h"
#include "manifest/fields.h"
#include "manifest/manifest.h"
#include "sim/trace_changes.h"
#include "units/timestamp.h"

struct seen {			/* a pod, under whatever names it was made again */
	name_id first_key, key; /* NS/NAME of the first, and of the latest */
	name_id owner;		/* "NS KIND/NAME"; none: nobody makes it again */
	name_id uid;		/* of the latest; none: not known */
	bool is_first;		/* it was there in the first run */
	bool is_here, had_to_go;
	int64_t arrives_ns, started_ns; /* TIME_NONE: it never ran */
	int64_t ended_ns;		/* TIME_NONE: not as far as anybody knows */
	int64_t ran_ns;			/* to its end, as a daemon saw it; 0: nobody did */
	int64_t longest_ns;		/* of the runs that were cut short */
	uint32_t next_away;		/* of the same owner, that had to go after it */
	struct obj_pod template;	/* of those that arrive */
	bool has_template;
};

struct eviction_seen { /* that a daemon carried out */
	name_id uid;
	int64_t at_ns;
};

struct trace_journal {
	char *path;
	struct journal *journal;
	struct journal_run first;
	uint32_t first_at, n_passed_over; /* number of the first run; later ones that say nothing */
	int64_t last_ns;		  /* of the run read last */
	struct cluster *cluster;	  /* that the load is for */
	struct vocab *vocab;
	struct names *names; /* of keys, owners and uids */
	ARRAY(struct seen) pods;
	struct map by_key, firsts; /* key -> the latest pod of that name; pods of the first run */
	struct map away;	   /* owner -> the first of its pods that had to go and has not come back */
	struct map evicted;	   /* uid -> its place in evictions */
	ARRAY(struct eviction_seen) evictions;
	struct map uids, decided;    /* uid -> anything: of pods that were seen; of those that were decided upon */
	ARRAY(name_id) decided_uids; /* in order */
	ARRAY(uint32_t) order;	     /* arrivals, by time */
	struct trace_changes changes;
	uint32_t n_given;
	char *name; /* of the job given last */
	struct text note;
};

/* ---- the first run ---- */

static enum err_code no_cluster(const struct trace_journal *t, int64_t at_ns, bool has_later, struct err *e)
{
	struct text at = {0};
	enum err_code rc;

	if (has_later) {
		timestamp_text(at_ns, &at);
		rc = err_fail(e, ERR_INPUT, "%s: --now: none of its clusters is of %s or before", t->path,
			      text_str(&at));
		text_free(&at);
		return rc;
	}
	return err_fail(e, ERR_INPUT,
			"%s: none of its %" PRIu32 " runs kept its cluster; those of cede plan --journal do, and those "
			"of cede run --journal, unless it is told not to (--journal-cluster none) or was older",
			t->path, journal_run_count(t->journal));
}

/* The first run that kept its cluster; with a time the last one up to then. */
static enum err_code find_first(struct trace_journal *t, int64_t at_ns, struct err *e)
{
	bool has_any = false, has_one = false;

	for (uint32_t i = 0; i < journal_run_count(t->journal); i++) {
		struct journal_run run;
		bool is_good, is_later;

		TRY(journal_read_evictions(t->journal, journal_run_id(t->journal, i), &run, e));
		is_later = at_ns != TIME_NONE && run.now_ns > at_ns;
		is_good = run.has_state && !is_later;
		has_any |= run.has_state;
		journal_run_free(&run);
		if (is_good) {
			t->first_at = i;
			has_one = true;
		}
		if (has_one && at_ns == TIME_NONE)
			break;
	}
	if (!has_one)
		return no_cluster(t, at_ns, has_any, e);
	return journal_read(t->journal, journal_run_id(t->journal, t->first_at), true, &t->first, e);
}

enum err_code trace_journal_open(const char *path, int64_t at_ns, struct trace_journal **ret, struct err *e)
{
	struct trace_journal *t = mem_alloc(sizeof(*t));
	enum err_code rc;

	t->path = mem_strdup(path);
	t->names = names_new();
	rc = journal_open(path, JOURNAL_READ, &t->journal, e);
	if (!rc)
		rc = find_first(t, at_ns, e);
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

static name_id held(struct trace_journal *t, struct text *words)
{
	name_id id = words->n ? names_hold(t->names, words->s, words->n) : NAME_NONE;

	text_free(words);
	return id;
}

static name_id key_of(struct trace_journal *t, const struct obj_pod *o)
{
	const struct names *names = vocab_names(t->vocab);
	struct text words = {0};

	text_printf(&words, "%s/%s", name_str(names, labelset_get(t->vocab, o->labelset)->ns),
		    name_str(names, o->name));
	return held(t, &words);
}

static name_id owner_of(struct trace_journal *t, const struct obj_pod *o)
{
	const struct names *names = vocab_names(t->vocab);
	struct text words = {0};

	if (o->owner_kind != OWNER_NONE && o->owner_name != NAME_NONE)
		text_printf(&words, "%s %d/%s", name_str(names, labelset_get(t->vocab, o->labelset)->ns),
			    (int)o->owner_kind, name_str(names, o->owner_name));
	return held(t, &words);
}

static name_id uid_of(struct trace_journal *t, const struct obj_pod *o)
{
	struct uid_text buf;

	return names_hold_str(t->names, uid_str(vocab_names(t->vocab), o->uid, &buf));
}

static struct seen *find(struct trace_journal *t, name_id key)
{
	uint32_t i = map_get(&t->by_key, key);

	return i == MAP_NONE ? NULL : &t->pods.v[i];
}

/* One of the same name that had its end is another. */
static bool is_another(const struct seen *x, name_id uid)
{
	return x->ended_ns != TIME_NONE && x->uid && uid && x->uid != uid;
}

/* Behind those of its owner that wait longer. */
static void go_away(struct trace_journal *t, struct seen *x)
{
	uint32_t at = (uint32_t)(x - t->pods.v), i = x->owner ? map_get(&t->away, x->owner) : MAP_NONE;

	if (x->had_to_go)
		return;
	x->had_to_go = true;
	x->next_away = MAP_NONE;
	if (!x->owner)
		return;
	if (i == MAP_NONE) {
		map_put(&t->away, x->owner, at);
		return;
	}
	while (t->pods.v[i].next_away != MAP_NONE)
		i = t->pods.v[i].next_away;
	t->pods.v[i].next_away = at;
}

/* It is back: under the same name, or another one of its owner for it. */
static void come_back(struct trace_journal *t, struct seen *x)
{
	uint32_t at = (uint32_t)(x - t->pods.v), i = x->owner ? map_get(&t->away, x->owner) : MAP_NONE;

	x->had_to_go = false;
	if (i == at && x->next_away == MAP_NONE)
		map_del(&t->away, x->owner);
	else if (i == at)
		map_put(&t->away, x->owner, x->next_away);
	else
		for (; i != MAP_NONE; i = t->pods.v[i].next_away)
			if (t->pods.v[i].next_away == at)
				t->pods.v[i].next_away = x->next_away;
	x->next_away = MAP_NONE;
}

/* The work of the same owner that had to go and has not come back yet. */
static struct seen *find_predecessor(struct trace_journal *t, name_id owner)
{
	uint32_t i = owner ? map_get(&t->away, owner) : MAP_NONE;

	return i == MAP_NONE ? NULL : &t->pods.v[i];
}

static struct seen *new_pod(struct trace_journal *t, const struct obj_pod *o, bool is_first, name_id key)
{
	struct seen x = {.first_key = key,
			 .key = key,
			 .owner = owner_of(t, o),
			 .is_first = is_first,
			 .arrives_ns = o->created_ns == TIME_NONE ? t->last_ns : o->created_ns,
			 .started_ns = TIME_NONE,
			 .ended_ns = TIME_NONE,
			 .next_away = MAP_NONE};

	if (is_first) {
		map_put(&t->firsts, key, t->pods.n);
	} else {
		x.arrives_ns = x.arrives_ns < t->last_ns ? t->last_ns : x.arrives_ns;
		x.template = obj_pod_copy(t->vocab, o);
		x.has_template = true;
	}
	map_put(&t->by_key, key, t->pods.n);
	array_push(&t->pods, x);
	return &array_last(&t->pods);
}

static void made_again(struct trace_journal *t, struct seen *x)
{
	come_back(t, x);
	x->started_ns = TIME_NONE;
}

/* The pod as it is known: for the first time, again, or instead of one that had to go. */
static struct seen *know(struct trace_journal *t, const struct obj_pod *o, bool is_first)
{
	name_id key = key_of(t, o), uid = uid_of(t, o);
	struct seen *x = find(t, key);

	if (x && is_another(x, uid))
		x = NULL;
	if (x && x->had_to_go && x->uid != uid)
		made_again(t, x);
	if (!x && (x = find_predecessor(t, owner_of(t, o))))
		made_again(t, x);
	if (!x)
		x = new_pod(t, o, is_first, key);
	x->key = key;
	x->uid = uid;
	map_put(&t->by_key, key, (uint32_t)(x - t->pods.v));
	if (uid)
		map_put(&t->uids, uid, 0);
	return x;
}

static void see_pod(struct trace_journal *t, const struct pod *p, bool is_first)
{
	struct seen *x = know(t, p->obj, is_first);

	x->is_here = true;
	if (x->had_to_go && !x->uid && p->state == POD_WAITING) /* files need no uids */
		made_again(t, x);
	if (p->state != POD_WAITING && p->started_ns != TIME_NONE)
		x->started_ns = p->started_ns;
}

/* ---- who is gone ---- */

static void cut_short(struct trace_journal *t, struct seen *x, int64_t ran_ns)
{
	go_away(t, x);
	x->longest_ns = ran_ns > x->longest_ns ? ran_ns : x->longest_ns;
}

static const struct eviction_seen *eviction_of(const struct trace_journal *t, name_id uid)
{
	uint32_t i = uid ? map_get(&t->evicted, uid) : MAP_NONE;

	return i == MAP_NONE ? NULL : &t->evictions.v[i];
}

static int64_t ran_until(const struct seen *x, int64_t now_ns)
{
	return x->started_ns == TIME_NONE || now_ns < x->started_ns ? 0 : time_since(now_ns, x->started_ns);
}

static void end_those_who_left(struct trace_journal *t, int64_t now_ns)
{
	for (uint32_t i = 0; i < t->pods.n; i++) {
		struct seen *x = &t->pods.v[i];
		const struct eviction_seen *ev;

		if (x->is_here || x->had_to_go || x->ended_ns != TIME_NONE)
			continue;
		ev = eviction_of(t, x->uid);
		if (ev)
			cut_short(t, x, ran_until(x, ev->at_ns));
		else
			x->ended_ns = now_ns;
	}
}

/* What is planned from files happens at once. */
static void mark_victims(struct trace_journal *t, const struct journal_run *run)
{
	for (uint32_t i = 0; run->source == JOURNAL_PLAN && i < run->n_decisions; i++)
		for (uint32_t k = 0; k < run->decisions[i].n_victims; k++) {
			const char *pod = run->decisions[i].victims[k].pod;
			struct seen *x = find(t, names_find(t->names, pod, strlen(pod)));

			if (x)
				cut_short(t, x, ran_until(x, run->now_ns));
		}
}

/* A pod that a daemon saw go, with how long it ran. */
static void see_gone(struct trace_journal *t, struct obj_pod *o, int64_t now_ns)
{
	int64_t ran_ns = o->run_ns;
	struct seen *x;

	o->run_ns = 0; /* what it ran is not what it will, if it had to go */
	x = know(t, o, false);
	if (eviction_of(t, x->uid)) {
		cut_short(t, x, ran_ns);
	} else {
		x->ended_ns = now_ns;
		x->ran_ns = ran_ns;
	}
}

static enum err_code see_gone_one(struct trace_journal *t, const struct tree *root, struct arena *a, int64_t now_ns,
				  struct err *e)
{
	struct object_source src = {.name = t->path, .scratch = a, .is_lenient = true};
	struct obj_pod o = {0};

	TRY(manifest_pod(t->vocab, &src, root, &o, e));
	see_gone(t, &o, now_ns);
	obj_pod_drop(t->vocab, &o);
	return ERR_OK;
}

static enum err_code see_those_gone(struct trace_journal *t, const struct journal_run *run, struct err *e)
{
	struct tree_reader *r;
	struct arena *a, *scratch;
	enum err_code rc = ERR_OK;

	if (!run->gone || !*run->gone)
		return ERR_OK;
	r = tree_reader_new(t->path, run->gone, strlen(run->gone));
	a = arena_new(1 << 14);
	scratch = arena_new(1 << 14);
	while (!rc) {
		struct tree_doc doc;

		arena_reset(a);
		rc = tree_next(r, a, &doc, e);
		if (rc || !doc.root)
			break;
		rc = see_gone_one(t, doc.root, scratch, run->now_ns, e);
	}
	arena_free(a);
	arena_free(scratch);
	tree_reader_free(r);
	return rc;
}

/* ---- runs ---- */

/* A daemon's evictions, but those that failed or were never meant; and whom it decided upon since the first cluster. */
static void take_rows(struct trace_journal *t, const struct journal_run *run)
{
	for (uint32_t i = 0; i < run->n_evictions; i++) {
		const struct journal_eviction *x = &run->evictions[i];
		struct eviction_seen seen = {.at_ns = x->at_ns};

		if (x->state == JOURNAL_PLANNED || x->state == JOURNAL_FAILED || !*x->victim.uid)
			continue;
		seen.uid = names_hold_str(t->names, x->victim.uid);
		map_put(&t->evicted, seen.uid, t->evictions.n);
		array_push(&t->evictions, seen);
	}
	for (uint32_t i = 0; run->source != JOURNAL_PLAN && i < run->n_decisions; i++) {
		name_id uid = names_hold_str(t->names, run->decisions[i].uid);

		if (!uid || run->decisions[i].at_ns < t->first.now_ns || map_get(&t->decided, uid) != MAP_NONE)
			continue;
		map_put(&t->decided, uid, 0);
		array_push(&t->decided_uids, uid);
	}
}

static enum err_code read_rows(struct trace_journal *t, struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(t->journal); i++) {
		struct journal_run run, evictions;
		int64_t id = journal_run_id(t->journal, i);

		TRY(journal_read(t->journal, id, false, &run, e));
		if (journal_read_evictions(t->journal, id, &evictions, e)) {
			journal_run_free(&run);
			return ERR_INPUT;
		}
		run.n_evictions = evictions.n_evictions;
		run.evictions = evictions.evictions;
		take_rows(t, &run);
		journal_run_free(&run);
		journal_run_free(&evictions);
	}
	return ERR_OK;
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

/* PodGroups that come later are there from the beginning, and wait for their pods. */
static enum err_code take_groups(struct trace_journal *t, const struct cluster *from, struct err *e)
{
	const struct ledger *l = cluster_ledger(from), *to = cluster_ledger(t->cluster);

	for (group_id i = 0; i < ledger_group_limit(l); i++) {
		const struct group *g = ledger_group(l, i);
		struct obj_group copy;

		if (!g->is_live || g->obj->is_of_pods ||
		    ledger_group_find(to, g->obj->ns, g->obj->name, g->obj->is_k8s) != GROUP_NONE)
			continue;
		copy = obj_group_copy(t->vocab, g->obj);
		copy.started_ns = copy.stale_ns = TIME_NONE;
		if (cluster_put_group(t->cluster, &copy, e)) {
			obj_group_drop(t->vocab, &copy);
			return ERR_INPUT;
		}
	}
	return ERR_OK;
}

/* Whoever tries other queues wants to see those. */
static bool has_other_queues(const struct trace_journal *t, const struct cluster *first)
{
	struct text a = {0}, b = {0};
	struct emit out;
	bool are_other;

	emit_init(&out, &a, EMIT_YAML);
	manifest_write_queues(first, &out);
	emit_init(&out, &b, EMIT_YAML);
	manifest_write_queues(t->cluster, &out);
	are_other = !str_eq(text_str(&a), text_str(&b));
	text_free(&a);
	text_free(&b);
	return are_other;
}

static enum err_code see_run(struct trace_journal *t, const struct journal_run *run, bool is_first, struct err *e)
{
	struct manifest *m = manifest_new(t->vocab);
	struct engine_config *config = engine_config_new();
	struct cluster *c = NULL;
	struct cluster_options o;
	enum err_code rc = is_first ? ERR_OK : see_those_gone(t, run, e);

	if (!rc)
		rc = manifest_read_bytes(m, t->path, run->state, strlen(run->state), e);
	if (!rc)
		rc = manifest_configure(m, config, e);
	o = engine_config_cluster_options(config, run->now_ns);
	if (!rc)
		rc = manifest_build(m, &o, &c, e);
	if (!rc)
		rc = take_groups(t, c, e);
	if (!rc && is_first)
		t->changes.passes_over_queues = has_other_queues(t, c);
	if (!rc)
		rc = trace_changes_see(&t->changes, t->path, run->state, run->now_ns, e);
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
		if (run.has_state && run.now_ns >= t->last_ns)
			rc = see_run(t, &run, false, e);
		else
			t->n_passed_over += run.has_state || run.source == JOURNAL_PLAN; /* a daemon has few */
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
	int64_t last = x->ran_ns;

	if (!last && (x->ended_ns == TIME_NONE || x->started_ns == TIME_NONE))
		return SIM_ENDLESS;
	if (!last)
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
	t->name = mem_strdup(strchr(name_str(t->names, x->first_key), '/') + 1);
	*ret = (struct sim_job){.arrives_ns = x->arrives_ns,
				.name = t->name,
				.template = &x->template,
				.n_pods = 1,
				.run_ns = x->template.run_ns > 0 ? x->template.run_ns : run_of(x),
				.grace_ns = SIM_GRACE_NS,
				.lingers_ns = SIM_GRACE_NS,
				.controller = x->owner ? SIM_JOB : SIM_BARE};
	return ERR_OK;
}

/* As a controller would make it: on no node, never started. */
static void as_new(struct vocab *v, struct obj_pod *o)
{
	struct names *names = vocab_names(v);

	names_drop(names, o->name);
	uid_drop(names, o->uid);
	names_drop(names, o->node_name);
	names_drop(names, o->nominated_node);
	o->uid = (struct uid){0};
	o->name = o->node_name = o->nominated_node = NAME_NONE;
	o->phase = PHASE_PENDING;
	o->is_preempted = false;
	o->created_ns = o->started_ns = o->scheduled_ns = o->deleted_ns = o->checkpointed_ns = TIME_NONE;
}

static void free_jobs(void *ctx)
{
	struct trace_journal *t = ctx;
	struct map *maps[] = {&t->by_key, &t->firsts, &t->away, &t->evicted, &t->uids, &t->decided};

	for (uint32_t i = 0; i < t->pods.n; i++)
		if (t->pods.v[i].has_template)
			obj_pod_drop(t->vocab, &t->pods.v[i].template);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		map_free(maps[i]);
		*maps[i] = (struct map){0};
	}
	array_free(&t->pods);
	array_free(&t->evictions);
	array_free(&t->decided_uids);
	array_free(&t->order);
	trace_changes_free(&t->changes);
	t->n_given = 0;
}

/* Decided upon, and in no cluster: they came after the last one, or went while nobody looked. */
static uint32_t count_unknown(const struct trace_journal *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->decided_uids.n; i++)
		n += map_get(&t->uids, t->decided_uids.v[i]) == MAP_NONE;
	return n;
}

static void write_note(struct trace_journal *t)
{
	uint32_t n_known = 0, n_seen = 0, n_unknown = count_unknown(t);

	for (uint32_t i = 0; i < t->pods.n; i++) {
		n_known += run_of(&t->pods.v[i]) != SIM_ENDLESS;
		n_seen += t->pods.v[i].ran_ns != 0;
	}
	text_reset(&t->note);
	text_printf(&t->note, "run time: of %" PRIu32 " of %" PRIu32 " pods ", n_known, t->pods.n);
	if (n_seen)
		text_printf(&t->note, "is known, of %" PRIu32 " as the daemon saw them go, of the rest ", n_seen);
	text_add(&t->note, "from their start to the run in which they were gone; the others run to the end");
	if (t->n_passed_over)
		text_printf(&t->note, "; passed over: %" PRIu32 " runs without a cluster", t->n_passed_over);
	if (t->changes.n_changed || t->changes.n_gone)
		text_printf(&t->note,
			    "; nodes, queues, budgets and classes: %" PRIu32 " changes, and %" PRIu32
			    " that are gone, happen when a later cluster shows them",
			    t->changes.n_changed, t->changes.n_gone);
	if (n_unknown)
		text_printf(&t->note, "; left out: %" PRIu32 " pods that were decided upon and are in no cluster",
			    n_unknown);
}

enum err_code trace_journal_jobs(struct trace_journal *t, struct cluster *c, struct sim_load *ret, struct err *e)
{
	enum err_code rc;

	free_jobs(t);
	t->cluster = c;
	t->vocab = ledger_vocab(cluster_ledger(c));
	t->last_ns = t->first.now_ns;
	t->n_passed_over = 0;
	rc = read_rows(t, e);
	if (!rc)
		rc = see_run(t, &t->first, true, e);
	if (!rc)
		rc = see_others(t, e);
	for (uint32_t i = 0; !rc && i < t->pods.n; i++)
		if (t->pods.v[i].has_template) {
			as_new(t->vocab, &t->pods.v[i].template);
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
	uint32_t i = map_get(&t->firsts, key_of(t, o));

	if (i != MAP_NONE && o->run_ns <= 0)
		job->run_ns = run_of(&t->pods.v[i]);
}

const struct sim_event *trace_journal_events(const struct trace_journal *t, uint32_t *ret_n)
{
	*ret_n = t->changes.events.n;
	return t->changes.events.v;
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
	names_free(t->names);
	text_free(&t->note);
	mem_free(t->name);
	mem_free(t->path);
	mem_free(t);
}
