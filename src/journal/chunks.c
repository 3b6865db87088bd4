/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/chunks.h"

#include <string.h>
#include <zstd.h>

#include "journal/coding.h"
#include "journal/statement.h"
#include "manifest/fields.h"

/*
 * Chunks of 40 KiB on average: small enough that a pod that changes makes few bytes new, large enough that a list of
 * them is short and pods of one template lie beside each other when they are compressed.
 */
enum { CUT_MIN = 8 << 10, CUT_MAX = 160 << 10, CUT_SHIFT = 64 - 15, LEVEL = 5, LIKE_MAX = 4 };
#define LIST_MAX (16u << 20) /* bytes of a list, enough for the longest text in the shortest chunks */

struct entry { /* of a list */
	struct chunk_ref chunk;
	uint32_t n; /* bytes */
};
typedef ARRAY(struct entry) entry_list;

struct chunks {
	struct journal *j;
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	struct statement by_id, base_by_id, by_hash, insert;
	int64_t last_id, base_id; /* given last; in base now. 0: none */
	size_t base_packed;	  /* bytes that the base takes in the file */
	uint64_t gear[256];
	struct text base, found, packed, delta, list; /* scratch */
};

/* ---- opening ---- */

enum err_code chunks_open(struct journal *j, struct chunks **ret, struct err *e)
{
	static const char by_id[] = "SELECT hash, base, data FROM chunks WHERE chunk = ?";
	struct chunks *c = mem_alloc(sizeof(*c));
	enum err_code rc;

	c->j = j;
	c->packer = ZSTD_createCCtx();
	c->unpacker = ZSTD_createDCtx();
	for (uint32_t i = 0; i < 256; i++)
		c->gear[i] = hash_u64(i);
	rc = statement_open(&c->by_id, j, by_id, e);
	if (!rc)
		rc = statement_open(&c->base_by_id, j, by_id, e);
	if (!rc)
		rc = statement_open(&c->by_hash, j, "SELECT chunk FROM chunks WHERE hash = ? ORDER BY chunk", e);
	if (!rc)
		rc = statement_open(&c->insert, j, "INSERT INTO chunks VALUES (?,?,?,?)", e);
	if (rc)
		chunks_close(c);
	else
		*ret = c;
	return rc;
}

void chunks_close(struct chunks *c)
{
	if (!c)
		return;
	statement_close(&c->by_id);
	statement_close(&c->base_by_id);
	statement_close(&c->by_hash);
	statement_close(&c->insert);
	ZSTD_freeCCtx(c->packer);
	ZSTD_freeDCtx(c->unpacker);
	text_free(&c->base);
	text_free(&c->found);
	text_free(&c->packed);
	text_free(&c->delta);
	text_free(&c->list);
	mem_free(c);
}

/* Room for n bytes, of which nothing is kept. */
static void make_room(struct text *t, size_t n)
{
	if (t->cap < n + 1) {
		text_free(t);
		t->s = mem_alloc(n + 1);
		t->cap = n + 1;
	}
	t->n = 0;
}

/* ---- one chunk ---- */

static enum err_code unreadable(const struct chunks *c, int64_t id, const char *why, struct err *e)
{
	return store_damaged(c->j, e, "chunk %lld %s", (long long)id, why);
}

static enum err_code unpack(struct chunks *c, int64_t id, const void *data, size_t n, size_t max, struct text *out,
			    struct err *e)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, n);
	size_t got;

	if (size > max) /* also what zstd answers if it does not know */
		return unreadable(c, id, "cannot be unpacked", e);
	make_room(out, size);
	got = ZSTD_decompressDCtx(c->unpacker, out->s, size, data, n);
	if (ZSTD_isError(got) || got != size)
		return unreadable(c, id, "cannot be unpacked", e);
	out->n = size;
	return ERR_OK;
}

struct stored { /* a row of chunks; the data until the next step */
	uint64_t hash;
	int64_t base;
	const void *data;
	size_t n;
};

