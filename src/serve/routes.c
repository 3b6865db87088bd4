/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "serve/serve_internal.h"

enum { MAX_QUERY = 24, MAX_PATH = 1024, MAX_TOKEN = 16 << 10 };
#define METRICS_NS (2 * NS_PER_S)
#define LIVE_NS (20 * NS_PER_S)

static const struct route routes[] = {
	{"/livez", ROUTE_LIVE, true, false},
	{"/readyz", ROUTE_CLUSTER, true, false},
	{"/metrics", ROUTE_METRICS, false, false},
	{"/configz", ROUTE_CLUSTER, false, false},
	{"/api/v1/overview", ROUTE_CLUSTER, false, false},
	{"/api/v1/waiting", ROUTE_CLUSTER, false, false},
	{"/api/v1/nodes/map", ROUTE_CLUSTER, false, false},
	{"/api/v1/node", ROUTE_CLUSTER, false, false},
	{"/api/v1/queues/history", ROUTE_CLUSTER, false, false},
	{"/api/v1/settings", ROUTE_CLUSTER, false, false},
	{"/api/v1/reports", ROUTE_CLUSTER, false, false},
	{"/api/v1/reports/", ROUTE_CLUSTER, false, false},
	{"/api/v1/cluster", ROUTE_CLUSTER, false, false},
	{"/api/v1/queues", ROUTE_CLUSTER, false, false},
	{"/api/v1/nodes", ROUTE_CLUSTER, false, false},
	{"/api/v1/pods", ROUTE_CLUSTER, false, false},
	{"/api/v1/decisions", ROUTE_DECISIONS, false, false},
	{"/api/v1/timeline", ROUTE_DECISIONS, false, false},
	{"/api/v1/chain", ROUTE_DECISIONS, false, false},
	{"/api/v1/explain/", ROUTE_CLUSTER, false, false},
	{"/api/v1/plan", ROUTE_CLUSTER, false, false},
	{"/api/v1/events", ROUTE_EVENTS, false, false},
	{"/api/v1/whatif", ROUTE_CLUSTER, false, true},
};
/* The console knows nothing of the cluster until it asks; a browser that opens it cannot send a token. */
static const struct route file_route = {"/", ROUTE_FILE, true, false};

static const struct route *route_of(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		const char *p = routes[i].path;

		if (p[strlen(p) - 1] == '/' ? str_starts(path, p) : str_eq(path, p))
			return &routes[i];
	}
	return &file_route;
}

/* ---- answers ---- */

/*
 * The console loads scripts, styles and pictures from this server alone, sends nothing elsewhere and is shown in
 * nobody's frame.
 */
void serve_headers(struct MHD_Response *response, const char *type)
{
	static const char *const headers[][2] = {
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
		 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};

	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static void count(const struct serve_request *r, int status)
{
	struct serve *s = r->s;
	char code[16];

	snprintf(code, sizeof(code), "%d", status);
	metrics_add(s->o.metrics, METRIC_HTTP_REQUESTS, 1, METRIC_LABELS(r->route->path, code));
	metrics_observe(s->o.metrics, METRIC_HTTP_SECONDS, (double)(clock_now(&s->steady) - r->since_ns) / 1e9,
			METRIC_LABELS(r->route->path));
}

static void add_special_headers(const struct serve_request *r, struct MHD_Response *response)
{
	char id[24];

	switch (r->status) {
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, r->route->is_post ? "POST" : "GET, HEAD");
		break;
	case MHD_HTTP_UNAUTHORIZED:
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"cede\"");
		break;
	case MHD_HTTP_SERVICE_UNAVAILABLE:
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "5");
		break;
	default:
		break;
	}
	if (r->s->o.log && r->status == MHD_HTTP_OK && str_starts(r->route->path, "/api/")) {
		snprintf(id, sizeof(id), "%llu", (unsigned long long)serve_log_last(r->s->o.log));
		MHD_add_response_header(response, "Cede-Event-Id", id);
	}
}

