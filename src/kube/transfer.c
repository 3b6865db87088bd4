/* SPDX-License-Identifier: Apache-2.0 */
/* One request: its handle, what comes in, and what an attempt amounts to. Everything runs in the client's thread. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "kube/client_internal.h"
#include "manifest/tree.h"

/* The server need not encode, and we need not read, what nobody looks at. */
#define METADATA_FIRST "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
enum { ERROR_BODY_MAX = 64 << 10, DEAD_PEER_MS = 30000, KEEPALIVE_S = 15 };

/* ---- coming and going ---- */

static const char *copy(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

struct transfer *transfer_new(struct kube_client *c, uint64_t id, const struct kube_request *r)
{
	struct transfer *t = mem_alloc(sizeof(*t));

	t->client = c;
	t->id = id;
	t->request = *r;
	t->request.method = copy(r->method);
	t->request.path = copy(r->path);
	t->request.content_type = copy(r->content_type);
	if (r->body) {
		char *body = mem_alloc(r->body_len + 1);

		memcpy(body, r->body, r->body_len);
		t->request.body = body;
	}
	if (!r->timeout_ns)
		t->request.timeout_ns = 60 * NS_PER_S;
	if (!r->idle_ns)
		t->request.idle_ns = 15 * NS_PER_S;
	if (!r->attempts)
		t->request.attempts = 5;
	return t;
}

void stream_release(struct kube_stream *s)
{
	if (s && atomic_fetch_sub(&s->refs, 1) == 1)
		mem_free(s);
}

void transfer_free(struct transfer *t)
{
	mem_free((char *)t->request.method);
	mem_free((char *)t->request.path);
	mem_free((char *)t->request.content_type);
	mem_free((char *)t->request.body);
	stream_release(t->stream);
	text_free(&t->in);
	mem_free(t);
}

/* ---- what comes in ---- */

static int status_of(const struct transfer *t)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	return (int)status;
}

static size_t broke_off(struct transfer *t, const char *why, enum kube_result result)
{
	t->broken = why;
	t->broken_result = result;
	return 0; /* libcurl takes it as an error, because it is not the number of bytes */
}

static size_t take_body(struct transfer *t, const char *data, size_t n, int status)
{
	if (status >= 300) {
		if (t->in.n < ERROR_BODY_MAX)
			text_add_n(&t->in, data, n < ERROR_BODY_MAX - t->in.n ? n : ERROR_BODY_MAX - t->in.n);
		return n;
	}
	if (t->in.n + n > t->client->options.max_body)
		return broke_off(t, "the answer is larger than any that is accepted", KUBE_FATAL);
	text_add_n(&t->in, data, n);
	return n;
}

static void put_lines(struct transfer *t, size_t n)
{
	struct kube_client *c = t->client;
	struct kube_news *news = news_new(t);
	struct text rest = {0};
	uint64_t n_lines = 0;

	text_add_n(&rest, t->in.s + n, t->in.n - n);
	news->body = t->in;
	news->body.n = n;
	news->body.s[n] = '\0';
	t->in = rest;
	for (const char *p = news->body.s; (p = memchr(p, '\n', (size_t)(news->body.s + n - p))); p++)
		n_lines++;
	atomic_fetch_add(&c->n_lines, n_lines);
	atomic_fetch_add(&t->stream->queued, n);
	atomic_fetch_add(&t->stream->refs, 1);
	news->stream = t->stream;
	news_put(c, news);
}

/* Who takes news out resumes what he finds paused; if he was faster than the mark, nobody would. */
static bool is_overfull(struct transfer *t)
{
	struct kube_stream *s = t->stream;
	const size_t max = t->client->options.max_queued;

	if (atomic_load(&s->queued) <= max)
		return false;
	atomic_store(&s->is_paused, true);
	return atomic_load(&s->queued) >= max / 2 || !atomic_exchange(&s->is_paused, false);
}

/* Whole lines go out at once; the rest waits for its end. */
static size_t take_lines(struct transfer *t, const char *data, size_t n)
{
	const struct kube_client_options *o = &t->client->options;
	const char *end;

	if (is_overfull(t))
		return CURL_WRITEFUNC_PAUSE;
	end = memrchr(data, '\n', n);
	if (!end && t->in.n + n > o->max_line)
		return broke_off(t, "a line is longer than any that is accepted", KUBE_RETRYABLE);
	text_add_n(&t->in, data, n);
	if (end)
		put_lines(t, t->in.n - (n - (size_t)(end + 1 - data)));
	return n;
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	int status = status_of(t);

	t->last_byte_ns = clock_now(&t->client->steady);
	atomic_fetch_add(&t->client->n_bytes, size * n);
	return t->request.is_stream && status == 200 ? take_lines(t, data, size * n)
						     : take_body(t, data, size * n, status);
}

/* ---- the handle ---- */

/* Peers that are gone without a word are noticed by the kernel, also while nothing is asked of them. */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	struct kube_client *c = arg;
	unsigned ms = DEAD_PEER_MS;

	atomic_fetch_add(&c->n_connections, 1);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return CURL_SOCKOPT_OK;
}

