/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in chunks: what is written is read, a text that resembles another costs what is different, two texts of one
 * hash are two, and no list asks for more memory than a text may have.
 */
#include <zstd.h>

#include "journal/chunks.h"
#include "journal/coding.h"
#include "journal/journal_runs.h"

struct shelf { /* a journal that is being written */
	struct journal *j;
	struct chunks *c;
};

static struct shelf shelf_open(void)
{
	struct shelf s;
	struct err e = {0};

	forget("c.db");
	if (journal_open(file("c.db"), JOURNAL_WRITE, &s.j, &e) || store_begin(s.j, &e) || store_chunks(s.j, &s.c, &e))
		fail_msg("%s", e.msg);
	return s;
}

static void shelf_close(struct shelf *s)
{
	struct err e = {0};

	assert_int_equal(store_end(s->j, ERR_OK, &e), ERR_OK);
	journal_close(s->j);
}

static int64_t number(const struct shelf *s, const char *sql)
{
	int64_t n;
	struct err e = {0};

	assert_int_equal(store_number(s->j, &n, &e, "%s", sql), ERR_OK);
	return n;
}

static struct chunk_ref put(struct shelf *s, const char *text, size_t n, const struct chunk_ref *like)
{
	struct chunk_ref ref;
	struct err e = {0};

	if (chunks_write(s->c, text, n, like, like ? 1 : 0, &ref, &e))
		fail_msg("%s", e.msg);
	return ref;
}

