/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: what is in them, and how it is read together. */
#include <stdlib.h>

#include "api/api.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

enum { CYCLES_MAX = 10000, THREADS_MAX = 64 };

const char *cede_version(void)
{
	return CEDE_VERSION;
}

void cede_on_out_of_memory(void (*f)(void))
{
	mem_on_failure(f ? f : abort);
}

struct plain_locale plain_locale_begin(void)
{
	struct plain_locale l = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};

	if (!l.plain)
		mem_fail();
	l.before = uselocale(l.plain);
	return l;
}

void plain_locale_end(struct plain_locale *l)
{
	uselocale(l->before);
	freelocale(l->plain);
}

/* ---- errors ---- */

static enum cede_status status_of(enum err_code rc)
{
	switch (rc) {
	case ERR_OK:
		return CEDE_OK;
	case ERR_NOTFOUND:
		return CEDE_NOT_FOUND;
	case ERR_CONFLICT:
		return CEDE_CONFLICT;
	case ERR_LIMIT:
		return CEDE_TOO_LARGE;
	case ERR_INTERNAL:
		return CEDE_INTERNAL;
	case ERR_INPUT:
	case ERR_IO:
		return CEDE_BAD_INPUT;
	}
	return CEDE_INTERNAL;
}

enum cede_status api_status(struct cede *c, enum err_code rc, const struct err *e)
{
	if (rc)
		c->error = *e;
	return status_of(rc);
}

enum cede_status api_misuse(struct cede *c, const char *words)
{
	if (c)
		err_set(&c->error, ERR_INPUT, "%s", words);
	return CEDE_MISUSE;
}

const char *cede_error(const struct cede *c)
{
	return c ? c->error.msg : "";
}

/* ---- a handle ---- */

struct cede *cede_new(void)
{
	struct cede *c = mem_alloc(sizeof(*c));

	c->documents = documents_new();
	c->cycles = c->threads = 1;
	return c;
}

/* What was read together is no longer what is there. */
static void forget(struct cede *c)
{
	if (c->cluster)
		cluster_free(c->cluster);
	if (c->config)
		engine_config_free(c->config);
	manifest_free(c->manifest);
	if (c->vocab)
		vocab_free(c->vocab);
	c->cluster = NULL;
	c->config = NULL;
	c->manifest = NULL;
	c->vocab = NULL;
}

static char *setting_at(const struct cede *c, uint32_t i)
{
	return (char *)c->whatif.set.v[i]; /* they are all ours */
}

void cede_free(struct cede *c)
{
	if (!c)
		return;
	forget(c);
	documents_free(c->documents);
	for (uint32_t i = 0; i < c->whatif.set.n; i++)
		mem_free(setting_at(c, i));
	whatif_free(&c->whatif);
	mem_free(c);
}

static enum err_code read_together(struct cede *c, struct err *e)
{
	struct cluster_options o;

	TRY(documents_read(c->documents, c->manifest, e));
	TRY(manifest_configure(c->manifest, c->config, e));
	if (c->has_profile)
		c->config->profile = c->profile;
	TRY(whatif_configure(&c->whatif, c->config, e));
	o = engine_config_cluster_options(c->config, c->now_ns);
	TRY(manifest_build(c->manifest, &o, &c->cluster, e));
	return whatif_apply(&c->whatif, c->manifest, c->cluster, e);
}

enum err_code api_read(struct cede *c, struct err *e)
{
	enum err_code rc;

	if (!c->has_now)
		return err_fail(e, ERR_INPUT, "the time is not set; a plan is always of a time (cede_set_now)");
	if (c->cluster)
		return ERR_OK;
	forget(c);
	c->vocab = vocab_new();
	c->manifest = manifest_new(c->vocab);
	c->config = engine_config_new();
	rc = read_together(c, e);
	if (rc)
		forget(c);
	return rc;
}

enum cede_status cede_check(struct cede *c)
{
	IN_PLAIN_LOCALE;
	struct err e;

	if (!c)
		return CEDE_MISUSE;
	return api_status(c, api_read(c, &e), &e);
}

size_t cede_count(const struct cede *c)
{
	return c ? documents_count(c->documents) : 0;
}

const char *cede_note(const struct cede *c, size_t i)
{
	return c && c->manifest && i < manifest_note_count(c->manifest) ? manifest_note(c->manifest, (uint32_t)i)
									: NULL;
}

/* ---- objects ---- */

enum cede_status cede_apply(struct cede *c, const char *name, const char *text, size_t len)
{
	IN_PLAIN_LOCALE;
	enum err_code rc;
	struct err e;

