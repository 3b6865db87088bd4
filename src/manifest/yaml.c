/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML by the events of libyaml, which knows the syntax; here are trees, kinds of plain scalars, anchors and limits.
 *
 * An alias shares the nodes of its anchor, so a document is never larger in memory than it is written. Whoever walks
 * the tree sees it expanded, though, and therefore every alias is charged what it stands for. When the items of a List
 * go out one by one the caller empties the arena between them: anchors are then saved in the reader's own arena and
 * copied at each use, and both copies are charged too.
 */
#include <yaml.h>

#include "base/names.h"
#include "manifest/tree_reader.h"
#include "manifest/yaml_scalar.h"

struct anchor {
	const struct tree *node; /* NULL while its value is being read */
	uint32_t height;	 /* maps and lists within each other */
	uint64_t n_values;
	bool is_known, is_kept;
};

struct frame {
	struct tree *node;
	uint32_t start; /* of its fields or items on the stack */
	uint32_t height;
	uint64_t values_before;
	name_id anchor;
	bool has_key;
};

struct yaml {
	yaml_parser_t parser;
	yaml_event_t event; /* the one that stands here */
	bool has_event;
	const char *start, *given, *checked; /* of the input: its start, handed to libyaml, found to be valid */
	uint32_t first_line;
	enum err_code input_code;

	struct names *names; /* of anchors, as index into anchors */
	ARRAY(struct anchor) anchors;
	ARRAY(name_id) unkept;
	uint64_t n_aliased;

	uint32_t n_open;
	struct frame open[TREE_MAX_DEPTH];
};

/* libyaml ends lines at CR, NEL and the separators of Unicode too. */
static struct tree_at locate(const struct tree_reader *r, const char *stop)
{
	const struct yaml *y = r->yaml;
	struct tree_at at = {y->first_line, 1};
	for (const char *p = y->start; p < stop;) {
		uint32_t n = utf8_length(p, stop), c = n > 0 ? utf8_decode(p, n) : 0;
		p += n > 0 ? n : 1;
		if (c == '\n' || (c == '\r' && *p != '\n') || c == 0x85 || c == 0x2028 || c == 0x2029)
			at = (struct tree_at){at.line + 1, 1};
		else if (c != '\r')
			at.col++;
	}
	return at;
}

static bool is_allowed(uint32_t c)
{
	if (c < 0xA0)
		return c == '\t' || c == '\n' || c == '\r' || c == 0x85 || (c >= 0x20 && c < 0x7F);
	return c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

static enum err_code fail_input(struct tree_reader *r, const char *p)
{
	unsigned char byte = (unsigned char)*p;
	uint32_t n = utf8_length(p, r->data + r->len);
	if (n == 0)
		return reader_fail(r, ERR_INPUT, locate(r, p), "invalid UTF-8: byte 0x%02x", (unsigned)byte);
	if (byte == 0)
		return reader_fail(r, ERR_INPUT, locate(r, p), "a NUL byte: this is a binary file, not YAML or JSON");
	return reader_fail(r, ERR_INPUT, locate(r, p), "control character U+%04X is not allowed",
			   (unsigned)utf8_decode(p, n));
}

/* All of the input up to stop, and the rest of the character there, must be text. */
static enum err_code check_input(struct tree_reader *r, const char *stop)
{
	struct yaml *y = r->yaml;
	const char *p = y->checked, *end = r->data + r->len;
	while (p < stop) {
		if ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7F) {
			p++;
			continue;
		}
		uint32_t n = utf8_length(p, end);
		if (n == 0 || !is_allowed(utf8_decode(p, n)))
			return fail_input(r, p);
		p += n;
	}
	y->checked = p;
	return ERR_OK;
}

static int read_input(void *ctx, unsigned char *buffer, size_t size, size_t *ret_n)
{
	struct tree_reader *r = ctx;
	struct yaml *y = r->yaml;
	size_t left = (size_t)(r->data + r->len - y->given);
	size_t n = size < left ? size : left;
	y->input_code = check_input(r, y->given + n);
	if (y->input_code != ERR_OK)
		return 0;
	memcpy(buffer, y->given, n);
	y->given += n;
	*ret_n = n;
	return 1;
}

static struct tree_at at(const struct yaml *y, yaml_mark_t mark)
{
	return (struct tree_at){(uint32_t)mark.line + y->first_line, (uint32_t)mark.column + 1};
}

static struct tree_at here(const struct yaml *y)
{
	return at(y, y->event.start_mark);
}

