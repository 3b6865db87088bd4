/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conservation (SI-2), counted again from what is alive and compared with what was counted on the way:
 *
 *	pods	submitted = finished + abandoned + running + waiting
 *	work	submitted = done + abandoned + still to do (of what runs or waits)
 *	time	running, summed over time = useful + lost + of runs that go on
 *	room	what pods take on nodes = what the ledger says
 */
#include <string.h>

#include "sim/sim_internal.h"

struct sim_recount {
	uint64_t running, waiting;
	__int128 to_do, going_on;
};

static void count_alive(const struct sim *s, struct sim_recount *all)
{
	for (uint32_t i = 0; i < s->pods.n; i++) {
		const struct sim_pod *p = &s->pods.v[i];
		const struct sim_work *w = &s->works.v[p->job];
		struct sim_recount *c[] = {&all[p->account], &all[0]};

		if (p->life != LIFE_RUNNING && p->life != LIFE_WAITING)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			c[k]->running += p->life == LIFE_RUNNING;
			c[k]->waiting += p->life == LIFE_WAITING;
			c[k]->to_do += w->run_ns == SIM_ENDLESS ? 0 : time_since(w->run_ns, p->saved_ns);
			c[k]->going_on += p->life == LIFE_RUNNING ? time_since(s->now_ns, p->started_ns) : 0;
		}
	}
}

static enum err_code check_account(struct sim *s, const struct account *a, const struct sim_recount *r, struct err *e)
{
	const struct outcome_counts *c = &a->counts;
	const char *what = NULL;

	if (c->running != r->running || c->waiting != r->waiting ||
	    c->submitted != c->finished + c->abandoned + c->running + c->waiting)
		what = "pods";
	else if (c->submitted_sum != c->done_sum + c->abandoned_sum + r->to_do)
		what = "work";
	else if (a->running_sum != c->useful_sum + c->lost_sum + r->going_on)
		what = "run time";
	if (!what)
		return ERR_OK;
	return err_fail(e, ERR_INTERNAL,
			"%s of %s are not conserved: submitted %lu, finished %lu, abandoned %lu, "
			"running %lu, waiting %lu",
			what, a->path[0] ? a->path : "all queues", c->submitted, c->finished, c->abandoned, c->running,
			c->waiting);
}

static enum err_code check_room(const struct sim *s, struct err *e)
{
	int64_t used[RES_MAX] = {0};

	for (node_id n = 0; n < ledger_node_limit(s->ledger); n++)
		for (res_id r = 0; ledger_node(s->ledger, n)->name != NAME_NONE && r < ledger_stride(s->ledger); r++)
			used[r] += ledger_node_used(s->ledger, n)[r];
	for (res_id r = 0; r < s->accounts.v[0].n_types; r++)
		if (used[r] != s->accounts.v[0].occupied[r])
			return err_fail(e, ERR_INTERNAL, "%s on nodes: the ledger says %ld, the accounts %ld",
					res_type_name(vocab_res(s->vocab), r), used[r], s->accounts.v[0].occupied[r]);
	return ERR_OK;
}

enum err_code sim_check(struct sim *s, struct err *e)
{
	struct sim_recount *all = mem_alloc(s->accounts.n * sizeof(*all));
	enum err_code rc = check_room(s, e);

	accounts_close(s);
	count_alive(s, all);
	for (uint32_t i = 0; !rc && i < s->accounts.n; i++)
		rc = check_account(s, &s->accounts.v[i], &all[i], e);
	mem_free(all);
	return rc ? rc : ledger_check(s->ledger, e);
}
