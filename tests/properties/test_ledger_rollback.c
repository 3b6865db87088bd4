/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long random rows of moves, of the engine and from outside, with nested marks, partial rollbacks and commits. Beside
 * the ledger runs a plain model that is copied whole where the ledger sets a mark: whatever is done, both must say the
 * same, the self-check must hold after every move, and a rollback must bring back the fingerprint of its mark.
 *
 * CEDE_N: how many rows (each of STEPS steps); CEDE_SECONDS: for how long instead.
 */
#include "base/clock.h"
#include "properties/ledger_model.h"

#define STEPS 150

static uint64_t n_moves;

/* ---- both must say the same ---- */

static void same(int64_t ledger, int64_t model, const char *what, int i)
{
	if (ledger != model)
		fail_msg("%s of %d: the ledger has %lld, the model %lld", what, i, (long long)ledger, (long long)model);
}

static void compare_pod(const struct run *t, int i)
{
	const struct m_pod *m = &t->m.pods[i];
	pod_id id = pod_of(t, i);
	same(id != POD_NONE, m->is_there, "pod", i);
	if (!m->is_there)
		return;
	const struct pod *p = ledger_pod(t->f.l, id);
	same(p->state, m->state, "state", i);
	same(p->nomination, m->nomination, "claim", i);
	same(p->is_evicted, m->is_evicted, "evicted", i);
	same(p->priority, m->priority, "priority", i);
	same(p->started_ns, m->started, "started", i);
	same(p->node, m->node == NONE ? NODE_NONE : node_of(t, m->node), "node of pod", i);
	same(p->queue, queue_of(t, m->queue), "queue of pod", i);
	same(p->group, m->group == NONE ? GROUP_NONE : group_of(t, m->group), "group of pod", i);
}

static void compare_volumes(const struct run *t, int i)
{
	const struct m_pod *m = &t->m.pods[i];
	int64_t n = 0, n_model = 0;
	for (; m->is_there && ledger_pod_assumed(t->f.l, pod_of(t, i), (uint32_t)n) != NULL; n++) {
		const struct assumption *a = ledger_pod_assumed(t->f.l, pod_of(t, i), (uint32_t)n);
		int claim = name_str(t->f.names, a->claim)[strlen("claim")] - '0';
		same(a->volume == NAME_NONE ? VOLUMES + 1 : name_str(t->f.names, a->volume)[strlen("volume")] - '0',
		     m->assumed[claim], "volume of a claim of pod", i);
	}
	for (int c = 0; m->is_there && c < CLAIMS; c++)
		n_model += m->assumed[c] != 0;
	same(n, n_model, "decided claims of pod", i);
}

static bool covers(const struct m_pdb *b, int pod, int app)
{
	if (!b->is_there || strcmp(ns_of(pod), "ns") != 0)
		return false;
	switch (b->selector) {
	case 0:
		return false;
	case 1:
		return true;
	case 2:
		return app == 0;
	case 3:
		return app != 1;
	default:
		return app == 1 || app == 2;
	}
}

static void compare_list(const struct run *t, const pod_list *list, const struct m_list *m, int node)
{
	same(list->n, m->n, "length of a list of node", node);
	for (int i = 0; i < m->n; i++)
		same(list->v[i], pod_of(t, m->v[i]), "place in a list of node", node);
}

static void compare_node(const struct run *t, int i)
{
	const struct m_node *m = &t->m.nodes[i];
	node_id id = node_of(t, i);
	if (id == NODE_NONE) {
		same(m->is_live || m->pods.n > 0 || m->nominated.n > 0, false, "node", i);
		return;
	}
	int64_t used = 0, leaving = 0, reserved = 0, gpus = 0;
	for (int j = 0; j < m->pods.n; j++) {
		const struct m_pod *p = &t->m.pods[m->pods.v[j]];
		used += p->usage;
		leaving += p->state == POD_LEAVING ? p->usage : 0;
		gpus += p->gpu;
	}
	for (int j = 0; j < m->nominated.n; j++)
		reserved += t->m.pods[m->nominated.v[j]].request;
	const struct ledger_node *n = ledger_node(t->f.l, id);
	same(n->is_live, m->is_live, "life of node", i);
	compare_list(t, &n->pods, &m->pods, i);
	compare_list(t, &n->nominated, &m->nominated, i);
	same(ledger_node_allocatable(t->f.l, id)[RES_CPU], m->is_live ? m->cpu : 0, "allocatable of node", i);
	same(ledger_node_used(t->f.l, id)[RES_CPU], used, "used of node", i);
	same(ledger_node_used(t->f.l, id)[RES_PODS], m->pods.n, "pods of node", i);
	same(ledger_node_used(t->f.l, id)[t->f.gpu], gpus, "gpus of node", i);
	same(ledger_node_leaving(t->f.l, id)[RES_CPU], leaving, "leaving of node", i);
	same(ledger_node_reserved(t->f.l, id)[RES_CPU], reserved, "claimed of node", i);
}

