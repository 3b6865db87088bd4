/* SPDX-License-Identifier: Apache-2.0 */
/* Two clusters, compared by the documents that would be written of them, in the order of kind, namespace and name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/emit.h"
#include "kube/feed.h"

enum { WORDS_MAX = 20 };

struct compared_document {
	const char *text;
	size_t n;
	char who[320]; /* "Pod ml/train-0" */
};

struct compared_documents {
	struct text text;
	ARRAY(struct compared_document) v;
};

/* The rest of the line that begins so; "" if there is none. */
static void field(const struct compared_document *d, const char *begin, char *out, size_t size)
{
	size_t n = strlen(begin);

	out[0] = '\0';
	for (const char *p = d->text; p < d->text + d->n;) {
		const char *end = memchr(p, '\n', (size_t)(d->text + d->n - p));
		size_t len = (size_t)((end ? end : d->text + d->n) - p);

		if (len > n && memcmp(p, begin, n) == 0) {
			snprintf(out, size, "%.*s", (int)(len - n), p + n);
			return;
		}
		p += len + 1;
	}
}

static void name_document(struct compared_document *d)
{
	char kind[64], ns[100], name[150];

	field(d, "kind: ", kind, sizeof(kind));
	field(d, "  namespace: ", ns, sizeof(ns));
	field(d, "  name: ", name, sizeof(name));
	snprintf(d->who, sizeof(d->who), "%s %s%s%s", kind, ns, *ns ? "/" : "", name);
}

static void write_documents(const struct cluster *c, struct compared_documents *ret)
{
	struct emit e;

	emit_init(&e, &ret->text, EMIT_YAML);
	manifest_write(c, &e);
	for (const char *p = text_str(&ret->text); *p;) {
		const char *end = strstr(p, "\n---\n");
		struct compared_document d = {.text = p, .n = end ? (size_t)(end + 1 - p) : strlen(p)};

		name_document(&d);
		array_push(&ret->v, d);
		p += d.n + (end ? 4 : 0);
	}
}

static void documents_free(struct compared_documents *d)
{
	text_free(&d->text);
	array_free(&d->v);
}

/* It began to run by our decision: its object has the second of that, or nothing yet. */
static bool is_started(const struct cluster *c, const struct compared_document *d)
{
	struct ledger *l = cluster_ledger(c);
	struct names *names = vocab_names(ledger_vocab(l));
	const char *at = d->who + strlen("PodGroup "), *slash = strchr(at, '/');
	name_id ns = slash ? names_find(names, at, (size_t)(slash - at)) : NAME_NONE;
	name_id name = slash ? names_find(names, slash + 1, strlen(slash + 1)) : NAME_NONE;
	group_id id = ns && name ? ledger_group_find(l, ns, name, false) : GROUP_NONE; /* others have no stamp */

	return id != GROUP_NONE && ledger_group(l, id)->started_ns != ledger_group(l, id)->obj->started_ns;
}

/* Placed, evicted or nominated by us, and not seen in the API server's objects yet. */
static bool is_moved(const struct cluster *c, const struct compared_document *d)
{
	const char *slash = strchr(d->who, '/');
	char ns[320];
	const struct pod *p;
	pod_id id;

	if (str_starts(d->who, "PodGroup "))
		return is_started(c, d);
	if (!str_starts(d->who, "Pod ") || !slash)
		return false;
	snprintf(ns, sizeof(ns), "%.*s", (int)(slash - d->who - 4), d->who + 4);
	id = cluster_find_pod(c, ns, slash + 1);
	if (id == POD_NONE)
		return false;
	p = ledger_pod(cluster_ledger(c), id);
	return p->is_evicted || (p->state == POD_PLACED && !p->obj->node_name) ||
	       p->nomination == NOMINATION_RESERVED ||
	       (p->nomination == NOMINATION_ADVISORY) != (p->obj->nominated_node != NAME_NONE);
}

static int compare_documents(const void *a, const void *b)
{
	return strcmp(((const struct compared_document *)a)->who, ((const struct compared_document *)b)->who);
}

static void say(struct text *out, uint32_t n, const char *who, const char *words)
{
	if (n <= WORDS_MAX)
		text_printf(out, "%s: %s\n", who, words);
}

uint32_t kube_feed_compare(const struct cluster *live, const struct cluster *fresh, struct text *ret_words)
{
	struct compared_documents a = {0}, b = {0};
	uint32_t n = 0, i = 0, k = 0;

	write_documents(live, &a);
	write_documents(fresh, &b);
	if (a.v.n)
		qsort(a.v.v, a.v.n, sizeof(*a.v.v), compare_documents);
	if (b.v.n)
		qsort(b.v.v, b.v.n, sizeof(*b.v.v), compare_documents);
	while (i < a.v.n || k < b.v.n) {
		const struct compared_document *x = i < a.v.n ? &a.v.v[i] : NULL, *y = k < b.v.n ? &b.v.v[k] : NULL;
		int c = !x ? 1 : !y ? -1 : strcmp(x->who, y->who);

		if (c < 0)
			say(ret_words, ++n, x->who, "known here, and not in the fresh list");
		else if (c > 0)
			say(ret_words, ++n, y->who, "in the fresh list, and not known here");
		else if ((x->n != y->n || memcmp(x->text, y->text, x->n) != 0) && !is_moved(live, x))
			say(ret_words, ++n, x->who, "not as in the fresh list");
		i += c <= 0;
		k += c >= 0;
	}
	documents_free(&a);
	documents_free(&b);
	return n;
}
