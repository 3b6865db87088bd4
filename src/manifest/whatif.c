/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/whatif.h"

#include <stdio.h>

#include "manifest/fields.h"
#include "manifest/suggest.h"
#include "units/duration.h"

#define QUEUE_KEY "queue."
#define GPU_TYPE "nvidia.com/gpu"

void whatif_free(struct whatif *w)
{
	array_free(&w->add);
	array_free(&w->remove);
	array_free(&w->drain);
	array_free(&w->set);
}

bool whatif_is_empty(const struct whatif *w)
{
	return !w->add.n && !w->remove.n && !w->drain.n && !w->set.n;
}

void whatif_begin(const struct whatif *w, struct manifest *m)
{
	for (uint32_t i = 0; i < w->drain.n; i++)
		manifest_drain(m, w->drain.v[i]);
}

enum err_code whatif_read(const struct whatif *w, struct manifest *m, struct err *e)
{
	for (uint32_t i = 0; i < w->add.n; i++)
		TRY(manifest_add(m, w->add.v[i], e));
	return ERR_OK;
}

/* ---- settings ---- */

/* "rules.opt-out.mode" and a value as YAML, a line for each part of the key. */
static void setting_document(const char *key, const char *value, struct text *out)
{
	for (size_t depth = 0; *key; depth++) {
		size_t n = strcspn(key, ".");

		text_pad(out, ' ', depth);
		text_add_char(out, '"');
		for (size_t i = 0; i < n; i++)
			text_printf(out, "%s%c", key[i] == '"' || key[i] == '\\' ? "\\" : "", key[i]);
		text_add(out, "\":");
		key += n + (key[n] == '.');
		text_add_char(out, *key ? '\n' : ' ');
	}
	text_printf(out, "%s\n", value);
}

/* Without the position, which is one in a document nobody wrote. */
static void drop_position(struct err *e)
{
	const char *end = strstr(e->msg, "CedeConfiguration: ");
	struct err was = *e;

	if (end)
		err_set(e, was.code, "%s", was.msg + (end - e->msg) + strlen("CedeConfiguration: "));
}

static enum err_code configure_one(const char *key, const char *value, struct engine_config *config, struct err *e)
{
	struct object_source src = {.name = "--set"};
	struct text document = {0};
	struct arena *a = arena_new(4096);
	struct tree_reader *reader;
	struct tree_doc doc;
	enum err_code rc;

	setting_document(key, value, &document);
	reader = tree_reader_new("--set", text_str(&document), document.n);
	rc = tree_next(reader, a, &doc, e);
	if (!rc && doc.root)
		rc = manifest_cede_config(&src, doc.root, config, e);
	if (rc)
		drop_position(e);
	tree_reader_free(reader);
	arena_free(a);
	text_free(&document);
	return rc;
}

/* "key=value" taken apart; both in one piece of memory to be freed. */
static enum err_code split(const char *set, char **ret_key, const char **ret_value, struct err *e)
{
	const char *eq = strchr(set, '=');

	if (!eq || eq == set || !eq[1])
		return err_fail(e, ERR_INPUT, "expected KEY=VALUE, for example rules.opt-out.mode=hard");
	*ret_key = mem_strdup(set);
	(*ret_key)[eq - set] = '\0';
	*ret_value = *ret_key + (eq - set) + 1;
	return ERR_OK;
}

static enum err_code about_option(struct err *e, enum err_code rc, const char *option, const char *arg)
{
	return rc ? err_wrap(e, "--%s %s: ", option, arg) : ERR_OK;
}

enum err_code whatif_configure(const struct whatif *w, struct engine_config *config, struct err *e)
{
	for (uint32_t i = 0; i < w->set.n; i++) {
		const char *value;
		char *key = NULL;
		enum err_code rc = split(w->set.v[i], &key, &value, e);

		if (!rc && (str_eq(key, "plugins") || str_starts(key, "plugins.")))
			rc = err_fail(e, ERR_INPUT, "plugins are code; they are named in a file of settings alone");
		else if (!rc && !str_starts(key, QUEUE_KEY))
			rc = configure_one(key, value, config, e);
		mem_free(key);
		TRY(about_option(e, rc, "set", w->set.v[i]));
	}
	return ERR_OK;
}