static enum err_code look_up(struct chunks *c, struct statement *q, int64_t id, struct stored *ret, struct err *e)
{
	bind_int(q, id);
	if (!statement_next(q)) {
		TRY(statement_done(q, e));
		return unreadable(c, id, "is not there", e);
	}
	ret->hash = (uint64_t)column_int(q);
	ret->base = column_int(q);
	ret->data = column_blob(q, &ret->n);
	return ERR_OK;
}

static enum err_code verify(const struct chunks *c, int64_t id, const struct text *t, uint64_t hash, struct err *e)
{
	return hash_bytes(t->s, t->n) == hash ? ERR_OK : unreadable(c, id, "is not as it was written", e);
}

/* Into c->base, where it stays: neighbours often have the same. */
static enum err_code fetch_base(struct chunks *c, int64_t id, size_t max, struct err *e)
{
	struct stored row;
	enum err_code rc;

	if (c->base_id == id)
		return ERR_OK;
	c->base_id = 0;
	TRY(look_up(c, &c->base_by_id, id, &row, e));
	rc = row.base ? unreadable(c, id, "is built upon, and is itself built upon another", e)
		      : unpack(c, id, row.data, row.n, max, &c->base, e);
	statement_done(&c->base_by_id, NULL);
	TRY(rc);
	TRY(verify(c, id, &c->base, row.hash, e));
	c->base_id = id;
	c->base_packed = row.n;
	return ERR_OK;
}

static enum err_code unpack_row(struct chunks *c, int64_t id, const struct stored *row, size_t max, struct text *out,
				struct err *e)
{
	if (row->base) {
		TRY(fetch_base(c, row->base, max, e));
		ZSTD_DCtx_refPrefix(c->unpacker, c->base.s, c->base.n);
	}
	return unpack(c, id, row->data, row->n, max, out, e);
}

/* Its text and what the row says of its hash, which is for the caller to compare. */
static enum err_code fetch(struct chunks *c, int64_t id, size_t max, struct text *out, uint64_t *ret_hash,
			   struct err *e)
{
	struct stored row;
	enum err_code rc;

	TRY(look_up(c, &c->by_id, id, &row, e));
	rc = unpack_row(c, id, &row, max, out, e);
	statement_done(&c->by_id, NULL);
	*ret_hash = row.hash;
	return rc;
}

/* The one that was meant. */
static enum err_code fetch_ref(struct chunks *c, struct chunk_ref ref, size_t max, struct text *out, struct err *e)
{
	uint64_t hash;

	TRY(fetch(c, ref.id, max, out, &hash, e));
	return hash == ref.hash ? verify(c, ref.id, out, hash, e) : unreadable(c, ref.id, "is another one", e);
}

enum err_code chunks_check(struct chunks *c, int64_t id, struct chunk_size *ret, struct err *e)
{
	TRY(fetch(c, id, LIST_MAX, &c->found, &ret->hash, e));
	ret->n = c->found.n;
	return verify(c, id, &c->found, ret->hash, e);
}

/* ---- lists ---- */

static void code_list(const entry_list *v, struct text *t)
{
	text_reset(t);
	for (uint32_t i = 0; i < v->n; i++) {
		code_number(t, (uint64_t)v->v[i].chunk.id);
		code_number(t, v->v[i].n);
		code_word64(t, v->v[i].chunk.hash);
	}
}

/* Appends. */
static enum err_code read_list(struct chunks *c, struct chunk_ref ref, entry_list *out, struct err *e)
{
	struct decoder d;
	uint64_t sum = 0;

	if (!ref.id)
		return ERR_OK;
	TRY(fetch_ref(c, ref, LIST_MAX, &c->found, e));
	d = decoder_of(c->found.s, c->found.n);
	while (d.p < d.end && !d.is_bad) {
		struct entry x = {.chunk.id = (int64_t)decode_number(&d)};
		uint64_t n = decode_number(&d);

		x.chunk.hash = decode_word64(&d);
		x.n = (uint32_t)n;
		sum += n;
		if (n > CUT_MAX || sum > TEXT_BYTES_MAX)
			return unreadable(c, ref.id, "lists more than a text may have", e);
		array_push(out, x);
	}
	return decoder_is_done(&d) ? ERR_OK : unreadable(c, ref.id, "is no list of chunks", e);
}

