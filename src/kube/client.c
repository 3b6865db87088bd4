/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that owns the connections, and its queues: ready (in the order they came, those that are urgent first),
 * pausing (between two attempts) and running.
 */
#include "kube/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "kube/client_internal.h"

#define SCAN_NS NS_PER_S
/* Enough for a watch of every kind and some requests, where the server speaks HTTP/1.1 and each takes one. */
enum { CONNECTIONS_MAX = 48 };

struct kube_client_options kube_client_options_default(void)
{
	return (struct kube_client_options){.qps = 50,
					    .burst = 100,
					    .in_flight = 100,
					    .max_body = (size_t)256 << 20,
					    .max_line = (size_t)16 << 20,
					    .max_queued = (size_t)64 << 20,
					    .connect_ns = 10 * NS_PER_S,
					    .pause_ns = NS_PER_S / 5,
					    .max_pause_ns = 10 * NS_PER_S};
}

/* ---- lists ---- */

static void list_add(struct transfer_list *l, struct transfer *t, bool is_first)
{
	t->prev = is_first ? NULL : l->last;
	t->next = is_first ? l->first : NULL;
	*(t->prev ? &t->prev->next : &l->first) = t;
	*(t->next ? &t->next->prev : &l->last) = t;
	l->n++;
}

static void list_remove(struct transfer_list *l, struct transfer *t)
{
	*(t->prev ? &t->prev->next : &l->first) = t->next;
	*(t->next ? &t->next->prev : &l->last) = t->prev;
	t->prev = t->next = NULL;
	l->n--;
}

static struct transfer_list *list_of(struct kube_client *c, const struct transfer *t)
{
	return t->state == TRANSFER_READY ? &c->ready : t->state == TRANSFER_PAUSING ? &c->pausing : &c->running;
}

/* Watches take no slot, and so wait for none. */
static bool goes_first(const struct transfer *t)
{
	return t->request.is_urgent || t->request.is_stream;
}

static void move(struct kube_client *c, struct transfer *t, enum transfer_state to)
{
	list_remove(list_of(c, t), t);
	t->state = to;
	list_add(list_of(c, t), t, to == TRANSFER_READY && goes_first(t));
}

static struct transfer *find(const struct kube_client *c, uint64_t id)
{
	uint32_t i = map_get(&c->by_id, id);

	return i == MAP_NONE ? NULL : c->transfers.v[i];
}

static void enter(struct kube_client *c, struct transfer *t)
{
	map_put(&c->by_id, t->id, c->transfers.n);
	array_push(&c->transfers, t);
	t->state = TRANSFER_READY;
	t->deadline_ns = INT64_MAX;
	list_add(&c->ready, t, goes_first(t));
}

static void leave(struct kube_client *c, struct transfer *t)
{
	uint32_t i = map_get(&c->by_id, t->id);
	struct transfer *last = array_pop(&c->transfers);

	list_remove(list_of(c, t), t);
	map_del(&c->by_id, t->id);
	if (last == t)
		return;
	c->transfers.v[i] = last;
	map_put(&c->by_id, last->id, i);
}

/* ---- news ---- */

struct kube_news *news_new(const struct transfer *t)
{
	struct kube_news *n = mem_alloc(sizeof(*n));

	n->request = t->id;
	n->ctx = t->request.ctx;
	return n;
}

