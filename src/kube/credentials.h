/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.h - what is shown to the API server, kept fresh.
 *
 * Tokens and certificates that stand in files are read again once a minute (service account tokens are replaced under a
 * running pod); what an exec plugin gives is used until it expires, and the plugin is run again then, or when the
 * server refuses what it gave. Reading and running may take long, so that whoever has a loop to keep going does it in
 * another thread: credentials_refresh is the only call that waits.
 *
 * An identity does not change once it is handed out; it is counted, so that a transfer can hold it while a newer one is
 * already there. Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kube/kubeconfig.h"

struct identity {
	uint32_t refs;				  /* bookkeeping of credentials.c */
	struct secret token, cert, key, password; /* not set if there is none */
	const char *user;			  /* for the password; "" */
};

struct credentials;

/* The configuration is borrowed and must live as long. */
struct credentials *credentials_new(const struct kube_config *config);
void credentials_free(struct credentials *c);

/* The identity of now, NULL if there is none yet or it has expired. Give it back with identity_release. */
struct identity *credentials_get(struct credentials *c, int64_t wall_ns);
void identity_release(struct credentials *c, struct identity *id); /* NULL is fine */

/* Time to refresh: there is none, it expires soon, or files may have changed. */
bool credentials_is_due(struct credentials *c, int64_t wall_ns);
/* The server said 401 to this one: it is due now, unless a newer one is there already. */
void credentials_refused(struct credentials *c, const struct identity *id);
/*
 * Read files, run the plugin. On failure the identity that was there stays, if it has not expired, and a new try is due
 * a little later. The error names the file or program, never what it said.
 */
enum err_code credentials_refresh(struct credentials *c, int64_t wall_ns, struct err *e);

/* What a plugin wrote on its standard output, as an identity; expires at *ret_until_ns (INT64_MAX: it does not say). */
enum err_code credentials_parse(const struct kube_exec *x, const char *data, size_t len, struct identity *ret,
				int64_t *ret_until_ns, struct err *e);
