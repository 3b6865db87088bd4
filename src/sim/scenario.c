/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a scenario: everything but what arrives (scenario_load.c). */
#include "sim/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario_internal.h"

static const char *const scenario_fields[] = {"apiVersion", "kind",	 "metadata", "from",   "until",
					      "cluster",    "workloads", "events",   "expect", NULL};
static const char *const cluster_fields[] = {"files", "nodes", NULL};
static const char *const node_fields[] = {"name", "count", "room", "labels", NULL};
static const char *const event_fields[] = {"at", "fail", "return", "cordon", "uncordon", "delete", "change", NULL};

struct reader scenario_reader(const struct scenario *s, struct vocab *v)
{
	struct reader r = {.vocab = v, .names = v ? vocab_names(v) : NULL, .scratch = s->arena, .file = s->path};

	snprintf(r.subject, sizeof(r.subject), "Scenario");
	return r;
}

/* ---- the cluster ---- */

/* Beside the scenario, unless it says from where. */
static const char *beside(struct scenario *s, const char *file)
{
	const char *slash = strrchr(s->path, '/');

	if (file[0] == '/' || !slash)
		return arena_strndup(s->arena, file, strlen(file));
	return arena_printf(s->arena, "%.*s/%s", (int)(slash - s->path), s->path, file);
}

static enum err_code read_files(struct scenario *s, const struct reader *r, const struct at *cluster, struct err *e)
{
	struct at files = at_field(cluster, "files");

	TRY(at_want(r, &files, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&files); i++) {
		struct at item = at_item(&files, i);

		if (!item.t || item.t->kind != TREE_STRING)
			return at_expected(r, &item, e, "a file or folder");
		array_push(&s->files, beside(s, item.t->text));
	}
	return ERR_OK;
}

static void node_manifest(struct scenario *s, const char *name, const struct at *node)
{
	const struct tree *room = tree_get(node->t, "room"), *labels = tree_get(node->t, "labels");
	struct text *out = &s->nodes;

	text_printf(out, "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: \"%s\"\n  labels:\n", name);
	text_printf(out, "    kubernetes.io/hostname: \"%s\"\n", name);
	for (uint32_t i = 0; labels && i < labels->n; i++)
		text_printf(out, "    \"%s\": \"%s\"\n", labels->fields[i].key, labels->fields[i].value->text);
	text_add(out, "status:\n  allocatable:\n");
	if (!tree_get(room, "pods"))
		text_add(out, "    pods: 110\n");
	for (uint32_t i = 0; i < room->n; i++)
		text_printf(out, "    \"%s\": \"%s\"\n", room->fields[i].key, room->fields[i].value->text);
	text_add(out, "  conditions: [{type: Ready, status: \"True\"}]\n");
}

static bool is_scalar_map(const struct tree *t)
{
	for (uint32_t i = 0; t && t->kind == TREE_MAP && i < t->n; i++)
		if (t->fields[i].value->kind == TREE_MAP || t->fields[i].value->kind == TREE_LIST)
			return false;
	return true;
}

static enum err_code read_node(struct scenario *s, const struct reader *r, const struct at *node, struct err *e)
{
	struct at room = at_field(node, "room"), labels = at_field(node, "labels");
	const char *name = NULL;
	int64_t count = 0;
	struct res_vec amounts = {0};

	TRY(at_want(r, node, TREE_MAP, e));
	TRY(at_only(r, node, node_fields, e));
	TRY(get_text(r, node, "name", &name, e));
	TRY(get_int(r, node, "count", 1, 100000, &count, e));
	TRY(at_want(r, &room, TREE_MAP, e));
	TRY(at_want(r, &labels, TREE_MAP, e));
	if (!name)
		return at_expected(r, node, e, "a name and room, such as {name: gpu, count: 4, room: {cpu: 64}}");
	if (!room.t)
		return at_expected(r, &room, e, "what it has room for, such as {cpu: 64, nvidia.com/gpu: 8}");
	if (!is_scalar_map(labels.t) || !is_scalar_map(room.t))
		return at_expected(r, node, e, "plain values in room and labels");
	if (r->vocab)
		TRY(at_resources(r, &room, &amounts, e));
	for (int64_t i = 0; i < (count ? count : 1); i++) {
		const char *one = count ? arena_printf(s->arena, "%s-%" PRId64, name, i) : name;

		if (map_get(&s->node_names, hash_bytes(one, strlen(one))) != MAP_NONE)
			return at_fail(r, node, e, "a second node %s", one);
		map_put(&s->node_names, hash_bytes(one, strlen(one)), 0);
		node_manifest(s, one, node);
	}
	return ERR_OK;
}