static __attribute__((format(printf, 2, 3))) void add_header(struct transfer *t, const char *fmt, ...)
{
	struct text line = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&line, fmt, ap);
	va_end(ap);
	if (!strpbrk(text_str(&line), "\r\n")) /* whatever stands in a file: one header is one line */
		t->headers = curl_slist_append(t->headers, text_str(&line));
	if (line.s)
		explicit_bzero(line.s, line.n);
	text_free(&line);
}

static void free_headers(struct curl_slist *list)
{
	for (struct curl_slist *h = list; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(list);
}

/* Keys of extra fields may hold anything; in a header's name they are escaped. */
static void add_extra(struct transfer *t, const struct kube_pair *p)
{
	struct text key = {0};

	for (const unsigned char *s = (const unsigned char *)p->key; *s; s++) {
		bool is_plain = (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || strchr("-._~", *s);

		text_printf(&key, is_plain ? "%c" : "%%%02X", *s);
	}
	add_header(t, "Impersonate-Extra-%s: %s", text_str(&key), p->value);
	text_free(&key);
}

static void add_headers(struct transfer *t)
{
	const struct kube_config *config = t->client->config;
	const struct kube_request *r = &t->request;

	add_header(t, "Accept: %sapplication/json", r->is_brief ? METADATA_FIRST : "");
	add_header(t, "Expect:");
	if (r->body)
		add_header(t, "Content-Type: %s", r->content_type ? r->content_type : "application/json");
	if (t->client->host_header)
		add_header(t, "Host: %s", t->client->host_header);
	if (secret_is_set(&t->identity->token))
		add_header(t, "Authorization: Bearer %s", t->identity->token.s);
	if (*config->as)
		add_header(t, "Impersonate-User: %s", config->as);
	if (*config->as_uid)
		add_header(t, "Impersonate-Uid: %s", config->as_uid);
	for (uint32_t i = 0; i < config->n_groups; i++)
		add_header(t, "Impersonate-Group: %s", config->groups[i]);
	for (uint32_t i = 0; i < config->n_extra; i++)
		add_extra(t, &config->extra[i]);
}

static void set_blob(CURL *h, CURLoption option, const struct secret *x)
{
	struct curl_blob blob = {.data = x->s, .len = x->n, .flags = CURL_BLOB_NOCOPY};

	if (secret_is_set(x))
		curl_easy_setopt(h, option, &blob);
}

static void set_tls(struct transfer *t)
{
	const struct kube_config *config = t->client->config;
	const struct identity *id = t->identity;
	CURL *h = t->easy;

	curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, config->is_insecure ? 0L : 1L);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, config->is_insecure ? 0L : 2L);
	if (secret_is_set(&config->ca))
		set_blob(h, CURLOPT_CAINFO_BLOB, &config->ca);
	else if (*config->ca_file)
		curl_easy_setopt(h, CURLOPT_CAINFO, config->ca_file);
	set_blob(h, CURLOPT_SSLCERT_BLOB, &id->cert);
	set_blob(h, CURLOPT_SSLKEY_BLOB, &id->key);
	if (secret_is_set(&id->password)) {
		curl_easy_setopt(h, CURLOPT_USERNAME, id->user);
		curl_easy_setopt(h, CURLOPT_PASSWORD, id->password.s);
	}
}

static void set_body(struct transfer *t)
{
	const struct kube_request *r = &t->request;

	curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
	if (!r->body)
		return;
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, r->body);
}

static void set_transport(struct transfer *t, int64_t now_ns)
{
	const struct kube_client *c = t->client;
	int64_t left_ns = t->deadline_ns - now_ns;
	CURL *h = t->easy;

	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, str_starts(c->base, "https:") ? "https" : "http");
	curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(h, CURLOPT_PIPEWAIT, 1L);
	curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(h, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
	curl_easy_setopt(h, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_S);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)(c->options.connect_ns / 1000000));
	curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)(left_ns / 1000000 + 1));
	curl_easy_setopt(h, CURLOPT_SOCKOPTFUNCTION, on_socket);
	curl_easy_setopt(h, CURLOPT_SOCKOPTDATA, t->client);
	if (c->connect_to)
		curl_easy_setopt(h, CURLOPT_CONNECT_TO, c->connect_to);
	if (*c->config->proxy)
		curl_easy_setopt(h, CURLOPT_PROXY, c->config->proxy);
	/* The connection that an attempt died on may be the reason. */
	if (t->attempts > 1 && t->is_unknown)
		curl_easy_setopt(h, CURLOPT_FRESH_CONNECT, 1L);
}

static void set_url(struct transfer *t)
{
	struct text url = {0};

	text_printf(&url, "%s%s", t->client->base, t->request.path);
	curl_easy_setopt(t->easy, CURLOPT_URL, text_str(&url));
	text_free(&url);
}

