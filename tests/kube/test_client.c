/* SPDX-License-Identifier: Apache-2.0 */
/* CL_6: whatever the server answers, a request ends once, in time, and with the right word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kube/client.h"
#include "scripted_server.h"

#define OK_EMPTY "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
#define STATUS(code, more) \
	"HTTP/1.1 " code " X\r\n" more "Content-Length: 29\r\n\r\n{\"message\":\"as \\\"they\\\" say\"}"
#define MS INT64_C(1000000)

static struct kube_client_options quick(void)
{
	struct kube_client_options o = kube_client_options_default();

	o.pause_ns = 5 * MS;
	o.max_pause_ns = 20 * MS;
	o.max_body = 1 << 16;
	o.max_line = 1 << 16;
	return o;
}

static struct kube_client *client_of(const char *server, const struct kube_client_options *o, const char *user)
{
	char text[600];
	struct kube_config *config;
	struct kube_client *c;
	struct err e;
	int n = snprintf(text, sizeof(text),
			 "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
			 "clusters: [{name: c, cluster: {server: '%s'}}]\nusers: [{name: u, user: {%s}}]\n",
			 server, user);

	if (kube_config_parse("test", "/tmp", text, (size_t)n, NULL, &config, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(kube_client_new(config, o, &c, &e), ERR_OK);
	return c;
}

static struct kube_client *client_to(const struct scripted_server *s, const struct kube_client_options *o)
{
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s->port);
	return client_of(url, o, "token: hush-hush");
}

static const struct {
	const char *name;
	struct answer script[4];
	unsigned n;
	struct kube_request request; /* method and path are filled in */
	enum kube_result result;
	int status;
	uint32_t attempts;
	bool is_unknown;
	const char *says; /* in the error; NULL: none */
} rows[] = {
	{"200 is an answer", {{.bytes = OK_EMPTY}}, 1, {0}, KUBE_OK, 200, 1, false, NULL},
	{"409 is a conflict and not tried again",
	 {{.bytes = STATUS("409", "")}},
	 1,
	 {0},
	 KUBE_CONFLICT,
	 409,
	 1,
	 false,
	 "as \"they\" say"},
	{"404 is gone", {{.bytes = STATUS("404", "")}}, 1, {0}, KUBE_GONE, 404, 1, false, "404"},
	{"410 is gone", {{.bytes = STATUS("410", "")}}, 1, {0}, KUBE_GONE, 410, 1, false, "410"},
	{"403 is forbidden", {{.bytes = STATUS("403", "")}}, 1, {0}, KUBE_FORBIDDEN, 403, 1, false, "403"},
	{"422 will never go", {{.bytes = STATUS("422", "")}}, 1, {0}, KUBE_FATAL, 422, 1, false, "422"},
	{"401 is tried once more, with fresh credentials",
	 {{.bytes = STATUS("401", "")}, {.bytes = STATUS("401", "")}, {.bytes = OK_EMPTY}},
	 3,
	 {0},
	 KUBE_FORBIDDEN,
	 401,
	 2,
	 false,
	 "401"},
	{"429 is tried again",
	 {{.bytes = STATUS("429", "")}, {.bytes = OK_EMPTY}},
	 2,
	 {0},
	 KUBE_OK,
	 200,
	 2,
	 false,
	 NULL},
	{"429 to the end is throttled",
	 {{.bytes = STATUS("429", "")}, {.bytes = STATUS("429", "")}},
	 2,
	 {.attempts = 2},
	 KUBE_THROTTLED,
	 429,
	 2,
	 false,
	 "429"},
	{"429 with a Retry-After beyond the deadline ends at once",
	 {{.bytes = STATUS("429", "Retry-After: 60\r\n")}},
	 1,
	 {.timeout_ns = 5 * NS_PER_S},
	 KUBE_THROTTLED,
	 429,
	 1,
	 false,
	 "429"},
	{"500 is tried again",
	 {{.bytes = STATUS("500", "")}, {.bytes = OK_EMPTY}},
	 2,
	 {0},
	 KUBE_OK,
	 200,
	 2,
	 false,
	 NULL},
	{"503 and 504 are tried again",
	 {{.bytes = STATUS("503", "")}, {.bytes = STATUS("504", "")}, {.bytes = OK_EMPTY}},
	 3,
	 {0},
	 KUBE_OK,
	 200,
	 3,
	 false,
	 NULL},
	{"500 to the end can be tried later",
	 {{.bytes = STATUS("500", "")}},
	 1,
	 {.attempts = 1},
	 KUBE_RETRYABLE,
	 500,
	 1,
	 false,
	 "500"},
	{"a connection that ends without a word is tried again",
	 {{.bytes = NULL}, {.bytes = OK_EMPTY}},
	 2,
	 {0},
	 KUBE_OK,
	 200,
	 2,
	 false,
	 NULL},
	{"no answer at all: nobody knows whether it was done",
	 {{.bytes = NULL}},
	 1,
	 {.attempts = 1},
	 KUBE_RETRYABLE,
	 0,
	 1,
	 true,
	 "127.0.0.1"},
	{"an answer that is cut off is none",
	 {{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":"}},
	 1,
	 {.attempts = 1},
	 KUBE_RETRYABLE,
	 200,
	 1,
	 true,
	 "127.0.0.1"},
	{"garbage instead of HTTP is none",
	 {{.bytes = "\x01\x02 what\r\n\r\n"}},
	 1,
	 {.attempts = 1},
	 KUBE_RETRYABLE,
	 0,
	 1,
	 true,
	 "127.0.0.1"},
	{"silence ends after the idle time",
	 {{.hangs = true}},
	 1,
	 {.attempts = 1, .idle_ns = 300 * MS},
	 KUBE_RETRYABLE,
	 0,
	 1,
	 true,
	 "no word from the server"},
	{"silence is tried again on another connection",
	 {{.hangs = true}, {.bytes = OK_EMPTY}},
	 2,
	 {.idle_ns = 300 * MS},
	 KUBE_OK,
	 200,
	 2,
	 false,
	 NULL},
	{"all attempts together end at the deadline",
	 {{.hangs = true}},
	 1,
	 {.timeout_ns = 400 * MS},
	 KUBE_RETRYABLE,
	 0,
	 1,
	 true,
	 "127.0.0.1"},
	{"an answer beyond all limits is refused",
	 {{.bytes = "HTTP/1.1 200 OK\r\n\r\n", .repeat = 40}},
	 1,
	 {0},
	 KUBE_FATAL,
	 200,
	 1,
	 true,
	 "larger than any"},
	{"of an error only the beginning is kept",
	 {{.bytes = "HTTP/1.1 500 X\r\n\r\n", .repeat = 40}},
	 1,
	 {.attempts = 1},
	 KUBE_RETRYABLE,
	 500,
	 1,
	 false,
	 "500"},
	{"redirects are not followed",
	 {{.bytes = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"}},
	 1,
	 {0},
	 KUBE_FATAL,
	 302,
	 1,
	 false,
	 "302"},
};

static void CL_6_every_odd_answer_ends_with_the_right_word(void **state)
{
	struct kube_client_options o = quick();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scripted_server *s = server_start(rows[i].script, rows[i].n);
		struct kube_client *c = client_to(s, &o);
		struct kube_request r = rows[i].request;
		struct kube_news *n;

		r.method = "GET";
		r.path = "/api/v1/pods";
		n = kube_client_call(c, &r);
		if (n->result != rows[i].result || n->status != rows[i].status || n->attempts != rows[i].attempts ||
		    n->is_unknown != rows[i].is_unknown)
			fail_msg("%s: %s, status %d, %u attempts, %s: %s", rows[i].name, kube_result_text(n->result),
				 n->status, n->attempts, n->is_unknown ? "unknown" : "known", n->error);
		if (rows[i].says ? !strstr(n->error, rows[i].says) : n->error[0])
			fail_msg("%s: error \"%s\"", rows[i].name, n->error);
		if (strstr(n->error, "hush"))
			fail_msg("%s: a secret in \"%s\"", rows[i].name, n->error);
		kube_news_free(c, n);
		kube_client_free(c);
		server_stop(s);
	}
}

static void Retry_After_is_waited_for(void **state)
{
	static const struct answer script[] = {{.bytes = STATUS("503", "Retry-After: 1\r\n")}, {.bytes = OK_EMPTY}};
	struct scripted_server *s = server_start(script, 2);
	struct kube_client_options o = quick();
	struct kube_client *c = client_to(s, &o);
	struct kube_news *n = kube_client_call(c, &(struct kube_request){.method = "GET", .path = "/x"});

	assert_int_equal(n->result, KUBE_OK);
	assert_true(n->took_ns >= NS_PER_S);
	kube_news_free(c, n);
	kube_client_free(c);
	server_stop(s);
}

static void requests_are_written_as_asked(void **state)
{
	static const struct answer script[] = {{.bytes = OK_EMPTY, .stays = true}, {.bytes = OK_EMPTY}};
	struct scripted_server *s = server_start(script, 2);
	struct kube_client_options o = quick();
	struct kube_client *c = client_to(s, &o);
	struct kube_request r = {.method = "PATCH",
				 .path = "/api/v1/namespaces/a/pods/b/status",
				 .content_type = "application/strategic-merge-patch+json",
				 .body = "{\"status\":{}}",
				 .body_len = 13,
				 .is_write = true};
	struct kube_news *n;

	kube_client_fence(c, INT64_MAX);
	n = kube_client_call(c, &r);
	assert_int_equal(n->result, KUBE_OK);
	kube_news_free(c, n);
	assert_non_null(strstr(s->asked[0], "PATCH /api/v1/namespaces/a/pods/b/status HTTP/1.1\r\n"));
	assert_non_null(strstr(s->asked[0], "Authorization: Bearer hush-hush\r\n"));
	assert_non_null(strstr(s->asked[0], "Content-Type: application/strategic-merge-patch+json\r\n"));
	assert_non_null(strstr(s->asked[0], "Accept: application/json\r\n"));
	assert_null(strstr(s->asked[0], "Expect:"));
	assert_non_null(strstr(s->asked[0], "\r\n\r\n{\"status\":{}}"));
	r.is_brief = true; /* metadata will do, and everything is taken all the same */
	n = kube_client_call(c, &r);
	assert_int_equal(n->result, KUBE_OK);
	kube_news_free(c, n);
	assert_non_null(
		strstr(s->asked[1],
		       "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json\r\n"));
	kube_client_free(c);
	server_stop(s);
}

static void CL_4_nothing_is_written_beyond_the_fence(void **state)
{
	static const struct answer script[] = {{.hangs = true}};
	struct scripted_server *s = server_start(script, 1);
	struct kube_client_options o = quick();
	struct kube_client *c = client_to(s, &o);
	struct clock clock = clock_steady();
	struct kube_request r = {.method = "DELETE", .path = "/x", .is_write = true};
	struct kube_news *n = kube_client_call(c, &r);

	assert_int_equal(n->result, KUBE_FENCED); /* nobody opened it */
	assert_int_equal(n->attempts, 0);
	kube_news_free(c, n);

	kube_client_fence(c, clock_now(&clock) + 300 * MS);
	n = kube_client_call(c, &r); /* begun in time, and broken off */
	assert_int_equal(n->result, KUBE_FENCED);
	assert_int_equal(n->attempts, 1);
	assert_true(n->is_unknown);
	assert_true(n->took_ns < 2 * NS_PER_S);
	kube_news_free(c, n);

	n = kube_client_call(c, &r);
	assert_int_equal(n->result, KUBE_FENCED);
	assert_int_equal(n->attempts, 0);
	kube_news_free(c, n);
	assert_int_equal(server_n_asked(s), 1);
	kube_client_free(c);
	server_stop(s);
}

/* ---- streams ---- */

#define STREAM "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n"

static const struct {
	const char *name;
	struct answer answer;
	int64_t idle_ns;
	const char *lines; /* all of them together */
	const char *rest;  /* the unfinished one */
	enum kube_result result;
	int status;
} streams[] = {
	{"lines come whole", {.bytes = STREAM "{1}\n{2}\n"}, 0, "{1}\n{2}\n", "", KUBE_OK, 200},
	{"a line that is cut off is not handed out",
	 {.bytes = STREAM "{1}\n{\"half"},
	 0,
	 "{1}\n",
	 "{\"half",
	 KUBE_OK,
	 200},
	{"an error is an answer and no line",
	 {.bytes = STATUS("410", "")},
	 0,
	 "",
	 "{\"message\":\"as \\\"they\\\" say\"}",
	 KUBE_GONE,
	 410},
	{"a silent stream is given up",
	 {.bytes = STREAM "{1}\n", .hangs = true},
	 300 * MS,
	 "{1}\n",
	 "",
	 KUBE_RETRYABLE,
	 200},
	{"a line without end is given up",
	 {.bytes = STREAM "{1}\n", .repeat = 40},
	 0,
	 "{1}\n",
	 NULL,
	 KUBE_RETRYABLE,
	 200},
	{"chunks that are none are an error",
	 {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{1}\n\r\nzzz"},
	 0,
	 "{1}\n",
	 "",
	 KUBE_RETRYABLE,
	 200},
};

static void CL_6_streams_hand_out_whole_lines_only(void **state)
{
	struct kube_client_options o = quick();

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct scripted_server *s = server_start(&streams[i].answer, 1);
		struct kube_client *c = client_to(s, &o);
		struct kube_request r = {.method = "GET",
					 .path = "/watch",
					 .is_stream = true,
					 .attempts = 1,
					 .idle_ns = streams[i].idle_ns};
		struct text lines = {0};
		struct kube_news *n;
		bool is_done = false;

		kube_client_send(c, &r);
		while (!is_done) {
			n = kube_client_next(c);
			if (!n) {
				assert_true(kube_client_wait(c, 20 * NS_PER_S));
				continue;
			}
			is_done = n->is_done;
			if (!is_done)
				text_add_n(&lines, n->body.s, n->body.n);
			else if (n->result != streams[i].result || n->status != streams[i].status ||
				 (streams[i].rest && !str_eq(text_str(&n->body), streams[i].rest)))
				fail_msg("%s: %s %d, rest '%.100s': %s", streams[i].name, kube_result_text(n->result),
					 n->status, text_str(&n->body), n->error);
			kube_news_free(c, n);
		}
		if (!str_eq(text_str(&lines), streams[i].lines))
			fail_msg("%s: lines '%s'", streams[i].name, text_str(&lines));
		text_free(&lines);
		kube_client_free(c);
		server_stop(s);
	}
}

static void a_stream_that_nobody_reads_is_stopped_and_goes_on(void **state)
{
	enum { LINES = 4000 };
	struct kube_client_options o = quick();
	struct text body = {0};
	struct answer script = {0};
	struct scripted_server *s;
	struct kube_client *c;
	size_t n_lines = 0;
	bool is_done = false;

	o.max_queued = 1 << 16;
	text_add(&body, STREAM);
	for (int i = 0; i < LINES; i++) {
		text_pad(&body, 'y', 500);
		text_add_char(&body, '\n');
	}
	script.bytes = text_str(&body);
	s = server_start(&script, 1);
	c = client_to(s, &o);
	kube_client_send(c,
			 &(struct kube_request){.method = "GET", .path = "/watch", .is_stream = true, .attempts = 1});
	usleep(300000);
	assert_true(kube_client_metrics(c).lines < LINES);
	while (!is_done) {
		struct kube_news *n = kube_client_next(c);

		if (!n) {
			assert_true(kube_client_wait(c, 20 * NS_PER_S));
			continue;
		}
		is_done = n->is_done;
		if (is_done)
			assert_int_equal(n->result, KUBE_OK);
		for (size_t i = 0; !is_done && i < n->body.n; i++)
			n_lines += n->body.s[i] == '\n';
		kube_news_free(c, n);
	}
	assert_int_equal(n_lines, LINES);
	kube_client_free(c);
	server_stop(s);
	text_free(&body);
}

/* ---- many ---- */

static void cancelled_requests_end(void **state)
{
	static const struct answer script[] = {{.hangs = true}};
	struct scripted_server *s = server_start(script, 1);
	struct kube_client_options o = quick();
	struct kube_client *c = client_to(s, &o);
	uint64_t id = kube_client_send(c, &(struct kube_request){.method = "GET", .path = "/x"});
	struct kube_news *n;

	usleep(100000);
	kube_client_cancel(c, id);
	assert_true(kube_client_wait(c, 10 * NS_PER_S));
	n = kube_client_next(c);
	assert_int_equal(n->request, id);
	assert_int_equal(n->result, KUBE_CANCELLED);
	kube_news_free(c, n);
	kube_client_free(c);
	server_stop(s);
}

static void flow_control_spreads_requests_over_time(void **state)
{
	enum { N = 30 };
	struct answer script[N];
	struct scripted_server *s;
	struct kube_client_options o = quick();
	struct clock clock = clock_steady();
	int64_t start_ns;
	struct kube_client *c;
	int n_done = 0;

	for (int i = 0; i < N; i++)
		script[i] = (struct answer){.bytes = OK_EMPTY, .stays = true};
	s = server_start(script, N);
	o.qps = 50;
	o.burst = 10;
	c = client_to(s, &o);
	start_ns = clock_now(&clock);
	for (int i = 0; i < N; i++)
		kube_client_send(c, &(struct kube_request){.method = "GET", .path = "/x"});
	while (n_done < N) {
		struct kube_news *n = kube_client_next(c);

		if (!n) {
			assert_true(kube_client_wait(c, 20 * NS_PER_S));
			continue;
		}
		assert_int_equal(n->result, KUBE_OK);
		n_done++;
		kube_news_free(c, n);
	}
	assert_true(clock_now(&clock) - start_ns >= (N - 10) * NS_PER_S / 50 - 20 * MS);
	assert_int_equal(kube_client_metrics(c).requests, N);
	assert_int_equal(kube_client_metrics(c).results[KUBE_OK], N);
	kube_client_free(c);
	server_stop(s);
}

static void credentials_that_cannot_be_had_are_told(void **state)
{
	struct kube_client_options o = quick();
	struct kube_client *c = client_of("http://127.0.0.1:9", &o, "tokenFile: /nonexistent/token");
	struct kube_news *n = kube_client_call(c, &(struct kube_request){.method = "GET", .path = "/x"});

	assert_int_equal(n->result, KUBE_FORBIDDEN);
	assert_non_null(strstr(n->error, "/nonexistent/token: No such file"));
	kube_news_free(c, n);
	kube_client_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_6_every_odd_answer_ends_with_the_right_word),
		cmocka_unit_test(Retry_After_is_waited_for),
		cmocka_unit_test(requests_are_written_as_asked),
		cmocka_unit_test(CL_4_nothing_is_written_beyond_the_fence),
		cmocka_unit_test(CL_6_streams_hand_out_whole_lines_only),
		cmocka_unit_test(a_stream_that_nobody_reads_is_stopped_and_goes_on),
		cmocka_unit_test(cancelled_requests_end),
		cmocka_unit_test(flow_control_spreads_requests_over_time),
		cmocka_unit_test(credentials_that_cannot_be_had_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
