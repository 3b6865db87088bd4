/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "manifest/fields.h"

enum { FILE_MAX = 4 << 20 };

struct file {
	const char *name, *folder;
	const struct tree *root;
};

struct loader {
	struct arena *strings; /* of the configuration that is made */
	struct arena *trees;   /* wiped in the end */
	ARRAY(struct file) files;
	struct kube_config *config;
};

/* A place in one of the files. */
struct spot {
	struct reader reader;
	const char *folder;
	struct at at;
};

struct kube_config_source kube_config_source_system(const char *file, const char *context)
{
	return (struct kube_config_source){.file = file,
					   .context = context,
					   .list = getenv("KUBECONFIG"),
					   .home = getenv("HOME"),
					   .host = getenv("KUBERNETES_SERVICE_HOST"),
					   .port = getenv("KUBERNETES_SERVICE_PORT"),
					   .account_dir = "/var/run/secrets/kubernetes.io/serviceaccount"};
}

static bool is_given(const char *s)
{
	return s && *s;
}

void kube_config_free(struct kube_config *c)
{
	if (!c)
		return;
	secret_free(&c->ca);
	secret_free(&c->cert);
	secret_free(&c->key);
	secret_free(&c->token);
	secret_free(&c->password);
	arena_wipe(c->arena); /* the environment of an exec plugin may hold secrets, too */
	arena_free(c->arena);
	mem_free(c);
}

static struct kube_config *config_new(void)
{
	struct kube_config *c = mem_alloc(sizeof(*c));

	c->arena = arena_new(4096);
	c->where = c->server = c->ns = c->tls_server_name = c->proxy = c->ca_file = "";
	c->cert_file = c->key_file = c->token_file = c->user = c->as = c->as_uid = "";
	return c;
}

/* ---- fields ---- */

static enum err_code want(const struct spot *s, const struct at *a, enum tree_kind kind, struct err *e)
{
	if (!a->t || a->t->kind == kind)
		return ERR_OK;
	return at_fail(&s->reader, a, e, "expected %s, found %s", tree_kind_text(kind), tree_kind_text(a->t->kind));
}

/* A string; numbers and booleans are taken as written, as YAML makes them of passwords and names without quotes. */
static enum err_code want_text(const struct spot *s, const struct at *a, struct err *e)
{
	if (!a->t || a->t->kind == TREE_STRING || a->t->kind == TREE_NUMBER || a->t->kind == TREE_BOOL)
		return ERR_OK;
	return at_fail(&s->reader, a, e, "expected a string, found %s", tree_kind_text(a->t->kind));
}

static enum err_code take_text(const struct loader *l, const struct spot *s, const char *key, const char **ret,
			       struct err *e)
{
	struct at a = at_field(&s->at, key);

	TRY(want_text(s, &a, e));
	if (a.t)
		*ret = arena_strndup(l->strings, a.t->text, a.t->n);
	return ERR_OK;
}

static enum err_code take_bool(const struct spot *s, const char *key, bool *ret, struct err *e)
{
	struct at a = at_field(&s->at, key);

	TRY(want(s, &a, TREE_BOOL, e));
	if (a.t)
		*ret = a.t->truth;
	return ERR_OK;
}

static enum err_code take_secret(const struct spot *s, const char *key, struct secret *ret, struct err *e)
{
	struct at a = at_field(&s->at, key);

	TRY(want_text(s, &a, e));
	if (a.t && a.t->n)
		secret_set(ret, a.t->text, a.t->n);
	return ERR_OK;
}

static enum err_code take_base64(const struct spot *s, const char *key, struct secret *ret, struct err *e)
{
	struct at a = at_field(&s->at, key);

	TRY(want_text(s, &a, e));
	if (!a.t || !a.t->n)
		return ERR_OK;
	if (!secret_decode_base64(ret, a.t->text, a.t->n))
		return at_fail(&s->reader, &a, e, "expected base64 of a PEM file, found something else");
	return ERR_OK;
}

static const char *absolute(const struct loader *l, const char *folder, const char *path)
{
	return !*path || *path == '/' || !*folder ? path : arena_printf(l->strings, "%s/%s", folder, path);
}

static enum err_code take_path(const struct loader *l, const struct spot *s, const char *key, const char **ret,
			       struct err *e)
{
	TRY(take_text(l, s, key, ret, e));
	*ret = absolute(l, s->folder, *ret);
	return ERR_OK;
}

