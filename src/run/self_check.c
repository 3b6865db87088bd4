/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self check (SIGUSR1): is the cluster that is decided on the one that the API server has? A second cluster is
 * listed and followed beside it, and both are compared by what would be written of them. What is under way differs for
 * a moment, so a difference counts only if it stays.
 */
#include <stdio.h>

#include "run/daemon_internal.h"
#include "run/face.h"

#define PAUSE_NS NS_PER_S
enum { TRIES_MAX = 10 };

struct self_check {
	struct world *world;
	struct kube_feed *feed;
	int64_t at_ns; /* steady: of the next comparison */
	uint32_t tries;
};

void self_check_begin(struct daemon *d)
{
	struct kube_feed_options o = {.ns = "", .reflector = reflector_options_default()};
	struct kube_transport transport = kube_client_transport(d->client);
	static const struct feed_listener nobody;
	struct self_check *c;
	struct world *w = NULL;
	struct err e = {0};

	if (d->check)
		return;
	/* With the settings in force: what is there now may have been refused, or wait for its turn. */
	if (world_again(scheduler_world(d->scheduler), clock_now(&d->wall), &w, &e)) {
		lines_said(d, true, e.msg);
		return;
	}
	c = mem_alloc(sizeof(*c));
	c->world = w;
	c->at_ns = clock_now(&d->steady);
	c->feed = kube_feed_new(w->cluster, w->vocab, &o, &transport, &nobody, (uint64_t)c->at_ns);
	kube_feed_start(c->feed, c->at_ns);
	d->check = c;
}

void self_check_end(struct daemon *d)
{
	if (!d->check)
		return;
	kube_feed_free(d->check->feed);
	world_free(d->check->world);
	mem_free(d->check);
	d->check = NULL;
}

/* What is read now may have started since it was begun. */
static void set_now(const struct daemon *d)
{
	cluster_set_now(d->check->world->cluster, clock_now(&d->wall));
}

bool self_check_take(struct daemon *d, const struct kube_news *n)
{
	if (!d->check)
		return false;
	set_now(d);
	return kube_feed_take(d->check->feed, n, clock_now(&d->steady));
}

static void tell(struct daemon *d, uint32_t n, const char *words)
{
	struct text t = {0};

	if (n)
		text_printf(&t, "self check: %u objects are not known as they are: %s", n, words);
	else
		text_add(&t, "self check: the cluster is known as it is");
	lines_said(d, n != 0, text_str(&t));
	face_checked(d->face, n);
	text_free(&t);
}

static void compare(struct daemon *d, struct self_check *c, int64_t now_ns)
{
	struct text words = {0};
	uint32_t n = kube_feed_compare(scheduler_world(d->scheduler)->cluster, c->world->cluster, &words);

	c->at_ns = time_add(now_ns, PAUSE_NS);
	if (!n || ++c->tries >= TRIES_MAX) {
		tell(d, n, text_str(&words));
		self_check_end(d);
	}
	text_free(&words);
}

void self_check_tick(struct daemon *d)
{
	struct self_check *c = d->check;
	int64_t now_ns = clock_now(&d->steady);

	if (!c)
		return;
	set_now(d);
	kube_feed_tick(c->feed, now_ns);
	kube_feed_settle(c->feed);
	if (kube_feed_is_synced(c->feed) && scheduler_is_synced(d->scheduler) && now_ns >= c->at_ns)
		compare(d, c, now_ns);
}

int64_t self_check_next_ns(const struct daemon *d)
{
	int64_t next;

	if (!d->check)
		return INT64_MAX;
	next = kube_feed_next_ns(d->check->feed);
	return kube_feed_is_synced(d->check->feed) && d->check->at_ns < next ? d->check->at_ns : next;
}
