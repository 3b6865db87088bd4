/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

enum metric_kind { COUNTER, GAUGE, HISTOGRAM_MS, HISTOGRAM_LONG, HISTOGRAM_COUNT };

static const struct metric_row {
	enum metric_kind kind;
	const char *name, *help;
	const char *labels[METRIC_MAX_LABELS];
} rows[METRIC_COUNT] = {
#define METRIC_ROW(id, kind_, name_, a, b, c, help_) {kind_, name_, help_, {a, b, c}},
	METRIC_TABLE(METRIC_ROW)
#undef METRIC_ROW
};

/* Each bound is twice the one before it: kube-scheduler's buckets. */
static const struct bucket_row {
	double first;
	uint32_t n;
} bucket_rows[] = {
	[HISTOGRAM_MS] = {0.001, 15},
	[HISTOGRAM_LONG] = {0.01, 20},
	[HISTOGRAM_COUNT] = {1, 7},
};

struct metric_series {
	char *labels; /* the values, each with its NUL */
	uint32_t len;
	uint32_t next; /* with the same hash; MAP_NONE: no more */
	double value;  /* the sum of a histogram */
	uint64_t count;
	uint64_t *buckets; /* each without the smaller ones */
};

struct family {
	ARRAY(struct metric_series) all;
	struct map by_hash;
};

struct metrics {
	pthread_mutex_t lock;
	struct family families[METRIC_COUNT];
};

static bool is_histogram(enum metric_id id)
{
	return rows[id].kind >= HISTOGRAM_MS;
}

static uint32_t label_count(enum metric_id id)
{
	uint32_t n = 0;

	while (n < METRIC_MAX_LABELS && *rows[id].labels[n])
		n++;
	return n;
}

static void key_of(enum metric_id id, const char *const *labels, struct text *ret)
{
	uint32_t n = label_count(id);

	for (uint32_t i = 0; i < n; i++) {
		assert(labels && labels[i]);
		text_add_n(ret, labels[i], strlen(labels[i]) + 1);
	}
	assert(!labels || n == METRIC_MAX_LABELS || !labels[n]);
}

static void key_of_others(enum metric_id id, struct text *ret)
{
	static const char *const others[METRIC_MAX_LABELS] = {"other", "other", "other"};

	text_reset(ret);
	for (uint32_t i = 0; i < label_count(id); i++)
		text_add_n(ret, others[i], sizeof("other"));
}

static struct metric_series *find(struct family *f, const struct text *key)
{
	uint32_t at = map_get(&f->by_hash, hash_bytes(text_str(key), key->n));

	while (at != MAP_NONE) {
		struct metric_series *s = &f->all.v[at];

		if (s->len == key->n && memcmp(s->labels, text_str(key), key->n) == 0)
			return s;
		at = s->next;
	}
	return NULL;
}

static struct metric_series *add_series(struct family *f, enum metric_id id, const struct text *key)
{
	uint64_t hash = hash_bytes(text_str(key), key->n);
	struct metric_series s = {.len = (uint32_t)key->n, .next = map_get(&f->by_hash, hash)};

	s.labels = mem_resize(NULL, key->n + 1, 1);
	memcpy(s.labels, text_str(key), key->n + 1);
	if (is_histogram(id))
		s.buckets = mem_alloc(bucket_rows[rows[id].kind].n * sizeof(*s.buckets));
	map_put(&f->by_hash, hash, f->all.n);
	array_push(&f->all, s);
	return &array_last(&f->all);
}

/* The series of these labels, made if need be; the lock is held. */
static struct metric_series *series_of(struct metrics *m, enum metric_id id, const char *const *labels)
{
	struct family *f = &m->families[id];
	struct text key = {0};
	struct metric_series *s;

	key_of(id, labels, &key);
	s = find(f, &key);
	if (!s && f->all.n >= METRICS_MAX_SERIES) {
		key_of_others(id, &key);
		s = find(f, &key);
	}
	if (!s)
		s = add_series(f, id, &key);
	text_free(&key);
	return s;
}

