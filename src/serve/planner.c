/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/planner.h"

#include "explain/explanation.h"
#include "explain/group_text.h"
#include "explain/queue_text.h"
#include "manifest/suggest.h"

struct engine *world_engine(const struct serve_world *w, struct err *e)
{
	const struct framework_plugin *extra = NULL;
	uint32_t n_extra = 0;

	if (w->plugins)
		extra = plugins_loaded(w->plugins, &n_extra);
	return engine_new(w->cluster, w->config, extra, n_extra, e);
}

enum err_code world_plan(const struct serve_world *w, const struct plan_question *q, struct world_plan *ret,
			 struct err *e)
{
	struct engine_run run = {.now_ns = w->now_ns,
				 .cycles = q->cycles ? q->cycles : 1,
				 .report = POD_NONE,
				 .eviction_history = w->eviction_history};
	struct ledger *l = cluster_ledger(w->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct plan_focus focus = {0};
	enum err_code rc;

	*ret = (struct world_plan){.plan = {.arena = arena_new(1 << 16)}, .engine = w->engine, .cycles = run.cycles};
	if (!ret->engine)
		ret->engine = ret->own = world_engine(w, e);
	if (!ret->engine)
		return ERR_INPUT;
	if (q->target)
		plan_focus_on(&focus, w->cluster, w->config, q->target, &ret->plan, &run);
	rc = engine_plan(ret->engine, &run, &ret->plan, e);
	ledger_rollback(l, mark);
	ret->waiting = focus.waiting;
	focus.waiting = (waiting_list){0};
	plan_focus_free(&focus);
	ret->view = (struct plan_view){.cluster = w->cluster,
				       .plan = &ret->plan,
				       .profile = w->config->profile,
				       .by_fair_share = engine_config_reclaims_by(w->config) == RECLAIM_FAIR_SHARE,
				       .now_ns = w->now_ns,
				       .patience_ns = w->config->patience_ns,
				       .ns = q->ns,
				       .lists_all = q->lists_all};
	if (!rc)
		ret->view.notes = ret->notes = plan_notes_new(w->cluster, &ret->plan);
	return rc;
}

void world_plan_free(struct world_plan *p)
{
	if (p->notes)
		plan_notes_free(p->notes);
	if (p->own)
		engine_free(p->own);
	array_free(&p->waiting);
	array_free(&p->plan.v);
	arena_free(p->plan.arena);
}

/* ---- one thing that is asked about ---- */

/* Of two of one name KAI's, where its groups count. */
static group_id find_group(const struct cluster *c, const char *ns, const char *name)
{
	const struct ledger *l = cluster_ledger(c);
	const struct names *names = vocab_names(ledger_vocab(l));
	name_id ns_id = names_find(names, ns, strlen(ns)), id = names_find(names, name, strlen(name));
	group_id kai, kubernetes;

	if (ns_id == NAME_NONE || id == NAME_NONE)
		return GROUP_NONE;
	kai = ledger_group_find(l, ns_id, id, false);
	kubernetes = ledger_group_find(l, ns_id, id, true);
	return kai == GROUP_NONE || (kubernetes != GROUP_NONE &&
				     profile_get(cluster_get_options(c)->profile)->ignores_kai_groups)
		       ? kubernetes
		       : kai;
}

/* A path, or the name of a KAI Queue. */
static queue_id find_queue(const struct cluster *c, const char *text)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(c));
	queue_id q = queue_tree_find(t, text, strlen(text));

	if (q == QUEUE_NONE)
		q = queue_tree_find_kai(t, names_find(t->names, text, strlen(text)));
	return q != QUEUE_NONE && queue_get(t, q)->is_live ? q : QUEUE_NONE;
}

static enum err_code not_found(const struct cluster *c, const char *ns, const char *name, const char *text,
			       struct err *e)
{
	bool is_path = str_starts(text, "root.");
	struct text near = {0};
	enum err_code rc;