/* A list of strings. */
static enum err_code take_texts(const struct loader *l, const struct spot *s, const char *key, const char ***ret,
				uint32_t *ret_n, struct err *e)
{
	struct at list = at_field(&s->at, key);

	TRY(want(s, &list, TREE_LIST, e));
	*ret_n = at_count(&list);
	*ret = arena_n(l->strings, *ret_n + 1, const char *);
	for (uint32_t i = 0; i < *ret_n; i++) {
		struct at item = at_item(&list, i);

		TRY(want_text(s, &item, e));
		(*ret)[i] = item.t->kind == TREE_NULL ? "" : arena_strndup(l->strings, item.t->text, item.t->n);
	}
	return ERR_OK;
}

/* ---- entries by name ---- */

/* clusters, users, contexts: lists of {name: NAME, KIND: {…}}. The first with the name counts, over all files. */
static enum err_code find_entry(const struct loader *l, const char *list_key, const char *kind, const char *name,
				struct spot *ret, struct err *e)
{
	for (uint32_t f = 0; f < l->files.n; f++) {
		const struct file *file = &l->files.v[f];
		struct spot s = {.reader = {.file = file->name}, .folder = file->folder};
		struct at root = at_root(file->root), list = at_field(&root, list_key);

		TRY(want(&s, &list, TREE_LIST, e));
		for (uint32_t i = 0; i < at_count(&list); i++) {
			struct at item = at_item(&list, i), found;
			const struct tree *said = tree_get(item.t, "name");

			TRY(want(&s, &item, TREE_MAP, e));
			if (!said || said->kind > TREE_STRING || said->kind == TREE_NULL || !str_eq(said->text, name))
				continue;
			found = at_field(&item, kind);
			TRY(want(&s, &found, TREE_MAP, e));
			snprintf(s.reader.subject, sizeof(s.reader.subject), "%s %.100s", kind, name);
			s.at = at_root(found.t ? found.t : item.t);
			*ret = s;
			return ERR_OK;
		}
	}
	return err_fail(e, ERR_NOTFOUND, "%s: there is no %s \"%.100s\"",
			l->files.n ? l->files.v[0].name : "kubeconfig", kind, name);
}

/* ---- clusters ---- */

static enum err_code check_server(const struct spot *s, const char *server, struct err *e)
{
	struct at a = at_field(&s->at, "server");
	size_t scheme = str_starts(server, "https://") ? 8 : str_starts(server, "http://") ? 7 : 0;

	if (!scheme || !server[scheme] || strpbrk(server, " \t\r\n\"<>\\^`{|}@?#"))
		return at_fail(&s->reader, &a, e, "expected an address such as https://10.0.0.1:6443");
	return ERR_OK;
}

static void cut_slashes(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && s[n - 1] == '/')
		s[--n] = '\0';
}

static enum err_code take_cluster(struct loader *l, const struct spot *s, struct err *e)
{
	struct kube_config *c = l->config;
	const char *server = "";

	TRY(take_text(l, s, "server", &server, e));
	TRY(check_server(s, server, e));
	c->server = arena_strndup(l->strings, server, strlen(server));
	cut_slashes((char *)c->server);
	TRY(take_text(l, s, "tls-server-name", &c->tls_server_name, e));
	TRY(take_text(l, s, "proxy-url", &c->proxy, e));
	TRY(take_bool(s, "insecure-skip-tls-verify", &c->is_insecure, e));
	TRY(take_base64(s, "certificate-authority-data", &c->ca, e));
	TRY(take_path(l, s, "certificate-authority", &c->ca_file, e));
	if (c->is_insecure && (secret_is_set(&c->ca) || *c->ca_file))
		return at_fail(&s->reader, &s->at, e,
			       "insecure-skip-tls-verify and a certificate authority: one of the two");
	return ERR_OK;
}

/* ---- users ---- */

static enum err_code take_env(const struct loader *l, const struct spot *s, struct kube_exec *x, struct err *e)
{
	struct at list = at_field(&s->at, "env");

	TRY(want(s, &list, TREE_LIST, e));
	x->env = arena_n(l->strings, at_count(&list) + 1, const char *);
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct spot pair = {.reader = s->reader, .folder = s->folder, .at = at_item(&list, i)};
		const char *name = "", *value = "";

