/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents, and Lists taken apart. The top map of a document is read field by field, so that `items` can be entered:
 * each item is built alone and handed out when it is known what it is (it says so itself, or the kind of the List came
 * before it). From then on the caller may empty the arena between calls, so of the other fields of the List only the
 * keys (for duplicates), the kind and the apiVersion are kept, in an arena of the reader. As long as nothing was handed
 * out the document may still turn out to be an ordinary one that happens to have `items`.
 */
#include "manifest/tree.h"

#include "manifest/tree_reader.h"

#define SNIFF_BYTES 8192u

struct tree_reader *tree_reader_new(const char *name, const char *data, size_t len)
{
	struct tree_reader *r = mem_alloc(sizeof(*r));
	r->name = mem_strdup(name);
	r->data = len > 0 ? data : "";
	r->len = len;
	r->max_values = TREE_MAX_VALUES;
	return r;
}

static void reader_finish(struct tree_reader *r)
{
	r->state = TREE_AT_END;
	if (r->source != NULL)
		r->source->close(r);
	array_free(&r->b.fields);
	array_free(&r->b.items);
	arena_free(r->own);
	r->own = NULL;
}

void tree_reader_free(struct tree_reader *r)
{
	if (r == NULL)
		return;
	reader_finish(r);
	mem_free(r->name);
	mem_free(r);
}

const char *tree_reader_name(const struct tree_reader *r)
{
	return r->name;
}

static bool begins_with(const struct tree_reader *r, const char *bytes, size_t n)
{
	return r->len >= n && memcmp(r->data, bytes, n) == 0;
}

static enum err_code fail_nul(struct tree_reader *r, const char *nul)
{
	struct tree_at at = {1, 1};
	for (const char *p = r->data; p < nul; p++) {
		at.line += *p == '\n';
		at.col = *p == '\n' ? 1 : at.col + (((unsigned char)*p & 0xC0) != 0x80);
	}
	return reader_fail(r, ERR_INPUT, at, "a NUL byte: this is a binary file, not YAML or JSON");
}

/* What cannot be YAML or JSON, told at once and by name. */
static enum err_code check_whole(struct tree_reader *r)
{
	const struct tree_at start = {1, 1};
	if (r->len > TREE_MAX_BYTES)
		return reader_fail(r, ERR_LIMIT, start, "more than 2 GiB");
	if (begins_with(r, "\xFE\xFF", 2) || begins_with(r, "\xFF\xFE", 2))
		return reader_fail(r, ERR_INPUT, start, "this is UTF-16 text; save it as UTF-8");
	if (begins_with(r, "\x1F\x8B", 2))
		return reader_fail(r, ERR_INPUT, start, "this is a gzip file; unpack it first");
	const char *nul = memchr(r->data, '\0', r->len < SNIFF_BYTES ? r->len : SNIFF_BYTES);
	return nul != NULL ? fail_nul(r, nul) : ERR_OK;
}

static enum err_code reader_open(struct tree_reader *r)
{
	TRY(check_whole(r));
	size_t offset = begins_with(r, "\xEF\xBB\xBF", 3) ? 3 : 0;
	if (json_begins(r->data + offset, r->data + r->len))
		json_open(r, offset);
	else
		yaml_open(r, offset, 1);
	return ERR_OK;
}

const char *reader_own_text(struct tree_reader *r, const char *s, size_t n)
{
	if (r->own == NULL)
		r->own = arena_new(4096);
	return arena_strndup(r->own, s, n);
}

static bool ends_in_list(const char *kind)
{
	size_t n = strlen(kind);
	return n >= 4 && memcmp(kind + n - 4, "List", 4) == 0;
}

static const struct tree *string_of(const struct tree *t)
{
	return tree_is(t, TREE_STRING) ? t : NULL;
}

/* The kind (or apiVersion) of the document as far as it is read; NULL if it did not come yet. */
static const char *top_text(const struct tree_reader *r, const char *key)
{
	for (uint32_t i = 0; i < r->b.fields.n; i++)
		if (key_is(&r->b.fields.v[i], key) && tree_is(r->b.fields.v[i].value, TREE_STRING))
			return r->b.fields.v[i].value->text;
	return NULL;
}

