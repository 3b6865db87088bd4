/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "kube/snapshot.h"
#include "kube/watch_line.h"

enum { FAILURES_MAX = 3 };

enum reflector_state {
	REFLECTOR_NEW,
	REFLECTOR_LISTING,   /* a page is on its way */
	REFLECTOR_STREAMING, /* a watch that begins with all there is */
	REFLECTOR_WATCHING,
	REFLECTOR_PAUSING, /* until wake_ns; then a list or a watch */
	REFLECTOR_ABSENT,  /* the same, and a list then */
};

struct known { /* an object that the sink was told of */
	name_id ns, name, uid, version;
	uint32_t round; /* of the list it was last seen in */
	bool is_used;
};

struct reflector {
	const struct kube_kind *kind;
	struct reflector_options options;
	struct names *names;
	struct kube_transport transport;
	struct reflector_sink sink;
	enum reflector_state state;
	uint64_t request; /* 0: none is under way */
	uint32_t api;	  /* index of the version in use */
	int64_t wake_ns, heard_ns, began_ns;
	int64_t missing_ns; /* since when it seems to be absent; TIME_NONE: it does not */
	bool wants_list;    /* after the pause; else the watch goes on */
	bool cannot_stream, is_synced;
	uint32_t n_failures; /* in a row, without a good word */
	uint32_t round;
	uint64_t random;
	struct text version; /* of the list or the last event; where a watch goes on */
	struct text next;    /* token of the next page */
	struct arena *arena; /* of one line or page */
	ARRAY(struct known) known;
	ARRAY(uint32_t) spare; /* unused places in known */
	struct map by_name;
	uint32_t n_known, n_lists;
};

static uint64_t client_send(void *ctx, const struct kube_request *r)
{
	return kube_client_send(ctx, r);
}

static void client_cancel(void *ctx, uint64_t request)
{
	kube_client_cancel(ctx, request);
}

struct kube_transport kube_client_transport(struct kube_client *c)
{
	return (struct kube_transport){.send = client_send, .cancel = client_cancel, .ctx = c};
}

struct reflector_options reflector_options_default(void)
{
	return (struct reflector_options){.page = 500,
					  .may_stream = true,
					  .idle_ns = 100 * NS_PER_S,
					  .watch_ns = 300 * NS_PER_S,
					  .pause_ns = NS_PER_S / 2,
					  .max_pause_ns = 30 * NS_PER_S,
					  .absent_ns = 10 * NS_PER_S};
}

struct reflector *reflector_new(const struct kube_kind *kind, const struct reflector_options *o, struct names *names,
				const struct kube_transport *transport, const struct reflector_sink *sink,
				uint64_t seed)
{
	struct reflector *r = mem_alloc(sizeof(*r));

	r->kind = kind;
	r->options = *o;
	r->names = names;
	r->transport = *transport;
	r->sink = *sink;
	r->random = seed;
	r->heard_ns = r->missing_ns = TIME_NONE;
	r->wake_ns = INT64_MAX;
	r->arena = arena_new(1 << 14);
	return r;
}

static void forget(struct reflector *r, uint32_t i)
{
	struct known *k = &r->known.v[i];

	map_del(&r->by_name, map_key2(k->ns, k->name));
	names_drop(r->names, k->ns);
	names_drop(r->names, k->name);
	names_drop(r->names, k->uid);
	names_drop(r->names, k->version);
	*k = (struct known){0};
	array_push(&r->spare, i);
	r->n_known--;
}

void reflector_free(struct reflector *r)
{
	if (!r)
		return;
	if (r->request)
		r->transport.cancel(r->transport.ctx, r->request);
	for (uint32_t i = 0; i < r->known.n; i++)
		if (r->known.v[i].is_used)
			forget(r, i);
	array_free(&r->known);
	array_free(&r->spare);
	map_free(&r->by_name);
	text_free(&r->version);
	text_free(&r->next);
	arena_free(r->arena);
	mem_free(r);
}