enum err_code chunks_check_text(struct chunks *c, struct chunk_ref ref, const struct map *known,
				const struct chunk_size *sizes, uint64_t *ret_n, struct err *e)
{
	entry_list list = {0};
	enum err_code rc = read_list(c, ref, &list, e);

	*ret_n = 0;
	for (uint32_t i = 0; i < list.n && !rc; i++) {
		const struct entry *x = &list.v[i];
		uint32_t at = map_get(known, (uint64_t)x->chunk.id);

		*ret_n += x->n;
		if (at == MAP_NONE)
			rc = unreadable(c, x->chunk.id, "is needed and cannot be read", e);
		else if (sizes[at].hash != x->chunk.hash || sizes[at].n != x->n)
			rc = unreadable(c, x->chunk.id, "is another one", e);
	}
	array_free(&list);
	return rc;
}

/* ---- reading ---- */

static enum err_code read_entries(struct chunks *c, const entry_list *list, char *to, struct err *e)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct entry *x = &list->v[i];

		TRY(fetch_ref(c, x->chunk, CUT_MAX, &c->found, e));
		if (c->found.n != x->n)
			return unreadable(c, x->chunk.id, "is not as long as it was", e);
		memcpy(to, c->found.s, x->n);
		to += x->n;
	}
	return ERR_OK;
}

enum err_code chunks_read(struct chunks *c, struct chunk_ref ref, struct arena *a, const char **ret, size_t *ret_n,
			  struct err *e)
{
	entry_list list = {0};
	enum err_code rc = read_list(c, ref, &list, e);
	size_t n = 0;
	char *s;

	for (uint32_t i = 0; i < list.n; i++)
		n += list.v[i].n;
	s = arena_alloc(a, rc ? 1 : n + 1);
	if (!rc)
		rc = read_entries(c, &list, s, e);
	array_free(&list);
	*ret = s;
	*ret_n = n;
	return rc;
}

/* ---- cutting ---- */

/* The length of the first chunk: a cut is where the last 64 bytes, taken together, happen to begin with zeros. */
static size_t cut(const struct chunks *c, const unsigned char *p, size_t n)
{
	size_t end = n < CUT_MAX ? n : CUT_MAX;
	uint64_t h = 0;

	for (size_t i = CUT_MIN - 64; i < end; i++) {
		h = (h << 1) + c->gear[p[i]];
		if (i >= CUT_MIN && !(h >> CUT_SHIFT))
			return i + 1;
	}
	return end;
}

static void cut_all(const struct chunks *c, const char *s, size_t n, entry_list *out)
{
	while (n) {
		struct entry x = {.n = (uint32_t)cut(c, (const unsigned char *)s, n)};

		x.chunk.hash = hash_bytes(s, x.n);
		array_push(out, x);
		s += x.n;
		n -= x.n;
	}
}

/* ---- writing ---- */

static enum err_code find(struct chunks *c, const char *s, size_t n, uint64_t hash, int64_t *ret, struct err *e)
{
	struct statement *q = &c->by_hash;
	enum err_code rc = ERR_OK;

	*ret = 0;
	bind_int(q, (int64_t)hash);
	while (!rc && !*ret && statement_next(q)) {
		int64_t id = column_int(q);
		uint64_t said;

		rc = fetch(c, id, LIST_MAX, &c->found, &said, e);
		if (!rc && c->found.n == n && !memcmp(c->found.s, s, n))
			*ret = id;
		else if (!rc) /* another text of the same hash, or damage */
			rc = verify(c, id, &c->found, hash, e);
	}
	return rc ? (statement_done(q, NULL), rc) : statement_done(q, e);
}