void news_put(struct kube_client *c, struct kube_news *n)
{
	uint64_t one = 1;

	if (mailbox_put(&c->news, (struct mail *)n))
		while (write(c->fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
}

static void end(struct kube_client *c, struct transfer *t, const struct verdict *v, int64_t now_ns)
{
	struct kube_news *n = news_new(t);

	n->is_done = true;
	n->result = v->result;
	n->status = v->status;
	n->is_unknown = t->is_unknown && v->result != KUBE_OK;
	n->attempts = t->attempts;
	n->retry_after_ns = v->retry_after_ns;
	n->took_ns = t->started_ns ? now_ns - t->started_ns : 0;
	n->body = t->in;
	t->in = (struct text){0};
	snprintf(n->method, sizeof(n->method), "%s", t->request.method);
	n->was_stream = t->request.is_stream;
	memcpy(n->error, v->error, sizeof(n->error));
	atomic_fetch_add(&c->n_results[v->result], 1);
	leave(c, t);
	transfer_free(t);
	news_put(c, n);
}

static __attribute__((format(printf, 5, 6))) void
end_with(struct kube_client *c, struct transfer *t, enum kube_result result, int64_t now_ns, const char *fmt, ...)
{
	struct verdict v = {.result = result};
	va_list ap;
	int n = snprintf(v.error, sizeof(v.error), "%s %s%.120s: ", t->request.method, c->config->server,
			 t->request.path);

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < sizeof(v.error))
		vsnprintf(v.error + n, sizeof(v.error) - (size_t)n, fmt, ap);
	va_end(ap);
	end(c, t, &v, now_ns);
}

/* ---- running ---- */

static void stop_running(struct kube_client *c, struct transfer *t)
{
	transfer_stop(t);
	if (!t->request.is_stream)
		c->n_running--;
}

/* splitmix64: what two clients do at once they shall not do at once again. */
static double jitter(struct kube_client *c)
{
	uint64_t z = c->jitter += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

static int64_t pause_after(struct kube_client *c, const struct transfer *t, const struct verdict *v)
{
	int64_t pause = c->options.pause_ns;

	for (uint32_t i = 1; i < t->attempts && pause < c->options.max_pause_ns; i++)
		pause *= 2;
	if (pause > c->options.max_pause_ns)
		pause = c->options.max_pause_ns;
	if (v->wants_credentials)
		return 0;
	if (v->retry_after_ns > 0) /* at least so long, and not all at the same moment */
		return v->retry_after_ns + (int64_t)((double)c->options.pause_ns * jitter(c));
	return (int64_t)((double)pause * (0.5 + jitter(c)));
}

/* An attempt has ended: another one, or the end. */
static void attempted(struct kube_client *c, struct transfer *t, struct verdict *v, int64_t now_ns)
{
	int64_t pause;

	if (v->wants_credentials) {
		credentials_refused(c->credentials, t->identity);
		v->may_retry = !t->was_refused;
		t->was_refused = true;
	}
	stop_running(c, t);
	pause = pause_after(c, t, v);
	if (!v->may_retry || t->attempts >= t->request.attempts || now_ns + pause >= t->deadline_ns) {
		end(c, t, v, now_ns);
		return;
	}
	t->not_before_ns = now_ns + pause;
	move(c, t, TRANSFER_PAUSING);
}

static void take_results(struct kube_client *c)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(c->multi, &left))) {
		CURLcode code = m->data.result;
		struct transfer *t = NULL;
		struct verdict v;

		if (m->msg != CURLMSG_DONE || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t))
			continue;
		v = transfer_judge(t, code);
		attempted(c, t, &v, clock_now(&c->steady));
	}
}

/* We break an attempt off ourselves. */
static void break_off(struct kube_client *c, struct transfer *t, enum kube_result result, const char *why,
		      int64_t now_ns)
{
	struct verdict v;

	t->broken = why;
	t->broken_result = result;
	v = transfer_judge(t, CURLE_ABORTED_BY_CALLBACK);
	attempted(c, t, &v, now_ns);
}

/* A leader that slept past its lease must not go on with what it had begun. */
static void break_writes(struct kube_client *c, int64_t now_ns)
{
	if (now_ns < atomic_load(&c->fence_ns))
		return;
	for (struct transfer *t = c->running.first, *next; t; t = next) {
		next = t->next;
		if (t->request.is_write)
			break_off(c, t, KUBE_FENCED, "broken off: it may not be written any more", now_ns);
	}
}

/* ---- starting ---- */

static bool take_token(struct kube_client *c, int64_t now_ns)
{
	const struct kube_client_options *o = &c->options;

	if (o->qps <= 0)
		return true;
	c->tokens += (double)(now_ns - c->tokens_ns) / (double)NS_PER_S * o->qps;
	c->tokens_ns = now_ns;
	if (c->tokens > o->burst)
		c->tokens = o->burst;
	if (c->tokens < 1)
		return false;
	c->tokens -= 1;
	return true;
}

/* Could it not go out any more, it ends here. */
static bool is_too_late(struct kube_client *c, struct transfer *t, int64_t now_ns)
{
	if (t->request.is_write && now_ns >= atomic_load(&c->fence_ns))
		end_with(c, t, KUBE_FENCED, now_ns, "not sent: it may not be written now");
	else if (now_ns >= t->deadline_ns)
		end_with(c, t, KUBE_RETRYABLE, now_ns, "no answer in %g s", (double)t->request.timeout_ns / 1e9);
	else
		return false;
	return true;
}

/* From now on its time is running: what it waited for its turn is not the server's fault. */
static void first_attempt(struct transfer *t, int64_t now_ns)
{
	if (t->started_ns)
		return;
	t->started_ns = now_ns;
	if (t->request.timeout_ns < INT64_MAX - now_ns)
		t->deadline_ns = now_ns + t->request.timeout_ns;
}