static void expect_text(struct shelf *s, struct chunk_ref ref, const char *text, size_t n)
{
	struct arena *a = arena_new(1 << 16);
	const char *found;
	size_t found_n;
	struct err e = {0};

	if (chunks_read(s->c, ref, a, &found, &found_n, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(found_n, n);
	assert_memory_equal(found, text, n);
	assert_int_equal(found[n], 0);
	arena_free(a);
}

/* ---- sizes ---- */

enum { PODS = 5000 };

static void write_pods(struct text *t, const uint32_t *versions)
{
	text_reset(t);
	for (uint32_t i = 0; i < PODS; i++) {
		uint64_t x = hash_u64(map_key2(i, versions[i]));

		text_printf(t, "{\"kind\":\"Pod\",\"name\":\"trainer-%u\",\"uid\":\"%016llx\",\"node\":\"n%llu\"},", i,
			    (unsigned long long)x, (unsigned long long)(x % 5000));
	}
}

static void a_text_costs_what_is_different(void **state)
{
	enum { TEXTS = 60, CHANGES = 20 };
	struct shelf s = shelf_open();
	static uint32_t versions[PODS];
	struct chunk_ref refs[TEXTS];
	int64_t first, all;
	struct text t = {0};

	(void)state;
	write_pods(&t, versions);
	refs[0] = put(&s, t.s, t.n, NULL);
	first = number(&s, "SELECT sum(length(data)) FROM chunks");
	for (uint32_t i = 1; i < TEXTS; i++) {
		for (uint32_t k = 0; k < CHANGES; k++)
			versions[hash_u64(map_key2(i, k)) % PODS]++;
		write_pods(&t, versions);
		refs[i] = put(&s, t.s, t.n, &refs[i - 1]);
		expect_text(&s, refs[i], t.s, t.n);
	}
	all = number(&s, "SELECT sum(length(data)) FROM chunks");
	print_message("%zu bytes: %lld for the first text, %lld for each of %d more with %d changes\n", t.n,
		      (long long)first, (long long)((all - first) / (TEXTS - 1)), TEXTS - 1, (int)CHANGES);
	assert_true((all - first) / (TEXTS - 1) < first / 5);
	all = number(&s, "SELECT count(*) FROM chunks");
	assert_int_equal(put(&s, t.s, t.n, NULL).id, refs[TEXTS - 1].id); /* the same again costs nothing */
	assert_int_equal(number(&s, "SELECT count(*) FROM chunks"), all);
	assert_int_equal(number(&s, "SELECT count(*) FROM chunks a JOIN chunks b ON a.base = b.chunk WHERE b.base"), 0);
	memset(versions, 0, sizeof(versions));
	write_pods(&t, versions);
	expect_text(&s, refs[0], t.s, t.n);
	shelf_close(&s);
	text_free(&t);
}

/* Of several older texts the one is built upon that is most alike. */
static void the_most_alike_is_built_upon(void **state)
{
	struct shelf s = shelf_open();
	static uint32_t a[PODS], b[PODS];
	struct chunk_ref like[2];
	struct text t = {0};
	struct err e = {0};
	struct chunk_ref ref;
	int64_t before;

	(void)state;
	for (uint32_t i = 0; i < PODS; i++)
		b[i] = 7;
	write_pods(&t, a);
	like[1] = put(&s, t.s, t.n, NULL);
	write_pods(&t, b);
	like[0] = put(&s, t.s, t.n, NULL);
	a[PODS / 2]++;
	write_pods(&t, a);
	before = number(&s, "SELECT sum(length(data)) FROM chunks");
	assert_int_equal(chunks_write(s.c, t.s, t.n, like, 2, &ref, &e), ERR_OK);
	assert_true(number(&s, "SELECT sum(length(data)) FROM chunks") - before < 400);
	expect_text(&s, ref, t.s, t.n);
	shelf_close(&s);
	text_free(&t);
}

/* ---- any text ---- */

static void fill(struct text *t, uint64_t seed, size_t n)
{
	text_reset(t);
	for (size_t i = 0; i < n; i++)
		text_add_char(t, (char)(hash_u64(seed + i / 9) >> (i % 9 * 7)));
}

static void texts_of_any_length_are_read(void **state)
{
	static const size_t lengths[] = {1, 63, 8191, 8192, 8193, 8256, 163840, 163841, 400000, 1000000};
	struct shelf s = shelf_open();
	struct chunk_ref none = put(&s, "", 0, NULL), last = none;
	struct text t = {0};

	(void)state;
	assert_int_equal(none.id, 0);
	expect_text(&s, none, "", 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct chunk_ref ref;

		fill(&t, i, lengths[i]);
		ref = put(&s, t.s, t.n, &last);
		expect_text(&s, ref, t.s, t.n);
		last = ref;
	}
	text_reset(&t);
	text_pad(&t, 'x', 3000000); /* nowhere to cut */
	expect_text(&s, put(&s, t.s, t.n, &last), t.s, t.n);
	shelf_close(&s);
	text_free(&t);
}

/* Pieces are put in, taken out and moved. */
static void versions_of_a_text_are_read(void **state)
{
	struct shelf s = shelf_open();
	struct text t = {0}, next = {0};
	struct chunk_ref last;

	(void)state;
	fill(&t, 1, 300000);
	last = put(&s, t.s, t.n, NULL);
	for (uint64_t i = 0; i < 100; i++) {
		size_t at = hash_u64(i) % t.n, n = hash_u64(i + 1000) % 3000, to = hash_u64(i + 2000) % t.n;

		n = at + n > t.n ? t.n - at : n;
		text_reset(&next);
		text_add_n(&next, t.s, at);
		if (i % 3 == 0)
			text_printf(&next, "put in %llu", (unsigned long long)i);
		if (i % 3 == 1)
			text_add_n(&next, t.s + to, t.n - to < n ? t.n - to : n);
		text_add_n(&next, t.s + at + (i % 3 == 2 ? n : 0), t.n - at - (i % 3 == 2 ? n : 0));
		last = put(&s, next.s, next.n, &last);
		expect_text(&s, last, next.s, next.n);
		text_reset(&t);
		text_add_n(&t, next.s, next.n);
	}
	shelf_close(&s);
	text_free(&t);
	text_free(&next);
}

/* ---- two texts of one hash ---- */

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* What hash_mix makes of a word before it is folded in, and back. */
static uint64_t scramble(uint64_t x)
{
	x *= UINT64_C(0x9fb21c651e98df25);
	return (x << 31 | x >> 33) * UINT64_C(0xa24baed4963ee407);
}

static uint64_t unscramble(uint64_t x)
{
	x *= inverse(UINT64_C(0xa24baed4963ee407));
	return (x >> 31 | x << 33) * inverse(UINT64_C(0x9fb21c651e98df25));
}

static void make_twins(char *a, char *b)
{
	uint64_t one = 1, other = 2, end = 3, other_end;

	other_end = unscramble(scramble(end) ^ hash_mix(16, one) ^ hash_mix(16, other));
	for (int i = 0; i < 8; i++) {
		a[i] = (char)(one >> (8 * i));
		b[i] = (char)(other >> (8 * i));
		a[8 + i] = (char)(end >> (8 * i));
		b[8 + i] = (char)(other_end >> (8 * i));
	}
}

static void two_texts_of_one_hash_are_two(void **state)
{
	struct shelf s = shelf_open();
	struct chunk_ref x, y;
	char a[16], b[16];

	(void)state;
	make_twins(a, b);
	assert_int_equal(hash_bytes(a, 16), hash_bytes(b, 16));
	assert_memory_not_equal(a, b, 16);
	x = put(&s, a, 16, NULL);
	y = put(&s, b, 16, NULL);
	expect_text(&s, x, a, 16);
	expect_text(&s, y, b, 16);
	assert_int_equal(put(&s, b, 16, NULL).id, y.id);
	shelf_close(&s);
}

/* ---- forged lists ---- */

/* A list of this text, with everything that belongs to it. */
static struct chunk_ref forge(struct shelf *s, const struct text *list)
{
	struct statement q = {0};
	struct chunk_ref ref = {1000, hash_bytes(list->s, list->n)};
	char packed[4096];
	struct err e = {0};

	assert_int_equal(store_exec(s->j, "DELETE FROM chunks WHERE chunk = 1000", &e), ERR_OK);
	assert_int_equal(statement_open(&q, s->j, "INSERT INTO chunks VALUES (?,?,0,?)", &e), ERR_OK);
	bind_int(&q, ref.id);
	bind_int(&q, (int64_t)ref.hash);
	bind_blob(&q, packed, ZSTD_compress(packed, sizeof(packed), list->s, list->n, 3));
	assert_int_equal(statement_run(&q, &e), ERR_OK);
	statement_close(&q);
	return ref;
}

static void forged_lists_are_refused(void **state)
{
	static const struct {
		const char *sentence, *words;
		uint64_t id, bytes;
		uint32_t times;
	} rows[] = {
		{"a chunk that is not there", "chunk 77 is not there", 77, 10, 1},
		{"one of another length", "is not as long as it was", 1, 11, 1},
		{"one longer than chunks are", "lists more than a text may have", 1, UINT64_C(1) << 40, 1},
		{"more than a text may have", "lists more than a text may have", 1, 160 << 10, 8000},
		{"itself", "is another one", 1000, 10, 1},
		{"half an entry", "is no list of chunks", 1, 10, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct shelf s = shelf_open();
		struct arena *a = arena_new(4096);
		struct chunk_ref known;
		struct text list = {0};
		const char *found;
		struct err e = {0};
		size_t n;

		known = put(&s, "0123456789", 10, NULL);
		assert_int_equal(known.id, 2); /* chunk 1 is the text */
		for (uint32_t k = 0; k < rows[i].times; k++) {
			code_number(&list, rows[i].id);
			code_number(&list, rows[i].bytes);
			code_word64(&list, hash_bytes("0123456789", 10));
		}
		if (!rows[i].times)
			code_number(&list, rows[i].id);
		if (!chunks_read(s.c, forge(&s, &list), a, &found, &n, &e) || !strstr(e.msg, rows[i].words))
			fail_msg("%s: expected \"%s\", found \"%s\"", rows[i].sentence, rows[i].words, e.msg);
		arena_free(a);
		text_free(&list);
		shelf_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_costs_what_is_different), cmocka_unit_test(the_most_alike_is_built_upon),
		cmocka_unit_test(texts_of_any_length_are_read),	  cmocka_unit_test(versions_of_a_text_are_read),
		cmocka_unit_test(two_texts_of_one_hash_are_two),  cmocka_unit_test(forged_lists_are_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
