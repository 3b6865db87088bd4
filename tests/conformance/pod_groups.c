/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about Kubernetes' PodGroups that wait: who goes for a whole group, and what becomes of it in the end. */
#include "engine/gang_kube.h"
#include "filters/builtin.h"
#include "preemption.h"

/* ---- who goes ---- */

/*
 * The original was asked with a placement of its own: each member goes to the first node that fits after the node of
 * the member before it. Here that is a plugin whose score outweighs all others.
 */
struct round_robin {
	struct world *w;
	const pod_id *pods;
	uint32_t n;
};

static uint32_t position(const struct cede_cycle *c, node_id node)
{
	uint32_t i = 0;

	while (i < c->n_nodes && c->nodes[i] != node)
		i++;
	return i;
}

/* Where the member before this one is; one before the first node if there is none. */
static uint32_t last_seat(const struct round_robin *r, const struct cede_cycle *c)
{
	uint32_t at = c->n_nodes - 1;

	for (uint32_t i = 0; i < r->n && r->pods[i] != c->pod; i++)
		if (ledger_pod(c->ledger, r->pods[i])->state == POD_PLACED)
			at = position(c, ledger_pod(c->ledger, r->pods[i])->node);
	return at;
}

static int64_t nearness(void *self, const struct cede_cycle *c, cede_node node)
{
	uint32_t steps = (position(c, node) + c->n_nodes - last_seat(self, c) - 1) % c->n_nodes;

	return CEDE_SCORE_MAX - steps;
}

static const struct cede_plugin round_robin_plugin = {.abi = CEDE_PLUGIN_ABI, .name = "round-robin", .score = nearness};

static void only_with_round_robin(struct world *w)
{
	static const struct plugin_ref everything = {.name = "*"};
	const struct tree *plugins = tree_path(w->f->t, "config.plugins");
	struct plugin_ref *enabled = arena_n(w->f->arena, tree_count(plugins) + 3, struct plugin_ref);
	uint32_t n = 0;

	for (; n < tree_count(plugins); n++)
		enabled[n] = (struct plugin_ref){.name = tree_text(plugins->items[n], "")};
	enabled[n++] = (struct plugin_ref){.name = priority_sort_plugin.name};
	enabled[n++] = (struct plugin_ref){.name = default_binder_plugin.name};
	enabled[n++] = (struct plugin_ref){.name = round_robin_plugin.name, .weight = 1000};
	w->profile->points[POINT_MULTI] = (struct plugin_set){n, 1, enabled, &everything};
}

static group_id put_preemptors(struct world *w, struct round_robin *r)
{
	const struct tree *preemptor = fact_arg(w->f, "preemptor"), *group = tree_get(preemptor, "podGroup"),
			  *pods = tree_get(preemptor, "pods");
	const char *name = tree_text(tree_path(group, "metadata.name"), "");
	pod_id *ids = arena_n(w->f->arena, tree_count(pods) + 1, pod_id);

	if (!world_put_group(w, group))
		return GROUP_NONE;
	for (uint32_t i = 0; i < tree_count(pods); i++)
		ids[r->n++] = world_put_member(w, pods->items[i], name);
	r->pods = ids;
	return ledger_pod(w->ledger, ids[0])->group;
}

/* How many groups lose pods, by the names that pods give: the group itself need not be there. */
static uint32_t count_groups(const struct world *w, const struct gang_victims *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct obj_pod *o = ledger_pod(w->ledger, v->pods[i])->obj;
		bool is_new = o->group != NAME_NONE;

		for (uint32_t k = 0; k < i; k++) {
			const struct obj_pod *other = ledger_pod(w->ledger, v->pods[k])->obj;

			is_new &= other->group != o->group || labelset_get(w->vocab, other->labelset)->ns !=
								      labelset_get(w->vocab, o->labelset)->ns;
		}
		n += is_new;
	}
	return n;
}