/* The byte that is so many characters from the start. */
static const char *byte_at(const struct tree_reader *r, size_t index)
{
	const char *p = r->yaml->start, *end = r->data + r->len;
	while (p < end && index > 0) {
		uint32_t n = utf8_length(p, end);
		p += n > 0 ? n : 1;
		index--;
	}
	return p;
}

/* The commoner complaints of libyaml in words for people who write manifests; context is where the thing began. */
static const struct {
	const char *problem, *words;
	bool has_context;
} plain_words[] = {
	{"mapping values are not allowed in this context",
	 "a ':' where no key can stand; quote the text, or check the indentation", false},
	{"did not find expected key", "expected a key in the column of the map that began", true},
	{"did not find expected '-' indicator", "expected '-' in the column of the list that began", true},
	{"did not find expected <document start>", "expected the end of the document; check the indentation", false},
	{"could not find expected ':'", "expected ':' after the key that began", true},
	{"did not find expected ',' or ']'", "expected ',' or ']' in the list that began", true},
	{"did not find expected ',' or '}'", "expected ',' or '}' in the map that began", true},
	{"found unexpected end of stream", "the end of the input in the string that began", true},
};

static enum err_code fail_in_words(struct tree_reader *r, struct tree_at where, const char *problem)
{
	const yaml_parser_t *p = &r->yaml->parser;
	struct tree_at began = at(r->yaml, p->context_mark);
	for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++) {
		if (strcmp(problem, plain_words[i].problem) != 0)
			continue;
		if (plain_words[i].has_context)
			return reader_fail(r, ERR_INPUT, where, "%s at %u:%u", plain_words[i].words, began.line,
					   began.col);
		return reader_fail(r, ERR_INPUT, where, "%s", plain_words[i].words);
	}
	return reader_fail(r, ERR_INPUT, where, "%s%s%s", problem, p->context != NULL ? " " : "",
			   p->context != NULL ? p->context : "");
}

static enum err_code fail_syntax(struct tree_reader *r)
{
	struct yaml *y = r->yaml;
	const yaml_parser_t *p = &y->parser;
	if (y->input_code != ERR_OK)
		return y->input_code;
	if (p->error == YAML_MEMORY_ERROR)
		return reader_fail(r, ERR_LIMIT, at(y, p->mark), "too large for the YAML reader");
	const char *problem = p->problem != NULL ? p->problem : "not YAML";
	const char *found = byte_at(r, p->problem_mark.index), *end = r->data + r->len;
	struct tree_at where = at(y, p->problem_mark);
	if (found < end && *found == '\t')
		return reader_fail(r, ERR_INPUT, where, "a tab where YAML wants blanks: indent with blanks, not tabs");
	if (strcmp(problem, "found character that cannot start any token") == 0)
		return reader_fail(r, ERR_INPUT, where, "text cannot begin with %s; put it in quotes",
				   show_found(found, end).s);
	if (strcmp(problem, "did not find expected node content") == 0)
		return reader_fail(r, ERR_INPUT, where, "expected a value, found %s", show_found(found, end).s);
	return fail_in_words(r, where, problem);
}

static void drop_event(struct yaml *y)
{
	if (y->has_event)
		yaml_event_delete(&y->event);
	y->has_event = false;
}

static enum err_code next_event(struct tree_reader *r)
{
	struct yaml *y = r->yaml;
	drop_event(y);
	if (!yaml_parser_parse(&y->parser, &y->event))
		return fail_syntax(r);
	y->has_event = true;
	return ERR_OK;
}

static enum err_code charge(struct tree_reader *r, uint64_t n_values)
{
	struct yaml *y = r->yaml;
	y->n_aliased += n_values;
	if (y->n_aliased > TREE_MAX_ALIASED)
		return reader_fail(r, ERR_LIMIT, here(y), "aliases that expand to more than %u values",
				   TREE_MAX_ALIASED);
	return ERR_OK;
}

/* NAME_NONE if the event has no anchor. From here on an alias means this one. */
static name_id open_anchor(struct yaml *y, const yaml_char_t *name)
{
	if (name == NULL)
		return NAME_NONE;
	if (y->names == NULL)
		y->names = names_new();
	name_id id = names_find(y->names, (const char *)name, strlen((const char *)name));
	if (id == NAME_NONE)
		id = names_hold_str(y->names, (const char *)name);
	while (y->anchors.n <= id)
		array_push(&y->anchors, (struct anchor){0});
	y->anchors.v[id] = (struct anchor){.is_known = true};
	return id;
}

