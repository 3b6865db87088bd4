/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - cede run: connects, leads or stands by, follows settings, and ends when it is told to.
 *
 * One thread owns the cluster; it sleeps in poll until there are news, a time has come, or a signal. Everything here is
 * for that thread.
 */
#pragma once

#include "journal/journal.h"
#include "kube/lease.h"
#include "run/scheduler.h"

struct daemon_options {
	const char *kubeconfig, *context; /* NULL: as kube_config_source_system says */
	const char *ns;			  /* of the ConfigMaps with settings; NULL: our own */
	const char *const *configs;	  /* files */
	uint32_t n_configs;
	bool has_profile;
	enum profile profile;
	const char *lease_ns, *lease_name; /* lease_name NULL: no lease, it leads alone */
	const char *identity;		   /* NULL: host name and a random number */
	bool is_dry;			   /* writes nothing */
	const char *const *shadow;	   /* takes these schedulers' pods as its own, and writes nothing */
	uint32_t n_shadow;
	const char *journal; /* a file; NULL: none */
	struct journal_keep journal_keep;
	int64_t cluster_every_ns;	/* the journal keeps the whole cluster this often; 0: never */
	const char *listen;		/* "none": nobody can ask it */
	const char *tls_cert, *tls_key; /* files; NULL: one is made where one is needed */
	bool is_json;			/* of lines */
	int verbose;			/* 1: a line for each decision */
};

/* Until a signal ends it. Exit codes: 0; 1 could not start; 2 bad settings. Errors are told. */
int daemon_run(const struct daemon_options *o);