static enum err_code read_cluster(struct scenario *s, const struct reader *r, const struct at *root, struct err *e)
{
	struct at cluster = at_field(root, "cluster"), nodes = at_field(&cluster, "nodes");

	TRY(at_want(r, &cluster, TREE_MAP, e));
	if (cluster.t)
		TRY(at_only(r, &cluster, cluster_fields, e));
	TRY(read_files(s, r, &cluster, e));
	TRY(at_want(r, &nodes, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&nodes); i++) {
		struct at node = at_item(&nodes, i);

		TRY(read_node(s, r, &node, e));
	}
	return ERR_OK;
}

/* ---- the document ---- */

/* All trees of the file; the one of kind Scenario is ours, others are objects of the cluster. */
static enum err_code find_document(struct scenario *s, const char *data, size_t len, struct err *e)
{
	struct tree_reader *reader = tree_reader_new(s->path, data, len);
	struct tree_doc doc = {0};
	enum err_code rc;

	for (rc = tree_next(reader, s->arena, &doc, e); !rc && doc.root; rc = tree_next(reader, s->arena, &doc, e)) {
		const struct tree *kind = tree_get(doc.root, "kind");

		if (!tree_is(kind, TREE_STRING) || !str_eq(kind->text, "Scenario")) {
			s->has_objects = true;
			continue;
		}
		if (s->root)
			rc = err_fail(e, ERR_CONFLICT, "%s:%u:%u: a second Scenario: one is simulated at a time",
				      s->path, doc.root->line, doc.root->col);
		s->root = doc.root;
		if (rc)
			break;
	}
	tree_reader_free(reader);
	if (!rc && !s->root)
		rc = err_fail(e, ERR_INPUT, "%s: expected a document with kind: Scenario", s->path);
	return rc;
}

static enum err_code read_document(struct scenario *s, struct err *e)
{
	struct vocab *v = vocab_new(); /* amounts are checked now, and counted when the cluster is made */
	struct reader r = scenario_reader(s, v);
	struct at root = at_root(s->root);
	enum err_code rc = at_only(&r, &root, scenario_fields, e);

	if (!rc)
		rc = get_time(&r, &root, "from", &s->from_ns, e);
	if (!rc)
		rc = get_text(&r, &root, "until", &s->until, e);
	if (!rc)
		rc = read_cluster(s, &r, &root, e);
	vocab_free(v);
	if (!rc && s->has_objects)
		array_push(&s->files, s->path);
	return rc;
}

enum err_code scenario_parse(const char *path, const char *data, size_t len, struct scenario **ret, struct err *e)
{
	struct scenario *s = mem_alloc(sizeof(*s));
	enum err_code rc;

	s->arena = arena_new(1 << 14);
	s->path = arena_strndup(s->arena, path, strlen(path));
	s->from_ns = TIME_NONE;
	rc = find_document(s, data, len, e);
	if (!rc)
		rc = read_document(s, e);
	if (rc) {
		scenario_free(s);
		return rc;
	}
	*ret = s;
	return ERR_OK;
}

static enum err_code read_whole(const char *path, struct text *out, struct err *e)
{
	FILE *f = fopen(path, "re");
	char buf[65536];
	size_t n;

	if (!f)
		return err_fail(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(errno));
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0 && out->n < ((size_t)1 << 30))
		text_add_n(out, buf, n);
	n = (size_t)ferror(f);
	fclose(f);
	return n ? err_fail(e, ERR_IO, "%s: could not be read", path) : ERR_OK;
}

enum err_code scenario_read(const char *path, struct scenario **ret, struct err *e)
{
	struct text data = {0};
	enum err_code rc = read_whole(path, &data, e);

	if (!rc)
		rc = scenario_parse(path, text_str(&data), data.n, ret, e);
	text_free(&data);
	return rc;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	array_free(&s->files);
	array_free(&s->events);
	text_free(&s->nodes);
	map_free(&s->node_names);
	arena_free(s->arena);
	mem_free(s);
}

int64_t scenario_from(const struct scenario *s)
{
	return s->from_ns;
}

enum err_code scenario_until(const struct scenario *s, int64_t from_ns, int64_t *ret_ns, struct err *e)
{
	struct reader r = scenario_reader(s, NULL);
	struct at root = at_root(s->root), until = at_field(&root, "until");
	struct err why = {0};