static void start_ready(struct kube_client *c, int64_t now_ns)
{
	while (c->ready.first) {
		struct transfer *t = c->ready.first;
		struct identity *id;

		if (is_too_late(c, t, now_ns))
			continue;
		if (!t->request.is_urgent && !t->request.is_stream && c->n_running >= c->options.in_flight)
			return;
		id = credentials_get(c->credentials, clock_now(&c->wall));
		if (!id)
			return;
		if (!t->request.is_urgent && !take_token(c, now_ns)) {
			identity_release(c->credentials, id);
			return;
		}
		first_attempt(t, now_ns);
		if (!t->request.is_stream)
			c->n_running++;
		move(c, t, TRANSFER_RUNNING);
		transfer_start(t, id, now_ns);
	}
}

static void wake_pausing(struct kube_client *c, int64_t now_ns)
{
	for (struct transfer *t = c->pausing.first, *next; t; t = next) {
		next = t->next;
		if (now_ns >= t->not_before_ns)
			move(c, t, TRANSFER_READY);
	}
}

/* Once a second: who waits in vain, and who is silent. */
static void scan(struct kube_client *c, int64_t now_ns)
{
	if (now_ns - c->scanned_ns < SCAN_NS)
		return;
	c->scanned_ns = now_ns;
	for (struct transfer *t = c->ready.first, *next; t; t = next) {
		next = t->next;
		is_too_late(c, t, now_ns);
	}
	for (struct transfer *t = c->running.first, *next; t; t = next) {
		next = t->next;
		if (now_ns - t->last_byte_ns > t->request.idle_ns && !(t->stream && atomic_load(&t->stream->is_paused)))
			break_off(c, t, KUBE_RETRYABLE, "no word from the server", now_ns);
	}
}

/* ---- credentials ---- */

static void *refresh(void *arg)
{
	struct kube_client *c = arg;

	c->refresh_code = credentials_refresh(c->credentials, clock_now(&c->wall), &c->refresh_error);
	atomic_store(&c->has_refreshed, true);
	curl_multi_wakeup(c->multi);
	return NULL;
}

/* Nothing can be sent without credentials: whoever waits for them is told why there are none. */
static void refuse_ready(struct kube_client *c, int64_t now_ns)
{
	while (c->ready.first)
		end_with(c, c->ready.first, KUBE_FORBIDDEN, now_ns, "%s", c->refresh_error.msg);
}

static void tend_credentials(struct kube_client *c, int64_t now_ns)
{
	int64_t wall_ns = clock_now(&c->wall);
	struct identity *id;

	if (c->is_refreshing && atomic_load(&c->has_refreshed)) {
		pthread_join(c->refresher, NULL);
		c->is_refreshing = false;
		atomic_store(&c->has_refreshed, false);
		id = credentials_get(c->credentials, wall_ns);
		if (!id)
			refuse_ready(c, now_ns);
		identity_release(c->credentials, id);
	}
	if (!c->is_refreshing && credentials_is_due(c->credentials, wall_ns))
		c->is_refreshing = !pthread_create(&c->refresher, NULL, refresh, c);
}

/* ---- commands ---- */

static void cancel(struct kube_client *c, uint64_t id, int64_t now_ns)
{
	struct transfer *t = find(c, id);

	if (!t)
		return;
	if (t->state == TRANSFER_RUNNING)
		break_off(c, t, KUBE_CANCELLED, "cancelled", now_ns);
	else
		end_with(c, t, KUBE_CANCELLED, now_ns, "cancelled");
}

static void resume(struct kube_client *c, uint64_t id, int64_t now_ns)
{
	struct transfer *t = find(c, id);

	if (!t || t->state != TRANSFER_RUNNING || !atomic_exchange(&t->stream->is_paused, false))
		return;
	t->last_byte_ns = now_ns;
	curl_easy_pause(t->easy, CURLPAUSE_CONT);
}

static void take_mail(struct kube_client *c, int64_t now_ns)
{
	for (struct mail *m = mailbox_take(&c->requests), *next; m; m = next) {
		struct transfer *t = (struct transfer *)m;

		next = m->next;
		enter(c, t);
	}
	for (struct mail *m = mailbox_take(&c->commands), *next; m; m = next) {
		struct client_command *k = (struct client_command *)m;

		next = m->next;
		if (k->kind == COMMAND_CANCEL)
			cancel(c, k->request, now_ns);
		else
			resume(c, k->request, now_ns);
		mem_free(k);
	}
}

