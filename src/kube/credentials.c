/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/credentials.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "kube/exec_plugin.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

#define REREAD_NS (60 * NS_PER_S) /* files may have changed */
#define RETRY_NS (5 * NS_PER_S)	  /* after a failure */
#define EARLY_NS (30 * NS_PER_S)  /* before it expires */
enum { FILE_MAX = 1 << 20 };

struct credentials {
	const struct kube_config *config;
	pthread_mutex_t lock; /* of all below; never held while waiting */
	struct identity *now;
	int64_t until_ns; /* of now: when it expires, INT64_MAX: never */
	int64_t due_ns;	  /* wall clock; INT64_MIN: at once */
	bool is_refused;  /* now is, by the server: nobody uses it before it was read again */
};

struct credentials *credentials_new(const struct kube_config *config)
{
	struct credentials *c = mem_alloc(sizeof(*c));

	c->config = config;
	c->due_ns = INT64_MIN;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void identity_clear(struct identity *id)
{
	secret_free(&id->token);
	secret_free(&id->cert);
	secret_free(&id->key);
	secret_free(&id->password);
}

/* With the lock held. */
static void let_go(struct identity *id)
{
	if (!id || --id->refs)
		return;
	identity_clear(id);
	mem_free(id);
}

void identity_release(struct credentials *c, struct identity *id)
{
	pthread_mutex_lock(&c->lock);
	let_go(id);
	pthread_mutex_unlock(&c->lock);
}

void credentials_free(struct credentials *c)
{
	if (!c)
		return;
	let_go(c->now);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

struct identity *credentials_get(struct credentials *c, int64_t wall_ns)
{
	struct identity *id;

	pthread_mutex_lock(&c->lock);
	id = wall_ns < c->until_ns && !c->is_refused ? c->now : NULL;
	if (id)
		id->refs++;
	pthread_mutex_unlock(&c->lock);
	return id;
}

bool credentials_is_due(struct credentials *c, int64_t wall_ns)
{
	bool is_due;

	pthread_mutex_lock(&c->lock);
	is_due = wall_ns >= c->due_ns;
	pthread_mutex_unlock(&c->lock);
	return is_due;
}

void credentials_refused(struct credentials *c, const struct identity *id)
{
	pthread_mutex_lock(&c->lock);
	if (id == c->now) {
		c->due_ns = INT64_MIN;
		c->is_refused = true;
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- what a plugin says ---- */

static enum err_code bad_answer(const struct kube_exec *x, struct err *e, const char *what)
{
	return err_fail(e, ERR_INPUT, "exec: %s: %s", x->command, what);
}

static void take(const struct tree *status, const char *key, struct secret *ret)
{
	const struct tree *t = tree_get(status, key);

	if (tree_is(t, TREE_STRING) && t->n)
		secret_set(ret, t->text, t->n);
}

static enum err_code read_answer(const struct kube_exec *x, const struct tree *root, struct identity *ret,
				 int64_t *ret_until_ns, struct err *e)
{
	const struct tree *api = tree_get(root, "apiVersion"), *kind = tree_get(root, "kind");
	const struct tree *status = tree_get(root, "status"), *until = tree_get(status, "expirationTimestamp");

	if (!tree_is(kind, TREE_STRING) || !str_eq(kind->text, "ExecCredential"))
		return bad_answer(x, e, "kind: expected ExecCredential");
	if (!tree_is(api, TREE_STRING) || !str_eq(api->text, x->api))
		return bad_answer(x, e, "apiVersion: it is not the one of the kubeconfig");
	*ret_until_ns = INT64_MAX;
	if (until && until->kind != TREE_NULL &&
	    (until->kind != TREE_STRING || timestamp_parse(until->text, until->n, ret_until_ns, NULL)))
		return bad_answer(x, e, "status.expirationTimestamp: expected a time such as 2026-11-15T12:00:00Z");
	take(status, "token", &ret->token);
	take(status, "clientCertificateData", &ret->cert);
	take(status, "clientKeyData", &ret->key);
	if (secret_is_set(&ret->cert) != secret_is_set(&ret->key))
		return bad_answer(x, e, "status: a certificate and its key: both or none");
	if (!secret_is_set(&ret->token) && !secret_is_set(&ret->cert))
		return bad_answer(x, e, "status: neither a token nor a certificate");
	return ERR_OK;
}

enum err_code credentials_parse(const struct kube_exec *x, const char *data, size_t len, struct identity *ret,
				int64_t *ret_until_ns, struct err *e)
{
	struct arena *a = arena_new(4096);
	const struct tree *root;
	enum err_code rc = tree_parse_json(x->command, data, len, a, &root, NULL);

	rc = rc ? bad_answer(x, e, "what it wrote is not JSON") : read_answer(x, root, ret, ret_until_ns, e);
	if (rc)
		identity_clear(ret);
	arena_wipe(a);
	arena_free(a);
	return rc;
}

/* ---- reading ---- */

/* Of a value and a file the value counts, as for kubectl; of a token the file. */
static enum err_code read_one(const struct secret *data, const char *path, struct secret *ret, struct err *e)
{
	if (secret_is_set(data))
		secret_set(ret, data->s, data->n);
	else if (*path)
		return secret_read(ret, path, FILE_MAX, e);
	return ERR_OK;
}

static enum err_code read_token(const struct kube_config *c, struct secret *ret, struct err *e)
{
	static const struct secret none;

	if (!*c->token_file)
		return read_one(&c->token, "", ret, e);
	TRY(read_one(&none, c->token_file, ret, e));
	secret_trim(ret);
	if (ret->n)
		return ERR_OK;
	secret_free(ret);
	return err_fail(e, ERR_INPUT, "%s: expected a token, found an empty file", c->token_file);
}

static enum err_code run_plugin(const struct kube_config *c, struct identity *ret, int64_t *ret_until_ns, struct err *e)
{
	struct secret out = {0};

	TRY(exec_plugin_run(c, &out, e));
	enum err_code rc = credentials_parse(c->exec, out.s, out.n, ret, ret_until_ns, e);

	secret_free(&out);
	return rc;
}

static enum err_code read_all(const struct kube_config *c, struct identity *ret, int64_t *ret_until_ns, struct err *e)
{
	*ret_until_ns = INT64_MAX;
	ret->user = c->user;
	TRY(read_one(&c->cert, c->cert_file, &ret->cert, e));
	TRY(read_one(&c->key, c->key_file, &ret->key, e));
	TRY(read_token(c, &ret->token, e));
	TRY(read_one(&c->password, "", &ret->password, e));
	if (c->exec && !secret_is_set(&ret->token) && !*c->user)
		return run_plugin(c, ret, ret_until_ns, e);
	return ERR_OK;
}

/* Secrets out of a kubeconfig never change; files do; a plugin says how long. */
static int64_t next_due(const struct kube_config *c, int64_t until_ns, int64_t wall_ns)
{
	if (until_ns != INT64_MAX)
		return until_ns - EARLY_NS > wall_ns ? until_ns - EARLY_NS : wall_ns + RETRY_NS;
	return *c->token_file || *c->cert_file || *c->key_file ? wall_ns + REREAD_NS : INT64_MAX;
}

enum err_code credentials_refresh(struct credentials *c, int64_t wall_ns, struct err *e)
{
	struct identity *fresh = mem_alloc(sizeof(*fresh));
	int64_t until_ns = INT64_MAX;
	enum err_code rc = read_all(c->config, fresh, &until_ns, e);

	fresh->refs = 1;
	pthread_mutex_lock(&c->lock);
	if (rc) {
		let_go(fresh);
		c->due_ns = wall_ns + RETRY_NS;
	} else {
		let_go(c->now);
		c->now = fresh;
		c->until_ns = until_ns;
		c->is_refused = false;
		c->due_ns = next_due(c->config, until_ns, wall_ns);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}
