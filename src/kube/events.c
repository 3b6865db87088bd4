/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/events.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/emit.h"
#include "kube/kinds.h"

#define FORGET_NS (360 * NS_PER_S)
#define REPEAT_NS (60 * NS_PER_S)
enum { NOTE_MAX = 1000, SERIES_MAX = 10000 };

struct event_series {
	uint64_t key;
	struct text path; /* of the Event */
	uint32_t count, written;
	int64_t last_ns, written_ns;
};

struct events {
	const char *controller, *instance;
	ARRAY(struct event_series) series;
	struct map by_key;
	uint64_t serial;
};

struct events *events_new(const char *controller, const char *instance)
{
	struct events *v = mem_alloc(sizeof(*v));

	v->controller = mem_strdup(controller);
	v->instance = mem_strdup(instance);
	return v;
}

void events_free(struct events *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < v->series.n; i++)
		text_free(&v->series.v[i].path);
	array_free(&v->series);
	map_free(&v->by_key);
	mem_free((char *)v->controller);
	mem_free((char *)v->instance);
	mem_free(v);
}

uint32_t events_count(const struct events *v)
{
	return v->series.n;
}

static uint64_t mix(uint64_t h, const char *s)
{
	return hash_mix(h, hash_bytes(s ? s : "", s ? strlen(s) : 0));
}

/* What it is about and what happened; the words may differ. */
static uint64_t key_of(const struct kube_event *e)
{
	uint64_t h = mix(mix(mix(mix(0, e->uid), e->name), e->ns), e->kind);

	return mix(mix(mix(mix(h, e->type), e->reason), e->action), e->related_uid);
}

static void events_path(struct text *out, const char *ns, const char *name)
{
	static const struct kube_kind events = {"Event", "events.k8s.io", {"v1"}, "events", false};

	kube_path(out, &events, "v1", *ns ? ns : "default", name);
}

static void emit_about(struct emit *j, const struct kube_event *e)
{
	emit_object(j, "regarding");
	emit_str(j, "apiVersion", e->api);
	emit_str(j, "kind", e->kind);
	emit_str(j, "name", e->name);
	if (*e->ns)
		emit_str(j, "namespace", e->ns);
	emit_str(j, "uid", e->uid);
	if (e->version && *e->version)
		emit_str(j, "resourceVersion", e->version);
	emit_end(j);
	if (!e->related_name)
		return;
	emit_object(j, "related");
	emit_str(j, "apiVersion", "v1");
	emit_str(j, "kind", "Pod");
	emit_str(j, "namespace", e->related_ns);
	emit_str(j, "name", e->related_name);
	emit_str(j, "uid", e->related_uid);
	emit_end(j);
}

/* Cut so that the server takes it, not inside a character. */
static void emit_note(struct emit *j, const char *note)
{
	size_t n = strlen(note);
	struct text cut = {0};

	if (n > NOTE_MAX) {
		for (n = NOTE_MAX; n > 0 && ((unsigned char)note[n] & 0xC0) == 0x80;)
			n--;
		text_add_n(&cut, note, n);
		text_add(&cut, " …");
	}
	emit_str(j, "note", cut.n ? text_str(&cut) : note);
	text_free(&cut);
}

static void emit_micro(struct emit *j, const char *key, int64_t ns)
{
	struct text t = {0};

	write_micro_time(&t, ns);
	emit_str(j, key, text_str(&t));
	text_free(&t);
}

static void create(struct events *v, const struct kube_event *e, const char *name, int64_t wall_ns,
		   struct kube_write *w)
{
	struct text path = {0}, body = {0};
	struct emit j;

	emit_init(&j, &body, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	emit_str(&j, "apiVersion", "events.k8s.io/v1");
	emit_str(&j, "kind", "Event");
	emit_object(&j, "metadata");
	emit_str(&j, "name", name);
	emit_str(&j, "namespace", *e->ns ? e->ns : "default");
	emit_end(&j);
	emit_micro(&j, "eventTime", wall_ns);
	emit_str(&j, "reportingController", v->controller);
	emit_str(&j, "reportingInstance", v->instance);
	emit_str(&j, "action", e->action);
	emit_str(&j, "reason", e->reason);
	emit_str(&j, "type", e->type);
	emit_about(&j, e);
	emit_note(&j, e->note);
	emit_end(&j);
	events_path(&path, e->ns, NULL);
	write_object(w, "POST", text_str(&path), &body);
	w->is_brief = true;
	text_free(&path);
	text_free(&body);
}

static void patch_series(struct event_series *s, int64_t wall_ns, struct kube_write *w)
{
	struct text body = {0};
	struct emit j;

	emit_init(&j, &body, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	emit_object(&j, "series");
	emit_int(&j, "count", s->count);
	emit_micro(&j, "lastObservedTime", s->last_ns);
	emit_end(&j);
	emit_end(&j);
	write_object(w, "PATCH", text_str(&s->path), &body);
	w->is_brief = true;
	text_free(&body);
	s->written = s->count;
	s->written_ns = wall_ns;
}

/* Another takes its place: their order means nothing. */
static void forget(struct events *v, uint32_t i)
{
	struct event_series last;

	map_del(&v->by_key, v->series.v[i].key);
	text_free(&v->series.v[i].path);
	last = array_pop(&v->series);
	if (i == v->series.n)
		return;
	v->series.v[i] = last;
	map_put(&v->by_key, last.key, i);
}

static bool repeat(struct events *v, uint32_t i, int64_t wall_ns, struct kube_write *w)
{
	struct event_series *s = &v->series.v[i];

	s->count++;
	s->last_ns = wall_ns;
	if (s->count > 2 && wall_ns - s->written_ns < REPEAT_NS)
		return false;
	patch_series(s, wall_ns, w);
	return true;
}

bool events_note(struct events *v, const struct kube_event *e, int64_t wall_ns, struct kube_write *w)
{
	uint64_t key = key_of(e);
	uint32_t i = map_get(&v->by_key, key);
	struct event_series s = {.key = key, .count = 1, .written = 1, .last_ns = wall_ns, .written_ns = wall_ns};
	struct text name = {0};

	if (i != MAP_NONE && wall_ns - v->series.v[i].last_ns < FORGET_NS)
		return repeat(v, i, wall_ns, w);
	if (i != MAP_NONE)
		forget(v, i);
	if (v->series.n >= SERIES_MAX)
		forget(v, (uint32_t)(key % v->series.n));
	/* As everybody names them: the object and a number that is new. */
	text_printf(&name, "%.200s.%" PRIx64, e->name, (uint64_t)wall_ns + v->serial++);
	create(v, e, text_str(&name), wall_ns, w);
	events_path(&s.path, e->ns, text_str(&name));
	map_put(&v->by_key, key, v->series.n);
	array_push(&v->series, s);
	text_free(&name);
	return true;
}

bool events_flush(struct events *v, int64_t wall_ns, struct kube_write *w)
{
	for (uint32_t i = 0; i < v->series.n;) {
		struct event_series *s = &v->series.v[i];

		if (wall_ns - s->last_ns < FORGET_NS) {
			i++;
			continue;
		}
		if (s->count > s->written) {
			patch_series(s, wall_ns, w);
			return true;
		}
		forget(v, i);
	}
	return false;
}