/* ---- what is known ---- */

static uint32_t find(const struct reflector *r, const char *ns, const char *name)
{
	name_id a = names_find(r->names, ns, strlen(ns)), b = names_find(r->names, name, strlen(name));

	return (*ns && !a) || !b ? MAP_NONE : map_get(&r->by_name, map_key2(a, b));
}

static void remember(struct reflector *r, const struct kube_object *o)
{
	uint32_t i;
	struct known k = {.ns = names_hold_str(r->names, o->ns),
			  .name = names_hold_str(r->names, o->name),
			  .uid = names_hold_str(r->names, o->uid),
			  .version = names_hold_str(r->names, o->version),
			  .round = r->round,
			  .is_used = true};

	if (r->spare.n) {
		i = array_pop(&r->spare);
		r->known.v[i] = k;
	} else {
		i = r->known.n;
		array_push(&r->known, k);
	}
	map_put(&r->by_name, map_key2(k.ns, k.name), i);
	r->n_known++;
}

static void tell_gone(struct reflector *r, uint32_t i, const struct tree *tree)
{
	const struct known *k = &r->known.v[i];
	struct kube_object o = {.kind = r->kind,
				.ns = name_str(r->names, k->ns),
				.name = name_str(r->names, k->name),
				.uid = name_str(r->names, k->uid),
				.version = name_str(r->names, k->version),
				.tree = tree};

	r->sink.drop(r->sink.ctx, &o);
	forget(r, i);
}

/* New, changed, or known already. */
static void see(struct reflector *r, struct kube_object *o)
{
	uint32_t i = find(r, o->ns, o->name);

	o->kind = r->kind;
	if (i != MAP_NONE && !str_eq(name_str(r->names, r->known.v[i].uid), o->uid)) {
		tell_gone(r, i, NULL);
		i = MAP_NONE;
	}
	if (i == MAP_NONE) {
		remember(r, o);
	} else {
		struct known *k = &r->known.v[i];

		k->round = r->round;
		if (str_eq(name_str(r->names, k->version), o->version))
			return;
		names_drop(r->names, k->version);
		k->version = names_hold_str(r->names, o->version);
	}
	r->sink.put(r->sink.ctx, o);
}

static void see_gone(struct reflector *r, const struct kube_object *o)
{
	uint32_t i = find(r, o->ns, o->name);

	if (i != MAP_NONE && (!*o->uid || str_eq(name_str(r->names, r->known.v[i].uid), o->uid)))
		tell_gone(r, i, o->tree);
}

static int compare_known(const void *a, const void *b, void *arg)
{
	const struct reflector *r = arg;
	const struct known *x = &r->known.v[*(const uint32_t *)a], *y = &r->known.v[*(const uint32_t *)b];
	int c = name_cmp(r->names, x->ns, y->ns);

	return c ? c : name_cmp(r->names, x->name, y->name);
}

/* All that the list did not have is gone; in the order of names, because which was first nobody knows. */
static void drop_unseen(struct reflector *r)
{
	ARRAY(uint32_t) gone = {0};

	for (uint32_t i = 0; i < r->known.n; i++)
		if (r->known.v[i].is_used && r->known.v[i].round != r->round)
			array_push(&gone, i);
	if (gone.n)
		qsort_r(gone.v, gone.n, sizeof(*gone.v), compare_known, r);
	for (uint32_t i = 0; i < gone.n; i++)
		tell_gone(r, gone.v[i], NULL);
	array_free(&gone);
}

/* ---- asking ---- */

