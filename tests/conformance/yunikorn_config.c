/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about YuniKorn's quantities and queues.yaml.
 * Each config fact is written out as a document of its own and read as users' files are.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/emit.h"
#include "conform.h"
#include "manifest/manifest.h"
#include "units/duration.h"

void run_yunikorn_quantity(struct fact *f)
{
	const char *text = tree_text(tree_get(f->t, "text"), "");
	bool is_vcore = str_eq(tree_text(tree_get(f->t, "type"), ""), "vcore");
	const struct tree *expected = tree_get(f->t, "expect");
	int64_t got;

	if (yunikorn_quantity_parse(text, strlen(text), is_vcore, &got, NULL)) {
		if (!tree_is(expected, TREE_NULL))
			fact_differs(f, text, tree_text(expected, ""), "a refusal");
	} else if (tree_is(expected, TREE_NULL)) {
		fact_differs(f, text, "a refusal", "an amount");
	} else {
		same_int(f, text, expected, got);
	}
}

/* ---- writing the document ---- */

static void begin_document(struct emit *e, struct text *out)
{
	emit_init(e, out, EMIT_YAML);
	emit_object(e, NULL);
	emit_list(e, "partitions");
	emit_object(e, NULL);
	emit_str(e, "name", "default");
	emit_list(e, "queues");
	emit_object(e, NULL);
	emit_str(e, "name", "root");
}

static void begin_queue(struct emit *e, const char *name)
{
	emit_list(e, "queues");
	emit_object(e, NULL);
	emit_str(e, "name", name);
}

/* The queue and the list it is in, as often as begin_queue was called. */
static void end_queues(struct emit *e, int depth)
{
	for (int i = 0; i < depth; i++) {
		emit_end(e);
		emit_end(e);
	}
}

static void end_document(struct emit *e)
{
	end_queues(e, 2);
	emit_end(e);
}

static void emit_amounts(struct emit *e, const char *key, const struct tree *map)
{
	if (!map)
		return;
	emit_object(e, key);
	for (uint32_t i = 0; i < map->n; i++)
		emit_str(e, map->fields[i].key, tree_text(map->fields[i].value, ""));
	emit_end(e);
}

static void emit_resources(struct emit *e, const struct tree *queue)
{
	emit_object(e, "resources");
	emit_amounts(e, "guaranteed", tree_get(queue, "guaranteed"));
	emit_amounts(e, "max", tree_get(queue, "max"));
	emit_end(e);
}

/* ---- the three kinds of facts that carry data ---- */

struct reading { /* a document, read */
	struct vocab *vocab;
	struct yunikorn_config config;
	struct err why;
	bool is_accepted;
};

static struct reading reading_of(struct fact *f, const struct text *document)
{
	struct reading r = {.vocab = vocab_new()};
	struct tree_reader *reader = tree_reader_new("queues.yaml", text_str(document), document->n);
	struct object_source src = {.name = "queues.yaml"};
	struct tree_doc doc = {0};

	r.is_accepted = !tree_next(reader, f->arena, &doc, &r.why) &&
			!manifest_yunikorn(r.vocab, f->arena, &src, doc.root, &r.config, &r.why);
	tree_reader_free(reader);
	return r;
}

static void reading_end(struct reading *r)
{
	for (uint32_t i = 0; r->is_accepted && i < r->config.n; i++)
		queue_spec_free(&r->config.queues[i].spec);
	vocab_free(r->vocab);
}

static void compare_acceptance(struct fact *f, const struct text *document)
{
	const struct tree *expected = fact_expect(f, "rejected");
	struct reading r = reading_of(f, document);

	if (tree_truth(expected) && r.is_accepted)
		fact_differs(f, "document", "a refusal", "acceptance");
	else if (!tree_truth(expected) && !r.is_accepted)
		fact_differs(f, "document", "acceptance", r.why.msg);
	reading_end(&r);
}

