/* SPDX-License-Identifier: Apache-2.0 */
/* The queues as cede show has them, with what each deserves where shares decide, and what there is to share. */
#include "engine/fair_shares.h"
#include "explain/emit_fields.h"
#include "serve/views_internal.h"

static void emit_amount(struct emit *e, const char *key, res_id r, int64_t amount)
{
	struct text t = {0};

	res_amount_exact(r, amount, &t);
	emit_str(e, key, amount == RES_UNLIMITED ? "unlimited" : text_str(&t));
	text_free(&t);
}

static void emit_share(struct emit *e, const struct cluster_view *v, const struct decisions *d, queue_id q)
{
	if (!d->shares)
		return;
	emit_object(e, "fairShare");
	for (uint32_t i = 0; i < v->res.n; i++) {
		int64_t fair = decisions_fair_share(d, 1, q, v->res.v[i]);

		if (fair >= 0)
			emit_amount(e, res_type_name(v->types, v->res.v[i]), v->res.v[i], fair);
	}
	emit_end(e);
}

static void emit_capacity(struct emit *e, const struct cluster_view *v)
{
	const int64_t *has = ledger_capacity(v->ledger);

	emit_object(e, "capacity");
	for (uint32_t i = 0; i < v->res.n; i++)
		if (has[v->res.v[i]] > 0)
			emit_amount(e, res_type_name(v->types, v->res.v[i]), v->res.v[i], has[v->res.v[i]]);
	emit_end(e);
}

/* What a session makes of the ledger is taken back by itself; the ledger is as it was. */
static enum err_code find_shares(const struct serve_world *w, struct decisions *ret, struct err *e)
{
	struct engine *own = NULL, *en = w->engine;

	if (!en)
		en = own = world_engine(w, e);
	if (!en)
		return ERR_INPUT;
	engine_fair_shares(en, w->now_ns, ret);
	if (own)
		engine_free(own);
	return ERR_OK;
}

static void write_queues(struct asking *a, const struct decisions *shares)
{
	struct cluster_view v;

	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "QueueList");
	emit_time(&a->e, "now", v.now_ns);
	emit_list(&a->e, "items");
	for (uint32_t i = 0; i < v.queues.n; i++) {
		emit_object(&a->e, NULL);
		view_emit_queue_fields(&a->e, &v, v.queues.v[i]);
		emit_share(&a->e, &v, shares, v.queues.v[i]);
		emit_end(&a->e);
	}
	emit_end(&a->e);
	emit_capacity(&a->e, &v);
	emit_end(&a->e);
	cluster_view_free(&v);
}

void answer_queues(struct asking *a)
{
	struct decisions shares = {.arena = arena_new(1 << 14)};
	struct err e = {0};

	if (find_shares(a->w, &shares, &e))
		refuse(a, 500, "%s", e.msg);
	else
		write_queues(a, &shares);
	arena_free(shares.arena);
}