static bool names_itself(const struct tree *item)
{
	return string_of(tree_get(item, "kind")) != NULL && string_of(tree_get(item, "apiVersion")) != NULL;
}

/* Is everything known that an item needs to be understood? */
static bool may_go(const struct tree_reader *r, const struct tree *item)
{
	if (names_itself(item))
		return true;
	const char *kind = r->kind != NULL ? r->kind : top_text(r, "kind");
	if (kind == NULL || !ends_in_list(kind))
		return false;
	return strcmp(kind, "List") == 0 || r->api != NULL || top_text(r, "apiVersion") != NULL;
}

/* The arena of field f goes away: keep what is needed of it. */
static void keep_field(struct tree_reader *r, struct tree_field *f)
{
	const struct tree *text = string_of(f->value);
	if (f->key != tree_merge_key)
		f->key = reader_own_text(r, f->key, f->key_len);
	if (key_is(f, "kind") && text != NULL)
		r->kind = reader_own_text(r, text->text, text->n);
	if (key_is(f, "apiVersion") && text != NULL)
		r->api = reader_own_text(r, text->text, text->n);
	f->value = NULL;
}

static void set_doc(struct tree_reader *r, const struct tree *root, struct tree_doc *ret)
{
	*ret = (struct tree_doc){root, "", ""};
	size_t n = r->kind != NULL && ends_in_list(r->kind) ? strlen(r->kind) - 4 : 0;
	if (n > 0) {
		ret->list_kind = arena_strndup(r->b.a, r->kind, n);
		ret->list_api = r->api != NULL ? arena_strndup(r->b.a, r->api, strlen(r->api)) : "";
	}
}

static enum err_code begin_document(struct tree_reader *r, struct tree_doc *ret)
{
	enum tree_next_is next;
	r->is_list = r->is_holding = r->has_items = false;
	r->kind = r->api = NULL;
	r->b.fields.n = r->b.items.n = 0;
	r->b.n_values = 0;
	if (r->own != NULL)
		arena_reset(r->own);
	TRY(r->source->next_root(r, &next));
	if (next == NEXT_NOTHING) {
		r->state = TREE_AT_END;
		return ERR_OK;
	}
	if (next == NEXT_MAP) {
		r->state = TREE_IN_TOP;
		r->is_first = true;
		return r->source->enter(r, &r->top_at);
	}
	const struct tree *root;
	TRY(r->source->value(r, 0, &root));
	if (root->kind != TREE_NULL)
		set_doc(r, root, ret);
	return ERR_OK;
}

/* The items that wait, now that the document has ended. They are in the arena of this call and must survive it. */
static void hold(struct tree_reader *r, const struct tree *items)
{
	if (items == NULL || items->kind != TREE_LIST || items->n == 0) {
		r->had_list = true;
		r->state = TREE_BEFORE;
		return;
	}
	struct tree_build own = {0};
	if (r->own == NULL)
		r->own = arena_new(65536);
	build_begin(&own, r->own);
	r->held = build_copy(&own, items);
	r->next_held = 0;
	r->state = TREE_IN_HELD;
}

static void give_held(struct tree_reader *r, struct tree_doc *ret)
{
	set_doc(r, build_copy(&r->b, r->held->items[r->next_held++]), ret);
	if (r->next_held == r->held->n)
		r->state = TREE_BEFORE;
}

static const char *copy_text(struct tree_reader *r, const struct tree *t)
{
	return string_of(t) != NULL ? reader_own_text(r, t->text, t->n) : NULL;
}

/* The document has ended and nothing of it went out yet: is it a List after all? */
static enum err_code end_ordinary(struct tree_reader *r, struct tree_doc *ret)
{
	struct tree *root = build_node(&r->b, TREE_MAP, r->top_at);
	TRY(build_close_map(r, root, 0));
	const struct tree *kind = string_of(tree_get(root, "kind")), *items = tree_get(root, "items");
	bool is_list = kind != NULL && ends_in_list(kind->text);
	if (is_list && (tree_is(items, TREE_LIST) || tree_is(items, TREE_NULL))) {
		r->kind = copy_text(r, kind);
		r->api = copy_text(r, tree_get(root, "apiVersion"));
		hold(r, items);
		return ERR_OK;
	}
	r->state = TREE_BEFORE;
	set_doc(r, root, ret);
	return ERR_OK;
}

