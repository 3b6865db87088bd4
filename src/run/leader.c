/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which replica writes (CL-4). The client sends nothing after the time the lease allows (its fence, looked at right
 * before each send), and the fence is set from the lease after everything that happens to it.
 */
#include <unistd.h>

#include "run/daemon_internal.h"
#include "run/face.h"
#include "run/keep.h"

enum err_code leader_start(struct daemon *d, struct err *e)
{
	struct lease_options o = lease_options_default();

	(void)e;
	if (d->o->is_dry)
		return ERR_OK; /* no fence: nothing can be written */
	if (!d->o->lease_name) {
		kube_client_fence(d->client, INT64_MAX);
		return ERR_OK;
	}
	o.ns = d->o->lease_ns;
	o.name = d->o->lease_name;
	o.identity = d->identity;
	d->lease = lease_new(&o, (uint64_t)clock_now(&d->steady) ^ (uint64_t)getpid());
	return ERR_OK;
}

static void begin_to_lead(struct daemon *d)
{
	struct moment now = daemon_now(d);

	d->leads = true;
	keep_cluster_anew(d);
	scheduler_lead(d->scheduler, &now);
	lines_said(d, false, "it leads");
	face_leads(d->face);
}

/* Whatever was under way is not known any more: everything is looked at anew, and it stands by. */
static void stop_leading(struct daemon *d)
{
	struct text words = {0};
	struct world *w = NULL;
	struct err e = {0};

	d->leads = false;
	lines_said(d, true, "the lease is lost; it stands by");
	face_leads(d->face);
	if (!settings_build(d, &w, &e)) {
		daemon_follow(d, w);
		return;
	}
	/* Files that changed meanwhile: what was in force is not there any more. */
	text_printf(&words, "it ends, because its settings cannot be read any more: %s", e.msg);
	lines_said(d, true, text_str(&words));
	text_free(&words);
	d->has_failed = true;
}

static void follow_lease(struct daemon *d)
{
	enum lease_state state = lease_state(d->lease);

	kube_client_fence(d->client, lease_fence_ns(d->lease));
	if (state == LEASE_LEADING && !d->leads) {
		begin_to_lead(d);
	} else if (state == LEASE_LOST) {
		if (d->leads)
			stop_leading(d);
		lease_retry(d->lease, clock_now(&d->steady));
	}
}

bool leader_take(struct daemon *d, const struct kube_news *n)
{
	if (!d->lease || !d->lease_request || n->request != d->lease_request)
		return false;
	if (!n->is_done)
		return true;
	d->lease_request = 0;
	lease_answer(d->lease, d->lease_ticket, n->status, text_str(&n->body), n->body.n, clock_now(&d->steady));
	if (n->result == KUBE_FORBIDDEN)
		lines_said(d, true, n->error);
	follow_lease(d);
	return true;
}

static void send(struct daemon *d, struct kube_write *w)
{
	struct kube_request r = kube_write_request(w, NULL);

	r.is_write = false; /* the fence is what it is about */
	r.is_urgent = true;
	r.timeout_ns = 5 * NS_PER_S;
	d->lease_request = kube_client_send(d->client, &r);
	kube_write_free(w);
}

void leader_tick(struct daemon *d)
{
	struct kube_write w = {0};
	int64_t steady_ns = clock_now(&d->steady);

	if (!d->lease) {
		if (!d->leads && !d->o->is_dry && d->scheduler)
			begin_to_lead(d);
		return;
	}
	if (lease_ask(d->lease, steady_ns, clock_now(&d->wall), &w, &d->lease_ticket))
		send(d, &w);
	follow_lease(d);
}

int64_t leader_next_ns(const struct daemon *d)
{
	return d->lease ? lease_next_ns(d->lease) : INT64_MAX;
}

void leader_release(struct daemon *d)
{
	struct kube_write w = {0};
	int64_t until_ns = time_add(clock_now(&d->steady), 2 * NS_PER_S);

	kube_client_fence(d->client, INT64_MIN);
	if (!d->lease || !lease_release(d->lease, clock_now(&d->steady), clock_now(&d->wall), &w))
		return;
	send(d, &w);
	while (d->lease_request && clock_now(&d->steady) < until_ns) {
		struct kube_news *n;

		kube_client_wait(d->client, NS_PER_S / 10);
		while ((n = kube_client_next(d->client))) {
			if (n->request == d->lease_request && n->is_done)
				d->lease_request = 0;
			kube_news_free(d->client, n);
		}
	}
}