		TRY(want(&pair, &pair.at, TREE_MAP, e));
		TRY(take_text(l, &pair, "name", &name, e));
		TRY(take_text(l, &pair, "value", &value, e));
		if (!*name || strchr(name, '='))
			return at_fail(&s->reader, &pair.at, e, "name: expected the name of a variable");
		x->env[x->n_env++] = arena_printf(l->strings, "%s=%s", name, value);
	}
	return ERR_OK;
}

static enum err_code take_interaction(const struct loader *l, const struct spot *s, struct kube_exec *x, struct err *e)
{
	static const char *const words[] = {"IfAvailable", "Never", "Always", NULL};
	struct at a = at_field(&s->at, "interactiveMode");
	const char *mode = "";
	int found;

	TRY(take_text(l, s, "interactiveMode", &mode, e));
	found = *mode ? words_find(words, mode) : EXEC_IF_AVAILABLE;
	if (found < 0)
		return at_fail(&s->reader, &a, e, "expected Never, IfAvailable or Always");
	x->interaction = (enum exec_interaction)found;
	return ERR_OK;
}

static enum err_code take_exec(struct loader *l, const struct spot *user, struct err *e)
{
	struct spot s = {.reader = user->reader, .folder = user->folder, .at = at_field(&user->at, "exec")};
	struct at api = at_field(&s.at, "apiVersion"), command = at_field(&s.at, "command");
	struct kube_exec *x;

	TRY(want(&s, &s.at, TREE_MAP, e));
	if (!s.at.t)
		return ERR_OK;
	x = arena_type(l->strings, struct kube_exec);
	x->api = x->command = x->install_hint = "";
	TRY(take_text(l, &s, "apiVersion", &x->api, e));
	if (!str_eq(x->api, "client.authentication.k8s.io/v1") &&
	    !str_eq(x->api, "client.authentication.k8s.io/v1beta1"))
		return at_fail(&s.reader, &api, e, "expected client.authentication.k8s.io/v1 or …/v1beta1");
	TRY(take_text(l, &s, "command", &x->command, e));
	if (!*x->command)
		return at_fail(&s.reader, &command, e, "expected a program, found nothing");
	if (strchr(x->command, '/'))
		x->command = absolute(l, s.folder, x->command);
	TRY(take_text(l, &s, "installHint", &x->install_hint, e));
	TRY(take_texts(l, &s, "args", &x->args, &x->n_args, e));
	TRY(take_env(l, &s, x, e));
	TRY(take_bool(&s, "provideClusterInfo", &x->wants_cluster, e));
	TRY(take_interaction(l, &s, x, e));
	l->config->exec = x;
	return ERR_OK;
}

/* as-user-extra: {key: [value, …]} */
static enum err_code take_extra(struct loader *l, const struct spot *s, struct err *e)
{
	struct at map = at_field(&s->at, "as-user-extra");
	ARRAY(struct kube_pair) pairs = {0};
	enum err_code rc = want(s, &map, TREE_MAP, e);

	for (uint32_t i = 0; !rc && map.t && i < map.t->n; i++) {
		struct spot values = {.reader = s->reader, .folder = s->folder, .at = map};
		const char *key = arena_strndup(l->strings, map.t->fields[i].key, map.t->fields[i].key_len), **v;
		uint32_t n = 0;

		rc = take_texts(l, &values, key, &v, &n, e);
		for (uint32_t k = 0; !rc && k < n; k++)
			array_push(&pairs, ((struct kube_pair){key, v[k]}));
	}
	l->config->extra = arena_n(l->strings, pairs.n + 1, struct kube_pair);
	if (pairs.n)
		memcpy(l->config->extra, pairs.v, pairs.n * sizeof(*pairs.v));
	l->config->n_extra = pairs.n;
	array_free(&pairs);
	return rc;
}

static enum err_code take_impersonation(struct loader *l, const struct spot *s, struct err *e)
{
	struct kube_config *c = l->config;

	TRY(take_text(l, s, "as", &c->as, e));
	TRY(take_text(l, s, "as-uid", &c->as_uid, e));
	TRY(take_texts(l, s, "as-groups", &c->groups, &c->n_groups, e));
	TRY(take_extra(l, s, e));
	if (!*c->as && (*c->as_uid || c->n_groups || c->n_extra))
		return at_fail(&s->reader, &s->at, e, "as-uid, as-groups or as-user-extra without as");
	return ERR_OK;
}