static void config_of_resources(struct fact *f, const struct tree *queue)
{
	const struct tree *children = tree_get(queue, "children");
	struct text out = {0};
	struct emit e;
	char name[16] = "c0";

	begin_document(&e, &out);
	begin_queue(&e, "parent");
	emit_resources(&e, queue);
	emit_list(&e, "queues");
	for (uint32_t i = 0; i < tree_count(children); i++) {
		name[1] = (char)('0' + i);
		emit_object(&e, NULL);
		emit_str(&e, "name", name);
		emit_resources(&e, children->items[i]);
		emit_end(&e);
	}
	emit_end(&e);
	end_queues(&e, 1);
	end_document(&e);
	compare_acceptance(f, &out);
	text_free(&out);
}

#define MAX_APPS_ID "maxapplications root-to-leaf ["

/* These say their numbers in their ids. */
static void config_of_max_apps(struct fact *f)
{
	const char *s = f->id + strlen(MAX_APPS_ID);
	char name[] = "q0", *end;
	struct text out = {0};
	struct emit e;
	int depth = 0;

	begin_document(&e, &out);
	for (;; depth++) {
		long n = strtol(s, &end, 10);

		if (depth > 0) {
			name[1] = (char)('0' + depth);
			begin_queue(&e, name);
		}
		emit_int(&e, "maxapplications", n);
		if (*end != ',')
			break;
		s = end + 1;
	}
	end_queues(&e, depth);
	end_document(&e);
	compare_acceptance(f, &out);
	text_free(&out);
}

static void emit_property(struct emit *e, const char *name, const struct tree *value)
{
	if (!value || value->kind == TREE_NULL)
		return;
	emit_object(e, "properties");
	emit_str(e, name, tree_text(value, ""));
	emit_end(e);
}

/* The effective setting as a properties map would write it. */
static bool property_text(const struct queue_props *p, const char *name, struct text *out)
{
	static const char *const policies[] = {"default", "fence", "disabled"};

	if (str_eq(name, "preemption.delay"))
		duration_text_short(p->preemption_delay_ns, out);
	else if (str_eq(name, "quota.preemption.delay"))
		duration_text_short(p->quota_delay_ns, out);
	else if (str_eq(name, "preemption.policy"))
		text_add(out, policies[p->preemption_policy]);
	else if (str_eq(name, "priority.policy"))
		text_add(out, p->is_priority_fence ? "fence" : "default");
	else if (str_eq(name, "priority.offset"))
		text_printf(out, "%" PRId32, p->priority_offset);
	else if (str_eq(name, "application.sort.priority"))
		text_add(out, p->sort_ignores_priority ? "disabled" : "enabled");
	else
		return false;
	return true;
}

static void compare_property(struct fact *f, struct reading *r, const char *property)
{
	struct cluster_options options = cluster_options_default();
	struct cluster *c = cluster_new(r->vocab, &options);
	const struct queue_tree *tree = ledger_queues(cluster_ledger(c));
	struct text got = {0};

	if (cluster_put_queues(c, FROM_YUNIKORN, r->config.queues, r->config.n, &r->why))
		fact_differs(f, property, "queues", r->why.msg);
	else if (!property_text(&queue_get(tree, queue_tree_find(tree, "root.p.c", 8))->props, property, &got))
		fact_skip(f, "cede keeps only the properties it knows");
	else
		same_text(f, property, fact_expect(f, "effective_on_child"), text_str(&got));
	text_free(&got);
	cluster_free(c);
}

static void config_of_property(struct fact *f, const char *property)
{
	struct text out = {0};
	struct reading r;
	struct emit e;

	begin_document(&e, &out);
	begin_queue(&e, "p");
	emit_property(&e, property, tree_get(f->t, "parent"));
	begin_queue(&e, "c");
	emit_property(&e, property, tree_get(f->t, "child"));
	end_queues(&e, 2);
	end_document(&e);
	r = reading_of(f, &out);
	if (r.is_accepted)
		compare_property(f, &r, property);
	else
		fact_differs(f, "document", "acceptance", r.why.msg);
	reading_end(&r);
	text_free(&out);
}

void run_yunikorn_config(struct fact *f)
{
	const struct tree *queue = tree_get(f->t, "queue"), *property = tree_get(f->t, "property");

	if (queue)
		config_of_resources(f, queue);
	else if (property)
		config_of_property(f, tree_text(property, ""));
	else if (str_starts(f->id, MAX_APPS_ID))
		config_of_max_apps(f);
	else
		fact_skip(f, "a sentence without data: tests/manifest/test_yunikorn.c shows it");
}