/* ---- the thread ---- */

/* Until when nothing can happen by itself. */
static int next_ms(const struct kube_client *c, int64_t now_ns)
{
	int64_t until = c->transfers.n ? c->scanned_ns + SCAN_NS : now_ns + 10 * NS_PER_S;

	for (const struct transfer *t = c->pausing.first; t; t = t->next)
		if (t->not_before_ns < until)
			until = t->not_before_ns;
	if (c->running.n && atomic_load(&c->fence_ns) < until && atomic_load(&c->fence_ns) > now_ns)
		until = atomic_load(&c->fence_ns);
	if (c->ready.n && c->options.qps > 0 && c->n_running < c->options.in_flight && c->tokens < 1) {
		int64_t token_ns = now_ns + (int64_t)((1 - c->tokens) / c->options.qps * (double)NS_PER_S) + 1000;

		if (token_ns < until)
			until = token_ns;
	}
	return until <= now_ns ? 0 : (int)((until - now_ns) / 1000000 + 1);
}

static void publish(struct kube_client *c)
{
	atomic_store(&c->now_waiting, c->ready.n + c->pausing.n);
	atomic_store(&c->now_running, c->n_running);
	atomic_store(&c->now_streams, c->running.n - c->n_running);
}

static void end_all(struct kube_client *c)
{
	while (c->transfers.n) {
		struct transfer *t = array_last(&c->transfers);

		if (t->state == TRANSFER_RUNNING)
			stop_running(c, t);
		leave(c, t);
		transfer_free(t);
	}
}

static void *run(void *arg)
{
	struct kube_client *c = arg;
	int n_running;

	while (!atomic_load(&c->wants_stop)) {
		int64_t now_ns = clock_now(&c->steady);

		break_writes(c, now_ns);
		take_mail(c, now_ns);
		tend_credentials(c, now_ns);
		wake_pausing(c, now_ns);
		start_ready(c, now_ns);
		curl_multi_perform(c->multi, &n_running);
		take_results(c);
		scan(c, now_ns);
		publish(c);
		curl_multi_poll(c->multi, NULL, 0, next_ms(c, clock_now(&c->steady)), NULL);
	}
	if (c->is_refreshing)
		pthread_join(c->refresher, NULL);
	take_mail(c, clock_now(&c->steady));
	end_all(c);
	return NULL;
}

/* ---- outside the thread ---- */

static void init_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/*
 * libcurl takes the name to verify from the URL: where another is wanted, the URL has that, and the way to the server
 * is said apart.
 */
static void set_base(struct kube_client *c)
{
	struct kube_config *k = c->config;
	const char *host = k->server + (str_starts(k->server, "https:") ? 8 : 7), *path = strchr(host, '/');
	size_t n = path ? (size_t)(path - host) : strlen(host);
	const char *colon = memrchr(host, ':', n), *bracket = memrchr(host, ']', n);
	bool has_port = colon && (!bracket || colon > bracket);
	const char *port = has_port ? arena_strndup(k->arena, colon + 1, n - (size_t)(colon + 1 - host)) : "443";

	c->base = k->server;
	if (!*k->tls_server_name || !str_starts(k->server, "https:"))
		return;
	c->base = arena_printf(k->arena, "https://%s:%s%s", k->tls_server_name, port, path ? path : "");
	c->host_header = arena_strndup(k->arena, host, n);
	c->connect_to = curl_slist_append(NULL, arena_printf(k->arena, "%s:%s:%.*s:%s", k->tls_server_name, port,
							     (int)(has_port ? (size_t)(colon - host) : n), host, port));
}

enum err_code kube_client_new(struct kube_config *config, const struct kube_client_options *o, struct kube_client **ret,
			      struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct kube_client *c = mem_alloc(sizeof(*c));

	pthread_once(&once, init_curl);
	c->config = config;
	c->options = *o;
	c->steady = clock_steady();
	c->wall = clock_system();
	c->credentials = credentials_new(config);
	c->multi = curl_multi_init();
	curl_multi_setopt(c->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	curl_multi_setopt(c->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);
	curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)CONNECTIONS_MAX);
	c->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->tokens = o->burst;
	c->tokens_ns = clock_now(&c->steady);
	atomic_store(&c->fence_ns, INT64_MIN);
	if (getrandom(&c->jitter, sizeof(c->jitter), 0) < 0)
		c->jitter = (uint64_t)clock_now(&c->steady);
	set_base(c);
	if (c->fd >= 0 && !pthread_create(&c->thread, NULL, run, c)) {
		*ret = c;
		return ERR_OK;
	}
	curl_multi_cleanup(c->multi);
	credentials_free(c->credentials);
	curl_slist_free_all(c->connect_to);
	if (c->fd >= 0)
		close(c->fd);
	mem_free(c);
	return err_fail(e, ERR_IO, "no thread for the connections to the API server: %s", strerror(errno));
}