static void close_anchor(struct yaml *y, name_id id, const struct tree *node, uint32_t height, uint64_t n_values)
{
	if (id == NAME_NONE)
		return;
	y->anchors.v[id] = (struct anchor){.is_known = true, .node = node, .height = height, .n_values = n_values};
	array_push(&y->unkept, id);
}

static void forget_anchors(struct yaml *y)
{
	names_free(y->names);
	y->names = NULL;
	y->anchors.n = y->unkept.n = 0;
	y->n_aliased = 0;
}

static enum err_code yaml_keep(struct tree_reader *r)
{
	struct yaml *y = r->yaml;
	struct tree_build own = {0};
	if (y->unkept.n > 0 && r->own == NULL)
		r->own = arena_new(4096);
	build_begin(&own, r->own);
	for (uint32_t i = 0; i < y->unkept.n; i++) {
		struct anchor *anchor = &y->anchors.v[y->unkept.v[i]];
		if (anchor->node == NULL || anchor->is_kept)
			continue;
		TRY(charge(r, anchor->n_values));
		anchor->node = build_copy(&own, anchor->node);
		anchor->is_kept = true;
	}
	y->unkept.n = 0;
	return ERR_OK;
}

static enum err_code check_depth(struct tree_reader *r, uint32_t depth)
{
	if (depth > TREE_MAX_DEPTH)
		return reader_fail(r, ERR_LIMIT, here(r->yaml), "nested deeper than %u levels", TREE_MAX_DEPTH);
	return ERR_OK;
}

/* What the alias that stands here means, in the arena of this call; depth maps and lists are around it. */
static enum err_code read_alias(struct tree_reader *r, uint32_t depth, const struct tree **ret, uint32_t *ret_height)
{
	struct yaml *y = r->yaml;
	const char *name = (const char *)y->event.data.alias.anchor;
	name_id id = y->names != NULL ? names_find(y->names, name, strlen(name)) : NAME_NONE;
	if (id == NAME_NONE)
		return reader_fail(r, ERR_INPUT, here(y), "alias '*%s': there is no such anchor before it",
				   show_text(name, strlen(name)).s);
	const struct anchor *anchor = &y->anchors.v[id];
	if (anchor->node == NULL)
		return reader_fail(r, ERR_INPUT, here(y), "alias '*%s' stands within the value it means",
				   show_text(name, strlen(name)).s);
	TRY(charge(r, anchor->n_values));
	TRY(check_depth(r, depth + anchor->height));
	*ret_height = anchor->height;
	if (anchor->is_kept) {
		*ret = build_copy(&r->b, anchor->node);
	} else {
		*ret = anchor->node;
		r->b.n_values += anchor->n_values;
	}
	return ERR_OK;
}

static enum err_code read_scalar(struct tree_reader *r, struct tree **ret)
{
	struct yaml *y = r->yaml;
	const char *text = (const char *)y->event.data.scalar.value;
	size_t n = y->event.data.scalar.length;
	bool is_plain = y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct yaml_typed typed;
	struct tree *node = build_node(&r->b, TREE_NULL, here(y));
	if (memchr(text, '\0', n) != NULL)
		return reader_fail(r, ERR_INPUT, here(y), "NUL is not allowed in text");
	if (!yaml_scalar_type(text, n, is_plain, (const char *)y->event.data.scalar.tag, &typed))
		return reader_fail(r, ERR_INPUT, here(y), "'%s' is not %s, as its tag says", show_text(text, n).s,
				   tree_kind_text(typed.kind));
	node->kind = typed.kind;
	node->truth = typed.truth;
	if (typed.kind != TREE_NULL) {
		node->text = build_text(&r->b, text, n);
		node->n = (uint32_t)n;
	}
	*ret = node;
	return ERR_OK;
}

static enum err_code scalar_key(struct tree_reader *r, struct tree_field *ret)
{
	struct yaml *y = r->yaml;
	const char *text = (const char *)y->event.data.scalar.value;
	size_t n = y->event.data.scalar.length;
	bool is_plain = y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (is_plain && n == 0)
		return reader_fail(r, ERR_INPUT, here(y), "expected a key before ':'");
	if (memchr(text, '\0', n) != NULL)
		return reader_fail(r, ERR_INPUT, here(y), "NUL is not allowed in text");
	TRY(build_check_key(r, n, here(y)));
	bool is_merge = is_plain && n == 2 && memcmp(text, "<<", 2) == 0 && y->event.data.scalar.tag == NULL;
	ret->key = is_merge ? tree_merge_key : build_text(&r->b, text, n);
	ret->key_len = (uint32_t)n;
	name_id anchor = open_anchor(y, y->event.data.scalar.anchor);
	if (anchor != NAME_NONE) {
		struct tree *node = build_node(&r->b, TREE_STRING, here(y));
		node->text = ret->key;
		node->n = ret->key_len;
		close_anchor(y, anchor, node, 0, 1);
	}
	return ERR_OK;
}