	if (is_path)
		suggest_queue(c, text, &near);
	else if (!strchr(text, '/'))
		suggest_queue_named(c, text, &near);
	if (!is_path && !near.n)
		suggest_pod(c, ns, name, &near);
	if (is_path)
		rc = err_fail(e, ERR_NOTFOUND, "there is no queue %s in what was read%s", text, text_str(&near));
	else
		rc = err_fail(e, ERR_NOTFOUND, "there is no pod and no group %s/%s%s in what was read%s", ns, name,
			      strchr(text, '/') ? "" : ", and no such queue", text_str(&near));
	text_free(&near);
	return rc;
}

enum err_code explain_find(const struct cluster *c, const char *default_ns, const char *text,
			   struct explain_target *ret, struct err *e)
{
	const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
	struct text ns = {0};
	enum err_code rc = ERR_OK;

	if (slash)
		text_add_n(&ns, text, (size_t)(slash - text));
	else
		text_add(&ns, default_ns);
	ret->pod = cluster_find_pod(c, text_str(&ns), name);
	ret->group = ret->pod == POD_NONE ? find_group(c, text_str(&ns), name) : GROUP_NONE;
	ret->queue = ret->pod == POD_NONE && ret->group == GROUP_NONE && !slash ? find_queue(c, text) : QUEUE_NONE;
	if (ret->pod == POD_NONE && ret->group == GROUP_NONE && ret->queue == QUEUE_NONE)
		rc = not_found(c, text_str(&ns), name, text, e);
	text_free(&ns);
	return rc;
}

struct writing {
	const struct serve_world *w;
	const struct world_plan *p;
	const struct explain_look *look;
	struct emit emit;
	struct text *out;
};

/* What would let it start, and when: the plan is made again and again, with one thing or the time different. */
static bool find_outlook(const struct writing *x, const struct decision *waits, struct outlook *ret)
{
	struct trial_question q = {.cluster = x->w->cluster,
				   .config = x->w->config,
				   .engine = x->p->engine,
				   .is_engine_lent = !x->p->own,
				   .plan = x->p->view.plan,
				   .waiting = x->p->waiting.v ? &x->p->waiting : NULL,
				   .run = {.now_ns = x->w->now_ns,
					   .cycles = x->p->cycles,
					   .report = POD_NONE,
					   .eviction_history = x->w->eviction_history},
				   .waits = waits};

	if (!waits || waits->outcome != OUTCOME_WAITING)
		return false;
	if (x->w->plugins)
		q.extra = plugins_loaded(x->w->plugins, &q.n_extra);
	outlook_find(&q, ret);
	return true;
}

static void write_pod(struct writing *w, pod_id pod)
{
	struct explanation x;

	explanation_init(&x, &w->p->view, pod);
	x.has_outlook = find_outlook(w, x.own, &x.outlook);
	explanation_words(&x, w->p->engine);
	if (w->look->is_data)
		explanation_emit(&x, &w->emit);
	else
		explanation_text(&x, &w->look->look, w->look->is_wide, w->out);
	explanation_free(&x);
}

static void write_group(struct writing *w, group_id group)
{
	const struct plan_view *v = &w->p->view;
	struct outlook outlook;
	bool has = find_outlook(w, group_waits(v, group), &outlook);

	if (w->look->is_data)
		group_emit(v, group, has ? &outlook : NULL, &w->emit);
	else
		group_text(v, group, has ? &outlook : NULL, &w->look->look, w->look->is_wide, w->out);
}

static void write_queue(struct writing *w, queue_id queue)
{
	const struct plan_view *v = &w->p->view;
	struct outlook outlook;
	bool has = find_outlook(w, queue_waits(v, queue), &outlook);

	if (w->look->is_data)
		queue_emit(v, queue, has ? &outlook : NULL, &w->emit);
	else
		queue_text(v, queue, has ? &outlook : NULL, &w->look->look, w->out);
}

void explain_write(const struct serve_world *w, const struct world_plan *p, const struct explain_target *t,
		   const struct explain_look *look, struct text *out)
{
	struct writing x = {.w = w, .p = p, .look = look, .out = out};

	if (look->is_data)
		emit_init(&x.emit, out, look->format);
	if (t->pod != POD_NONE)
		write_pod(&x, t->pod);
	else if (t->group != GROUP_NONE)
		write_group(&x, t->group);
	else
		write_queue(&x, t->queue);
}