/* ---- queues ---- */

struct queue_change {
	struct cluster *c;
	const struct queue *q;
	const char *path, *field, *value;
	bool is_done; /* some definition of the queue was changed */
};

static const struct queue_tree *tree_of(const struct cluster *c)
{
	return ledger_queues(cluster_ledger(c));
}

/* The longest path that the text begins with, and is followed by a field. */
static const struct queue *queue_at_front(const struct cluster *c, const char *s)
{
	const struct queue_tree *t = tree_of(c);
	const struct queue *best = NULL;
	size_t best_len = 0;

	for (queue_id id = 0; id < t->q.n; id++) {
		const struct queue *q = queue_get(t, id);
		const char *path = q->is_live ? name_str(t->names, q->path) : "";
		size_t n = strlen(path);

		if (n > best_len && !strncmp(s, path, n) && s[n] == '.') {
			best = q;
			best_len = n;
		}
	}
	return best;
}

static const char *const queue_fields[] = {"guaranteed",
					   "max",
					   "preemptMinRuntime",
					   "reclaimMinRuntime",
					   "application.sort.policy",
					   "application.sort.priority",
					   "priority.policy",
					   "priority.offset",
					   "preemption.policy",
					   "preemption.delay",
					   "quota.preemption.delay",
					   PROTECTED_HOURS_KEY,
					   NULL};

static const char *amount_type(const char *field, const char *set)
{
	size_t n = strlen(set);

	return !strncmp(field, set, n) && field[n] == '.' ? field + n + 1 : NULL;
}

static bool is_field(const char *s)
{
	return amount_type(s, "guaranteed") || amount_type(s, "max") || words_find(queue_fields, s) >= 0;
}

static enum err_code no_such_field(const char *field, struct err *e)
{
	AUTO_FREE char *first = mem_strdup(field);
	const char *word = nearest_word(field, queue_fields);

	first[strcspn(first, ".")] = '\0';
	word = word ? word : nearest_word(first, queue_fields);
	if (word)
		return err_fail(e, ERR_INPUT, "a queue has no '%.80s'; did you mean %s?", field, word);
	return err_fail(e, ERR_INPUT,
			"a queue has no '%.80s', but guaranteed.TYPE, max.TYPE, preemptMinRuntime, reclaimMinRuntime "
			"and properties such as preemption.policy",
			field);
}

/* What stands before the first thing that is a field was meant to be the path. */
static enum err_code no_such_queue(const struct cluster *c, const char *s, const char *after_known, struct err *e)
{
	struct text path = {0}, near = {0};
	const char *dot = strchr(s, '.');

	while (dot && !is_field(dot + 1))
		dot = strchr(dot + 1, '.');
	if (!dot)
		return no_such_field(after_known, e);
	text_add_n(&path, s, (size_t)(dot - s));
	suggest_queue(c, text_str(&path), &near);
	err_fail(e, ERR_NOTFOUND, "there is no queue %s%s", text_str(&path), text_str(&near));
	text_free(&path);
	text_free(&near);
	return ERR_NOTFOUND;
}

/* Its whole name, or what stands behind the slash if only one type ends so. */
static res_id find_type(const struct res_types *types, const char *name)
{
	res_id found = res_types_find(types, name, strlen(name));
	uint32_t n = 0;

	if (found != RES_NONE)
		return found;
	if (str_eq(name, "vcore"))
		return RES_CPU;
	for (res_id r = 0; r < types->n; r++) {
		const char *slash = strrchr(res_type_name(types, r), '/');

		if (slash && str_eq(slash + 1, name)) {
			found = r;
			n++;
		}
	}
	return n == 1 ? found : RES_NONE;
}

