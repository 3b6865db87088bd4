/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h - where the API server is and who we are there, as kubectl's configuration says it.
 *
 * Looked for in this order: the file that was named; the files of $KUBECONFIG, put together as kubectl does (the first
 * file that says something is right; files that are not there are left out); ~/.kube/config; the pod's own service
 * account. Paths inside a file are relative to its folder.
 *
 * Errors say file, line, column and field and what was expected, and never what stands in a field: it may be a secret.
 * Nothing here speaks to anybody; credentials.h reads tokens and certificates, and runs exec plugins.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "kube/secret.h"

struct kube_config_source {
	const char *file;	 /* --kubeconfig; NULL: look for one */
	const char *context;	 /* --context; NULL: current-context */
	const char *list;	 /* $KUBECONFIG; NULL or "": not set */
	const char *home;	 /* $HOME */
	const char *host, *port; /* $KUBERNETES_SERVICE_HOST, _PORT: those of the pod we are in */
	const char *account_dir; /* /var/run/secrets/kubernetes.io/serviceaccount */
};
/* file and context may be NULL; the rest is taken from the environment. */
struct kube_config_source kube_config_source_system(const char *file, const char *context);

enum exec_interaction { EXEC_IF_AVAILABLE, EXEC_NEVER, EXEC_ALWAYS };

struct kube_exec {	     /* a program that says who we are */
	const char *api;     /* client.authentication.k8s.io/v1 or v1beta1 */
	const char *command; /* with a path if it had one; else looked for in $PATH */
	const char *install_hint;
	uint32_t n_args, n_env;
	const char **args;
	const char **env; /* "NAME=value" */
	bool wants_cluster;
	enum exec_interaction interaction;
};

struct kube_pair {
	const char *key, *value;
};

struct kube_config {
	struct arena *arena; /* of all strings here */
	const char *where;   /* "~/.kube/config, context prod" or "the cluster this pod runs in", for messages */
	const char *server;  /* "https://10.0.0.1:6443", without a slash at the end */
	const char *ns;	     /* of the context or the pod; "" if it says none */
	const char *tls_server_name, *proxy; /* "" if not set */
	bool is_insecure;
	struct secret ca;    /* certificate-authority-data; not secret, but kept like the rest */
	const char *ca_file; /* "" if not set */

	struct secret cert, key, token, password;	      /* …-data, token */
	const char *cert_file, *key_file, *token_file, *user; /* "" if not set */
	struct kube_exec *exec;				      /* NULL if not set */

	const char *as, *as_uid; /* impersonation; "" if not set */
	uint32_t n_groups, n_extra;
	const char **groups;
	struct kube_pair *extra;
};

enum err_code kube_config_load(const struct kube_config_source *src, struct kube_config **ret, struct err *e);
/* One file's bytes, for tests and fuzzers; folder is what paths are relative to. */
enum err_code kube_config_parse(const char *name, const char *folder, const char *data, size_t len, const char *context,
				struct kube_config **ret, struct err *e);
void kube_config_free(struct kube_config *c); /* NULL is fine; wipes secrets */
