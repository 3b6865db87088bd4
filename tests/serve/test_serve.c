/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: what it lets in, who answers, and what becomes of those who wait. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "serve/http.h"
#include "serve/serve.h"

struct world { /* a server with a thread that plays the cluster's */
	struct serve *serve;
	struct serve_log *log;
	struct metrics *metrics;
	pthread_t thread;
	pthread_mutex_t turn;
	_Atomic bool is_over, is_busy; /* busy: nobody takes anything out */
	_Atomic int n_handled, n_asked;
};

static void handle(void *ctx, struct serve_request *r)
{
	struct world *w = ctx;
	struct text body = {0};
	const char *q = serve_query(r, "queue");

	w->n_handled++;
	if (str_eq(serve_path(r), "/api/v1/plan")) {
		serve_reply_error(r, 404, "no plan \"%s\"", "here");
		return;
	}
	text_printf(&body, "%s queue=%s body=%s", serve_path(r), q ? q : "-", text_str(serve_body(r)));
	serve_reply(r, 200, "application/json", &body);
}

static enum serve_access judge(void *ctx, const char *token, const char *method, const char *path)
{
	((struct world *)ctx)->n_asked++;
	if (str_eq(token, "good"))
		return str_eq(path, "/metrics") ? ACCESS_FORBIDDEN : ACCESS_ALLOWED;
	return str_eq(token, "later") ? ACCESS_TROUBLE : ACCESS_UNKNOWN;
}

static void *be_cluster(void *ctx)
{
	struct world *w = ctx;

	while (!w->is_over) {
		struct pollfd p = {.fd = serve_fd(w->serve), .events = POLLIN};

		poll(&p, w->is_busy ? 0 : 1, 20);
		pthread_mutex_lock(&w->turn);
		if (!w->is_busy)
			serve_answer_pending(w->serve);
		pthread_mutex_unlock(&w->turn);
	}
	return NULL;
}

static void set_busy(struct world *w, bool is_busy)
{
	pthread_mutex_lock(&w->turn);
	w->is_busy = is_busy;
	pthread_mutex_unlock(&w->turn);
}

static struct world *begin(const char *listen)
{
	static const struct serve_file files[] = {{"/index.html", "text/html; charset=utf-8", "<p>hello", 8}};
	struct world *w = calloc(1, sizeof(*w));
	struct err e = {0};

