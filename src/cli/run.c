/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cede run --dry-run: follows a running cluster and decides whenever something changes or a time has come; writes
 * nothing.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "cli/common.h"
#include "cli/planning.h"
#include "explain/plan_view.h"
#include "kube/feed.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

#define GATHER_NS (NS_PER_S / 50) /* what happens together is decided together */
#define NS_PER_MS (NS_PER_S / 1000)
enum { LONGEST_MS = 60000 }; /* of one wait */

struct options {
	const char *kubeconfig, *context, *ns;
	ARRAY(const char *) configs;
	bool has_profile, is_dry, is_json;
	enum profile profile;
};

enum { DEFAULT_QUEUES, QUEUES, SETTINGS, MAP_COUNT }; /* of kube_config_maps */

struct settings { /* what the ConfigMaps say; heap, NULL: not there */
	char *text[MAP_COUNT];
};

struct world { /* everything that depends on the settings */
	struct cli_cluster c;
	struct kube_feed *feed;
};

struct runner {
	const struct options *options;
	struct clock steady, wall;
	struct kube_client *client;
	const char *ns;
	struct settings settings;
	bool settings_changed;
	struct world world;
	int64_t dirty_ns; /* since when something is to be decided; INT64_MAX: nothing */
	int64_t until_ns; /* wall clock: when time alone may change a decision */
	struct map told;  /* pod -> hash of what was said of it last */
	int signals;
	bool was_synced;
};

enum { KEY_KUBECONFIG = 256, KEY_CONTEXT, KEY_CONFIG, KEY_PROFILE, KEY_NAMESPACE, KEY_DRY_RUN, KEY_LOG };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const logs[] = {"text", "json", NULL};
	struct options *o = state->input;

	switch (key) {
	case KEY_KUBECONFIG:
		o->kubeconfig = arg;
		return 0;
	case KEY_CONTEXT:
		o->context = arg;
		return 0;
	case KEY_CONFIG:
		array_push(&o->configs, arg);
		return 0;
	case KEY_PROFILE:
		o->profile = (enum profile)cli_one_of(state, "--profile", arg, cli_profile_words);
		o->has_profile = true;
		return 0;
	case KEY_NAMESPACE:
		o->ns = arg;
		return 0;
	case KEY_DRY_RUN:
		o->is_dry = true;
		return 0;
	case KEY_LOG:
		o->is_json = cli_one_of(state, "--log", arg, logs) == 1;
		return 0;
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->is_dry)
			argp_error(state,
				   "only --dry-run is there yet: decisions are made and told, and nothing is written");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"dry-run", KEY_DRY_RUN, NULL, 0, "Decide, and write nothing to the cluster", 0},
	{"kubeconfig", KEY_KUBECONFIG, "FILE", 0,
	 "The cluster; else $KUBECONFIG, ~/.kube/config, or the one this pod runs in", 0},
	{"context", KEY_CONTEXT, "NAME", 0, "The context of the kubeconfig", 0},
	{"config", KEY_CONFIG, "FILE", 0, "Read settings and queues from this file; may be repeated", 0},
	{"profile", KEY_PROFILE, "NAME", 0, "default, kubernetes, yunikorn or kai; counts more than the configuration",
	 0},
	{"namespace", KEY_NAMESPACE, "NAME", 0, "Of the ConfigMaps yunikorn-defaults, yunikorn-configs and cede", 0},
	{"log", KEY_LOG, "FORMAT", 0, "Tell decisions as text (default) or json", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] =
	"Follow a running cluster and tell what would be decided, whenever something changes or a time has come."
	"\vOne line for each decision that is new or different from what was told of the pod before. Ends with SIGTERM "
	"or Ctrl-C.";

/* ---- what the feed tells ---- */

static void touch(struct runner *r)
{
	if (r->dirty_ns == INT64_MAX)
		r->dirty_ns = clock_now(&r->steady);
}

static void on_pod(void *ctx, pod_id pod, const struct obj_pod *before)
{
	touch(ctx);
}

static void on_pod_going(void *ctx, pod_id pod)
{
	map_del(&((struct runner *)ctx)->told, pod);
	touch(ctx);
}

static void on_node(void *ctx, node_id node, const struct obj_node *before)
{
	touch(ctx);
}

static void on_node_going(void *ctx, node_id node)
{
	touch(ctx);
}

static void on_other(void *ctx, const struct kube_object *o, bool is_gone)
{
	touch(ctx);
}

static void on_settings(void *ctx, const char *name, const char *uid, const struct tree *map)
{
	static const char *const keys[MAP_COUNT] = {"queues.yaml", "queues.yaml", "cede.yaml"};
	struct runner *r = ctx;

	for (int i = 0; i < MAP_COUNT; i++) {
		const struct tree *text = tree_get(tree_get(map, "data"), keys[i]);
		const char *now = text && text->kind == TREE_STRING ? text->text : NULL;

		if (!str_eq(kube_config_maps[i], name))
			continue;
		if ((now != NULL) == (r->settings.text[i] != NULL) && (!now || str_eq(now, r->settings.text[i])))
			return;
		mem_free(r->settings.text[i]);
		r->settings.text[i] = now ? mem_strdup(now) : NULL;
		r->settings_changed = true;
	}
}