static void compare_domain(struct world *w, const struct gang_victims *got)
{
	const struct tree *reasons = tree_path(w->f->t, "observed.status.reasons");

	same_text(w->f, "status", tree_get(fact_expect(w->f, "status"), "code"),
		  got->is_found ? "Success" : "UnschedulableAndUnresolvable");
	if (tree_count(reasons))
		same_text(w->f, "reason", reasons->items[0], got->why ? got->why : "none");
	if (!got->is_found)
		return;
	same_victims(w, "victims", fact_expect(w->f, "victims"), got->pods, got->n, false);
	same_int(w->f, "numPDBViolations", fact_expect(w->f, "numPDBViolations"), got->n_violations);
	same_int(w->f, "numPodGroupDisruptions", fact_expect(w->f, "numPodGroupDisruptions"), count_groups(w, got));
}

static void find_victims(struct world *w, struct engine *en, group_id group)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct gang_victims got;
	struct kube_gang g;
	struct err e;

	gang_open(&g, en, &run, group, w->f->arena);
	if (gang_find_victims(&g, &got, &e))
		fact_differs(w->f, "search", "an answer", e.msg);
	else
		compare_domain(w, &got);
	gang_close(&g);
}

void run_select_victims_on_domain(struct fact *f)
{
	struct world w;
	struct round_robin round_robin = {.w = &w};
	struct framework_plugin extra = {.table = &round_robin_plugin, .self = &round_robin};
	struct engine *en = NULL;
	group_id group;
	struct err e;

	if (world_open(&w, f) && (group = put_preemptors(&w, &round_robin)) != GROUP_NONE) {
		only_with_round_robin(&w);
		en = engine_new(w.cluster, w.config, &extra, 1, &e);
		if (en)
			find_victims(&w, en, group);
		else
			fact_differs(f, "engine", "one", e.msg);
	}
	engine_free(en);
	world_close(&w);
}

/* ---- what becomes of it ---- */

static int64_t told_score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct tree *const *scores = self;

	return tree_int(tree_get(*scores, cede_node_name(c, node)), 0);
}

static const struct cede_plugin extra_score_plugin = {
	.abi = CEDE_PLUGIN_ABI, .name = "extra-score", .score = told_score};

enum { NAMES_MAX = 64, TURNS = 6 };

struct name_set {
	const char *v[NAMES_MAX];
	uint32_t n;
};

static bool has_name(const struct name_set *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i], name))
			return true;
	return false;
}

static void add_name(struct name_set *s, struct world *w, pod_id pod)
{
	const char *name = world_pod_name(w, pod);

	if (!has_name(s, name) && s->n < NAMES_MAX)
		s->v[s->n++] = arena_strndup(w->f->arena, name, strlen(name));
}

struct tale {
	struct world w;
	struct engine *engine;
	struct name_set preempted, by_group, nominated;
};

static void note(struct tale *t, const struct decision *d)
{
	if (d->outcome == OUTCOME_NOMINATED)
		add_name(&t->nominated, &t->w, d->pod);
	for (uint32_t i = 0; i < d->n_victims; i++) {
		add_name(&t->preempted, &t->w, d->victims[i].pod);
		if (d->group != GROUP_NONE)
			add_name(&t->by_group, &t->w, d->victims[i].pod);
	}
}

static void turn(struct tale *t)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct decisions decisions = {.arena = t->w.f->arena};
	struct err e;

	if (engine_plan(t->engine, &run, &decisions, &e))
		fact_differs(t->w.f, "plan", "decisions", e.msg);
	for (uint32_t i = 0; i < decisions.v.n; i++)
		note(t, &decisions.v.v[i]);
	array_free(&decisions.v);
	ledger_commit(t->w.ledger);
}

/* Victims are gone at once, and do not come back. */
static void bury(struct tale *t)
{
	for (uint32_t i = 0; i < t->preempted.n; i++)
		cluster_drop_pod(t->w.cluster, "default", t->preempted.v[i]);
}

static void tell(struct tale *t)
{
	const struct tree *preemptors = fact_arg(t->w.f, "preemptorPods");

	turn(t);
	for (uint32_t i = 0; i < tree_count(preemptors); i++)
		world_put_pod(&t->w, preemptors->items[i], false);
	for (int i = 0; i < TURNS; i++) {
		turn(t);
		bury(t);
	}
}