/* An answered request: nobody else changes it any more. */
enum MHD_Result serve_send(struct serve_request *r)
{
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (r->route->kind == ROUTE_METRICS && r->status == MHD_HTTP_OK) {
		r->type = "text/plain; version=0.0.4; charset=utf-8";
		metrics_read_process(r->s->o.metrics);
		metrics_text(r->s->o.metrics, &r->answer);
	}
	response = MHD_create_response_from_buffer(r->answer.n, unconst(text_str(&r->answer)), MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	serve_headers(response, r->type);
	add_special_headers(r, response);
	count(r, r->status);
	rc = MHD_queue_response(r->connection, (unsigned)r->status, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result refuse(struct serve_request *r, int status, const char *words)
{
	pthread_mutex_lock(&r->s->lock);
	request_error(r, status, words);
	pthread_mutex_unlock(&r->s->lock);
	return serve_send(r);
}

static enum MHD_Result send_file(struct serve_request *r)
{
	const char *path = str_eq(r->path, "/") ? "/index.html" : r->path;
	struct MHD_Response *response;
	enum MHD_Result rc;

	for (uint32_t i = 0; i < r->s->o.n_files; i++) {
		const struct serve_file *f = &r->s->o.files[i];

		if (!str_eq(f->path, path))
			continue;
		response = MHD_create_response_from_buffer(f->n, unconst(f->bytes), MHD_RESPMEM_PERSISTENT);
		if (!response)
			return MHD_NO;
		serve_headers(response, f->type);
		count(r, MHD_HTTP_OK);
		rc = MHD_queue_response(r->connection, MHD_HTTP_OK, response);
		MHD_destroy_response(response);
		return rc;
	}
	return refuse(r, MHD_HTTP_NOT_FOUND, "there is nothing under this path");
}

static enum MHD_Result send_from_log(struct serve_request *r)
{
	struct text body = {0};
	int status = log_answer(r, &body);
	enum MHD_Result rc;

	if (status != MHD_HTTP_OK) {
		rc = refuse(r, status, text_str(&body));
		text_free(&body);
		return rc;
	}
	pthread_mutex_lock(&r->s->lock);
	request_answer(r, status, "application/json", &body);
	pthread_mutex_unlock(&r->s->lock);
	return serve_send(r);
}

/* ---- what to do with a request ---- */

static int64_t patience_ns(const struct serve_request *r)
{
	int64_t limit_ns = r->route->kind == ROUTE_METRICS ? METRICS_NS
			   : r->route->kind == ROUTE_LIVE  ? LIVE_NS
							   : INT64_MAX;

	return r->s->o.reply_ns < limit_ns ? r->s->o.reply_ns : limit_ns;
}

static enum MHD_Result wait_for_cluster(struct serve_request *r)
{
	struct serve *s = r->s;
	uint64_t one = 1;
	bool is_full;

	pthread_mutex_lock(&s->lock);
	is_full = s->queue.n >= MAX_QUEUED || s->is_stopping;
	if (!is_full) {
		r->until_ns = clock_now(&s->steady) + patience_ns(r);
		request_sleep(r, &s->queue, REQUEST_QUEUED);
		if (write(s->fd, &one, sizeof(one)) < 0)
			is_full = false; /* the counter is full, so the other side is awake */
	}
	pthread_mutex_unlock(&s->lock);
	return is_full ? refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests are waiting") : MHD_YES;
}

static enum MHD_Result dispatch(struct serve_request *r)
{
	switch (r->route->kind) {
	case ROUTE_FILE:
		return send_file(r);
	case ROUTE_DECISIONS:
		return r->s->o.log ? send_from_log(r) : refuse(r, MHD_HTTP_NOT_FOUND, "nothing is decided here");
	case ROUTE_EVENTS:
		return r->s->o.log ? stream_start(r) : refuse(r, MHD_HTTP_NOT_FOUND, "nothing happens here");
	case ROUTE_METRICS:
		if (!r->s->o.metrics)
			return refuse(r, MHD_HTTP_NOT_FOUND, "there are no metrics here");
		return wait_for_cluster(r);
	default:
		return wait_for_cluster(r);
	}
}

static enum MHD_Result ask_access(struct serve_request *r)
{
	const char *said = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	struct serve *s = r->s;
	bool is_full;

	if (!said || strncasecmp(said, "bearer ", 7) != 0 || !said[7] || strlen(said) > MAX_TOKEN)
		return refuse(r, MHD_HTTP_UNAUTHORIZED, "a bearer token is needed");
	r->token = mem_strdup(said + 7);
	pthread_mutex_lock(&s->lock);
	is_full = s->access.n >= MAX_QUEUED || s->is_stopping;
	if (!is_full) {
		r->until_ns = clock_now(&s->steady) + s->o.reply_ns;
		request_sleep(r, &s->access, REQUEST_ASKING);
		pthread_cond_signal(&s->asked);
	}
	pthread_mutex_unlock(&s->lock);
	return is_full ? refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests are waiting") : MHD_YES;
}

/* Of a request that may be served at all; NULL, or what is wrong with it. */
static const char *trouble_of(const struct serve_request *r, int *ret_status)
{
	const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const char *site = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
	bool is_get = str_eq(r->method, "GET") || str_eq(r->method, "HEAD");

	*ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
	if (r->route->is_post ? !str_eq(r->method, "POST") : !is_get)
		return r->route->is_post ? "POST only" : "GET and HEAD only: nothing is changed through this server";
	*ret_status = MHD_HTTP_FORBIDDEN;
	if (r->s->is_local && host && !host_is_local(host, r->s->host))
		return "the Host header names another machine";
	if (site && str_eq(site, "cross-site") && r->route->kind != ROUTE_FILE)
		return "pages of other sites may not ask";
	*ret_status = MHD_HTTP_CONTENT_TOO_LARGE;
	return r->is_too_long ? "the body is too long" : NULL;
}

static enum MHD_Result begin(struct serve_request *r)
{
	int status;
	const char *trouble = trouble_of(r, &status);

	if (trouble)
		return refuse(r, status, trouble);
	if (!r->s->o.authorize || r->route->is_open) { /* nobody to judge: only this machine can reach it */
		r->is_allowed = true;
		return dispatch(r);
	}
	return ask_access(r);
}

/* ---- from libmicrohttpd ---- */

static enum MHD_Result keep_query(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct serve_request *r = cls;
	struct query q = {mem_strdup(key), mem_strdup(value ? value : "")};

	array_push(&r->query, q);
	return r->query.n < MAX_QUERY ? MHD_YES : MHD_NO;
}

static struct serve_request *request_new(struct serve *s, struct MHD_Connection *c, const char *url, const char *method)
{
	struct serve_request *r = mem_alloc(sizeof(*r));

	r->s = s;
	r->connection = c;
	r->refs = 1;
	r->since_ns = clock_now(&s->steady);
	r->method = mem_strdup(method);
	r->path = mem_strdup(strlen(url) <= MAX_PATH ? url : "/too-long");
	r->route = route_of(r->path);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, keep_query, r);
	pthread_mutex_lock(&s->lock);
	s->n_requests++;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void keep_body(struct serve_request *r, const char *data, size_t n)
{
	if (!r->route->is_post || r->body.n + n > r->s->o.max_body)
		r->is_too_long = true;
	else
		text_add_n(&r->body, data, n);
}

enum MHD_Result serve_on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
				 const char *version, const char *data, size_t *n_data, void **state)
{
	struct serve_request *r = *state;
	enum request_state is;

	if (!r) {
		*state = request_new(cls, c, url, method);
		return MHD_YES;
	}
	if (*n_data) {
		keep_body(r, data, *n_data);
		*n_data = 0;
		return MHD_YES;
	}
	pthread_mutex_lock(&r->s->lock);
	is = r->state;
	pthread_mutex_unlock(&r->s->lock);
	if (is == REQUEST_READING)
		return r->is_allowed ? dispatch(r) : begin(r);
	if (is == REQUEST_ANSWERED)
		return serve_send(r);
	return MHD_NO; /* it sleeps: nobody may call */
}

void serve_on_completed(void *cls, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
	struct serve_request *r = *state;

	if (!r)
		return;
	*state = NULL;
	pthread_mutex_lock(&r->s->lock);
	r->state = REQUEST_ANSWERED; /* who still works on it need not go on */
	r->s->n_requests--;
	pthread_cond_broadcast(&r->s->tick);
	pthread_mutex_unlock(&r->s->lock);
	request_unref(r);
}
