/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relations.h - how tests write what pods say about other pods, and whole clusters in a line.
 *
 *	put_nodes("a zone=1; b zone=1; x zone=2");
 *	put_pods("a:app=web a:app=web ~x:app=web b:other/app=db");
 *
 * A pod is node:labels, after ~ one that is leaving, with its namespace before a slash. Pods are called p0, p1, ...
 */
#pragma once

#include "filters/fixture.h"

static inline void put_nodes(const char *s)
{
	char *rest = arena_strndup(f.arena, s, strlen(s));

	while (rest) {
		const char *node = rest;
		char *name;

		rest = cut(rest, ';');
		name = next_word(&node);
		put_node((struct node_text){.name = name, .labels = node});
	}
}

/* One pod of put_pods with a shape; waiting if the word has no node. */
static inline pod_id put_one(const char *name, const char *word, const struct shape *shape)
{
	bool is_leaving = *word == '~';
	char *node = arena_strndup(f.arena, word + is_leaving, strlen(word + is_leaving));
	char *labels = cut(node, ':'), *slash = strchr(labels, '/');
	const char *ns = NULL;

	if (slash) {
		ns = labels;
		labels = cut(labels, '/');
	}
	for (char *at = labels; *at; at++)
		*at = *at == ',' ? ' ' : *at;
	return put_pod((struct pod_text){.name = name,
					 .ns = ns,
					 .node = *node ? node : NULL,
					 .labels = labels,
					 .is_leaving = is_leaving,
					 .shape = shape});
}

static inline void put_pods(const char *s)
{
	const char *word;

	for (unsigned i = 0; (word = next_word(&s)); i++)
		put_one(arena_printf(f.arena, "p%u", i), word, NULL);
}

static inline pod_id pod_named(const char *name)
{
	return cluster_find_pod(f.cluster, "default", name);
}

/* "team=a" */
static inline void put_namespace(const char *name, const char *labels)
{
	struct labels l = labels_of(labels);
	struct obj_namespace o = {.name = names_hold_str(f.names, name),
				  .labelset = labelset_hold(f.vocab, NAME_NONE, l.kv, l.n)};

	assert_int_equal(cluster_put_namespace(f.cluster, &o, NULL), ERR_OK);
}

static inline const name_id *name_list_of(const char *s, uint32_t *ret_n)
{
	char *words = arena_strndup(f.arena, s, strlen(s));

	for (char *at = words; *at; at++)
		*at = *at == ',' ? ' ' : *at;
	return names_of(words, ret_n);
}

/* "*" matches everything, "" nothing. */
static inline struct selector any_selector_of(const char *s)
{
	return !*s ? SELECTOR_NOTHING : selector_of(str_eq(s, "*") ? "" : s);
}

/*
 * One term: weight:key selector, and before the selector @ns,ns (namespaces), ?selector (of namespaces), +key,key
 * (matchLabelKeys) and -key,key (mismatchLabelKeys): "5:zone @x,y ?team=a +ver app=a". Selectors have no blanks.
 */
static inline struct pod_term term_of(const char *s)
{
	struct pod_term t = {.selector = SELECTOR_NOTHING, .ns_selector = SELECTOR_NOTHING};
	char *word = next_word(&s), *key = cut(word, ':');

	t.weight = key ? (int32_t)strtol(word, NULL, 10) : 0;
	t.topology_key = name_of(key ? key : word);
	while ((word = next_word(&s))) {
		if (*word == '@') {
			t.namespaces = name_list_of(word + 1, &t.n_namespaces);
		} else if (*word == '?') {
			t.has_ns_selector = true;
			t.ns_selector = any_selector_of(word + 1);
		} else if (*word == '+') {
			t.match_keys = name_list_of(word + 1, &t.n_match_keys);
		} else if (*word == '-') {
			t.mismatch_keys = name_list_of(word + 1, &t.n_mismatch_keys);
		} else {
			t.selector = any_selector_of(word);
		}
	}
	return t;
}

/* Terms between bars; NULL: none. */
static inline struct pod_terms terms_of(const char *s)
{
	struct pod_term *v = arena_n(f.arena, s ? strlen(s) + 1 : 1, struct pod_term);
	char *rest = s ? arena_strndup(f.arena, s, strlen(s)) : NULL;
	uint32_t n = 0;

	while (rest) {
		char *one = rest;

		rest = cut(rest, '|');
		v[n++] = term_of(one);
	}
	return (struct pod_terms){n, v};
}

/*
 * "zone 2 app=web": key, maxSkew, then any of soft, min=3 (minDomains), any-affinity and taints (policies), +ver
 * (matchLabelKeys), and a selector.
 */
static inline struct spread spread_of(const char *s)
{
	struct spread c = {.is_hard = true, .selector = SELECTOR_NOTHING};
	char *word = next_word(&s);

	c.topology_key = name_of(word);
	c.max_skew = (int32_t)strtol(next_word(&s), NULL, 10);
	while ((word = next_word(&s))) {
		if (str_eq(word, "soft"))
			c.is_hard = false;
		else if (!strncmp(word, "min=", 4))
			c.min_domains = (int32_t)strtol(word + 4, NULL, 10);
		else if (str_eq(word, "any-affinity"))
			c.ignores_affinity = true;
		else if (str_eq(word, "taints"))
			c.honors_taints = true;
		else if (*word == '+')
			c.match_keys = name_list_of(word + 1, &c.n_match_keys);
		else
			c.selector = any_selector_of(word);
	}
	return c;
}

static inline struct shape spreads_of(const char *s)
{
	struct spread *v = arena_n(f.arena, strlen(s) + 1, struct spread);
	char *rest = arena_strndup(f.arena, s, strlen(s));
	uint32_t n = 0;

	while (rest) {
		char *one = rest;

		rest = cut(rest, '|');
		v[n++] = spread_of(one);
	}
	return (struct shape){.n_spreads = n, .spreads = v};
}

/* What a plugin's filter says of every node in a cycle: "a=yes b=no x=never". */
static inline const char *answers_in(const struct cede_cycle *c, const struct cede_plugin *plugin)
{
	static const char *const words[] = {
		[CEDE_SUCCESS] = "yes", [CEDE_UNSCHEDULABLE] = "no", [CEDE_UNRESOLVABLE] = "never"};
	const char *ret = "";

	for (uint32_t i = 0; i < c->n_nodes; i++)
		ret = arena_printf(f.arena, "%s%s%s=%s", ret, i ? " " : "", cede_node_name(c, c->nodes[i]),
				   words[plugin->filter(NULL, c, c->nodes[i]).code]);
	return ret;
}

/* "SKIP" if it has nothing to say about the pod. */
static inline const char *answers(const struct cede_plugin *plugin, pod_id pod)
{
	if (str_eq(pre_filter_text(plugin->name, pod), "SKIP"))
		return "SKIP";
	return answers_in(&f.cycle, plugin);
}
