/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about what a pod asks for. */
#include "conform.h"
#include "manifest/object.h"
#include "manifest/pod_spec.h"

static struct req_options options_of(const struct fact *f)
{
	const struct tree *o = tree_path(f->t, "config.options");

	return (struct req_options){.without_overhead = tree_truth(tree_get(o, "excludeOverhead")),
				    .without_pod_level = tree_truth(tree_get(o, "skipPodLevelResources")),
				    .use_status = tree_truth(tree_get(o, "useStatusResources")),
				    .use_pod_status =
					    tree_truth(tree_get(o, "inPlacePodLevelResourcesVerticalScalingEnabled"))};
}

static void compare_entry(struct fact *f, const char *what, const struct tree_field *expected,
			  const struct req_set *got)
{
	const struct quantity *q = req_get(got, expected->key);
	const char *text = tree_text(expected->value, "");
	struct text out = {0}, name = {0};
	struct quantity want;

	text_printf(&name, "%s.%s", what, expected->key);
	if (q)
		quantity_text(q, &out);
	if (quantity_parse(text, strlen(text), &want, NULL) || !q || quantity_cmp(q, &want))
		fact_differs(f, text_str(&name), text, q ? text_str(&out) : "nothing");
	text_free(&out);
	text_free(&name);
}

static void compare_set(struct fact *f, const char *what, const struct req_set *got)
{
	const struct tree *expected = fact_expect(f, what);
	struct text out = {0};

	if (!tree_is(expected, TREE_MAP))
		return;
	for (uint32_t i = 0; i < expected->n; i++)
		compare_entry(f, what, &expected->fields[i], got);
	for (uint32_t i = 0; i < got->n; i++) {
		if (tree_get(expected, got->v[i].name))
			continue;
		text_reset(&out);
		text_printf(&out, "%s ", got->v[i].name);
		quantity_text(&got->v[i].q, &out);
		fact_differs(f, what, "none of it", text_str(&out));
	}
	text_free(&out);
}

/* A reader whose drafts live as long as the fact. */
static struct reader reader_of(struct fact *f, struct vocab *v)
{
	return (struct reader){
		.vocab = v, .names = vocab_names(v), .scratch = f->arena, .file = f->file, .is_lenient = true};
}

static bool read_pod(struct fact *f, const struct reader *r, struct req_pod *ret)
{
	struct at pod = at_root(fact_arg(f, "pod"));
	struct err e;

	if (!pod_req(r, &pod, ret, &e))
		return true;
	fact_differs(f, "pod", "a pod", e.msg);
	return false;
}

void run_pod_requests(struct fact *f)
{
	struct vocab *v = vocab_new();
	struct reader r = reader_of(f, v);
	struct req_options o = options_of(f);
	struct req_pod pod;

	if (read_pod(f, &r, &pod)) {
		struct req_set requests = pod_requests(f->arena, &pod, &o), limits = pod_limits(f->arena, &pod, &o);

		compare_set(f, "requests", &requests);
		compare_set(f, "limits", &limits);
	}
	vocab_free(v);
}

void run_container_aggregate(struct fact *f)
{
	struct vocab *v = vocab_new();
	struct reader r = reader_of(f, v);
	struct req_options o = options_of(f);
	struct req_pod pod;

	if (read_pod(f, &r, &pod)) {
		struct req_set requests = container_requests(f->arena, &pod, &o),
			       limits = container_limits(f->arena, &pod, &o);

		compare_set(f, "requests", &requests);
		compare_set(f, "limits", &limits);
	}
	vocab_free(v);
}

/*
 * As amounts, the way the ledger counts a pod on its node.
 * (Where the facts switch pod-level resources off there are none.)
 */
void run_scheduler_pod_resource(struct fact *f)
{
	struct vocab *v = vocab_new();
	struct reader r = reader_of(f, v);
	struct at at = at_root(fact_arg(f, "pod"));
	struct shape s = {0};
	struct req_pod pod;
	struct err e;

	if (read_pod(f, &r, &pod)) {
		if (pod_amounts(&r, &at, &pod, &s, &e))
			fact_differs(f, "pod", "amounts", e.msg);
		same_int(f, "milliCPU", fact_expect(f, "milliCPU"), res_list_get(&s.usage, RES_CPU));
		same_int(f, "memory", fact_expect(f, "memory"), res_list_get(&s.usage, RES_MEMORY));
		same_int(f, "ephemeralStorage", fact_expect(f, "ephemeralStorage"),
			 res_list_get(&s.usage, RES_EPHEMERAL));
		same_int(f, "nonZeroMilliCPU", fact_expect(f, "nonZeroMilliCPU"), s.nonzero_cpu_milli);
		same_int(f, "nonZeroMemory", fact_expect(f, "nonZeroMemory"), s.nonzero_memory);
	}
	vocab_free(v);
}
