/* SPDX-License-Identifier: Apache-2.0 */
/* cede run: the scheduler of a running cluster. Options alone; what it does is in src/run. */
#include <string.h>

#include "cli/common.h"
#include "run/daemon.h"
#include "units/duration.h"

struct run_options {
	struct daemon_options d;
	ARRAY(const char *) configs;
	ARRAY(const char *) shadow;
	char *lease, *shadow_text;
	bool has_journal_options;
};

enum {
	KEY_KUBECONFIG = 256,
	KEY_CONTEXT,
	KEY_CONFIG,
	KEY_PROFILE,
	KEY_NAMESPACE,
	KEY_DRY_RUN,
	KEY_LOG,
	KEY_LEASE,
	KEY_IDENTITY,
	KEY_SHADOW,
	KEY_JOURNAL,
	KEY_JOURNAL_CLUSTER,
	KEY_JOURNAL_KEEP,
	KEY_LISTEN,
	KEY_TLS_CERT,
	KEY_TLS_KEY,
};

static void read_lease(struct run_options *o, const char *arg, struct argp_state *state)
{
	char *slash;

	mem_free(o->lease);
	o->lease = mem_strdup(arg);
	slash = strchr(o->lease, '/');
	if (str_eq(arg, "none")) {
		o->d.lease_name = NULL;
	} else if (slash && slash != o->lease && slash[1] && !strchr(slash + 1, '/')) {
		*slash = '\0';
		o->d.lease_ns = o->lease;
		o->d.lease_name = slash + 1;
	} else {
		argp_error(state, "--lease: '%s' is neither NAMESPACE/NAME nor none", arg);
	}
}