static void family_clear(struct family *f)
{
	for (uint32_t i = 0; i < f->all.n; i++) {
		mem_free(f->all.v[i].labels);
		mem_free(f->all.v[i].buckets);
	}
	array_free(&f->all);
	map_free(&f->by_hash);
	f->by_hash = (struct map){0};
}

struct metrics *metrics_new(void)
{
	struct metrics *m = mem_alloc(sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		if (!label_count(id))
			series_of(m, id, NULL);
	metrics_set(m, METRIC_BUILD_INFO, 1, METRIC_LABELS(CEDE_VERSION));
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		family_clear(&m->families[id]);
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}

void metrics_add(struct metrics *m, enum metric_id id, double by, const char *const *labels)
{
	if (!m)
		return;
	assert(!is_histogram(id) && (rows[id].kind == GAUGE || by >= 0));
	pthread_mutex_lock(&m->lock);
	series_of(m, id, labels)->value += by;
	pthread_mutex_unlock(&m->lock);
}

void metrics_set(struct metrics *m, enum metric_id id, double value, const char *const *labels)
{
	if (!m)
		return;
	assert(!is_histogram(id));
	pthread_mutex_lock(&m->lock);
	series_of(m, id, labels)->value = value;
	pthread_mutex_unlock(&m->lock);
}

void metrics_observe_n(struct metrics *m, enum metric_id id, double value, uint32_t n, const char *const *labels)
{
	const struct bucket_row *row = &bucket_rows[rows[id].kind];
	double bound = row->first;
	struct metric_series *s;
	uint32_t i = 0;

	if (!m)
		return;
	assert(is_histogram(id));
	while (i < row->n && value > bound) {
		bound *= 2;
		i++;
	}
	pthread_mutex_lock(&m->lock);
	s = series_of(m, id, labels);
	s->value += value * n;
	s->count += n;
	if (i < row->n)
		s->buckets[i] += n;
	pthread_mutex_unlock(&m->lock);
}

void metrics_observe(struct metrics *m, enum metric_id id, double value, const char *const *labels)
{
	metrics_observe_n(m, id, value, 1, labels);
}

void metrics_clear(struct metrics *m, enum metric_id id)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	family_clear(&m->families[id]);
	if (!label_count(id))
		series_of(m, id, NULL);
	pthread_mutex_unlock(&m->lock);
}

double metrics_get(struct metrics *m, enum metric_id id, const char *const *labels)
{
	struct text key = {0};
	struct metric_series *s;
	double value;

	pthread_mutex_lock(&m->lock);
	key_of(id, labels, &key);
	s = find(&m->families[id], &key);
	value = !s ? 0 : is_histogram(id) ? (double)s->count : s->value;
	pthread_mutex_unlock(&m->lock);
	text_free(&key);
	return value;
}

double metrics_quantile(struct metrics *m, enum metric_id id, double fraction)
{
	const struct bucket_row *row = &bucket_rows[rows[id].kind];
	double bound = row->first;
	const struct metric_series *s;
	uint64_t sum = 0;
	uint32_t i = 0;

	assert(is_histogram(id) && !label_count(id));
	pthread_mutex_lock(&m->lock);
	s = series_of(m, id, NULL);
	for (sum = s->buckets[0]; i + 1 < row->n && (double)sum < fraction * (double)s->count; i++) {
		bound *= 2;
		sum += s->buckets[i + 1];
	}
	bound = s->count ? bound : 0;
	pthread_mutex_unlock(&m->lock);
	return bound;
}

/* ---- text ---- */