static enum err_code no_such_type(const struct res_types *types, const char *name, struct err *e)
{
	const char *words[RES_MAX + 1] = {NULL};
	struct text all = {0};
	const char *near;

	for (res_id r = 0; r < types->n; r++) {
		words[r] = res_type_name(types, r);
		text_printf(&all, "%s%s", r > 0 ? ", " : "", words[r]);
	}
	near = nearest_word(name, words);
	if (near)
		err_fail(e, ERR_NOTFOUND, "nothing here has or asks for %s; did you mean %s?", name, near);
	else
		err_fail(e, ERR_NOTFOUND, "nothing here has or asks for %s; known: %s", name, text_str(&all));
	text_free(&all);
	return ERR_NOTFOUND;
}

/* As KAI writes it: GPUs, millicores, megabytes. */
static enum err_code set_share(struct queue_spec *spec, const struct res_types *types, res_id r, bool is_max,
			       int64_t amount, bool is_none, struct err *e)
{
	enum kai_res which = r == RES_CPU ? KAI_CPU : r == RES_MEMORY ? KAI_MEMORY : KAI_GPU;
	double value = r == RES_MEMORY ? (double)amount / 1e6 : (double)amount;

	if (which == KAI_GPU && !str_eq(res_type_name(types, r), GPU_TYPE))
		return err_fail(e, ERR_INPUT, "a KAI Queue has shares of %s, cpu and memory, not of %s", GPU_TYPE,
				res_type_name(types, r));
	spec->has_kai_resources = true;
	if (is_max)
		spec->kai[which].limit = is_none ? -1 : value;
	else
		spec->kai[which].quota = is_none ? 0 : value;
	return ERR_OK;
}

static enum err_code set_amount(const struct queue_change *x, struct queue_spec *spec, bool is_max, const char *type,
				bool is_kai, struct err *e)
{
	struct res_types *types = vocab_res(ledger_vocab(cluster_ledger(x->c)));
	struct res_vec *v = is_max ? &spec->max : &spec->guaranteed;
	bool is_none = str_eq(x->value, "none");
	res_id r = find_type(types, type);
	struct quantity q = {0};
	int64_t amount = 0;

	if (r == RES_NONE)
		return no_such_type(types, type, e);
	if (!is_none && quantity_parse(x->value, strlen(x->value), &q, NULL))
		return err_fail(e, ERR_INPUT, "expected a quantity such as 16 or 64Gi, or none; found '%s'", x->value);
	if (q.nano < 0)
		return err_fail(e, ERR_INPUT, "an amount cannot be negative");
	TRY(res_amount_of(r, &q, &amount, e));
	if (is_kai)
		return set_share(spec, types, r, is_max, amount, is_none, e);
	if (is_none) {
		v->mask &= ~(UINT64_C(1) << r);
		v->v[r] = 0;
	} else {
		res_put(v, r, amount);
	}
	queue_res_settle(v);
	return ERR_OK;
}

static enum err_code set_window(const struct queue_change *x, int64_t *ret_ns, struct err *e)
{
	struct err why;

	if (str_eq(x->value, "none")) {
		*ret_ns = TIME_NONE;
		return ERR_OK;
	}
	if (duration_parse(x->value, strlen(x->value), false, ret_ns, &why) || *ret_ns < 0)
		return err_fail(e, ERR_INPUT, "expected a duration such as 10m, or none; found '%s'", x->value);
	return ERR_OK;
}

static enum err_code set_property(const struct queue_change *x, struct queue_spec *spec, struct err *e)
{
	bool is_bad = false;

	if (!queue_prop_set(&spec->props, x->field, x->value, &is_bad))
		return no_such_field(x->field, e);
	return is_bad ? err_fail(e, ERR_INPUT, "%s is no value for %s", x->value, x->field) : ERR_OK;
}

/* One definition of the queue told otherwise. What only the other system's objects say is left to those. */
static enum err_code change_spec(struct queue_change *x, struct queue_spec *spec, bool is_kai, struct err *e)
{
	const char *type;
	bool is_window = str_eq(x->field, "preemptMinRuntime") || str_eq(x->field, "reclaimMinRuntime");