static enum err_code alias_key(struct tree_reader *r, struct tree_field *ret)
{
	const struct tree *t;
	uint32_t height;
	TRY(read_alias(r, 0, &t, &height));
	if (t->kind == TREE_MAP || t->kind == TREE_LIST)
		return reader_fail(r, ERR_INPUT, here(r->yaml), "a key must be text, found %s",
				   tree_kind_text(t->kind));
	TRY(build_check_key(r, t->n, here(r->yaml)));
	ret->key = t->text;
	ret->key_len = t->n;
	return ERR_OK;
}

static enum err_code fail_key(struct tree_reader *r)
{
	struct yaml *y = r->yaml;
	bool is_map = y->event.type == YAML_MAPPING_START_EVENT;
	const char *brace = byte_at(r, y->event.start_mark.index);
	bool is_template = is_map && brace > y->start && brace[-1] == '{';
	return reader_fail(r, ERR_INPUT, here(y), "a key must be text, found %s%s", is_map ? "a map" : "a list",
			   is_template ? " (is this a template that was not filled in?)" : "");
}

/* The key that stands here; the event of its value is next. */
static enum err_code read_key(struct tree_reader *r, struct tree_field *ret)
{
	struct yaml *y = r->yaml;
	struct tree_at start = here(y);
	*ret = (struct tree_field){.line = start.line, .col = start.col};
	if (y->event.type == YAML_SCALAR_EVENT)
		TRY(scalar_key(r, ret));
	else if (y->event.type == YAML_ALIAS_EVENT)
		TRY(alias_key(r, ret));
	else
		return fail_key(r);
	return next_event(r);
}

static enum err_code open_frame(struct tree_reader *r, uint32_t depth)
{
	struct yaml *y = r->yaml;
	bool is_map = y->event.type == YAML_MAPPING_START_EVENT;
	TRY(check_depth(r, depth + y->n_open + 1));
	struct frame f = {
		.start = is_map ? r->b.fields.n : r->b.items.n,
		.values_before = r->b.n_values,
	};
	f.anchor = open_anchor(y, is_map ? y->event.data.mapping_start.anchor : y->event.data.sequence_start.anchor);
	f.node = build_node(&r->b, is_map ? TREE_MAP : TREE_LIST, here(y));
	y->open[y->n_open++] = f;
	return ERR_OK;
}

static enum err_code close_frame(struct tree_reader *r, const struct tree **ret, uint32_t *ret_height)
{
	struct yaml *y = r->yaml;
	struct frame *f = &y->open[y->n_open - 1];
	if (f->node->kind == TREE_MAP)
		TRY(build_close_map(r, f->node, f->start));
	else
		build_close_list(&r->b, f->node, f->start);
	*ret = f->node;
	*ret_height = f->height + 1;
	close_anchor(y, f->anchor, f->node, *ret_height, r->b.n_values - f->values_before);
	y->n_open--;
	return ERR_OK;
}

/* A value is complete: into the map or list around it. */
static void add_value(struct tree_reader *r, const struct tree *node, uint32_t height)
{
	struct yaml *y = r->yaml;
	if (y->n_open == 0)
		return;
	struct frame *f = &y->open[y->n_open - 1];
	f->height = f->height > height ? f->height : height;
	if (f->node->kind == TREE_MAP) {
		array_last(&r->b.fields).value = node;
		f->has_key = false;
	} else {
		array_push(&r->b.items, node);
	}
}