static enum err_code pack(struct chunks *c, const char *s, size_t n, bool on_base, struct text *out, struct err *e)
{
	size_t room = ZSTD_compressBound(n), got;

	make_room(out, room);
	ZSTD_CCtx_reset(c->packer, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(c->packer, ZSTD_c_compressionLevel, LEVEL);
	if (on_base)
		ZSTD_CCtx_refPrefix(c->packer, c->base.s, c->base.n);
	got = ZSTD_compress2(c->packer, out->s, room, s, n);
	if (ZSTD_isError(got))
		return err_fail(e, ERR_INTERNAL, "%s: zstd: %s", c->j->path, ZSTD_getErrorName(got));
	out->n = got;
	return ERR_OK;
}

/* What a new version of a chunk is built upon: its base, or itself if it has none. */
static enum err_code base_of(struct chunks *c, int64_t before, int64_t *ret, struct err *e)
{
	struct stored row;

	*ret = 0;
	if (!before) /* there is nothing it could be a version of */
		return ERR_OK;
	TRY(look_up(c, &c->by_id, before, &row, e));
	statement_done(&c->by_id, NULL);
	*ret = row.base ? row.base : before;
	return ERR_OK;
}

/*
 * A base gets older with every change, and what is built upon it longer. Once that is a third of what the base itself
 * takes, a new one pays.
 */
static enum err_code pack_best(struct chunks *c, const char *s, size_t n, int64_t *base, struct text **ret,
			       struct err *e)
{
	*ret = &c->delta;
	if (*base) {
		TRY(fetch_base(c, *base, LIST_MAX, e));
		TRY(pack(c, s, n, true, &c->delta, e));
		if (c->delta.n <= c->base_packed / 3)
			return ERR_OK;
	}
	TRY(pack(c, s, n, false, &c->packed, e));
	if (*base && c->delta.n <= c->packed.n / 3)
		return ERR_OK;
	*base = 0;
	*ret = &c->packed;
	return ERR_OK;
}

/* before: the chunk that stood in its place, 0 if none did. */
static enum err_code put(struct chunks *c, const char *s, size_t n, struct chunk_ref *ref, int64_t before,
			 struct err *e)
{
	struct text *data;
	int64_t base;

	TRY(find(c, s, n, ref->hash, &ref->id, e));
	if (ref->id)
		return ERR_OK;
	TRY(base_of(c, before, &base, e));
	TRY(pack_best(c, s, n, &base, &data, e));
	if (!c->last_id)
		TRY(store_number(c->j, &c->last_id, e, "SELECT max(chunk) FROM chunks"));
	ref->id = ++c->last_id;
	bind_int(&c->insert, ref->id);
	bind_int(&c->insert, (int64_t)ref->hash);
	bind_int(&c->insert, base);
	bind_blob(&c->insert, data->s, data->n);
	return statement_run(&c->insert, e);
}

/* Where in the older text each of its chunks stands. */
static void index_list(const entry_list *list, struct map *out)
{
	for (uint32_t i = list->n; i-- > 0;)
		map_put(out, list->v[i].chunk.hash, i);
}

static uint32_t count_common(const entry_list *a, const entry_list *b)
{
	struct map of_b = {0};
	uint32_t n = 0;

	index_list(b, &of_b);
	for (uint32_t i = 0; i < a->n; i++)
		n += map_get(&of_b, a->v[i].chunk.hash) != MAP_NONE;
	map_free(&of_b);
	return n;
}

/* The text that has most in common with the new one; of equals the first. */
static enum err_code pick(struct chunks *c, const entry_list *new, const struct chunk_ref *like, uint32_t n,
			  entry_list *ret, int64_t *ret_id, struct err *e)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < n && i < LIKE_MAX; i++) {
		entry_list list = {0};
		enum err_code rc = read_list(c, like[i], &list, e);
		uint32_t common = rc ? 0 : count_common(new, &list);

		if (!rc && like[i].id && (common > best || !*ret_id)) {
			array_free(ret);
			*ret = list;
			*ret_id = like[i].id;
			best = common;
		} else {
			array_free(&list);
		}
		TRY(rc);
	}
	return ERR_OK;
}

