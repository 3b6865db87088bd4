/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/snapshot.h"

#include <string.h>

#include "base/clock.h"
#include "kube/kinds.h"
#include "manifest/fields.h"

enum { PAGE = 500 };

struct snapshot {
	struct kube_client *client;
	const struct kube_snapshot_options *options;
	struct manifest *manifest;
	struct text *notes;
	struct arena *arena; /* of one page */
	struct text path, next;
};

static const char *text_of(const struct tree *t)
{
	return tree_is(t, TREE_STRING) ? t->text : "";
}

enum err_code kube_page_parse(const char *name, const char *data, size_t len, struct arena *a, struct kube_page *ret,
			      struct err *e)
{
	const struct tree *root, *kind;

	TRY(tree_parse_json(name, data, len, a, &root, e));
	kind = tree_get(root, "kind");
	if (!tree_is(kind, TREE_STRING) || kind->n < 4 || !str_eq(kind->text + kind->n - 4, "List"))
		return err_fail(e, ERR_INPUT, "%s: expected a list, found %s", name,
				root->kind == TREE_MAP ? "something else" : tree_kind_text(root->kind));
	*ret = (struct kube_page){.next = text_of(tree_path(root, "metadata.continue")),
				  .version = text_of(tree_path(root, "metadata.resourceVersion")),
				  .items = tree_get(root, "items")};
	if (ret->items && ret->items->kind == TREE_NULL)
		ret->items = NULL;
	if (ret->items && ret->items->kind != TREE_LIST)
		return err_fail(e, ERR_INPUT, "%s: items: expected a list, found %s", name,
				tree_kind_text(ret->items->kind));
	return ERR_OK;
}

static struct kube_news *get(struct snapshot *s, const char *path)
{
	struct kube_request r = {.method = "GET", .path = path, .idle_ns = 60 * NS_PER_S, .timeout_ns = 300 * NS_PER_S};

	return kube_client_call(s->client, &r);
}

static enum err_code failed(const struct kube_news *n, struct err *e)
{
	enum err_code code = n->result == KUBE_GONE ? ERR_NOTFOUND : ERR_IO;

	return err_fail(e, code, "%s", n->error);
}

/* One page into the manifest; the next one's token stays in s->next. */
static enum err_code take_page(struct snapshot *s, const struct kube_news *n, struct err *e)
{
	const char *name = text_str(&s->path);
	struct kube_page page;

	arena_reset(s->arena);
	TRY(kube_page_parse(name, n->body.s, n->body.n, s->arena, &page, e));
	text_reset(&s->next);
	text_add(&s->next, page.next);
	return page.items && page.items->n ? manifest_read_bytes(s->manifest, name, n->body.s, n->body.n, e) : ERR_OK;
}

static void page_path(struct snapshot *s, const struct kube_kind *k, const char *version)
{
	text_reset(&s->path);
	kube_path(&s->path, k, version, NULL, NULL);
	text_printf(&s->path, "?limit=%u", s->options->page ? s->options->page : PAGE);
	if (s->next.n) {
		text_add(&s->path, "&continue=");
		kube_escape(&s->path, text_str(&s->next));
	}
}

/* All pages of one version. *ret: how the last request went. */
static enum err_code list(struct snapshot *s, const struct kube_kind *k, const char *version, enum kube_result *ret,
			  struct err *e)
{
	bool is_first = true;

	text_reset(&s->next);
	while (is_first || s->next.n) {
		struct kube_news *n;
		enum err_code rc;

		page_path(s, k, version);
		n = get(s, text_str(&s->path));
		*ret = n->result;
		if (n->result == KUBE_GONE && !is_first) /* what was read of it is in the manifest already */
			rc = err_fail(e, ERR_IO, "%s: the list changed too much while it was read; try again",
				      n->error);
		else
			rc = n->result == KUBE_OK ? take_page(s, n, e) : failed(n, e);
		kube_news_free(s->client, n);
		TRY(rc);
		is_first = false;
	}
	return ERR_OK;
}

static enum err_code list_kind(struct snapshot *s, const struct kube_kind *k, struct err *e)
{
	enum kube_result result = KUBE_OK;
	struct err why = {0};

	for (uint32_t v = 0; k->versions[v]; v++) {
		if (!list(s, k, k->versions[v], &result, &why))
			return ERR_OK;
		if (result != KUBE_GONE)
			break;
	}
	if (!k->is_essential && result == KUBE_GONE)
		return ERR_OK;
	if (!k->is_essential && result == KUBE_FORBIDDEN) {
		text_printf(s->notes, "%s not read: %s\n", k->resource, why.msg);
		return ERR_OK;
	}
	return err_fail(e, why.code, "%s", why.msg);
}

/* ConfigMap cede holds settings as files do. */
static enum err_code take_own_map(struct snapshot *s, const char *name, const struct kube_news *n, struct err *e)
{
	struct arena *a = arena_new(1 << 12);
	const struct tree *root, *text;
	enum err_code rc = tree_parse_json(name, n->body.s, n->body.n, a, &root, e);

	text = rc ? NULL : tree_get(tree_get(root, "data"), "cede.yaml");
	if (text && text->kind == TREE_STRING && text->n) {
		text_add(&s->path, " (cede.yaml)");
		rc = manifest_read_bytes(s->manifest, text_str(&s->path), text->text, text->n, e);
	}
	arena_free(a);
	return rc;
}

static enum err_code read_map(struct snapshot *s, const char *name, struct err *e)
{
	static const struct kube_kind kind = {"ConfigMap", "", {"v1"}, "configmaps", false};
	struct kube_news *n;
	enum err_code rc = ERR_OK;

	text_reset(&s->path);
	kube_path(&s->path, &kind, "v1", s->options->ns, name);
	n = get(s, text_str(&s->path));
	if (n->result == KUBE_OK && str_eq(name, "cede"))
		rc = take_own_map(s, name, n, e);
	else if (n->result == KUBE_OK)
		rc = manifest_read_bytes(s->manifest, text_str(&s->path), n->body.s, n->body.n, e);
	else if (n->result == KUBE_FORBIDDEN)
		text_printf(s->notes, "ConfigMap %s/%s not read: %s\n", s->options->ns, name, n->error);
	else if (n->result != KUBE_GONE)
		rc = failed(n, e);
	kube_news_free(s->client, n);
	return rc;
}

static enum err_code read_all(struct snapshot *s, struct err *e)
{
	for (uint32_t i = 0; *s->options->ns && kube_config_maps[i]; i++)
		TRY(read_map(s, kube_config_maps[i], e));
	for (uint32_t i = 0; i < kube_kind_count; i++)
		if (manifest_reads(kube_kinds[i].kind))
			TRY(list_kind(s, &kube_kinds[i], e));
	return ERR_OK;
}

enum err_code kube_snapshot(struct kube_client *c, const struct kube_snapshot_options *o, struct manifest *m,
			    struct text *notes, struct err *e)
{
	struct snapshot s = {.client = c, .options = o, .manifest = m, .notes = notes, .arena = arena_new(1 << 20)};
	enum err_code rc = read_all(&s, e);

	arena_free(s.arena);
	text_free(&s.path);
	text_free(&s.next);
	return rc;
}