static void all_are(struct tale *t, const char *what, enum pod_state state)
{
	const struct tree *names = fact_expect(t->w.f, what);

	for (uint32_t i = 0; i < tree_count(names); i++) {
		const char *name = tree_text(names->items[i], "");
		pod_id pod = cluster_find_pod(t->w.cluster, "default", name);

		if (pod == POD_NONE || ledger_pod(t->w.ledger, pod)->state != state)
			fact_differs(t->w.f, what, name, "otherwise");
	}
}

/* Of the pods that came later, those and no others. */
static void nobody_else_is(struct tale *t, const char *what, enum pod_state state)
{
	const struct tree *names = fact_expect(t->w.f, what), *preemptors = fact_arg(t->w.f, "preemptorPods");

	for (uint32_t i = 0; i < tree_count(preemptors); i++) {
		const char *name = tree_text(tree_path(preemptors->items[i], "metadata.name"), "");
		pod_id pod = cluster_find_pod(t->w.cluster, "default", name);

		if (pod != POD_NONE && ledger_pod(t->w.ledger, pod)->state == state && !tree_has(names, name))
			fact_differs(t->w.f, what, "nobody else", name);
	}
}

static void same_names(struct tale *t, const char *what, const struct name_set *got)
{
	const struct tree *names = fact_expect(t->w.f, what);

	for (uint32_t i = 0; i < tree_count(names); i++)
		if (!has_name(got, tree_text(names->items[i], "")))
			fact_differs(t->w.f, what, tree_text(names->items[i], ""), "not so");
	for (uint32_t i = 0; i < got->n; i++)
		if (!tree_has(names, got->v[i]))
			fact_differs(t->w.f, what, "nobody else", got->v[i]);
}

/*
 * The original looks at the nominations it names and at no others: who is named must have had one; of the others only
 * who gets its place in the end may have had one, and nobody where nobody goes.
 */
static void compare_nominated(struct tale *t)
{
	const struct tree *names = fact_expect(t->w.f, "nominated"), *placed = fact_expect(t->w.f, "scheduled");

	for (uint32_t i = 0; i < tree_count(names); i++)
		if (!has_name(&t->nominated, tree_text(names->items[i], "")))
			fact_differs(t->w.f, "nominated", tree_text(names->items[i], ""), "not so");
	for (uint32_t i = 0; i < t->nominated.n; i++)
		if (!tree_has(names, t->nominated.v[i]) && !tree_has(placed, t->nominated.v[i]))
			fact_differs(t->w.f, "nominated", "nobody else", t->nominated.v[i]);
	if (!t->preempted.n && t->nominated.n)
		fact_differs(t->w.f, "nominated", "nobody", t->nominated.v[0]);
}

static bool skip_topology(struct fact *f)
{
	const struct tree *groups = tree_get(f->t, "podGroups");

	for (uint32_t i = 0; i < tree_count(groups); i++) {
		if (!tree_path(groups->items[i], "spec.schedulingConstraints"))
			continue;
		fact_skip(f, "not yet: needs pod groups that stay within one topology domain");
		return true;
	}
	return false;
}

void run_schedule_group_with_preemption(struct fact *f)
{
	const struct tree *scores = tree_path(f->t, "config.extraScore");
	struct framework_plugin extra = {.table = &extra_score_plugin, .self = &scores};
	struct tale t = {0};
	struct err e;

	if (skip_composite(f) || skip_topology(f))
		return;
	if (world_open(&t.w, f)) {
		t.engine = engine_new(t.w.cluster, t.w.config, &extra, scores ? 1 : 0, &e);
		if (t.engine) {
			tell(&t);
			all_are(&t, "scheduled", POD_PLACED);
			all_are(&t, "unschedulable", POD_WAITING);
			nobody_else_is(&t, "scheduled", POD_PLACED);
			nobody_else_is(&t, "unschedulable", POD_WAITING);
			same_names(&t, "preempted", &t.preempted);
			compare_nominated(&t);
			same_int(f, "preemptedByGroup", fact_expect(f, "preemptedByGroup"), t.by_group.n);
		} else {
			fact_differs(f, "engine", "one", e.msg);
		}
	}
	engine_free(t.engine);
	world_close(&t.w);
}
