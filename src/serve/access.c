/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and may he? The answer may take a request to the API server, so a thread of its own waits for it. Answers
 * are kept for some seconds: a page that loads twenty things asks once.
 */
#include "serve/serve_internal.h"

enum { MAX_KNOWN = 64 };
#define KEPT_NS (10 * NS_PER_S)

/* Takes as long for a token that is nearly right as for any other of its length. */
static bool same_secret(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char differs = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

static void forget(struct access_entry *e)
{
	explicit_bzero(e->token, strlen(e->token));
	mem_free(e->token);
	mem_free(e->method);
	mem_free(e->path);
}

void access_free(struct serve *s)
{
	for (uint32_t i = 0; i < s->known.n; i++)
		forget(&s->known.v[i]);
	array_free(&s->known);
}

static void forget_old(struct serve *s, int64_t now_ns)
{
	for (uint32_t i = s->known.n; i-- > 0;)
		if (now_ns >= s->known.v[i].until_ns) {
			forget(&s->known.v[i]);
			array_remove(&s->known, i);
		}
	if (s->known.n == MAX_KNOWN) {
		forget(&s->known.v[0]);
		array_remove(&s->known, 0);
	}
}

static enum serve_access judge(struct serve *s, const struct serve_request *r)
{
	int64_t now_ns = clock_now(&s->steady);
	struct access_entry e = {.until_ns = now_ns + KEPT_NS};

	forget_old(s, now_ns);
	for (uint32_t i = 0; i < s->known.n; i++) {
		const struct access_entry *k = &s->known.v[i];

		if (same_secret(k->token, r->token) && str_eq(k->method, r->method) && str_eq(k->path, r->path))
			return k->access;
	}
	e.access = s->o.authorize(s->o.ctx, r->token, r->method, r->path);
	if (e.access != ACCESS_TROUBLE) {
		e.token = mem_strdup(r->token);
		e.method = mem_strdup(r->method);
		e.path = mem_strdup(r->path);
		array_push(&s->known, e);
	}
	return e.access;
}

/* With the lock held. */
static void tell(struct serve_request *r, enum serve_access access)
{
	if (r->state != REQUEST_ASKING)
		return; /* given up */
	switch (access) {
	case ACCESS_ALLOWED:
		r->is_allowed = true;
		r->state = REQUEST_READING;
		request_wake(r);
		return;
	case ACCESS_UNKNOWN:
		request_error(r, MHD_HTTP_UNAUTHORIZED, "the token is not valid");
		return;
	case ACCESS_FORBIDDEN:
		request_error(r, MHD_HTTP_FORBIDDEN, "the owner of this token may not read this path");
		return;
	case ACCESS_TROUBLE:
		request_error(r, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "the API server could not be reached to check the token");
		return;
	}
}

void *serve_ask_access(void *cls)
{
	struct serve *s = cls;

	pthread_mutex_lock(&s->lock);
	while (!s->is_stopping) {
		struct serve_request *r = queue_take(&s->access);
		enum serve_access access;

		if (!r) {
			pthread_cond_wait(&s->asked, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		access = judge(s, r);
		pthread_mutex_lock(&s->lock);
		tell(r, access);
		pthread_mutex_unlock(&s->lock);
		request_unref(r);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