static enum err_code end_top(struct tree_reader *r, struct tree_doc *ret)
{
	if (!r->is_list)
		return end_ordinary(r, ret);
	TRY(build_check_fields(r, 0));
	hold(r, r->is_holding ? r->b.fields.v[r->items_field].value : NULL);
	return ERR_OK;
}

static enum err_code enter_items(struct tree_reader *r, struct tree_field *f)
{
	r->has_items = true;
	r->items_field = r->b.fields.n;
	r->state = TREE_IN_ITEMS;
	r->is_first = true;
	f->value = NULL;
	if (r->is_list)
		keep_field(r, f);
	array_push(&r->b.fields, *f);
	return r->source->enter(r, &r->items_at);
}

static enum err_code next_top_field(struct tree_reader *r, struct tree_doc *ret)
{
	struct tree_field f;
	bool more;
	TRY(r->source->next_field(r, r->is_first, &f, &more));
	r->is_first = false;
	if (!more)
		return end_top(r, ret);
	if (!r->has_items && f.key != tree_merge_key && key_is(&f, "items") && r->source->peek(r) == NEXT_LIST)
		return enter_items(r, &f);
	TRY(r->source->value(r, 1, &f.value));
	if (r->is_list)
		keep_field(r, &f);
	array_push(&r->b.fields, f);
	return ERR_OK;
}

/* Back in the top map, where the field `items` gets what was not handed out. */
static void leave_items(struct tree_reader *r)
{
	r->state = TREE_IN_TOP;
	r->is_first = false;
	if (!r->is_list || r->is_holding) {
		struct tree *list = build_node(&r->b, TREE_LIST, r->items_at);
		build_close_list(&r->b, list, 0);
		r->b.fields.v[r->items_field].value = list;
	}
}

static enum err_code give_item(struct tree_reader *r, const struct tree *item, struct tree_doc *ret)
{
	if (!r->is_list)
		for (uint32_t i = 0; i < r->b.fields.n; i++)
			keep_field(r, &r->b.fields.v[i]);
	r->is_list = true;
	set_doc(r, item, ret);
	return r->source->keep(r);
}

static enum err_code next_item(struct tree_reader *r, struct tree_doc *ret)
{
	const struct tree *item;
	bool more;
	TRY(r->source->next_item(r, r->is_first, &more));
	r->is_first = false;
	if (!more) {
		leave_items(r);
		return ERR_OK;
	}
	TRY(r->source->value(r, 2, &item));
	if (!r->is_holding && !may_go(r, item))
		r->source->look_ahead(r);
	if (!r->is_holding && may_go(r, item))
		return give_item(r, item, ret);
	r->is_holding = true;
	array_push(&r->b.items, item);
	return ERR_OK;
}

static enum err_code next_document(struct tree_reader *r, struct tree_doc *ret)
{
	if (r->source == NULL)
		TRY(reader_open(r));
	while (ret->root == NULL && r->state != TREE_AT_END) {
		if (r->state == TREE_BEFORE)
			TRY(begin_document(r, ret));
		else if (r->state == TREE_IN_TOP)
			TRY(next_top_field(r, ret));
		else if (r->state == TREE_IN_ITEMS)
			TRY(next_item(r, ret));
		else
			give_held(r, ret);
	}
	return ERR_OK;
}

bool tree_reader_had_list(const struct tree_reader *r)
{
	return r->had_list;
}

enum err_code tree_next(struct tree_reader *r, struct arena *a, struct tree_doc *ret, struct err *e)
{
	*ret = (struct tree_doc){NULL, "", ""};
	if (r->state == TREE_AT_END)
		return ERR_OK;
	r->e = e;
	build_begin(&r->b, a);
	enum err_code code = next_document(r, ret);
	r->e = NULL;
	if (code != ERR_OK)
		*ret = (struct tree_doc){NULL, "", ""};
	if (ret->root == NULL)
		reader_finish(r);
	return code;
}