static enum err_code check_user(const struct spot *s, const struct kube_config *c, struct err *e)
{
	bool has_cert = secret_is_set(&c->cert) || *c->cert_file, has_key = secret_is_set(&c->key) || *c->key_file;

	if (has_cert != has_key)
		return at_fail(&s->reader, &s->at, e, "a client certificate and its key: both or none");
	if (tree_get(s->at.t, "auth-provider"))
		return at_fail(&s->reader, &s->at, e,
			       "auth-provider: not supported, as in kubectl since 1.26; use an exec plugin");
	return ERR_OK;
}

static enum err_code take_user(struct loader *l, const struct spot *s, struct err *e)
{
	struct kube_config *c = l->config;

	TRY(take_base64(s, "client-certificate-data", &c->cert, e));
	TRY(take_path(l, s, "client-certificate", &c->cert_file, e));
	TRY(take_base64(s, "client-key-data", &c->key, e));
	TRY(take_path(l, s, "client-key", &c->key_file, e));
	TRY(take_secret(s, "token", &c->token, e));
	TRY(take_path(l, s, "tokenFile", &c->token_file, e));
	TRY(take_text(l, s, "username", &c->user, e));
	TRY(take_secret(s, "password", &c->password, e));
	TRY(take_exec(l, s, e));
	TRY(take_impersonation(l, s, e));
	return check_user(s, c, e);
}

/* ---- files ---- */

/* What the YAML reader found wrong, without the words it found there. */
static enum err_code hide_words(const char *name, struct err *e)
{
	unsigned line = 1, col = 1;
	char *end;

	if (!e)
		return ERR_INPUT;
	if (str_starts(e->msg, name) && e->msg[strlen(name)] == ':') {
		line = (unsigned)strtoul(e->msg + strlen(name) + 1, &end, 10);
		col = *end == ':' ? (unsigned)strtoul(end + 1, NULL, 10) : 1;
	}
	return err_fail(e, ERR_INPUT, "%s:%u:%u: this is not YAML that can be read (what stands there is not shown)",
			name, line, col);
}

static enum err_code add_bytes(struct loader *l, const char *name, const char *folder, const char *data, size_t len,
			       struct err *e)
{
	struct tree_reader *r = tree_reader_new(name, data, len);
	struct file f = {.name = arena_strndup(l->strings, name, strlen(name)),
			 .folder = arena_strndup(l->strings, folder, strlen(folder))};
	struct tree_doc doc;
	enum err_code rc = tree_next(r, l->trees, &doc, e);

	tree_reader_free(r);
	if (rc)
		return hide_words(name, e);
	f.root = doc.root;
	if (f.root && f.root->kind != TREE_MAP)
		return err_fail(e, ERR_INPUT, "%s:%u:%u: expected a kubeconfig, found %s", name, f.root->line,
				f.root->col, tree_kind_text(f.root->kind));
	array_push(&l->files, f);
	return ERR_OK;
}

static enum err_code add_file(struct loader *l, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *folder = arena_strndup(l->strings, path, slash ? (size_t)(slash - path) : 0);
	struct secret data = {0};
	enum err_code rc = secret_read(&data, path, FILE_MAX, e);

	if (!rc)
		rc = add_bytes(l, path, slash == path ? "/" : slash ? folder : ".", data.s, data.n, e);
	secret_free(&data);
	return rc;
}

/* A file that may be missing. */
static enum err_code add_optional(struct loader *l, const char *path, struct err *e)
{
	struct err why;
	enum err_code rc = add_file(l, path, &why);

	if (!rc || rc == ERR_NOTFOUND)
		return ERR_OK;
	if (e)
		*e = why;
	return rc;
}

/* Colon-separated. */
static enum err_code add_list(struct loader *l, const char *list, struct err *e)
{
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ":");

		if (n)
			TRY(add_optional(l, arena_strndup(l->strings, p, n), e));
		p += n + (p[n] == ':');
	}
	return ERR_OK;
}

