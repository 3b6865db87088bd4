/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/spread.h"

#include <pthread.h>
#include <stdbool.h>

struct spread_piece {
	spread_fn f;
	void *ctx;
	uint32_t i, from, to;
	pthread_t thread;
	bool has_thread;
};

static void *work(void *arg)
{
	const struct spread_piece *p = arg;

	p->f(p->ctx, p->i, p->from, p->to);
	return NULL;
}

uint32_t spread_pieces(uint32_t threads, uint32_t n, uint32_t least)
{
	uint32_t pieces = threads < SPREAD_MAX ? threads : SPREAD_MAX;

	if (pieces > n / least)
		pieces = n / least;
	return pieces ? pieces : 1;
}

void spread_run(uint32_t pieces, uint32_t n, spread_fn f, void *ctx)
{
	struct spread_piece p[SPREAD_MAX];

	for (uint32_t i = 0; i < pieces; i++) {
		p[i] = (struct spread_piece){.f = f,
					     .ctx = ctx,
					     .i = i,
					     .from = spread_begin(pieces, n, i),
					     .to = spread_begin(pieces, n, i + 1)};
		p[i].has_thread = i && !pthread_create(&p[i].thread, NULL, work, &p[i]);
	}
	for (uint32_t i = 0; i < pieces; i++) {
		if (p[i].has_thread)
			pthread_join(p[i].thread, NULL);
		else
			work(&p[i]);
	}
}
