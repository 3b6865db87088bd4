/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an API server, a plugin or a file may hold: list pages, watch lines, statuses, leases, credentials, kubeconfigs.
 * The first byte says what the rest is. A reflector that is fed anything never tells of an object twice, and forgets
 * all it knew.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kube/credentials.h"
#include "kube/feed.h"
#include "kube/lease.h"

static const struct kube_kind pods = {"Pod", "", {"v1", "v2"}, "pods", true};

struct sink {
	int64_t n_known;
	uint64_t last_id;
};

static uint64_t on_send(void *ctx, const struct kube_request *q)
{
	return ++((struct sink *)ctx)->last_id;
}

static void on_cancel(void *ctx, uint64_t request)
{
}

static void on_put(void *ctx, const struct kube_object *o)
{
	if (!*o->name || !*o->version || !o->tree)
		abort();
}

static void on_drop(void *ctx, const struct kube_object *o)
{
	if (!*o->name)
		abort();
}

static void on_synced(void *ctx, const struct kube_kind *k)
{
}

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
}

/* Answers one after the other: a byte for what it is, a byte for its length in sixteens. */
static void feed_reflector(const uint8_t *data, size_t n, bool may_stream)
{
	struct sink s = {0};
	struct kube_transport t = {on_send, on_cancel, &s};
	struct reflector_sink sink = {&s, on_put, on_drop, on_synced, on_trouble};
	struct reflector_options o = reflector_options_default();
	struct names *names = names_new();
	struct reflector *r;
	int64_t now_ns = 0;

	o.may_stream = may_stream;
	r = reflector_new(&pods, &o, names, &t, &sink, 1);
	reflector_start(r, now_ns);
	while (n >= 2) {
		static const int statuses[] = {200, 200, 200, 404, 410, 422, 500, 0};
		size_t len = (size_t)data[1] * 16 < n - 2 ? (size_t)data[1] * 16 : n - 2;
		struct kube_news news = {.request = s.last_id, .is_done = data[0] & 8, .status = statuses[data[0] & 7]};

		news.result = kube_result_of_status(news.status);
		text_add_n(&news.body, (const char *)data + 2, len);
		reflector_take(r, &news, now_ns);
		text_free(&news.body);
		now_ns += (data[0] >> 4) * NS_PER_S;
		reflector_tick(r, now_ns);
		data += 2 + len;
		n -= 2 + len;
	}
	reflector_free(r);
	if (names_count(names) != 0)
		abort();
	names_free(names);
}

static void read_lease(const char *s, size_t n)
{
	struct lease_options o = lease_options_default();
	struct kube_write w = {0};
	struct lease *l;
	uint64_t ticket;

	o.ns = o.name = o.identity = "x";
	l = lease_new(&o, 1);
	for (int64_t now = 0; now < 30 * NS_PER_S; now += NS_PER_S) {
		if (lease_ask(l, now, now, &w, &ticket))
			lease_answer(l, ticket, 200, s, n, now);
		kube_write_free(&w);
		if (lease_state(l) == LEASE_LEADING && strcmp(lease_holder(l), "x") != 0)
			abort();
	}
	lease_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kube_exec x = {.api = "client.authentication.k8s.io/v1", .command = "x"};
	const char *s = (const char *)data + 1;
	struct kube_config *config;
	struct identity id = {0};
	int64_t until_ns;

	if (!size)
		return 0;
	size--;
	switch (data[0] % 5) {
	case 0:
		feed_reflector(data + 1, size, false);
		break;
	case 1:
		feed_reflector(data + 1, size, true);
		break;
	case 2:
		if (!kube_config_parse("k", "/", s, size, NULL, &config, NULL))
			kube_config_free(config);
		break;
	case 3:
		if (!credentials_parse(&x, s, size, &id, &until_ns, NULL)) {
			secret_free(&id.token);
			secret_free(&id.cert);
			secret_free(&id.key);
		}
		break;
	default:
		read_lease(s, size);
	}
	return 0;
}