static void read_shadow(struct run_options *o, const char *arg, struct argp_state *state)
{
	char *rest;

	mem_free(o->shadow_text);
	o->shadow_text = mem_strdup(arg);
	o->shadow.n = 0;
	for (char *name = strtok_r(o->shadow_text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		array_push(&o->shadow, name);
	if (!o->shadow.n)
		argp_error(state, "--shadow: which scheduler's pods?");
	o->d.is_dry = true;
}

static void read_keep(struct run_options *o, const char *arg, struct argp_state *state)
{
	struct err e;

	if (journal_keep_parse(arg, &o->d.journal_keep, &e))
		argp_error(state, "--journal-keep: %s", e.msg);
	o->has_journal_options = true;
}

static void read_cluster(struct run_options *o, const char *arg, struct argp_state *state)
{
	int64_t ns = 0;

	if (!str_eq(arg, "none") && (duration_parse(arg, strlen(arg), true, &ns, NULL) || ns < NS_PER_S))
		argp_error(
			state,
			"--journal-cluster: expected a duration of at least a second such as 1h, or none, found '%s'",
			arg);
	o->d.cluster_every_ns = ns;
	o->has_journal_options = true;
}

const char *const run_log_words[] = {"text", "json", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case KEY_KUBECONFIG:
		o->d.kubeconfig = arg;
		return 0;
	case KEY_CONTEXT:
		o->d.context = arg;
		return 0;
	case KEY_CONFIG:
		array_push(&o->configs, arg);
		return 0;
	case KEY_PROFILE:
		o->d.profile = (enum profile)cli_one_of(state, "--profile", arg, cli_profile_words);
		o->d.has_profile = true;
		return 0;
	case KEY_NAMESPACE:
		o->d.ns = arg;
		return 0;
	case KEY_DRY_RUN:
		o->d.is_dry = true;
		return 0;
	case KEY_LOG:
		o->d.is_json = cli_one_of(state, "--log", arg, run_log_words) == 1;
		return 0;
	case KEY_LEASE:
		read_lease(o, arg, state);
		return 0;
	case KEY_IDENTITY:
		o->d.identity = arg;
		return 0;
	case KEY_SHADOW:
		read_shadow(o, arg, state);
		return 0;
	case KEY_LISTEN:
		o->d.listen = arg;
		return 0;
	case KEY_TLS_CERT:
		o->d.tls_cert = arg;
		return 0;
	case KEY_TLS_KEY:
		o->d.tls_key = arg;
		return 0;
	case KEY_JOURNAL:
		o->d.journal = arg;
		return 0;
	case KEY_JOURNAL_CLUSTER:
		read_cluster(o, arg, state);
		return 0;
	case KEY_JOURNAL_KEEP:
		read_keep(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (o->has_journal_options && !o->d.journal)
			argp_error(state, "--journal-cluster, --journal-keep: of which journal? --journal FILE is "
					  "missing");
		return 0;
	case 'v':
		o->d.verbose++;
		return 0;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"kubeconfig", KEY_KUBECONFIG, "FILE", 0,
	 "The cluster; else $KUBECONFIG, ~/.kube/config, or the one this pod runs in", 0},
	{"context", KEY_CONTEXT, "NAME", 0, "The context of the kubeconfig", 0},
	{"config", KEY_CONFIG, "FILE", 0, "Read settings and queues from this file; may be repeated", 0},
	{"profile", KEY_PROFILE, "NAME", 0, "default, kubernetes, yunikorn or kai; counts more than the configuration",
	 0},
	{"namespace", KEY_NAMESPACE, "NAME", 0, "Where the ConfigMaps yunikorn-defaults, yunikorn-configs and cede are",
	 0},
	{"lease", KEY_LEASE, "NS/NAME", 0,
	 "The Lease that says which replica writes (default kube-system/cede); none: there is one replica", 0},
	{"identity", KEY_IDENTITY, "NAME", 0, "Its name among the replicas (default: host name and a number)", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "Decide, print the decisions, and write nothing to the cluster", 0},
	{"shadow", KEY_SHADOW, "NAME,...", 0, "As --dry-run, for the pods of these schedulers", 0},
	{"listen", KEY_LISTEN, "HOST:PORT", 0, "Where to serve HTTP (default 127.0.0.1:10269); none: nowhere", 0},
	{"tls-cert", KEY_TLS_CERT, "FILE", 0,
	 "The server's certificate, in PEM; else one is made where other machines can connect", 0},
	{"tls-key", KEY_TLS_KEY, "FILE", 0, "And its key", 0},
	{"journal", KEY_JOURNAL, "FILE", 0, "Record what is decided and what came of it in this file", 0},
	{"journal-cluster", KEY_JOURNAL_CLUSTER, "DURATION", 0,
	 "Record the whole cluster in it this often, for cede simulate (default 1h); none: never", 0},
	{"journal-keep", KEY_JOURNAL_KEEP, "AGE|SIZE", 0,
	 "Remove the oldest of the journal: what is older than an age (30d), what is too much for a size (2GiB), or "
	 "both (30d,2GiB)",
	 0},
	{"log", KEY_LOG, "FORMAT", 0, "Lines as text (default) or json", 0},
	{"verbose", 'v', NULL, 0, "Print each decision", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Schedule the pods of a running cluster that name cede as their scheduler: bind them, and evict victims to "
	"make "
	"room for them."
	"\vEnds with SIGTERM or Ctrl-C; SIGHUP reads the files of --config again. Settings that are wrong are refused, "
	"and those before stay in force.";

int command_run(int argc, char **argv)
{
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc};
	struct run_options o = {.d = {.lease_ns = "kube-system",
				      .lease_name = "cede",
				      .listen = "127.0.0.1:10269",
				      .cluster_every_ns = 3600 * NS_PER_S}};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	o.d.configs = o.configs.v;
	o.d.n_configs = o.configs.n;
	o.d.shadow = o.shadow.v;
	o.d.n_shadow = o.shadow.n;
	rc = daemon_run(&o.d);
	array_free(&o.configs);
	array_free(&o.shadow);
	mem_free(o.lease);
	mem_free(o.shadow_text);
	return rc;
}