static void compare_queue(const struct run *t, int i)
{
	const struct m_queue *m = &t->m.queues[i];
	queue_id id = queue_of(t, i);
	same(id != QUEUE_NONE, m->is_there, "queue", i);
	if (!m->is_there)
		return;
	int64_t used = 0, leaving = 0, reserved = 0, waiting = 0, own = 0;
	for (int j = 0; j < PODS; j++) {
		const struct m_pod *p = &t->m.pods[j];
		if (!p->is_there || !is_above(&t->m, i, p->queue))
			continue;
		used += p->state == POD_PLACED ? p->usage : 0;
		leaving += p->state == POD_LEAVING ? p->usage : 0;
		reserved += p->nomination != NOMINATION_NONE ? p->request : 0;
		waiting += p->state == POD_WAITING;
		own += p->queue == i && p->state != POD_FINISHED;
	}
	const struct queue *q = queue_get(ledger_queues(t->f.l), id);
	uint32_t n;
	ledger_queue_pods(t->f.l, id, &n);
	same(n, own, "own pods of queue", i);
	same(q->parent, queue_of(t, m->parent), "parent of queue", i);
	same(q->is_draining, m->is_draining, "draining of queue", i);
	same(q->spec.guaranteed.v[RES_CPU], m->guaranteed, "guaranteed of queue", i);
	same(ledger_queue_used(t->f.l, id)[RES_CPU], used, "used of queue", i);
	same(ledger_queue_leaving(t->f.l, id)[RES_CPU], leaving, "leaving of queue", i);
	same(ledger_queue_reserved(t->f.l, id)[RES_CPU], reserved, "claimed of queue", i);
	same(ledger_queue_waiting(t->f.l, id), waiting, "waiting of queue", i);
}

static void compare_podset(const struct run *t, int group, int podset, const struct podset *s)
{
	int64_t n[POD_FINISHED + 1] = {0}, reserved = 0;
	for (int j = 0; j < PODS; j++) {
		const struct m_pod *p = &t->m.pods[j];
		if (!p->is_there || p->group != group || p->podset != podset)
			continue;
		n[p->state]++;
		reserved += p->nomination != NOMINATION_NONE;
	}
	same(s->n_waiting, n[POD_WAITING], "waiting of group", group);
	same(s->n_placed, n[POD_PLACED], "placed of group", group);
	same(s->n_leaving, n[POD_LEAVING], "leaving of group", group);
	same(s->n_finished, n[POD_FINISHED], "finished of group", group);
	same(s->n_nominated, reserved, "claimed of group", group);
}

static void compare_group(const struct run *t, int i)
{
	const struct m_group *m = &t->m.groups[i];
	group_id id = group_of(t, i);
	same(id != GROUP_NONE, m->is_there, "group", i);
	if (!m->is_there)
		return;
	const struct group *g = ledger_group(t->f.l, id);
	same(g->n_podsets, variant_podsets[m->variant], "podsets of group", i);
	same(g->started_ns, m->started, "start of group", i);
	for (int s = 0; s < variant_podsets[m->variant]; s++)
		compare_podset(t, i, s, ledger_podset(t->f.l, g->first_podset + (podset_id)s));
	if (m->variant == 0)
		same(ledger_podset(t->f.l, g->first_podset)->min_member, m->min < 1 ? 1 : m->min, "minimum of group",
		     i);
}

static void compare_pdb(const struct run *t, int i)
{
	const struct m_pdb *m = &t->m.pdbs[i];
	pdb_id id = pdb_of(t, i);
	same(id != PDB_NONE, m->is_there, "budget", i);
	if (!m->is_there)
		return;
	int64_t spent = 0;
	for (int j = 0; j < PODS; j++) {
		const struct m_pod *p = &t->m.pods[j];
		if (!p->is_there)
			continue;
		uint32_t n;
		const pdb_id *ids = ledger_labelset_pdbs(t->f.l, ledger_pod(t->f.l, pod_of(t, j))->labelset, &n);
		bool has = false;
		for (uint32_t k = 0; k < n; k++)
			has = has || ids[k] == id;
		same(has, covers(m, j, p->app), "cover of budget", i);
		spent += has && p->is_evicted && m->disrupted != j;
	}
	same(ledger_pdb(t->f.l, id)->spent, spent, "spent of budget", i);
	same(ledger_pdb(t->f.l, id)->obj->allowed, m->allowed, "allowed of budget", i);
}