	if ((type = amount_type(x->field, "guaranteed")) || (type = amount_type(x->field, "max"))) {
		TRY(set_amount(x, spec, str_starts(x->field, "max"), type, is_kai, e));
	} else if (is_window) {
		if (!is_kai)
			return ERR_OK;
		TRY(set_window(x, x->field[0] == 'p' ? &spec->preempt_min_runtime_ns : &spec->reclaim_min_runtime_ns,
			       e));
	} else {
		TRY(set_property(x, spec, e));
		if (is_kai)
			return ERR_OK;
	}
	x->is_done = true;
	return ERR_OK;
}

static bool is_definition_of(const struct queue_change *x, const struct queue_def *d)
{
	if (d->kai_name)
		return x->q->spec.kai_name != NAME_NONE &&
		       str_eq(d->kai_name, name_str(tree_of(x->c)->names, x->q->spec.kai_name));
	return str_eq(d->path, x->path);
}

/* All queues of one source again, with the one different. */
static enum err_code change_source(struct queue_change *x, enum queue_source source, struct err *e)
{
	uint32_t n;
	const struct queue_def *defs = cluster_queue_defs(x->c, source, &n);
	AUTO_FREE struct queue_def *copy = mem_alloc((n + 1) * sizeof(*copy));
	enum err_code rc = ERR_OK;

	for (uint32_t i = 0; i < n; i++) {
		copy[i] = defs[i];
		copy[i].spec = queue_spec_copy(&defs[i].spec);
	}
	for (uint32_t i = 0; i < n && !rc; i++)
		if (is_definition_of(x, &copy[i]))
			rc = change_spec(x, &copy[i].spec, source == FROM_KAI, e);
	if (!rc && n > 0)
		rc = cluster_put_queues(x->c, source, copy, n, e);
	for (uint32_t i = 0; i < n; i++)
		queue_spec_free(&copy[i].spec);
	return rc;
}

static enum err_code not_changed(const struct queue_change *x, struct err *e)
{
	if (!(x->q->spec.sources & (FROM_YUNIKORN | FROM_KAI)))
		return err_fail(e, ERR_INPUT, "no document defines queue %s, so nothing of it can be set", x->path);
	return err_fail(e, ERR_INPUT, "queue %s is defined by a %s, which has no %s", x->path,
			x->q->spec.sources & FROM_KAI ? "KAI Queue" : "queues.yaml", x->field);
}

/* One that both systems define cannot be changed in one alone: the two would contradict each other. */
static enum err_code set_queue(struct cluster *c, const char *key, const char *value, struct err *e)
{
	const struct queue *q = queue_at_front(c, key);
	struct queue_change x = {.c = c, .q = q, .value = value};
	AUTO_FREE char *path = NULL;

	if (!q || !is_field(key + strlen(name_str(tree_of(c)->names, q->path)) + 1))
		return no_such_queue(c, key, q ? key + strlen(name_str(tree_of(c)->names, q->path)) + 1 : key, e);
	path = mem_strdup(name_str(tree_of(c)->names, q->path));
	x.path = path;
	x.field = key + strlen(path) + 1;
	if (q->parent == QUEUE_NONE)
		return err_fail(e, ERR_INPUT, "root has what the cluster has; nothing of it can be set");
	if ((q->spec.sources & (FROM_YUNIKORN | FROM_KAI)) == (FROM_YUNIKORN | FROM_KAI))
		return err_fail(e, ERR_INPUT, "queue %s is defined by queues.yaml and by a KAI Queue; change it there",
				path);
	TRY(change_source(&x, q->spec.sources & FROM_KAI ? FROM_KAI : FROM_YUNIKORN, e));
	return x.is_done ? ERR_OK : not_changed(&x, e);
}

static enum err_code set_queues(const struct whatif *w, struct cluster *c, struct err *e)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < w->set.n; i++) {
		const char *value;
		char *key = NULL;
		enum err_code rc = split(w->set.v[i], &key, &value, e);

