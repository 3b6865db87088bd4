/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow KUBECONFIG: follows a cluster as the scheduler does and answers questions about it, a line each:
 *
 *	sync		waits until every kind was listed
 *	check		compares what it knows with a fresh list: "same", or the differences
 *	count KIND GROUP	"3" objects known, or "absent"
 *	metrics		attempts, connections, objects put and dropped, troubles, refused
 *	fence SECONDS, bind NS/POD UID NODE, delete NS/POD UID VERSION
 *			writes, and what comes of them
 *	burst N		so many requests at once
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kube/feed.h"
#include "kube/snapshot.h"
#include "kube/write.h"
#include "manifest/fields.h"

struct follower {
	const char *kubeconfig;
	struct clock clock;
	struct vocab *vocab;
	struct cluster *cluster;
	struct kube_client *client;
	struct kube_feed *feed;
	unsigned n_troubles, n_refused;
	unsigned n_wanted, n_ok, n_failed; /* of a burst */
};

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
	((struct follower *)ctx)->n_troubles++;
	fprintf(stderr, "trouble: %s: %s\n", k->resource, words);
}

static void on_refused(void *ctx, const struct kube_object *o, const char *words)
{
	((struct follower *)ctx)->n_refused++;
	fprintf(stderr, "refused: %s %s/%s: %s\n", o->kind->kind, o->ns, o->name, words);
}

static enum err_code new_client(const char *path, struct kube_client **ret, struct err *e)
{
	struct kube_config_source src = kube_config_source_system(path, NULL);
	struct kube_client_options o = kube_client_options_default();
	struct kube_config *config;

	o.qps = 0;
	o.in_flight = 1000;
	TRY(kube_config_load(&src, &config, e));
	return kube_client_new(config, &o, ret, e);
}

static struct cluster_options options(void)
{
	struct cluster_options o = cluster_options_default();

	return o;
}

/* Everything that is there now; waits for some at most so long. */
static void turn(struct follower *f, int64_t wait_ns)
{
	struct kube_news *n;

	kube_client_wait(f->client, wait_ns);
	while ((n = kube_client_next(f->client))) {
		if (!kube_feed_take(f->feed, n, clock_now(&f->clock)) && n->is_done) {
			if (f->n_wanted) {
				f->n_ok += n->result == KUBE_OK;
				f->n_failed += n->result != KUBE_OK;
			} else if (n->ctx) {
				printf("%s %d %s\n", kube_result_text(n->result), n->status, n->error);
			}
		}
		kube_news_free(f->client, n);
	}
	kube_feed_tick(f->feed, clock_now(&f->clock));
	kube_feed_settle(f->feed);
}

static enum err_code check(struct follower *f, struct text *out, struct err *e)
{
	struct kube_snapshot_options so = {.ns = ""};
	struct cluster_options co = options();
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *fresh = NULL;
	struct kube_client *c = NULL;
	struct text notes = {0};
	enum err_code rc = new_client(f->kubeconfig, &c, e);

	if (!rc)
		rc = kube_snapshot(c, &so, m, &notes, e);
	if (!rc)
		rc = manifest_build(m, &co, &fresh, e);
	if (!rc)
		rc = ledger_check(cluster_ledger(f->cluster), e);
	if (!rc)
		kube_feed_compare(f->cluster, fresh, out);
	if (fresh)
		cluster_free(fresh);
	kube_client_free(c);
	manifest_free(m);
	vocab_free(v);
	text_free(&notes);
	return rc;
}

static void say_check(struct follower *f)
{
	struct text out = {0};
	struct err e = {0};

	if (check(f, &out, &e))
		printf("error: %s\n", e.msg);
	else if (out.n)
		printf("%s", text_str(&out));
	else
		printf("same\n");
	printf(".\n");
	text_free(&out);
}

static void say_count(const struct follower *f, const char *words)
{
	char kind[64] = "", group[64] = "";
	const struct reflector *r;

	if (sscanf(words, "%63s %63s", kind, group) < 1)
		return;
	r = kube_feed_reflector(f->feed, kind, group);
	if (!r || reflector_is_absent(r))
		printf("absent\n");
	else
		printf("%u\n", reflector_count(r));
}