static enum err_code current_context(const struct loader *l, const char **ret, struct err *e)
{
	for (uint32_t f = 0; f < l->files.n; f++) {
		struct spot s = {.reader = {.file = l->files.v[f].name}, .at = at_root(l->files.v[f].root)};

		*ret = "";
		TRY(take_text(l, &s, "current-context", ret, e));
		if (**ret)
			return ERR_OK;
	}
	return err_fail(e, ERR_INPUT, "%s: there is no current-context; say one with --context",
			l->files.n ? l->files.v[0].name : "kubeconfig");
}

static enum err_code resolve(struct loader *l, const char *context, struct err *e)
{
	struct spot s;
	const char *cluster = "", *user = "";

	if (!is_given(context))
		TRY(current_context(l, &context, e));
	TRY(find_entry(l, "contexts", "context", context, &s, e));
	l->config->where = arena_printf(l->strings, "%s, context %s", s.reader.file, context);
	TRY(take_text(l, &s, "namespace", &l->config->ns, e));
	TRY(take_text(l, &s, "cluster", &cluster, e));
	TRY(take_text(l, &s, "user", &user, e));
	TRY(find_entry(l, "clusters", "cluster", cluster, &s, e));
	TRY(take_cluster(l, &s, e));
	if (!*user)
		return ERR_OK;
	TRY(find_entry(l, "users", "user", user, &s, e));
	return take_user(l, &s, e);
}

static struct loader loader_new(void)
{
	struct loader l = {.config = config_new(), .trees = arena_new(1 << 14)};

	l.strings = l.config->arena;
	return l;
}

static enum err_code loader_end(struct loader *l, enum err_code rc, struct kube_config **ret)
{
	arena_wipe(l->trees);
	arena_free(l->trees);
	array_free(&l->files);
	if (rc)
		kube_config_free(l->config);
	else
		*ret = l->config;
	return rc;
}

enum err_code kube_config_parse(const char *name, const char *folder, const char *data, size_t len, const char *context,
				struct kube_config **ret, struct err *e)
{
	struct loader l = loader_new();
	enum err_code rc = add_bytes(&l, name, folder, data, len, e);

	return loader_end(&l, rc ? rc : resolve(&l, context, e), ret);
}

/* ---- in a pod ---- */

static enum err_code in_cluster(struct loader *l, const struct kube_config_source *src, struct err *e)
{
	struct kube_config *c = l->config;
	bool is_v6 = strchr(src->host, ':') != NULL;
	struct secret ns = {0};

	c->where = "the cluster this pod runs in";
	c->server = arena_printf(l->strings, "https://%s%s%s:%s", is_v6 ? "[" : "", src->host, is_v6 ? "]" : "",
				 is_given(src->port) ? src->port : "443");
	c->token_file = arena_printf(l->strings, "%s/token", src->account_dir);
	c->ca_file = arena_printf(l->strings, "%s/ca.crt", src->account_dir);
	TRY(secret_read(&c->token, c->token_file, 1 << 20, e));
	secret_free(&c->token); /* it changes: the file is what counts */
	if (!secret_read(&ns, arena_printf(l->strings, "%s/namespace", src->account_dir), 1 << 10, NULL)) {
		secret_trim(&ns);
		c->ns = arena_strndup(l->strings, ns.s, ns.n);
	}
	secret_free(&ns);
	return ERR_OK;
}

/* The files to read, in their order; none: there is no kubeconfig. */
static enum err_code add_files(struct loader *l, const struct kube_config_source *src, struct err *e)
{
	if (is_given(src->file))
		return add_file(l, src->file, e);
	if (is_given(src->list))
		return add_list(l, src->list, e);
	if (!is_given(src->home))
		return ERR_OK;
	return add_optional(l, arena_printf(l->strings, "%s/.kube/config", src->home), e);
}

static enum err_code load(struct loader *l, const struct kube_config_source *src, struct err *e)
{
	TRY(add_files(l, src, e));
	if (l->files.n)
		return resolve(l, src->context, e);
	if (is_given(src->host))
		return in_cluster(l, src, e);
	return err_fail(
		e, ERR_NOTFOUND,
		"no kubeconfig: neither --kubeconfig nor $KUBECONFIG nor ~/.kube/config names one that is there, and "
		"this is no pod of a cluster");
}

enum err_code kube_config_load(const struct kube_config_source *src, struct kube_config **ret, struct err *e)
{
	struct loader l = loader_new();

	return loader_end(&l, load(&l, src, e), ret);
}