static void on_refused(void *ctx, const struct kube_object *o, const char *words)
{
	log_line(LOG_WARN, "%s %s%s%s: left out: %s", o->kind->kind, o->ns, *o->ns ? "/" : "", o->name, words);
}

static void on_trouble(void *ctx, const struct kube_kind *k, const char *words)
{
	log_line(LOG_WARN, "%s: %s", k->resource, words);
}

/* ---- settings ---- */

/* A queue configuration in yunikorn-configs counts more than the one in yunikorn-defaults. */
static enum err_code read_settings(const struct runner *r, struct manifest *m, struct err *e)
{
	const char *queues = r->settings.text[QUEUES] ? r->settings.text[QUEUES] : r->settings.text[DEFAULT_QUEUES];

	for (uint32_t i = 0; i < r->options->configs.n; i++)
		TRY(manifest_read_config(m, r->options->configs.v[i], e));
	if (queues && *queues)
		TRY(manifest_read_bytes(m, "ConfigMap yunikorn-configs (queues.yaml)", queues, strlen(queues), e));
	if (r->settings.text[SETTINGS] && *r->settings.text[SETTINGS])
		TRY(manifest_read_bytes(m, "ConfigMap cede (cede.yaml)", r->settings.text[SETTINGS],
					strlen(r->settings.text[SETTINGS]), e));
	return ERR_OK;
}

static enum err_code make_world(struct runner *r, struct world *w, struct err *e)
{
	struct cluster_options options;

	w->c = (struct cli_cluster){.vocab = vocab_new(), .config = engine_config_new()};
	w->c.manifest = manifest_new(w->c.vocab);
	TRY(read_settings(r, w->c.manifest, e));
	TRY(manifest_configure(w->c.manifest, w->c.config, e));
	if (r->options->has_profile)
		w->c.config->profile = r->options->profile;
	options = engine_config_cluster_options(w->c.config, clock_now(&r->wall));
	return manifest_build(w->c.manifest, &options, &w->c.cluster, e);
}

static void follow(struct runner *r, struct world *w)
{
	struct feed_listener listener = {.ctx = r,
					 .pod_changed = on_pod,
					 .pod_going = on_pod_going,
					 .node_changed = on_node,
					 .node_going = on_node_going,
					 .other_changed = on_other,
					 .settings_changed = on_settings,
					 .refused = on_refused,
					 .trouble = on_trouble};
	struct kube_feed_options o = {.ns = r->ns, .reflector = reflector_options_default()};
	struct kube_transport t = kube_client_transport(r->client);

	w->feed = kube_feed_new(w->c.cluster, w->c.vocab, &o, &t, &listener, (uint64_t)clock_now(&r->steady));
	kube_feed_start(w->feed, clock_now(&r->steady));
	r->was_synced = false;
	map_free(&r->told);
	r->told = (struct map){0};
}

static void world_free(struct world *w)
{
	kube_feed_free(w->feed);
	cli_cluster_free(&w->c);
	*w = (struct world){0};
}

/* All or nothing: what cannot be read or contradicts itself leaves what was in force. Everything is listed anew. */
static enum err_code apply_settings(struct runner *r, struct err *e)
{
	struct world fresh = {0};

	r->settings_changed = false;
	if (make_world(r, &fresh, e)) {
		world_free(&fresh);
		return ERR_INPUT;
	}
	world_free(&r->world);
	r->world = fresh;
	follow(r, &r->world);
	return ERR_OK;
}

/* ---- telling ---- */

static void decision_line(const struct plan_view *v, const struct decision *d, struct text *out)
{
	pod_path(v, d->pod, out);
	text_printf(out, ": %s", outcome_text(d->outcome));
	if (d->node != NODE_NONE)
		text_printf(out, " %s %s", d->outcome == OUTCOME_PLACED ? "on" : "to", node_text(v, d->node));
	for (uint32_t i = 0; i < d->n_victims; i++) {
		text_add(out, i ? "; " : "; has to go: ");
		pod_path(v, d->victims[i].pod, out);
		text_add(out, " (");
		eviction_text(v, d, &d->victims[i], out);
		text_add(out, ")");
	}
	if (d->outcome == OUTCOME_WAITING && d->message)
		text_printf(out, ": %s", d->message);
}

static void tell(struct runner *r, const struct plan_view *v, const struct decision *d)
{
	struct text said = {0}, line = {0};
	struct emit e;
	uint32_t hash;

	decision_line(v, d, &said);
	hash = (uint32_t)(hash_bytes(said.s, said.n) >> 33); /* not MAP_NONE */
	if (map_get(&r->told, d->pod) != hash) {
		map_put(&r->told, d->pod, hash);
		if (r->options->is_json) {
			emit_init(&e, &line, EMIT_JSON_LINE);
			plan_emit_decision(v, &e, d);
		} else {
			timestamp_text(time_floor(v->now_ns, NS_PER_S), &line);
			text_printf(&line, " %s\n", text_str(&said));
		}
		cli_print(&line);
	}
	text_free(&said);
	text_free(&line);
}