void kube_client_free(struct kube_client *c)
{
	struct kube_news *n;

	if (!c)
		return;
	atomic_store(&c->wants_stop, true);
	curl_multi_wakeup(c->multi);
	pthread_join(c->thread, NULL);
	while ((n = kube_client_next(c))) {
		stream_release(n->stream);
		text_free(&n->body);
		mem_free(n);
	}
	for (uint32_t i = 0; i < c->idle.n; i++)
		curl_easy_cleanup(c->idle.v[i]);
	array_free(&c->idle);
	array_free(&c->transfers);
	map_free(&c->by_id);
	curl_multi_cleanup(c->multi);
	curl_slist_free_all(c->connect_to);
	credentials_free(c->credentials);
	kube_config_free(c->config);
	close(c->fd);
	mem_free(c);
}

const struct kube_config *kube_client_config(const struct kube_client *c)
{
	return c->config;
}

uint64_t kube_client_send(struct kube_client *c, const struct kube_request *r)
{
	uint64_t id = atomic_fetch_add(&c->last_id, 1) + 1;
	struct transfer *t = transfer_new(c, id, r);

	atomic_fetch_add(&c->n_requests, 1);
	if (mailbox_put(&c->requests, &t->mail))
		curl_multi_wakeup(c->multi);
	return id;
}

static void command(struct kube_client *c, enum command_kind kind, uint64_t request)
{
	struct client_command *k = mem_alloc(sizeof(*k));

	k->kind = kind;
	k->request = request;
	if (mailbox_put(&c->commands, &k->mail))
		curl_multi_wakeup(c->multi);
}

void kube_client_cancel(struct kube_client *c, uint64_t request)
{
	command(c, COMMAND_CANCEL, request);
}

void kube_client_fence(struct kube_client *c, int64_t until_ns)
{
	int64_t before = atomic_exchange(&c->fence_ns, until_ns);

	if (until_ns < before)
		curl_multi_wakeup(c->multi);
}

struct kube_news *kube_client_next(struct kube_client *c)
{
	struct kube_news *n = c->taken;
	uint64_t count;

	if (!n) {
		if (read(c->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
			return NULL;
		n = (struct kube_news *)mailbox_take(&c->news);
	}
	c->taken = n ? n->next : NULL;
	return n;
}

void kube_news_free(struct kube_client *c, struct kube_news *n)
{
	struct kube_stream *s = n->stream;
	size_t left;

	if (s) {
		left = atomic_fetch_sub(&s->queued, n->body.n) - n->body.n;
		if (left < c->options.max_queued / 2 && atomic_load(&s->is_paused))
			command(c, COMMAND_RESUME, s->request);
		stream_release(s);
	}
	text_free(&n->body);
	mem_free(n);
}

int kube_client_fd(const struct kube_client *c)
{
	return c->fd;
}

bool kube_client_wait(struct kube_client *c, int64_t timeout_ns)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	int64_t ms = timeout_ns / 1000000 + 1;

	if (c->taken)
		return true;
	return poll(&p, 1, ms > 1000000 ? 1000000 : (int)ms) > 0;
}

struct kube_news *kube_client_call(struct kube_client *c, const struct kube_request *r)
{
	uint64_t id = kube_client_send(c, r);

	for (;;) {
		struct kube_news *n = kube_client_next(c);

		if (n && n->request == id && n->is_done)
			return n;
		if (n)
			kube_news_free(c, n);
		else
			kube_client_wait(c, 10 * NS_PER_S);
	}
}

struct kube_client_metrics kube_client_metrics(const struct kube_client *c)
{
	struct kube_client_metrics m = {.requests = atomic_load(&c->n_requests),
					.attempts = atomic_load(&c->n_attempts),
					.lines = atomic_load(&c->n_lines),
					.bytes_in = atomic_load(&c->n_bytes),
					.connections = atomic_load(&c->n_connections),
					.waiting = atomic_load(&c->now_waiting),
					.running = atomic_load(&c->now_running),
					.streams = atomic_load(&c->now_streams)};

	for (int i = 0; i < KUBE_RESULT_COUNT; i++)
		m.results[i] = atomic_load(&c->n_results[i]);
	return m;
}