	if (!c || !name || (!text && len))
		return api_misuse(c, "cede_apply: a name and a text are needed");
	rc = documents_put(c->documents, name, text ? text : "", len, &e);
	if (!rc)
		forget(c);
	return api_status(c, rc, &e);
}

enum cede_status cede_remove(struct cede *c, const char *kind, const char *ns, const char *name)
{
	struct err e;

	if (!c || !kind)
		return api_misuse(c, "cede_remove: a kind is needed");
	ns = ns ? ns : "";
	name = name ? name : "";
	if (!documents_remove(c->documents, kind, ns, name))
		return api_status(
			c,
			err_fail(&e, ERR_NOTFOUND, "there is no %.100s %.253s%s%.253s", kind, ns, *ns ? "/" : "", name),
			&e);
	forget(c);
	return CEDE_OK;
}

/* ---- settings ---- */

/* Where "KEY=..." is among the settings; their number if it is not. */
static uint32_t find_setting(const struct cede *c, const char *key, size_t n)
{
	uint32_t i = 0;

	while (i < c->whatif.set.n && (strncmp(c->whatif.set.v[i], key, n) != 0 || c->whatif.set.v[i][n] != '='))
		i++;
	return i;
}

/* before: what stood at i, NULL if nothing did; the new one goes. */
static void take_back(struct cede *c, uint32_t i, char *before)
{
	mem_free(setting_at(c, i));
	if (before)
		c->whatif.set.v[i] = before;
	else
		array_remove(&c->whatif.set, i);
	forget(c);
}

enum cede_status cede_set(struct cede *c, const char *setting)
{
	IN_PLAIN_LOCALE;
	char *before = NULL;
	enum err_code rc;
	struct err e;
	uint32_t i;

	if (!c || !setting)
		return api_misuse(c, "cede_set: a setting is needed, KEY=VALUE");
	i = find_setting(c, setting, strcspn(setting, "="));
	if (i < c->whatif.set.n) {
		before = setting_at(c, i);
		c->whatif.set.v[i] = mem_strdup(setting);
	} else {
		array_push(&c->whatif.set, mem_strdup(setting));
	}
	forget(c);
	rc = api_read(c, &e);
	if (rc)
		take_back(c, i, before);
	else
		mem_free(before);
	return api_status(c, rc, &e);
}

enum cede_status cede_unset(struct cede *c, const char *key)
{
	struct err e;
	uint32_t i;

	if (!c || !key)
		return api_misuse(c, "cede_unset: a key is needed");
	i = find_setting(c, key, strlen(key));
	if (i == c->whatif.set.n)
		return api_status(c, err_fail(&e, ERR_NOTFOUND, "%.200s was not set", key), &e);
	mem_free(setting_at(c, i));
	array_remove(&c->whatif.set, i);
	forget(c);
	return CEDE_OK;
}

enum cede_status cede_set_now(struct cede *c, const char *time)
{
	struct err e;
	int64_t ns;

	if (!c || !time)
		return api_misuse(c, "cede_set_now: a time is needed");
	if (timestamp_parse(time, strlen(time), &ns, &e))
		return api_status(
			c, err_fail(&e, ERR_INPUT, "expected a time such as 2026-11-15T12:00:00Z, found '%.60s'", time),
			&e);
	c->has_now = true;
	c->now_ns = ns;
	forget(c);
	return CEDE_OK;
}

enum cede_status cede_set_profile(struct cede *c, const char *profile)
{
	struct err e;

	if (!c)
		return CEDE_MISUSE;
	if (profile && !profile_parse(profile, &c->profile))
		return api_status(c,
				  err_fail(&e, ERR_INPUT,
					   "expected a profile (default, kubernetes, yunikorn or kai), found '%.60s'",
					   profile),
				  &e);
	c->has_profile = profile != NULL;
	forget(c);
	return CEDE_OK;
}

static enum cede_status set_number(struct cede *c, uint32_t *at, uint32_t n, uint32_t max, const char *what)
{
	struct err e;

	if (n < 1 || n > max)
		return api_status(
			c, err_fail(&e, ERR_INPUT, "%s: expected a number from 1 to %u, found %u", what, max, n), &e);
	*at = n;
	return CEDE_OK;
}

enum cede_status cede_set_cycles(struct cede *c, uint32_t cycles)
{
	return c ? set_number(c, &c->cycles, cycles, CYCLES_MAX, "cycles") : CEDE_MISUSE;
}

enum cede_status cede_set_threads(struct cede *c, uint32_t threads)
{
	return c ? set_number(c, &c->threads, threads, THREADS_MAX, "threads") : CEDE_MISUSE;
}
