/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/token_review.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/emit.h"
#include "kube/client.h"
#include "manifest/fields.h"

#define PATIENCE_NS (10 * NS_PER_S)
#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "/apis/authorization.k8s.io/v1/subjectaccessreviews"

struct token_review {
	struct kube_client *client;
};

/* ---- what is asked ---- */

static void write_token(const char *token, struct text *out)
{
	struct emit e;

	emit_init(&e, out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_str(&e, "apiVersion", "authentication.k8s.io/v1");
	emit_str(&e, "kind", "TokenReview");
	emit_object(&e, "spec");
	emit_str(&e, "token", token);
	emit_end(&e);
	emit_end(&e);
}

static void write_strings(struct emit *e, const char *key, const struct tree *list)
{
	emit_list(e, key);
	for (uint32_t i = 0; tree_is(list, TREE_LIST) && i < list->n; i++)
		if (list->items[i]->kind == TREE_STRING)
			emit_str(e, NULL, list->items[i]->text);
	emit_end(e);
}

static void write_text(struct emit *e, const char *key, const struct tree *t)
{
	if (tree_is(t, TREE_STRING))
		emit_str(e, key, t->text);
}

/* The user as the API server described it. */
static void write_user(struct emit *e, const struct tree *user)
{
	const struct tree *extra = tree_get(user, "extra");

	write_text(e, "user", tree_get(user, "username"));
	write_text(e, "uid", tree_get(user, "uid"));
	write_strings(e, "groups", tree_get(user, "groups"));
	emit_object(e, "extra");
	for (uint32_t i = 0; tree_is(extra, TREE_MAP) && i < extra->n; i++)
		write_strings(e, extra->fields[i].key, extra->fields[i].value);
	emit_end(e);
}

static void write_access(const struct tree *user, const char *method, const char *path, struct text *out)
{
	char verb[16] = "";
	struct emit e;

	for (size_t i = 0; method[i] && i + 1 < sizeof(verb); i++)
		verb[i] = (char)tolower((unsigned char)method[i]);
	emit_init(&e, out, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_str(&e, "apiVersion", "authorization.k8s.io/v1");
	emit_str(&e, "kind", "SubjectAccessReview");
	emit_object(&e, "spec");
	write_user(&e, user);
	emit_object(&e, "nonResourceAttributes");
	/* Kubernetes lets everybody who is known get /api/… of its own, for discovery: ours has another name there. */
	emit_strf(&e, "path", "%s%s", str_starts(path, "/api/") ? "/cede" : "", path);
	emit_str(&e, "verb", str_eq(verb, "head") ? "get" : verb);
	emit_end(&e);
	emit_end(&e);
	emit_end(&e);
}

/* ---- what is answered ---- */

static bool is_true(const struct tree *t)
{
	return tree_is(t, TREE_BOOL) && t->truth;
}

/* The status of the answer, NULL: there was none that can be understood. */
static const struct tree *ask(const struct review_transport *t, const char *path, const struct text *body,
			      struct arena *a)
{
	const struct tree *root = NULL;
	struct text answer = {0};
	int status = t->post(t->ctx, path, body, &answer);

	if ((status != 200 && status != 201) || tree_parse_json(path, text_str(&answer), answer.n, a, &root, NULL))
		root = NULL;
	text_free(&answer);
	root = tree_get(root, "status");
	return tree_is(root, TREE_MAP) ? root : NULL;
}

static void wipe(struct text *t)
{
	if (t->n)
		explicit_bzero(t->s, t->n);
	text_free(t);
}

enum serve_access token_review_with(const struct review_transport *t, const char *token, const char *method,
				    const char *path)
{
	struct arena *a = arena_new(4096);
	struct text body = {0};
	const struct tree *who, *may = NULL;
	enum serve_access access = ACCESS_TROUBLE;

	write_token(token, &body);
	who = ask(t, TOKENS, &body, a);
	wipe(&body);
	if (who && !is_true(tree_get(who, "authenticated")))
		access = ACCESS_UNKNOWN;
	else if (who) {
		write_access(tree_get(who, "user"), method, path, &body);
		may = ask(t, ACCESS, &body, a);
		text_free(&body);
	}
	if (may)
		access = is_true(tree_get(may, "allowed")) && !is_true(tree_get(may, "denied")) ? ACCESS_ALLOWED
												: ACCESS_FORBIDDEN;
	arena_free(a);
	return access;
}

/* ---- through a client ---- */

static int post(void *ctx, const char *path, const struct text *body, struct text *ret_answer)
{
	struct token_review *t = ctx;
	struct kube_request r = {.method = "POST",
				 .path = path,
				 .body = text_str(body),
				 .body_len = body->n,
				 .timeout_ns = PATIENCE_NS,
				 .attempts = 2,
				 .is_urgent = true};
	struct kube_news *n = kube_client_call(t->client, &r);
	int status = n ? n->status : 0;

	if (n) {
		*ret_answer = n->body;
		n->body = (struct text){0};
		kube_news_free(t->client, n);
	}
	return status;
}

enum err_code token_review_new(const struct kube_config_source *src, struct token_review **ret, struct err *e)
{
	struct kube_client_options o = kube_client_options_default();
	struct kube_config *config;
	struct token_review *t;
	enum err_code rc;

	TRY(kube_config_load(src, &config, e));
	t = mem_alloc(sizeof(*t));
	rc = kube_client_new(config, &o, &t->client, e);
	if (rc) {
		kube_config_free(config);
		mem_free(t);
		return rc;
	}
	*ret = t;
	return ERR_OK;
}

void token_review_free(struct token_review *t)
{
	if (!t)
		return;
	kube_client_free(t->client);
	mem_free(t);
}

enum serve_access token_review_judge(struct token_review *t, const char *token, const char *method, const char *path)
{
	struct review_transport transport = {.post = post, .ctx = t};

	return token_review_with(&transport, token, method, path);
}