/* The value or the start or end of one that stands here; *ret is NULL after a start. */
static enum err_code take_event(struct tree_reader *r, uint32_t depth, const struct tree **ret, uint32_t *ret_height)
{
	struct yaml *y = r->yaml;
	struct tree *scalar;
	*ret = NULL;
	*ret_height = 0;
	if (r->b.n_values > r->max_values)
		return reader_fail(r, ERR_LIMIT, here(y), "more than %" PRIu64 " values in one document",
				   r->max_values);
	switch (y->event.type) {
	case YAML_SCALAR_EVENT:
		TRY(read_scalar(r, &scalar));
		close_anchor(y, open_anchor(y, y->event.data.scalar.anchor), scalar, 0, 1);
		*ret = scalar;
		return ERR_OK;
	case YAML_ALIAS_EVENT:
		return read_alias(r, depth + y->n_open, ret, ret_height);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return open_frame(r, depth);
	default:
		return close_frame(r, ret, ret_height);
	}
}

static enum err_code yaml_value(struct tree_reader *r, uint32_t depth, const struct tree **ret)
{
	struct yaml *y = r->yaml;
	uint32_t height;
	y->n_open = 0;
	do {
		struct frame *f = y->n_open > 0 ? &y->open[y->n_open - 1] : NULL;
		if (f != NULL && f->node->kind == TREE_MAP && !f->has_key && y->event.type != YAML_MAPPING_END_EVENT) {
			struct tree_field field;
			TRY(read_key(r, &field));
			array_push(&r->b.fields, field);
			f->has_key = true;
		}
		TRY(take_event(r, depth, ret, &height));
		if (*ret != NULL)
			add_value(r, *ret, height);
		TRY(next_event(r));
	} while (y->n_open > 0);
	return ERR_OK;
}

/* A list with an anchor is read whole, because an alias may want it. */
static enum tree_next_is yaml_peek(struct tree_reader *r)
{
	const yaml_event_t *event = &r->yaml->event;
	if (event->type == YAML_MAPPING_START_EVENT)
		return NEXT_MAP;
	if (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor == NULL)
		return NEXT_LIST;
	return NEXT_SCALAR;
}

static enum err_code yaml_next_root(struct tree_reader *r, enum tree_next_is *ret)
{
	struct yaml *y = r->yaml;
	forget_anchors(y);
	while (!y->has_event || y->event.type == YAML_STREAM_START_EVENT || y->event.type == YAML_DOCUMENT_END_EVENT)
		TRY(next_event(r));
	*ret = NEXT_NOTHING;
	if (y->event.type == YAML_STREAM_END_EVENT)
		return ERR_OK;
	TRY(next_event(r));
	*ret = yaml_peek(r);
	return ERR_OK;
}

static enum err_code yaml_enter(struct tree_reader *r, struct tree_at *ret)
{
	struct yaml *y = r->yaml;
	*ret = here(y);
	if (y->event.type == YAML_MAPPING_START_EVENT)
		open_anchor(y, y->event.data.mapping_start.anchor);
	return next_event(r);
}

static enum err_code yaml_next_field(struct tree_reader *r, bool is_first, struct tree_field *ret, bool *ret_more)
{
	*ret_more = r->yaml->event.type != YAML_MAPPING_END_EVENT;
	return *ret_more ? read_key(r, ret) : next_event(r);
}

static enum err_code yaml_next_item(struct tree_reader *r, bool is_first, bool *ret_more)
{
	*ret_more = r->yaml->event.type != YAML_SEQUENCE_END_EVENT;
	return *ret_more ? ERR_OK : next_event(r);
}

static void yaml_look_ahead(struct tree_reader *r)
{
	/* To look is to parse, which costs as much as to hold. */
}

static void yaml_close(struct tree_reader *r)
{
	struct yaml *y = r->yaml;
	if (y == NULL)
		return;
	drop_event(y);
	yaml_parser_delete(&y->parser);
	forget_anchors(y);
	array_free(&y->anchors);
	array_free(&y->unkept);
	mem_free(y);
	r->yaml = NULL;
}

const struct tree_source yaml_source = {
	.next_root = yaml_next_root,
	.peek = yaml_peek,
	.value = yaml_value,
	.enter = yaml_enter,
	.next_field = yaml_next_field,
	.next_item = yaml_next_item,
	.look_ahead = yaml_look_ahead,
	.keep = yaml_keep,
	.close = yaml_close,
};

void yaml_open(struct tree_reader *r, size_t offset, uint32_t line)
{
	struct yaml *y = mem_alloc(sizeof(*y));
	if (!yaml_parser_initialize(&y->parser))
		mem_fail();
	y->start = y->given = y->checked = r->data + offset;
	y->first_line = line;
	r->yaml = y;
	yaml_parser_set_input(&y->parser, read_input, r);
	yaml_parser_set_encoding(&y->parser, YAML_UTF8_ENCODING);
	r->source = &yaml_source;
}