static void note_until(struct runner *r, int64_t until_ns, int64_t now_ns)
{
	if (until_ns != TIME_NONE && until_ns > now_ns && until_ns < r->until_ns)
		r->until_ns = until_ns;
}

/* Whatever ends with time and held somebody back is looked at again then. */
static void note_times(struct runner *r, const struct decision *d, int64_t now_ns)
{
	if (d->own_rule != RULE_NONE)
		note_until(r, d->until_ns, now_ns);
	for (uint32_t i = 0; i < d->n_protected; i++)
		note_until(r, d->protected[i].verdict.until_ns, now_ns);
}

static int decide(struct runner *r)
{
	struct planning planning = {.cycles = 1, .report = POD_NONE};
	struct planned p;
	int rc;

	r->world.c.now_ns = clock_now(&r->wall);
	r->dirty_ns = INT64_MAX;
	r->until_ns = INT64_MAX;
	rc = planning_run(&planning, &r->world.c, &p);
	for (uint32_t i = 0; !rc && i < p.plan.v.n; i++) {
		const struct decision *d = &p.plan.v.v[i];

		note_times(r, d, r->world.c.now_ns);
		if (d->pod != POD_NONE)
			tell(r, &p.view, d);
	}
	fflush(stdout);
	planned_free(&p);
	return rc;
}

/* ---- the loop ---- */

static void take_news(struct runner *r)
{
	struct kube_news *n;

	while ((n = kube_client_next(r->client))) {
		kube_feed_take(r->world.feed, n, clock_now(&r->steady));
		kube_news_free(r->client, n);
	}
	kube_feed_tick(r->world.feed, clock_now(&r->steady));
	kube_feed_settle(r->world.feed);
}

static int next_ms(const struct runner *r)
{
	int64_t now_ns = clock_now(&r->steady), next = kube_feed_next_ns(r->world.feed);
	int64_t decide_at = time_add(r->dirty_ns, GATHER_NS), wait;
	int64_t wake_at = time_add(now_ns, time_since(r->until_ns, clock_now(&r->wall)));

	next = wake_at < next ? wake_at : next;
	if (r->was_synced && decide_at < next)
		next = decide_at;
	wait = time_since(next, now_ns) / NS_PER_MS;
	return next <= now_ns ? 0 : wait >= LONGEST_MS ? LONGEST_MS : (int)wait + 1;
}

static int turn(struct runner *r)
{
	struct err e = {0};
	int64_t now_ns;

	take_news(r);
	if (r->settings_changed && kube_feed_is_synced(r->world.feed) && apply_settings(r, &e))
		log_line(LOG_WARN, "settings refused, those before stay in force: %s", e.msg);
	if (!r->was_synced && kube_feed_is_synced(r->world.feed)) {
		r->was_synced = true;
		log_line(LOG_INFO, "everything is listed");
		touch(r);
	}
	now_ns = clock_now(&r->steady);
	if (clock_now(&r->wall) >= r->until_ns)
		touch(r);
	return r->was_synced && now_ns >= time_add(r->dirty_ns, GATHER_NS) ? decide(r) : EXIT_FINE;
}

static int loop(struct runner *r)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = r->signals, .events = POLLIN},
				      {.fd = kube_client_fd(r->client), .events = POLLIN}};
		int rc;

		if (poll(p, 2, next_ms(r)) < 0 && errno != EINTR)
			return EXIT_INTERNAL;
		if (p[0].revents & POLLIN)
			return EXIT_FINE;
		rc = turn(r);
		if (rc)
			return rc;
	}
}

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static enum err_code connect_client(struct runner *r, struct err *e)
{
	struct kube_config_source src = kube_config_source_system(r->options->kubeconfig, r->options->context);
	struct kube_client_options o = kube_client_options_default();
	struct kube_config *config;
	enum err_code rc;

	secret_hide_process();
	TRY(kube_config_load(&src, &config, e));
	rc = kube_client_new(config, &o, &r->client, e);
	if (rc)
		kube_config_free(config);
	else
		r->ns = r->options->ns ? r->options->ns : *config->ns ? config->ns : "kube-system";
	return rc;
}

static int run(struct runner *r)
{
	struct err e = {0};

	r->signals = catch_signals(); /* before there are other threads */
	if (connect_client(r, &e) || apply_settings(r, &e))
		return cli_fail(&e);
	return loop(r);
}

int command_run(int argc, char **argv)
{
	const struct argp argp = {.options = argp_options, .parser = parse, .doc = doc};
	struct options o = {0};
	struct runner r = {.options = &o,
			   .steady = clock_steady(),
			   .wall = clock_system(),
			   .dirty_ns = INT64_MAX,
			   .until_ns = INT64_MAX,
			   .signals = -1};
	int rc;

	cli_parse(&argp, argc, argv, &o);
	rc = run(&r);
	world_free(&r.world);
	kube_client_free(r.client);
	for (int i = 0; i < MAP_COUNT; i++)
		mem_free(r.settings.text[i]);
	map_free(&r.told);
	array_free(&o.configs);
	if (r.signals >= 0)
		close(r.signals);
	return rc;
}