	*ret_ns = TIME_NONE;
	if (!s->until)
		return ERR_OK;
	if (when_parse(s->until, from_ns, ret_ns, &why))
		return at_fail(&r, &until, e, "%s", why.msg);
	return *ret_ns > from_ns ? ERR_OK : at_expected(&r, &until, e, "a time after the beginning");
}

uint32_t scenario_file_count(const struct scenario *s)
{
	return s->files.n;
}

const char *scenario_file(const struct scenario *s, uint32_t i)
{
	return s->files.v[i];
}

void scenario_cluster(const struct scenario *s, struct text *out)
{
	text_add_n(out, text_str(&s->nodes), s->nodes.n);
}

/* ---- events ---- */

static const struct {
	const char *field;
	enum sim_event_kind kind;
} event_kinds[] = {
	{"fail", SIM_NODE_FAILS},	   {"return", SIM_NODE_RETURNS}, {"cordon", SIM_NODE_CORDONED},
	{"uncordon", SIM_NODE_UNCORDONED}, {"delete", SIM_JOB_DELETED},	 {"change", SIM_CHANGE},
};

static enum err_code read_event(struct scenario *s, const struct reader *r, const struct at *at, int64_t from_ns,
				struct err *e)
{
	struct sim_event ev = {.where = arena_printf(s->arena, "%s:%u:%u", s->path, at->t->line, at->t->col)};
	struct at when = at_field(at, "at");
	const char *text = NULL;
	struct err why = {0};
	unsigned n = 0;

	TRY(at_want(r, at, TREE_MAP, e));
	TRY(at_only(r, at, event_fields, e));
	TRY(get_text(r, at, "at", &text, e));
	if (!text)
		return at_expected(r, &when, e, "a time such as 12:10, or a duration such as 2h from the beginning");
	if (when_parse(text, from_ns, &ev.at_ns, &why))
		return at_fail(r, &when, e, "%s", why.msg);
	for (unsigned i = 0; i < sizeof(event_kinds) / sizeof(*event_kinds); i++) {
		const char *name = NULL;

		TRY(get_text(r, at, event_kinds[i].field, &name, e));
		if (!name)
			continue;
		n++;
		ev.kind = event_kinds[i].kind;
		ev.name = name;
	}
	if (n != 1)
		return at_expected(r, at, e,
				   "one of fail, return, cordon, uncordon (a node), delete (NS/NAME), change (YAML)");
	if (ev.kind == SIM_CHANGE) {
		ev.text = ev.name;
		ev.len = strlen(ev.text);
	}
	array_push(&s->events, ev);
	return ERR_OK;
}

/* Events at one time stay in the order in which they were written. */
static void put_in_order(struct scenario *s)
{
	for (uint32_t i = 1; i < s->events.n; i++)
		for (uint32_t k = i; k > 0 && s->events.v[k - 1].at_ns > s->events.v[k].at_ns; k--) {
			struct sim_event swap = s->events.v[k];

			s->events.v[k] = s->events.v[k - 1];
			s->events.v[k - 1] = swap;
		}
}

enum err_code scenario_events(struct scenario *s, int64_t from_ns, const struct sim_event **ret, uint32_t *ret_n,
			      struct err *e)
{
	struct reader r = scenario_reader(s, NULL);
	struct at root = at_root(s->root), events = at_field(&root, "events");

	s->events.n = 0;
	TRY(at_want(&r, &events, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&events); i++) {
		struct at item = at_item(&events, i);

		TRY(read_event(s, &r, &item, from_ns, e));
	}
	put_in_order(s);
	*ret = s->events.v;
	*ret_n = s->events.n;
	return ERR_OK;
}

/* ---- expectations ---- */

enum err_code scenario_expectations(const struct scenario *s, int64_t from_ns, struct expectations *ret, struct err *e)
{
	struct reader r = scenario_reader(s, NULL);
	struct at root = at_root(s->root), list = at_field(&root, "expect");

	TRY(at_want(&r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at item = at_item(&list, i);
		struct err why = {0};

		if (!item.t || item.t->kind != TREE_STRING)
			return at_expected(&r, &item, e, "a sentence such as 'ml/train is never evicted'");
		if (expect_parse(ret, item.t->text, from_ns, &why))
			return at_fail(&r, &item, e, "%s", why.msg);
	}
	return ERR_OK;
}
