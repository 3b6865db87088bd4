/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are made aside: by a copy of the process, while whoever decides goes on. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "serve/aside.h"
#include "serve/http.h"

struct world { /* a server with a thread that plays the cluster's */
	struct serve *serve;
	struct aside *aside;
	pthread_t thread;
	_Atomic bool is_over;
	_Atomic int n_moves; /* what the cluster's thread does meanwhile */
	struct serve_request *r;
	int nice;
};

/* What the path asks for, in the copy. */
static void make(void *ctx, struct answer *ret)
{
	struct world *w = ctx;
	const char *what = serve_query(w->r, "what");

	*ret = (struct answer){200, "application/json", {0}};
	if (!what)
		text_printf(&ret->body, "moves %d nicer by %d", w->n_moves, getpriority(PRIO_PROCESS, 0) - w->nice);
	else if (str_eq(what, "slow"))
		sleep(60);
	else if (str_eq(what, "waits"))
		usleep(1500000) /* longer than others may take */;
	else if (str_eq(what, "soon"))
		usleep(20000);
	else if (str_eq(what, "dies"))
		raise(SIGKILL);
	else if (str_eq(what, "exits"))
		_exit(0);
	else if (str_eq(what, "refuses"))
		ret->status = 404;
	else if (str_eq(what, "long"))
		text_pad(&ret->body, 'x', 3 << 20);
	else if (str_eq(what, "files"))
		text_printf(&ret->body, "listens %d", fcntl(serve_fd(w->serve), F_GETFD) >= 0);
}

static void handle(void *ctx, struct serve_request *r)
{
	struct world *w = ctx;
	struct text body = {0};

	if (!str_eq(serve_path(r), "/api/v1/plan")) {
		text_add(&body, "at once");
		serve_reply(r, 200, "application/json", &body);
		return;
	}
	w->r = r;
	aside_answer(w->aside, r, make, w);
	w->n_moves++;
}

static void *be_cluster(void *ctx)
{
	struct world *w = ctx;

	while (!w->is_over) {
		struct pollfd p = {.fd = serve_fd(w->serve), .events = POLLIN};

		poll(&p, 1, 20);
		serve_answer_pending(w->serve);
	}
	return NULL;
}

static struct world *begin(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct serve_options o = {
		.listen = "127.0.0.1:0", .ctx = w, .handle = handle, .reply_ns = NS_PER_S, .max_body = 1000};
	struct err e = {0};

	w->aside = aside_new(2 * NS_PER_S);
	w->nice = getpriority(PRIO_PROCESS, 0);
	if (serve_start(&o, &w->serve, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(pthread_create(&w->thread, NULL, be_cluster, w), 0);
	return w;
}

static void end(struct world *w)
{
	w->is_over = true;
	pthread_join(w->thread, NULL);
	aside_free(w->aside);
	serve_stop(w->serve);
	free(w);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
}

static void check(struct world *w, const char *path, long status, const char *has)
{
	struct http_answer a = http_ask(serve_url(w->serve), "GET", path, NULL, NULL);

	if (a.status != status || !strstr(text_str(&a.body), has))
		fail_msg("%s: %ld instead of %ld, '%.200s'", path, a.status, status, text_str(&a.body));
	text_free(&a.body);
	text_free(&a.headers);
}

static void what_was_so_when_it_was_asked_is_answered(void **state)
{
	struct world *w = begin();
	struct http_answer a;

	check(w, "/api/v1/plan", 200, "moves 0 nicer by 5");
	check(w, "/api/v1/plan", 200, "moves 1 nicer by 5");
	check(w, "/api/v1/plan?what=refuses", 404, "");
	a = http_ask(serve_url(w->serve), "GET", "/api/v1/plan?what=long", NULL, NULL);
	assert_int_equal(a.body.n, 3 << 20);
	text_free(&a.body);
	text_free(&a.headers);
	end(w);
}

static void connections_of_the_process_are_not_held_open(void **state)
{
	struct world *w = begin();

	check(w, "/api/v1/plan?what=files", 200, "listens 0");
	end(w);
}

static void one_that_ends_without_an_answer_is_told_of(void **state)
{
	struct world *w = begin();

	check(w, "/api/v1/plan?what=dies", 500, "was ended by signal 9");
	check(w, "/api/v1/plan?what=exits", 500, "ended without one");
	for (int i = 0; i < 2; i++) /* as many as there may be: they are ended, and not waited for */
		check(w, "/api/v1/plan?what=slow", 503, "no answer in time");
	check(w, "/api/v1/plan", 200, "moves 4");
	end(w);
}

static void *ask_waiting(void *w)
{
	check(w, "/api/v1/plan?what=waits", 200, "");
	return NULL;
}

static void CL_10_others_are_answered_meanwhile(void **state)
{
	struct world *w = begin();
	pthread_t askers[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&askers[i], NULL, ask_waiting, w), 0);
	while (w->n_moves < 2)
		usleep(1000);
	check(w, "/api/v1/pods", 200, "at once");
	for (int i = 0; i < 2; i++)
		pthread_join(askers[i], NULL);
	end(w);
}

static void *ask_soon(void *w)
{
	check(w, "/api/v1/plan?what=soon", 200, "");
	return NULL;
}

/* Two at a time, the others after them. */
static void whoever_comes_then_waits(void **state)
{
	struct world *w = begin();
	pthread_t askers[20];

	for (int i = 0; i < 20; i++)
		assert_int_equal(pthread_create(&askers[i], NULL, ask_soon, w), 0);
	for (int i = 0; i < 20; i++)
		pthread_join(askers[i], NULL);
	end(w);
}

static void *ask_ended(void *w)
{
	check(w, "/api/v1/plan?what=slow", 503, "the server is stopping");
	return NULL;
}

static void one_at_work_is_ended_with_the_server(void **state)
{
	struct world *w = begin();
	pthread_t asker;

	assert_int_equal(pthread_create(&asker, NULL, ask_ended, w), 0);
	while (w->n_moves < 1)
		usleep(1000);
	w->is_over = true;
	pthread_join(w->thread, NULL);
	aside_free(w->aside);
	pthread_join(asker, NULL);
	serve_stop(w->serve);
	free(w);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_so_when_it_was_asked_is_answered),
		cmocka_unit_test(connections_of_the_process_are_not_held_open),
		cmocka_unit_test(one_that_ends_without_an_answer_is_told_of),
		cmocka_unit_test(CL_10_others_are_answered_meanwhile),
		cmocka_unit_test(whoever_comes_then_waits),
		cmocka_unit_test(one_at_work_is_ended_with_the_server),
	};

	return cmocka_run_group_tests_name("aside", tests, NULL, NULL);
}