	pthread_mutex_init(&w->turn, NULL);
	w->metrics = metrics_new();
	w->log = serve_log_new(1000000000, 8, 0);
	struct serve_options o = {.listen = listen,
				  .files = files,
				  .n_files = 1,
				  .metrics = w->metrics,
				  .log = w->log,
				  .ctx = w,
				  .handle = handle,
				  .authorize = serve_is_local(listen) ? NULL : judge,
				  .reply_ns = 2 * NS_PER_S,
				  .max_body = 1000};
	if (serve_start(&o, &w->serve, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(pthread_create(&w->thread, NULL, be_cluster, w), 0);
	return w;
}

static void end(struct world *w)
{
	w->is_over = true;
	pthread_join(w->thread, NULL);
	serve_stop(w->serve);
	serve_log_free(w->log);
	metrics_free(w->metrics);
	free(w);
}

static struct http_answer ask(struct world *w, const char *method, const char *path, const char *header,
			      const char *body)
{
	return http_ask(serve_url(w->serve), method, path, header, body);
}

static void check(struct world *w, const char *name, struct http_answer a, long status, const char *has)
{
	if (a.status != status || (has && !strstr(text_str(&a.body), has)))
		fail_msg("%s: %ld instead of %ld, '%s'", name, a.status, status, text_str(&a.body));
	text_free(&a.body);
	text_free(&a.headers);
}

static void CL_10_requests_are_answered_by_whom_they_concern(void **state)
{
	static char long_body[1100];
	memset(long_body, 'x', sizeof(long_body) - 1);
	const struct {
		const char *name, *method, *path, *header, *body;
		long status;
		const char *has;
	} rows[] = {
		{"the cluster's thread answers with what was asked", "GET", "/api/v1/pods?queue=root.a%20b", NULL, NULL,
		 200, "/api/v1/pods queue=root.a b"},
		{"a path below explain", "GET", "/api/v1/explain/ml/train-0", NULL, NULL, 200,
		 "/api/v1/explain/ml/train-0"},
		{"errors are JSON", "GET", "/api/v1/plan", NULL, NULL, 404, "\"message\": \"no plan \\\"here\\\"\""},
		{"it is alive when the cluster's thread is", "GET", "/livez", NULL, NULL, 200, "ok"},
		{"metrics", "GET", "/metrics", NULL, NULL, 200, "# TYPE process_open_fds gauge"},
		{"a page", "GET", "/", NULL, NULL, 200, "<p>hello"},
		{"a page that is not there", "GET", "/x.js", NULL, NULL, 404, "nothing under this path"},
		{"no way out of the folder", "GET", "/../../etc/passwd", NULL, NULL, 404, NULL},
		{"what is below a path that has nothing below it", "GET", "/api/v1/pods/x", NULL, NULL, 404, NULL},
		{"nothing is written", "POST", "/api/v1/pods", NULL, "x", 405, "nothing is changed"},
		{"nothing is deleted", "DELETE", "/api/v1/pods", NULL, NULL, 405, "nothing is changed"},
		{"but questions may have a body", "POST", "/api/v1/whatif", NULL, "a: b", 200, "body=a: b"},
		{"which is not endless", "POST", "/api/v1/whatif", NULL, long_body, 413, "too long"},
		{"and are not asked with GET", "GET", "/api/v1/whatif", NULL, NULL, 405, "POST only"},
		{"a name that leads here through somebody else's DNS", "GET", "/api/v1/pods", "Host: evil.example",
		 NULL, 403, "another machine"},
		{"a name that only begins like ours", "GET", "/api/v1/pods", "Host: localhost.evil.example", NULL, 403,
		 NULL},
		{"an address that only begins like ours", "GET", "/api/v1/pods", "Host: 127.0.0.1.evil.example", NULL,
		 403, NULL},
		{"this machine by another name", "GET", "/livez", "Host: LOCALHOST:1", NULL, 200, NULL},
		{"another site's page", "POST", "/api/v1/whatif", "Sec-Fetch-Site: cross-site", "x", 403,
		 "other sites"},
		{"decisions since a number that is none", "GET", "/api/v1/decisions?since=x", NULL, NULL, 400, "since"},
		{"too many decisions at once", "GET", "/api/v1/decisions?limit=100000", NULL, NULL, 400, "limit"},
	};
	struct world *w = begin("127.0.0.1:0");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(w, rows[i].name, ask(w, rows[i].method, rows[i].path, rows[i].header, rows[i].body),
		      rows[i].status, rows[i].has);
	assert_true(metrics_get(w->metrics, METRIC_HTTP_REQUESTS, METRIC_LABELS("/api/v1/explain/", "200")) == 1);
	end(w);
}

static void CL_10_answers_cannot_be_used_by_other_pages(void **state)
{
	static const char *const headers[] = {"Content-Security-Policy: default-src 'none'",
					      "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
					      "Cache-Control: no-store"};
	struct world *w = begin("127.0.0.1:0");
	struct http_answer a = ask(w, "HEAD", "/api/v1/pods", NULL, NULL);

	assert_int_equal(a.status, 200);
	assert_int_equal(a.body.n, 0);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (!strstr(text_str(&a.headers), headers[i]))
			fail_msg("no '%s' in '%s'", headers[i], text_str(&a.headers));
	assert_null(strstr(text_str(&a.headers), "Access-Control-Allow-Origin"));
	text_free(&a.headers);
	end(w);
}

static void a_busy_scheduler_is_waited_for_and_then_given_up(void **state)
{
	struct world *w = begin("127.0.0.1:0");

	set_busy(w, true);
	check(w, "a view", ask(w, "GET", "/api/v1/pods", NULL, NULL), 503, "no answer in time");
	check(w, "metrics come all the same", ask(w, "GET", "/metrics", NULL, NULL), 200, "process_open_fds");
	check(w, "pages too", ask(w, "GET", "/", NULL, NULL), 200, "hello");
	check(w, "and decisions", ask(w, "GET", "/api/v1/decisions", NULL, NULL), 200, "DecisionList");
	set_busy(w, false);
	check(w, "afterwards all is well", ask(w, "GET", "/api/v1/pods", NULL, NULL), 200, NULL);
	assert_int_equal(w->n_handled, 1); /* nobody worked for those who were given up */
	set_busy(w, true);
	check(w, "asleep", ask(w, "GET", "/livez", NULL, NULL), 503, NULL);
	end(w);
}

static void CL_10_others_need_a_token_and_a_secret_channel(void **state)
{
	static const struct {
		const char *name, *path, *header;
		long status;
	} rows[] = {
		{"nobody", "/api/v1/pods", NULL, 401},
		{"nobody, but is it alive?", "/livez", NULL, 200},
		{"nobody, but is it ready?", "/readyz", NULL, 200},
		{"nobody, but may see the page, which knows nothing", "/", NULL, 200},
		{"another kind of secret", "/api/v1/pods", "Authorization: Basic Z29vZA==", 401},
		{"an empty token", "/api/v1/pods", "Authorization: Bearer ", 401},
		{"a token nobody knows", "/api/v1/pods", "Authorization: Bearer bad", 401},
		{"a token that is known", "/api/v1/pods", "Authorization: Bearer good", 200},
		{"once more", "/api/v1/pods", "Authorization: bearer good", 200},
		{"who may not see this", "/metrics", "Authorization: Bearer good", 403},
		{"nobody could be asked", "/api/v1/pods", "Authorization: Bearer later", 503},
		{"any name of the machine will do", "/livez", "Host: gpu-1.example", 200},
	};
	struct world *w = begin("0.0.0.0:0");

	assert_true(str_starts(serve_url(w->serve), "https://"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(w, rows[i].name, ask(w, "GET", rows[i].path, rows[i].header, NULL), rows[i].status, NULL);
	assert_int_equal(w->n_asked, 4); /* answers are kept, but not that there was none */
	end(w);
}

static void CL_10_where_it_may_listen(void **state)
{
	static const struct {
		const char *listen, *says;
	} rows[] = {
		{"127.0.0.1", "expected HOST:PORT"},
		{"127.0.0.1:x", "expected HOST:PORT"},
		{"127.0.0.1:99999", "expected a port"},
		{"::1:80", "stands in brackets"},
		{"0.0.0.0:0", "nobody here can say who they are"},
		{":0", "nobody here can say who they are"},
		{"203.0.113.7:1", "nobody here can say who they are"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct serve_options o = {.listen = rows[i].listen, .handle = handle};
		struct serve *s = NULL;
		struct err e = {0};

		assert_int_not_equal(serve_start(&o, &s, &e), ERR_OK);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("%s: %s", rows[i].listen, e.msg);
	}
	assert_true(serve_is_local("localhost:1") && serve_is_local("127.9.9.9:1") && serve_is_local("[::1]:1"));
	assert_false(serve_is_local("0.0.0.0:1") || serve_is_local(":1") || serve_is_local("10.0.0.1:1"));
}

static void the_log_says_what_was_missed(void **state)
{
	struct world *w = begin("127.0.0.1:0"); /* numbers begin after 1000000, eight entries are kept */

	for (int i = 1; i <= 3; i++)
		serve_log_add(w->log, "decision", 0, "{\"n\":\n1}\n");
	serve_log_add(w->log, "leader", 0, "{}");
	check(w, "all of it", ask(w, "GET", "/api/v1/decisions?since=1000000", NULL, NULL), 200,
	      "\"complete\": true, \"items\": [\n  {\"id\": 1000001, \"at\": \"1970-01-01T00:00:00Z\", \"decision\": "
	      "{\"n\": 1}},");
	check(w, "a page", ask(w, "GET", "/api/v1/decisions?since=1000000&limit=2", NULL, NULL), 200,
	      "\"next\": 1000002, \"more\": true");
	check(w, "the next", ask(w, "GET", "/api/v1/decisions?since=1000002&limit=2", NULL, NULL), 200,
	      "\"next\": 1000004, \"more\": false");
	check(w, "from a process before this one", ask(w, "GET", "/api/v1/decisions?since=999999", NULL, NULL), 200,
	      "\"complete\": false");
	check(w, "a number that was never given", ask(w, "GET", "/api/v1/decisions?since=9000000", NULL, NULL), 200,
	      "\"complete\": false, \"items\": [\n  {\"id\": 1000001");
	for (int i = 0; i < 8; i++)
		serve_log_add(w->log, "decision", 0, "{}");
	check(w, "too long ago", ask(w, "GET", "/api/v1/decisions?since=1000003", NULL, NULL), 200,
	      "\"complete\": false, \"items\": [\n  {\"id\": 1000005");
	check(w, "just in time", ask(w, "GET", "/api/v1/decisions?since=1000004", NULL, NULL), 200,
	      "\"complete\": true");
	end(w);
}

static void *add_later(void *log)
{
	struct timespec t = {.tv_nsec = 400000000};

	nanosleep(&t, NULL);
	serve_log_add(log, "decision", 0, "{\"late\": true}");
	return NULL;
}

static void follow(struct world *w, const char *name, const char *path, const char *header, const char *has)
{
	http_enough = has;
	check(w, name, ask(w, "GET", path, header, NULL), 200, has);
	http_enough = NULL;
}

static void events_go_on_where_they_ended(void **state)
{
	struct world *w = begin("127.0.0.1:0");
	pthread_t t;

	serve_log_add(w->log, "decision", 0, "{\"n\": 1}");
	serve_log_add(w->log, "leader", 0, "{\"n\": 2}");
	follow(w, "after the first", "/api/v1/events", "Last-Event-ID: 1000001",
	       "retry: 2000\n\nid: 1000002\nevent: leader\ndata: {\"n\": 2}\n\n");
	follow(w, "after a restart", "/api/v1/events", "Last-Event-ID: 31",
	       "retry: 2000\n\nid: 1000000\nevent: reset\ndata: {}\n\nid: 1000001\nevent: decision\ndata: {\"n\": "
	       "1}\n\n");
	follow(w, "nonsense", "/api/v1/events?since=abc", NULL, "event: reset");
	pthread_create(&t, NULL, add_later, w->log);
	follow(w, "what happens while one listens", "/api/v1/events?since=1000002", NULL,
	       "retry: 2000\n\nid: 1000003\nevent: decision\ndata: {\"late\": true}\n\n");
	pthread_join(t, NULL);
	end(w);
}

static void *ask_events(void *ctx)
{
	struct http_answer a = ask(ctx, "GET", "/api/v1/events", NULL, NULL);

	text_free(&a.body);
	text_free(&a.headers);
	return NULL;
}

static void *ask_pods(void *ctx)
{
	check(ctx, "stopped", ask(ctx, "GET", "/api/v1/pods", NULL, NULL), 503, NULL);
	return NULL;
}

static void stopping_leaves_nobody_waiting(void **state)
{
	struct world *w = begin("127.0.0.1:0");
	struct timespec t = {.tv_nsec = 300000000};
	pthread_t waiting[6];

	set_busy(w, true);
	for (int i = 0; i < 6; i++)
		pthread_create(&waiting[i], NULL, i < 3 ? ask_pods : ask_events, w);
	nanosleep(&t, NULL);
	w->is_over = true;
	pthread_join(w->thread, NULL);
	serve_stop(w->serve);
	w->serve = NULL;
	for (int i = 0; i < 6; i++)
		pthread_join(waiting[i], NULL);
	serve_log_add(w->log, "decision", 0, "{}"); /* nobody listens any more */
	serve_log_free(w->log);
	metrics_free(w->metrics);
	free(w);
}

static void *ask_often(void *ctx)
{
	for (int i = 0; i < 30; i++)
		check(ctx, "one of many", ask(ctx, "GET", "/api/v1/pods", NULL, NULL), 200, NULL);
	return NULL;
}

static void many_ask_at_once(void **state)
{
	struct world *w = begin("[::1]:0");
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, ask_often, w);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(w->n_handled, 240);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_10_requests_are_answered_by_whom_they_concern),
		cmocka_unit_test(CL_10_answers_cannot_be_used_by_other_pages),
		cmocka_unit_test(a_busy_scheduler_is_waited_for_and_then_given_up),
		cmocka_unit_test(CL_10_others_need_a_token_and_a_secret_channel),
		cmocka_unit_test(CL_10_where_it_may_listen),
		cmocka_unit_test(the_log_says_what_was_missed),
		cmocka_unit_test(events_go_on_where_they_ended),
		cmocka_unit_test(stopping_leaves_nobody_waiting),
		cmocka_unit_test(many_ask_at_once),
	};
	int rc;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	curl_global_cleanup();
	return rc;
}