static void say_metrics(const struct follower *f)
{
	struct kube_client_metrics m = kube_client_metrics(f->client);

	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", m.attempts, m.connections, kube_feed_event_count(f->feed),
	       f->n_troubles, f->n_refused);
}

static void burst(struct follower *f, unsigned n)
{
	f->n_wanted = n;
	f->n_ok = f->n_failed = 0;
	for (unsigned i = 0; i < n; i++)
		kube_client_send(
			f->client,
			&(struct kube_request){.method = "GET", .path = "/api/v1/namespaces/kube-system", .ctx = f});
	while (f->n_ok + f->n_failed < n)
		turn(f, NS_PER_S);
	f->n_wanted = 0;
	printf("%u %u %" PRIu64 "\n", f->n_ok, f->n_failed, kube_client_metrics(f->client).connections);
}

static void send_write(struct follower *f, const char *verb, const char *words)
{
	char ns[80], pod[80], a[80] = "", b[80] = "";
	struct kube_write w = {0};

	if (sscanf(words, "%79[^/]/%79s %79s %79s", ns, pod, a, b) < 3)
		return;
	if (str_eq(verb, "bind"))
		write_bind(&w, ns, pod, a, b);
	else
		write_delete(&w, ns, pod, a, b, -1);
	kube_write_send(f->client, &w, f);
}

static bool obey(struct follower *f, char *line)
{
	char *words = line + strcspn(line, " \n");

	if (*words)
		*words++ = '\0';
	words[strcspn(words, "\n")] = '\0';
	if (str_eq(line, "sync")) {
		while (!kube_feed_is_synced(f->feed))
			turn(f, NS_PER_S / 10);
		printf("synced\n");
	} else if (str_eq(line, "check")) {
		say_check(f);
	} else if (str_eq(line, "count")) {
		say_count(f, words);
	} else if (str_eq(line, "metrics")) {
		say_metrics(f);
	} else if (str_eq(line, "burst")) {
		burst(f, (unsigned)strtoul(words, NULL, 10));
	} else if (str_eq(line, "fence")) {
		kube_client_fence(f->client, clock_now(&f->clock) + strtoll(words, NULL, 10) * NS_PER_S);
		printf("ok\n");
	} else if (str_eq(line, "bind") || str_eq(line, "delete")) {
		send_write(f, line, words);
	} else {
		return false;
	}
	return true;
}

static void run(struct follower *f)
{
	char line[400];
	size_t n = 0;

	for (;;) {
		struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				      {.fd = kube_client_fd(f->client), .events = POLLIN}};
		ssize_t got;

		poll(p, 2, 100);
		turn(f, 0);
		fflush(stdout);
		if (!p[0].revents)
			continue;
		got = read(STDIN_FILENO, line + n, sizeof(line) - 1 - n);
		if (got <= 0)
			return;
		n += (size_t)got;
		line[n] = '\0';
		if (!strchr(line, '\n'))
			continue;
		if (!obey(f, line))
			return;
		fflush(stdout);
		n = 0;
	}
}

int main(int argc, char **argv)
{
	struct follower f = {.kubeconfig = argc > 1 ? argv[1] : NULL, .clock = clock_steady(), .vocab = vocab_new()};
	struct cluster_options co = options();
	struct kube_feed_options fo = {.ns = "kube-system", .reflector = reflector_options_default()};
	struct feed_listener listener = {.ctx = &f, .trouble = on_trouble, .refused = on_refused};
	struct kube_transport t;
	struct err e = {0};

	if (new_client(f.kubeconfig, &f.client, &e)) {
		fprintf(stderr, "follow: %s\n", e.msg);
		return 2;
	}
	fo.reflector.absent_ns = NS_PER_S;
	t = kube_client_transport(f.client);
	f.cluster = cluster_new(f.vocab, &co);
	f.feed = kube_feed_new(f.cluster, f.vocab, &fo, &t, &listener, 1);
	kube_feed_start(f.feed, clock_now(&f.clock));
	run(&f);
	kube_feed_free(f.feed);
	kube_client_free(f.client);
	cluster_free(f.cluster);
	vocab_free(f.vocab);
	return 0;
}