static uint64_t next_random(struct reflector *r)
{
	uint64_t z = r->random += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static int64_t up_to(struct reflector *r, int64_t max)
{
	return max > 0 ? (int64_t)(next_random(r) % (uint64_t)max) : 0;
}

static void path_begin(const struct reflector *r, struct text *path)
{
	kube_path(path, r->kind, reflector_version(r), r->options.ns, NULL);
	text_add_char(path, '?');
	if (r->options.name) {
		text_add(path, "fieldSelector=metadata.name%3D");
		kube_escape(path, r->options.name);
		text_add_char(path, '&');
	}
}

static void ask_page(struct reflector *r)
{
	struct text path = {0};
	struct kube_request q = {.method = "GET", .idle_ns = 60 * NS_PER_S, .timeout_ns = 300 * NS_PER_S};

	path_begin(r, &path);
	text_printf(&path, "limit=%u", r->options.page);
	if (r->next.n) {
		text_add(&path, "&continue=");
		kube_escape(&path, text_str(&r->next));
	}
	q.path = text_str(&path);
	r->state = REFLECTOR_LISTING;
	r->request = r->transport.send(r->transport.ctx, &q);
	text_free(&path);
}

/* The server is told when to end it; if it does not, we do. */
static void ask_watch(struct reflector *r, bool with_list, int64_t now_ns)
{
	int64_t for_ns = r->options.watch_ns + up_to(r, r->options.watch_ns);
	struct text path = {0};
	struct kube_request q = {.method = "GET",
				 .is_stream = true,
				 .attempts = 1,
				 .idle_ns = r->options.idle_ns,
				 .timeout_ns = for_ns + 60 * NS_PER_S};

	path_begin(r, &path);
	text_printf(&path, "watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld", (long long)(for_ns / NS_PER_S));
	if (with_list)
		text_add(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
	else
		text_add(&path, "&resourceVersion=");
	if (!with_list)
		kube_escape(&path, text_str(&r->version));
	q.path = text_str(&path);
	r->state = with_list ? REFLECTOR_STREAMING : REFLECTOR_WATCHING;
	r->began_ns = now_ns;
	r->request = r->transport.send(r->transport.ctx, &q);
	text_free(&path);
}

static void begin_list(struct reflector *r, int64_t now_ns)
{
	r->round++;
	text_reset(&r->next);
	if (r->options.may_stream && !r->cannot_stream)
		ask_watch(r, true, now_ns);
	else
		ask_page(r);
}

static void go_on(struct reflector *r, int64_t now_ns)
{
	if (r->wants_list)
		begin_list(r, now_ns);
	else
		ask_watch(r, false, now_ns);
}

/* A pause that grows with each failure in a row. */
static void pause_for(struct reflector *r, bool wants_list, int64_t at_least_ns, int64_t now_ns)
{
	int64_t pause = r->options.pause_ns;

	for (uint32_t i = 1; i < r->n_failures && pause < r->options.max_pause_ns; i++)
		pause *= 2;
	if (pause > r->options.max_pause_ns)
		pause = r->options.max_pause_ns;
	pause = pause / 2 + up_to(r, pause);
	r->state = REFLECTOR_PAUSING;
	r->wants_list = wants_list;
	r->request = 0;
	r->wake_ns = now_ns + (pause > at_least_ns ? pause : at_least_ns);
}

static void failed(struct reflector *r, const char *words, int64_t at_least_ns, int64_t now_ns)
{
	bool was_watching = r->state == REFLECTOR_WATCHING;

	r->n_failures++;
	r->sink.trouble(r->sink.ctx, r->kind, words);
	pause_for(r, !was_watching || r->n_failures >= FAILURES_MAX, at_least_ns, now_ns);
}

/* What a watch should go on from, or the token of a page, is too old. It happens, and is no trouble. */
static void start_over(struct reflector *r, int64_t now_ns)
{
	r->n_failures++;
	pause_for(r, true, 0, now_ns);
}

static void synced(struct reflector *r)
{
	drop_unseen(r);
	r->is_synced = true;
	r->n_lists++;
	r->sink.synced(r->sink.ctx, r->kind);
}

static void become_absent(struct reflector *r, int64_t for_ns, int64_t now_ns)
{
	r->api = 0;
	r->round++;
	r->request = 0;
	r->state = REFLECTOR_ABSENT;
	r->wake_ns = now_ns + for_ns;
	if (!r->is_synced || r->n_known)
		synced(r);
}

/*
 * The other versions of the kind are tried first. If none is there, what we knew of it is gone; but a server that has
 * just been started may not know yet what it has, so it is asked again before that is believed.
 */
static void is_missing(struct reflector *r, int64_t now_ns)
{
	if (r->kind->versions[r->api + 1]) {
		r->api++;
		begin_list(r, now_ns);
		return;
	}
	if (r->missing_ns == TIME_NONE)
		r->missing_ns = now_ns;
	if (!r->n_known || now_ns - r->missing_ns >= r->options.absent_ns) {
		become_absent(r, r->options.absent_ns, now_ns);
		return;
	}
	r->api = 0;
	pause_for(r, true, r->options.absent_ns / 2, now_ns);
}

/* ---- answers ---- */

static void heard(struct reflector *r, int64_t now_ns)
{
	r->heard_ns = now_ns;
	r->missing_ns = TIME_NONE;
	r->n_failures = 0;
}

static void set_version(struct reflector *r, const char *version)
{
	text_reset(&r->version);
	text_add(&r->version, version);
}

/* The items of a page, or why it is none. Objects before a bad one were told: the next list has them again. */
static enum err_code take_items(struct reflector *r, const struct kube_page *page, struct err *e)
{
	const char *api =
		arena_printf(r->arena, "%s%s%s", r->kind->group, *r->kind->group ? "/" : "", reflector_version(r));

	for (uint32_t i = 0; page->items && i < page->items->n; i++) {
		const struct tree *item = tree_named(r->arena, page->items->items[i], api, r->kind->kind);
		struct kube_object o;
		enum err_code rc = kube_object_of(item, &o, e);

		if (rc)
			return rc;
		see(r, &o);
	}
	return ERR_OK;
}

static void take_page(struct reflector *r, const struct kube_news *n, int64_t now_ns)
{
	struct kube_page page;
	struct err e = {0};

	arena_reset(r->arena);
	if (kube_page_parse(r->kind->resource, text_str(&n->body), n->body.n, r->arena, &page, &e) ||
	    take_items(r, &page, &e)) {
		failed(r, e.msg, 0, now_ns);
		return;
	}
	if (!*page.next && !*page.version) {
		failed(r, "a list without resourceVersion", 0, now_ns);
		return;
	}
	heard(r, now_ns);
	text_reset(&r->next);
	text_add(&r->next, page.next);
	if (r->next.n) {
		ask_page(r);
		return;
	}
	set_version(r, page.version);
	synced(r);
	ask_watch(r, false, now_ns);
}

/* false: the watch is of no use any more. */
static bool take_line(struct reflector *r, const char *s, size_t n, int64_t now_ns)
{
	struct watch_line line;
	struct err e = {0};

	arena_reset(r->arena);
	if (watch_line_parse(s, n, r->arena, &line, &e)) {
		failed(r, e.msg, 0, now_ns);
		return false;
	}
	if (line.type == WATCH_ERROR) {
		if (line.error_code == 410)
			start_over(r, now_ns);
		else
			failed(r, line.error, 0, now_ns);
		return false;
	}
	heard(r, now_ns);
	if (line.type == WATCH_DELETED)
		see_gone(r, &line.object);
	else if (line.type != WATCH_BOOKMARK)
		see(r, &line.object);
	if (r->state == REFLECTOR_WATCHING || line.ends_list)
		set_version(r, line.object.version);
	if (r->state == REFLECTOR_STREAMING && line.ends_list) {
		r->state = REFLECTOR_WATCHING;
		synced(r);
	}
	return true;
}

static void take_lines(struct reflector *r, const struct kube_news *n, int64_t now_ns)
{
	const char *s = text_str(&n->body), *end = s + n->body.n;

	while (s < end) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((stop ? stop : end) - s);
		uint64_t request = r->request;

		if (len && !take_line(r, s, len, now_ns)) {
			r->transport.cancel(r->transport.ctx, request);
			return;
		}
		s += len + 1;
	}
}

/* A watch ends now and then; one that ends at once, again and again, is trouble. */
static void watch_ended(struct reflector *r, int64_t now_ns)
{
	if (r->state == REFLECTOR_STREAMING)
		failed(r, "the list ended before it was complete", 0, now_ns);
	else if (now_ns - r->began_ns < NS_PER_S)
		failed(r, "the watch ended as soon as it had begun", 0, now_ns);
	else
		ask_watch(r, false, now_ns);
}

static void take_refusal(struct reflector *r, const struct kube_news *n, int64_t now_ns)
{
	if (n->status == 404) {
		is_missing(r, now_ns);
		return;
	}
	if (n->status == 410) {
		start_over(r, now_ns);
		return;
	}
	if (r->state == REFLECTOR_STREAMING && (n->status == 422 || n->status == 400)) {
		r->cannot_stream = true; /* an older server, or one that was told not to */
		begin_list(r, now_ns);
		return;
	}
	/* What could be read before is not given up for a server that does not know our rights yet. */
	if (n->result == KUBE_FORBIDDEN && !r->kind->is_essential && !r->n_known) {
		r->sink.trouble(r->sink.ctx, r->kind, n->error);
		become_absent(r, 3 * r->options.absent_ns, now_ns);
		return;
	}
	failed(r, n->error, n->retry_after_ns, now_ns);
}

bool reflector_take(struct reflector *r, const struct kube_news *n, int64_t now_ns)
{
	if (!r->request || n->request != r->request)
		return false;
	if (!n->is_done)
		take_lines(r, n, now_ns);
	else if (n->result != KUBE_OK)
		take_refusal(r, n, now_ns);
	else if (r->state == REFLECTOR_LISTING)
		take_page(r, n, now_ns);
	else
		watch_ended(r, now_ns);
	return true;
}

void reflector_start(struct reflector *r, int64_t now_ns)
{
	begin_list(r, now_ns);
}

void reflector_tick(struct reflector *r, int64_t now_ns)
{
	if (now_ns < reflector_next_ns(r))
		return;
	r->wants_list |= r->state == REFLECTOR_ABSENT;
	go_on(r, now_ns);
}

int64_t reflector_next_ns(const struct reflector *r)
{
	return r->state == REFLECTOR_PAUSING || r->state == REFLECTOR_ABSENT ? r->wake_ns : INT64_MAX;
}

void reflector_forget_version(struct reflector *r, const char *ns, const char *name)
{
	uint32_t i = find(r, ns, name);

	if (i == MAP_NONE)
		return;
	names_drop(r->names, r->known.v[i].version);
	r->known.v[i].version = NAME_NONE;
}

void reflector_relist(struct reflector *r, int64_t now_ns)
{
	if (r->request)
		r->transport.cancel(r->transport.ctx, r->request);
	r->request = 0;
	begin_list(r, now_ns);
}

bool reflector_is_synced(const struct reflector *r)
{
	return r->is_synced;
}

uint32_t reflector_list_count(const struct reflector *r)
{
	return r->n_lists;
}

bool reflector_is_absent(const struct reflector *r)
{
	return r->state == REFLECTOR_ABSENT;
}

uint32_t reflector_count(const struct reflector *r)
{
	return r->n_known;
}

int64_t reflector_heard_ns(const struct reflector *r)
{
	return r->heard_ns;
}

const struct kube_kind *reflector_kind(const struct reflector *r)
{
	return r->kind;
}

const char *reflector_version(const struct reflector *r)
{
	return r->kind->versions[r->api];
}

bool reflector_find(const struct reflector *r, const char *ns, const char *name, const char **ret_uid,
		    const char **ret_version)
{
	uint32_t i = find(r, ns, name);

	if (i == MAP_NONE)
		return false;
	*ret_uid = name_str(r->names, r->known.v[i].uid);
	*ret_version = name_str(r->names, r->known.v[i].version);
	return true;
}