enum err_code tree_parse_json(const char *name, const char *data, size_t len, struct arena *a, const struct tree **ret,
			      struct err *e)
{
	struct tree_reader *r = tree_reader_new(name, data, len);

	r->e = e;
	build_begin(&r->b, a);
	enum err_code code = check_whole(r);
	if (code == ERR_OK)
		code = json_whole(r, ret);
	tree_reader_free(r);
	return code;
}

const struct tree *tree_path(const struct tree *t, const char *dotted)
{
	for (const char *p = dotted;; p++) {
		size_t n = strcspn(p, ".");
		t = tree_get_n(t, p, n);
		p += n;
		if (t == NULL || *p == '\0')
			return t;
	}
}

const char *tree_kind_text(enum tree_kind kind)
{
	static const char *const words[] = {
		[TREE_NULL] = "nothing",    [TREE_BOOL] = "true or false", [TREE_NUMBER] = "a number",
		[TREE_STRING] = "a string", [TREE_LIST] = "a list",	   [TREE_MAP] = "a map",
	};
	return words[kind];
}

static const char *copy_letters(struct arena *a, const struct tree *t)
{
	return arena_strndup(a, t->text, t->n);
}

const struct tree *tree_copy(struct arena *a, const struct tree *t)
{
	struct tree *c = arena_type(a, struct tree);

	*c = *t;
	if (t->kind == TREE_STRING || t->kind == TREE_NUMBER || t->kind == TREE_BOOL) {
		c->text = copy_letters(a, t);
	} else if (t->kind == TREE_MAP) {
		struct tree_field *f = arena_n(a, t->n + 1, struct tree_field);

		for (uint32_t i = 0; i < t->n; i++) {
			f[i] = t->fields[i];
			f[i].key = arena_strndup(a, f[i].key, f[i].key_len);
			f[i].value = tree_copy(a, f[i].value);
		}
		c->fields = f;
	} else if (t->kind == TREE_LIST) {
		const struct tree **v = arena_n(a, t->n + 1, const struct tree *);

		for (uint32_t i = 0; i < t->n; i++)
			v[i] = tree_copy(a, t->items[i]);
		c->items = v;
	}
	return c;
}

static const struct tree *new_text(struct arena *a, const struct tree *at, const char *s)
{
	struct tree *t = arena_type(a, struct tree);

	*t = (struct tree){.kind = TREE_STRING, .line = at->line, .col = at->col, .n = (uint32_t)strlen(s)};
	t->text = arena_strndup(a, s, t->n);
	return t;
}

static struct tree_field new_field(struct arena *a, const struct tree *at, const char *key, const char *s)
{
	return (struct tree_field){.key = key,
				   .key_len = (uint32_t)strlen(key),
				   .line = at->line,
				   .col = at->col,
				   .value = new_text(a, at, s)};
}

const struct tree *tree_named(struct arena *a, const struct tree *t, const char *api, const char *kind)
{
	struct tree *c = arena_type(a, struct tree);
	struct tree_field *f;

	if (!tree_is(t, TREE_MAP) || tree_get(t, "kind"))
		return t;
	f = arena_n(a, t->n + 2, struct tree_field);
	*c = *t;
	if (t->n)
		memcpy(f, t->fields, t->n * sizeof(*f));
	f[c->n++] = new_field(a, t, "kind", kind);
	if (!tree_get(t, "apiVersion"))
		f[c->n++] = new_field(a, t, "apiVersion", api);
	c->fields = f;
	return c;
}

const struct tree *tree_get_n(const struct tree *t, const char *key, size_t n)
{
	if (!tree_is(t, TREE_MAP) || !t->n) /* a map without fields has none to begin at */
		return NULL;
	for (const struct tree_field *f = t->fields, *end = f + t->n; f < end; f++)
		if (f->key_len == n && memcmp(f->key, key, n) == 0)
			return f->value;
	return NULL;
}