static void add_number(struct text *out, double v)
{
	char buf[40];

	if (isnan(v) || isinf(v)) {
		text_add(out, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) { /* the shortest that reads back the same */
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	text_add(out, buf);
}

static void add_value(struct text *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			text_add(out, "\\n");
		else if (*s == '"' || *s == '\\')
			text_printf(out, "\\%c", *s);
		else
			text_add_char(out, *s);
	}
}

/* Bytes that are no UTF-8 would make Prometheus refuse everything. */
static void add_label(struct text *out, const char *name, const char *value, bool is_first)
{
	const char *at = value;
	uint32_t c;

	text_printf(out, "%s%s=\"", is_first ? "{" : ",", name);
	do
		c = text_next(&at);
	while (c && c != TEXT_BAD);
	if (c == TEXT_BAD) {
		struct text visible = {0};

		text_add_visible(&visible, value);
		add_value(out, text_str(&visible));
		text_free(&visible);
	} else {
		add_value(out, value);
	}
	text_add_char(out, '"');
}

static void add_labels(struct text *out, enum metric_id id, const struct metric_series *s, const char *le)
{
	const char *value = s->labels;
	uint32_t n = label_count(id);

	for (uint32_t i = 0; i < n; i++) {
		add_label(out, rows[id].labels[i], value, i == 0);
		value += strlen(value) + 1;
	}
	if (le)
		add_label(out, "le", le, n == 0);
	if (n || le)
		text_add_char(out, '}');
	text_add_char(out, ' ');
}

static void add_histogram(struct text *out, enum metric_id id, const struct metric_series *s)
{
	const struct bucket_row *row = &bucket_rows[rows[id].kind];
	double bound = row->first;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < row->n; i++) {
		struct text le = {0};

		add_number(&le, bound);
		sum += s->buckets[i];
		text_printf(out, "%s_bucket", rows[id].name);
		add_labels(out, id, s, text_str(&le));
		text_printf(out, "%llu\n", (unsigned long long)sum);
		text_free(&le);
		bound *= 2;
	}
	text_printf(out, "%s_bucket", rows[id].name);
	add_labels(out, id, s, "+Inf");
	text_printf(out, "%llu\n%s_sum", (unsigned long long)s->count, rows[id].name);
	add_labels(out, id, s, NULL);
	add_number(out, s->value);
	text_printf(out, "\n%s_count", rows[id].name);
	add_labels(out, id, s, NULL);
	text_printf(out, "%llu\n", (unsigned long long)s->count);
}

static void add_series_text(struct text *out, enum metric_id id, const struct metric_series *s)
{
	if (is_histogram(id)) {
		add_histogram(out, id, s);
		return;
	}
	text_add(out, rows[id].name);
	add_labels(out, id, s, NULL);
	add_number(out, s->value);
	text_add_char(out, '\n');
}

static int by_labels(const void *a, const void *b)
{
	const struct metric_series *x = *(const struct metric_series *const *)a,
				   *y = *(const struct metric_series *const *)b;
	uint32_t n = x->len < y->len ? x->len : y->len;
	int c = n ? memcmp(x->labels, y->labels, n) : 0;

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void add_family(struct text *out, struct metrics *m, enum metric_id id)
{
	const struct family *f = &m->families[id];
	ARRAY(const struct metric_series *) sorted = {0};

	if (!f->all.n)
		return;
	for (uint32_t i = 0; i < f->all.n; i++)
		array_push(&sorted, &f->all.v[i]);
	qsort(sorted.v, sorted.n, sizeof(*sorted.v), by_labels);
	text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[id].name, rows[id].help, rows[id].name,
		    is_histogram(id)	     ? "histogram"
		    : rows[id].kind == GAUGE ? "gauge"
					     : "counter");
	for (uint32_t i = 0; i < sorted.n; i++)
		add_series_text(out, id, sorted.v[i]);
	array_free(&sorted);
}

void metrics_text(struct metrics *m, struct text *out)
{
	pthread_mutex_lock(&m->lock);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		add_family(out, m, id);
	pthread_mutex_unlock(&m->lock);
}

const char *metric_name(enum metric_id id)
{
	return rows[id].name;
}