		if (!rc && str_starts(key, QUEUE_KEY)) {
			rc = set_queue(c, key + strlen(QUEUE_KEY), value, e);
			last = i;
		}
		mem_free(key);
		TRY(about_option(e, rc, "set", w->set.v[i]));
	}
	/* Together: a parent's may have to grow with its child's. */
	return last == UINT32_MAX ? ERR_OK : about_option(e, queue_amounts_check(tree_of(c), e), "set", w->set.v[last]);
}

/* ---- pods, nodes ---- */

/* Is it of a group of this name, or made by a controller of this name, directly or through another? */
static bool is_of(const struct cluster *c, const struct obj_pod *o, const char *name)
{
	const struct obj_owner *top = o->owner_kind == OWNER_NONE ? NULL : cluster_top_owner(c, o);
	const name_id ids[] = {o->group, o->owner_kind == OWNER_NONE ? NAME_NONE : o->owner_name,
			       top ? top->name : NAME_NONE, top ? top->parent_name : NAME_NONE};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (ids[i] != NAME_NONE && str_eq(name_str(tree_of(c)->names, ids[i]), name))
			return true;
	return false;
}

/* All pods of a group or workload; how many there were. */
static uint32_t remove_all_of(struct cluster *c, const char *ns, const char *name)
{
	const struct ledger *l = cluster_ledger(c);
	struct vocab *v = ledger_vocab(l);
	ARRAY(char *) gone = {0};
	uint32_t n;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);

		if (p->state != POD_FREE && str_eq(name_str(vocab_names(v), labelset_get(v, p->labelset)->ns), ns) &&
		    is_of(c, p->obj, name))
			array_push(&gone, mem_strdup(name_str(vocab_names(v), p->name)));
	}
	for (uint32_t i = 0; i < gone.n; i++) {
		cluster_drop_pod(c, ns, gone.v[i]);
		mem_free(gone.v[i]);
	}
	n = gone.n;
	array_free(&gone);
	return n;
}

/* A pod; if there is none of that name, all pods of a group or workload. */
static enum err_code remove_pods(struct cluster *c, const char *path, const char *other_ns, struct err *e)
{
	const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : path;
	struct text ns = {0}, near = {0};
	enum err_code rc = ERR_OK;

	text_add_n(&ns, slash ? path : other_ns, slash ? (size_t)(slash - path) : strlen(other_ns));
	if (cluster_find_pod(c, text_str(&ns), name) != POD_NONE) {
		cluster_drop_pod(c, text_str(&ns), name);
	} else if (!remove_all_of(c, text_str(&ns), name)) {
		suggest_pod(c, text_str(&ns), name, &near);
		rc = err_fail(e, ERR_NOTFOUND, "there is no pod %s/%s, and no group or workload with pods%s",
			      text_str(&ns), name, text_str(&near));
	}
	text_free(&ns);
	text_free(&near);
	return rc;
}

static enum err_code check_drained(const struct manifest *m, const struct cluster *c, const char *node, struct err *e)
{
	struct text near = {0};
	enum err_code rc;

	if (manifest_has_drained(m, node))
		return ERR_OK;
	suggest_node(c, node, &near);
	rc = err_fail(e, ERR_NOTFOUND, "there is no node %s%s", node, text_str(&near));
	text_free(&near);
	return rc;
}

enum err_code whatif_apply(const struct whatif *w, const struct manifest *m, struct cluster *c, struct err *e)
{
	TRY(set_queues(w, c, e));
	for (uint32_t i = 0; i < w->remove.n; i++)
		TRY(about_option(e, remove_pods(c, w->remove.v[i], w->ns ? w->ns : "default", e), "remove",
				 w->remove.v[i]));
	for (uint32_t i = 0; i < w->drain.n; i++)
		TRY(about_option(e, check_drained(m, c, w->drain.v[i], e), "drain", w->drain.v[i]));
	return ERR_OK;
}