/* A chunk that is not new says where in the older text we are; one that is new stands for the next one there. */
static enum err_code put_all(struct chunks *c, const char *s, entry_list *new, const entry_list *old, struct err *e)
{
	struct map places = {0};
	enum err_code rc = ERR_OK;
	uint32_t at = 0;

	index_list(old, &places);
	for (uint32_t i = 0; i < new->n && !rc; i++) {
		struct entry *x = &new->v[i];
		uint32_t place = map_get(&places, x->chunk.hash);

		if (place != MAP_NONE)
			at = place;
		rc = put(c, s, x->n, &x->chunk, at < old->n ? old->v[at].chunk.id : 0, e);
		at++;
		s += x->n;
	}
	map_free(&places);
	return rc;
}

enum err_code chunks_write(struct chunks *c, const char *s, size_t n, const struct chunk_ref *like, uint32_t n_like,
			   struct chunk_ref *ret, struct err *e)
{
	entry_list new = {0}, old = {0};
	int64_t before = 0;
	enum err_code rc;

	*ret = (struct chunk_ref){0};
	if (!n)
		return ERR_OK;
	if (n > TEXT_BYTES_MAX)
		return err_fail(e, ERR_LIMIT, "%s: the cluster is too large to be recorded; nothing was recorded",
				c->j->path);
	cut_all(c, s, n, &new);
	rc = pick(c, &new, like, n_like, &old, &before, e);
	if (!rc)
		rc = put_all(c, s, &new, &old, e);
	if (!rc) {
		code_list(&new, &c->list);
		ret->hash = hash_bytes(c->list.s, c->list.n);
		rc = put(c, c->list.s, c->list.n, ret, before, e);
	}
	array_free(&new);
	array_free(&old);
	return rc;
}

/* ---- what is used ---- */

static enum err_code mark_one(struct chunks *c, int64_t id, struct map *used, struct err *e)
{
	int64_t base;

	if (map_get(used, (uint64_t)id) != MAP_NONE)
		return ERR_OK;
	TRY(base_of(c, id, &base, e));
	map_put(used, (uint64_t)id, 1);
	map_put(used, (uint64_t)base, 1);
	return ERR_OK;
}

enum err_code chunks_mark(struct chunks *c, struct chunk_ref ref, struct map *used, struct err *e)
{
	entry_list list = {0};
	enum err_code rc;

	if (!ref.id)
		return ERR_OK;
	rc = mark_one(c, ref.id, used, e);
	if (!rc)
		rc = read_list(c, ref, &list, e);
	for (uint32_t i = 0; i < list.n && !rc; i++)
		rc = mark_one(c, list.v[i].chunk.id, used, e);
	array_free(&list);
	return rc;
}

enum err_code chunks_list(struct chunks *c, id_list *out, struct err *e)
{
	struct statement q = {0};
	enum err_code rc = statement_open(&q, c->j, "SELECT chunk FROM chunks ORDER BY chunk", e);

	while (!rc && statement_next(&q))
		array_push(out, column_int(&q));
	if (!rc)
		rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

enum err_code chunks_sweep(struct chunks *c, const struct map *used, struct err *e)
{
	struct statement q = {0};
	id_list ids = {0};
	enum err_code rc = chunks_list(c, &ids, e);

	if (!rc)
		rc = statement_open(&q, c->j, "DELETE FROM chunks WHERE chunk = ?", e);
	for (uint32_t i = 0; i < ids.n && !rc; i++) {
		if (map_get(used, (uint64_t)ids.v[i]) != MAP_NONE)
			continue;
		bind_int(&q, ids.v[i]);
		rc = statement_run(&q, e);
	}
	statement_close(&q);
	array_free(&ids);
	c->base_id = 0;
	c->last_id = 0;
	return rc;
}