static void compare(const struct run *t)
{
	for (int i = 0; i < PODS; i++) {
		compare_pod(t, i);
		compare_volumes(t, i);
	}
	for (int i = 0; i < NODES; i++)
		compare_node(t, i);
	for (int i = 0; i < QUEUES; i++)
		compare_queue(t, i);
	for (int i = 0; i < GROUPS; i++)
		compare_group(t, i);
	for (int i = 0; i < PDBS; i++)
		compare_pdb(t, i);
}

/* ---- a listener, for the self-check to look at ---- */

static void hear_add(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	((struct run *)ctx)->heard += (int64_t)(pod + 1) * 1000 + node;
}

static void hear_remove(void *ctx, const struct ledger *l, pod_id pod, node_id node)
{
	((struct run *)ctx)->heard -= (int64_t)(pod + 1) * 1000 + node;
}

static void hear_leaving(void *ctx, const struct ledger *l, pod_id pod, bool leaving)
{
	int64_t term = (int64_t)(pod + 1) * 1000000;
	((struct run *)ctx)->heard += leaving ? term : -term;
}

static enum err_code hear_check(void *ctx, const struct ledger *l, struct err *e)
{
	int64_t sum = 0;
	for (pod_id id = 0; id < ledger_pod_limit(l); id++) {
		const struct pod *p = ledger_pod(l, id);
		if (p->state == POD_PLACED || p->state == POD_LEAVING)
			sum += (int64_t)(id + 1) * 1000 + p->node;
		if (p->state == POD_LEAVING)
			sum += (int64_t)(id + 1) * 1000000;
	}
	return sum == ((struct run *)ctx)->heard ? ERR_OK : err_fail(e, ERR_INTERNAL, "the listener has drifted");
}

/* ---- rows of moves ---- */

static void set_mark(struct run *t)
{
	if (t->depth == MARKS)
		return;
	t->marks[t->depth].mark = ledger_get_mark(t->f.l);
	t->marks[t->depth].digest = ledger_digest(t->f.l);
	t->marks[t->depth].m = t->m;
	t->depth++;
}

static void roll_back(struct run *t)
{
	if (t->depth == 0)
		return;
	t->depth = (int)below(t, (uint32_t)t->depth);
	ledger_rollback(t->f.l, t->marks[t->depth].mark);
	t->m = t->marks[t->depth].m;
	if (ledger_digest(t->f.l) != t->marks[t->depth].digest)
		fail_msg("a rollback left a trace");
}

static void commit(struct run *t)
{
	ledger_commit(t->f.l);
	t->depth = 0;
}

/* Moves that are not possible as things stand are not counted. */
static void move(struct run *t)
{
	ledger_mark before = ledger_get_mark(t->f.l);
	moves[below(t, sizeof(moves) / sizeof(*moves))](t, (int)below(t, PODS), (int)below(t, NODES));
	n_moves += ledger_get_mark(t->f.l) != before;
}

static void one_row(uint64_t seed)
{
	struct run *t = mem_alloc(sizeof(*t));
	t->rng.s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	t->f.v = vocab_new();
	t->f.names = vocab_names(t->f.v);
	t->f.gpu = fix_type(&t->f, "nvidia.com/gpu");
	t->f.l = ledger_new(t->f.v);
	t->m.queues[0] = (struct m_queue){.is_there = true, .parent = NONE};
	struct ledger_listener listener = {.ctx = t,
					   .on_add = hear_add,
					   .on_remove = hear_remove,
					   .on_leaving = hear_leaving,
					   .check = hear_check};
	ledger_listen(t->f.l, &listener);
	ledger_check_always(t->f.l, true);
	for (int i = 0; i < STEPS; i++) {
		uint32_t dice = below(t, 20);
		if (dice == 0)
			commit(t);
		else if (dice <= 2)
			set_mark(t);
		else if (dice == 3)
			roll_back(t);
		else
			move(t);
		compare(t);
	}
	fix_free(&t->f);
	mem_free(t);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *s = getenv(variable);
	return s != NULL && *s != '\0' ? strtoull(s, NULL, 10) : otherwise;
}

static void rollback_restores_everything(void **state)
{
	uint64_t n = number_from("CEDE_N", 2000), seconds = number_from("CEDE_SECONDS", 0);
	struct clock clock = clock_system();
	int64_t end = clock_now(&clock) + (int64_t)seconds * NS_PER_S;
	for (uint64_t seed = 0; seconds > 0 ? clock_now(&clock) < end : seed < n; seed++)
		one_row(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rollback_restores_everything),
	};
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	printf("%llu moves tried, %d violations\n", (unsigned long long)n_moves, n_failed);
	return n_failed;
}