void transfer_start(struct transfer *t, struct identity *identity, int64_t now_ns)
{
	struct kube_client *c = t->client;

	t->easy = c->idle.n ? array_pop(&c->idle) : curl_easy_init();
	t->identity = identity;
	t->attempts++;
	t->last_byte_ns = now_ns;
	t->broken = NULL;
	t->curl_error[0] = '\0';
	text_reset(&t->in);
	if (t->request.is_stream && !t->stream) {
		t->stream = mem_alloc(sizeof(*t->stream));
		atomic_store(&t->stream->refs, 1);
		t->stream->request = t->id;
	}
	set_url(t);
	set_transport(t, now_ns);
	set_tls(t);
	set_body(t);
	add_headers(t);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "cede/" CEDE_VERSION);
	curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->curl_error);
	curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	curl_multi_add_handle(c->multi, t->easy);
	atomic_fetch_add(&c->n_attempts, 1);
}

void transfer_stop(struct transfer *t)
{
	enum { IDLE_MAX = 64 };
	struct kube_client *c = t->client;

	curl_multi_remove_handle(c->multi, t->easy);
	curl_easy_reset(t->easy);
	if (c->idle.n < IDLE_MAX)
		array_push(&c->idle, t->easy);
	else
		curl_easy_cleanup(t->easy);
	t->easy = NULL;
	free_headers(t->headers);
	t->headers = NULL;
	identity_release(c->credentials, t->identity);
	t->identity = NULL;
}

/* ---- judging ---- */

const char *kube_result_text(enum kube_result r)
{
	static const char *const words[] = {
		[KUBE_OK] = "ok",
		[KUBE_CONFLICT] = "conflict",
		[KUBE_GONE] = "gone",
		[KUBE_FORBIDDEN] = "forbidden",
		[KUBE_THROTTLED] = "throttled",
		[KUBE_RETRYABLE] = "retryable",
		[KUBE_FATAL] = "fatal",
		[KUBE_FENCED] = "fenced",
		[KUBE_CANCELLED] = "cancelled",
	};

	return words[r];
}

enum kube_result kube_result_of_status(int status)
{
	if (status >= 200 && status < 300)
		return KUBE_OK;
	if (status >= 500 || status < 200 || status == 408)
		return KUBE_RETRYABLE;
	switch (status) {
	case 401:
	case 403:
		return KUBE_FORBIDDEN;
	case 404:
	case 410:
		return KUBE_GONE;
	case 409:
		return KUBE_CONFLICT;
	case 429:
		return KUBE_THROTTLED;
	default:
		return KUBE_FATAL;
	}
}

/* Trying again does not help where nobody vouches for the server. */
static bool is_hopeless(CURLcode code)
{
	return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
	       code == CURLE_SSL_ISSUER_ERROR || code == CURLE_URL_MALFORMAT || code == CURLE_SSL_INVALIDCERTSTATUS;
}

static bool may_have_arrived(const struct transfer *t, CURLcode code)
{
	curl_off_t sent = 0;

	curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &sent); /* 0: it never got that far */
	return sent > 0 && code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST;
}

/* What a Status object says, as far as it fits. */
static void server_words(const struct transfer *t, char *out, size_t size)
{
	struct arena *a = arena_new(1 << 12);
	const struct tree *root = NULL, *message = NULL;

	if (t->in.n && !tree_parse_json("answer", t->in.s, t->in.n, a, &root, NULL))
		message = tree_get(root, "message");
	snprintf(out, size, "%s", message && message->kind == TREE_STRING ? message->text : "");
	arena_free(a);
}

static struct verdict judge_status(const struct transfer *t, int status)
{
	struct verdict v = {.result = kube_result_of_status(status), .status = status};
	curl_off_t after_s = 0;
	char words[160];

	curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after_s);
	v.retry_after_ns = (after_s < 0 ? 0 : after_s > 3600 ? 3600 : after_s) * NS_PER_S;
	v.may_retry = v.result == KUBE_THROTTLED || v.result == KUBE_RETRYABLE;
	v.wants_credentials = status == 401;
	if (v.result == KUBE_OK)
		return v;
	server_words(t, words, sizeof(words));
	snprintf(v.error, sizeof(v.error), "%s %s%.120s: %d%s%s", t->request.method, t->client->config->server,
		 t->request.path, status, *words ? ": " : "", words);
	return v;
}

struct verdict transfer_judge(struct transfer *t, CURLcode code)
{
	struct verdict v = {.result = KUBE_RETRYABLE, .status = status_of(t), .may_retry = true};

	if (code == CURLE_OK && v.status)
		return judge_status(t, v.status);
	if (t->broken)
		v.result = t->broken_result;
	else if (is_hopeless(code))
		v.result = KUBE_FATAL;
	if (code == CURLE_SSL_CERTPROBLEM) { /* perhaps the old certificate with the new key: both are read again */
		v.result = KUBE_FATAL;
		v.wants_credentials = true;
	}
	v.may_retry = v.result == KUBE_RETRYABLE;
	t->is_unknown |= may_have_arrived(t, code);
	snprintf(v.error, sizeof(v.error), "%s %s%.120s: %.180s", t->request.method, t->client->config->server,
		 t->request.path,
		 t->broken	  ? t->broken
		 : *t->curl_error ? t->curl_error
				  : curl_easy_strerror(code));
	return v;
}
