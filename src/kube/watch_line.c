/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/watch_line.h"

#include <stdlib.h>

#include "manifest/fields.h"

static const char *text_of(const struct tree *t)
{
	return t && t->kind == TREE_STRING ? t->text : "";
}

enum err_code kube_object_of(const struct tree *t, struct kube_object *ret, struct err *e)
{
	const struct tree *m = tree_get(t, "metadata");

	*ret = (struct kube_object){.tree = t,
				    .ns = text_of(tree_get(m, "namespace")),
				    .name = text_of(tree_get(m, "name")),
				    .uid = text_of(tree_get(m, "uid")),
				    .version = text_of(tree_get(m, "resourceVersion"))};
	if (!*ret->name)
		return err_fail(e, ERR_INPUT, "an object without metadata.name");
	if (!*ret->version)
		return err_fail(e, ERR_INPUT, "an object without metadata.resourceVersion");
	return ERR_OK;
}

static enum err_code parse_type(const struct tree *root, enum watch_type *ret, struct err *e)
{
	static const char *const words[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", NULL};
	const char *said = text_of(tree_get(root, "type"));
	int found = words_find(words, said);

	if (found < 0)
		return err_fail(e, ERR_INPUT, "a line of a watch with type \"%.40s\"", said);
	*ret = (enum watch_type)found;
	return ERR_OK;
}

static enum err_code parse_bookmark(const struct tree *object, struct watch_line *ret, struct err *e)
{
	const struct tree *m = tree_get(object, "metadata"), *notes = tree_get(m, "annotations");

	ret->object = (struct kube_object){
		.ns = "", .name = "", .uid = "", .version = text_of(tree_get(m, "resourceVersion"))};
	ret->ends_list = str_eq(text_of(tree_get(notes, "k8s.io/initial-events-end")), "true");
	return *ret->object.version ? ERR_OK : err_fail(e, ERR_INPUT, "a bookmark without resourceVersion");
}

static enum err_code parse_error(const struct tree *object, struct watch_line *ret)
{
	const struct tree *code = tree_get(object, "code");

	ret->error = text_of(tree_get(object, "message"));
	ret->error_code = code && code->kind == TREE_NUMBER ? (int)strtol(code->text, NULL, 10) : 0;
	return ERR_OK;
}

enum err_code watch_line_parse(const char *data, size_t len, struct arena *a, struct watch_line *ret, struct err *e)
{
	const struct tree *root, *object;

	*ret = (struct watch_line){.error = ""};
	TRY(tree_parse_json("watch", data, len, a, &root, e));
	TRY(parse_type(root, &ret->type, e));
	object = tree_get(root, "object");
	if (ret->type == WATCH_BOOKMARK)
		return parse_bookmark(object, ret, e);
	if (ret->type == WATCH_ERROR)
		return parse_error(object, ret);
	return kube_object_of(object, &ret->object, e);
}
