/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod whose shape is remembered (manifest/shape_memory.h) has the shape that it would have if it were read: pods that
 * differ in a few of all fields that count, and of some that do not, are read with and without a memory, into one
 * vocabulary, in which equal shapes are one. What is said about them is the same, too.
 *
 * CEDE_N: pods; CEDE_SEED: which.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "manifest/shape_memory.h"
#include "rng.h"

enum { WAYS = 6, USUAL = 100 }; /* so many pods are like one of them */

/* Where in a pod something stands, and what may stand there; the first is the usual. A field ends with a comma. */
struct slot {
	const char *name; /* NULL: always the first */
	const char *ways[WAYS];
};

#define TERM(key) "{\"topologyKey\":\"" key "\",\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static const struct slot slots[] = {
	{NULL, {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","}},
	{"namespace", {"", "\"namespace\":\"s\","}},
	{"labels", {"", "\"labels\":{\"a\":\"b\"},"}},
	{NULL, {"\"annotations\":{"}},
	{"scoring", {"", "\"cede.dev/scoring-request\":\"cpu=1\",", "\"cede.dev/scoring-request\":\"cpu=2\","}},
	{"scoring that is none", {"", "\"cede.dev/scoring-request \":\"1\",", ""}},
	{NULL, {"\"x\":\"y\"}},\"spec\":{"}},
	{"nodeName", {"", "\"nodeName\":\"n\",", "\"nodeName\":\"m\",", "\"nodeName\":\"\","}},
	{"priority", {"", "\"priority\":1,"}},
	{"nodeSelector",
	 {"", "\"nodeSelector\":{\"a\":\"b\"},", "\"nodeSelector\":{\"a\":\"c\"},", "\"nodeSelector\":null,"}},
	{"affinity",
	 {"", "\"affinity\":{\"podAffinity\":{\"" REQUIRED "\":[" TERM("x") "]}},",
	  "\"affinity\":{\"podAntiAffinity\":{\"" REQUIRED "\":[" TERM("x") "]}},",
	  "\"affinity\":{\"podAntiAffinity\":{\"" REQUIRED "\":[" TERM("y") "]}},"}},
	{"tolerations", {"", "\"tolerations\":[{\"operator\":\"Exists\"}],", "\"tolerations\":[{\"key\":\"k\"}],"}},
	{"spread",
	 {"", "\"topologySpreadConstraints\":[{\"topologyKey\":\"x\",\"maxSkew\":1}],",
	  "\"topologySpreadConstraints\":[{\"topologyKey\":\"x\",\"maxSkew\":2}],"}},
	{"hostNetwork", {"", "\"hostNetwork\":true,", "\"hostNetwork\":false,"}},
	{"gates", {"", "\"schedulingGates\":[{\"name\":\"g\"}],"}},
	{"preemptionPolicy", {"", "\"preemptionPolicy\":\"Never\",", "\"preemptionPolicy\":\"PreemptLowerPriority\","}},
	{"schedulerName", {"", "\"schedulerName\":\"other\","}},
	{"overhead", {"", "\"overhead\":{\"cpu\":\"1\"},"}},
	{"resources",
	 {"", "\"resources\":{\"requests\":{\"cpu\":\"7\"}},", "\"resources\":{\"limits\":{\"cpu\":\"7\"}},"}},
	{"volumes",
	 {"", "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],",
	  "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}],"}},
	{"resourceClaims", {"", "\"resourceClaims\":[{\"name\":\"r\"}],", "\"resourceClaims\":[],"}},
	{"initContainers",
	 {"", "\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"9\"}}}],",
	  "\"initContainers\":[{\"name\":\"i\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"9\"}"
	  "}}],"}},
	{NULL, {"\"containers\":[{"}},
	{"name of a container", {"\"name\":\"c\",", "\"name\":\"d\","}},
	{"image", {"", "\"image\":\"nginx\",", "\"image\":\"nginx:1\","}},
	{"env", {"", "\"env\":[{\"name\":\"A\",\"value\":\"b\"}],"}},
	{"ports", {"", "\"ports\":[{\"containerPort\":80}],", "\"ports\":[{\"containerPort\":80,\"hostPort\":80}],"}},
	{"requests",
	 {"\"resources\":{\"requests\":{\"cpu\":\"1\"}}", "\"resources\":{\"requests\":{\"cpu\":1}}",
	  "\"resources\":{\"requests\":{\"cpu\":\"x\"}}", "\"resources\":{\"request\":{\"cpu\":\"1\"}}",
	  "\"resources\":{\"limits\":{\"cpu\":\"2\"}}", "\"resources\":{\"requests\":{\"memory\":\"100Pi\"}}"}},
	{"restartPolicy", {"", ",\"restartPolicy\":\"Always\""}},
	{NULL, {"}]},\"status\":{"}},
	{"phase", {"\"phase\":\"Pending\"", "\"phase\":\"Running\"", "\"phase\":\"Odd\""}},
	{"containerStatuses",
	 {"", ",\"containerStatuses\":[{\"name\":\"c\",\"allocatedResources\":{\"cpu\":\"3\"}}]",
	  ",\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]",
	  ",\"containerStatuses\":[{\"name\":\"c\",\"containerID\":\"x\"}]",
	  ",\"containerStatuses\":[{\"name\":\"d\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]"}},
	{"initContainerStatuses",
	 {"", ",\"initContainerStatuses\":[{\"name\":\"i\",\"allocatedResources\":{\"cpu\":\"5\"}}]",
	  ",\"initContainerStatuses\":[]"}},
	{"allocatedResources",
	 {"", ",\"allocatedResources\":{\"cpu\":\"60\"}", ",\"allocatedResources\":{\"cpu\":\"x\"}"}},
	{"resources in status",
	 {"", ",\"resources\":{\"requests\":{\"cpu\":\"80\"}}", ",\"resources\":{\"requests\":{\"cpu\":\"x\"}}"}},
	{"conditions",
	 {"", ",\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}]",
	  ",\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":\"Deferred\"}]"}},
	{NULL, {"}}"}},
};
enum { SLOTS = sizeof(slots) / sizeof(*slots) };

static struct {
	uint64_t pods, known, refused;
} tally;

static uint32_t n_ways(const struct slot *s)
{
	uint32_t n = 1;

	while (n < WAYS && s->ways[n])
		n++;
	return n;
}

struct ways { /* which of each slot */
	uint32_t v[SLOTS];
};

static void choose(struct rng *rng, struct ways *w, size_t slot)
{
	w->v[slot] = slots[slot].name ? rng_below(rng, n_ways(&slots[slot])) : 0;
}

/* Like the usual one, or different in a field or two. */
static void make_pod(struct rng *rng, const struct ways *usual, struct text *out)
{
	struct ways w = *usual;

	for (uint32_t n = rng_below(rng, 3); n > 0; n--)
		choose(rng, &w, rng_below(rng, SLOTS));
	for (size_t i = 0; i < SLOTS; i++)
		text_add(out, slots[i].ways[w.v[i]]);
}

struct said {
	enum err_code rc;
	struct err e;
	struct text notes;
	struct obj_pod pod;
};

static void read_pod(struct vocab *v, struct shape_memory *m, bool is_lenient, bool has_notes, const struct tree *t,
		     struct said *ret)
{
	struct object_source src = {
		.name = "made", .notes = has_notes ? &ret->notes : NULL, .shapes = m, .is_lenient = is_lenient};

	*ret = (struct said){0};
	ret->rc = manifest_pod(v, &src, t, &ret->pod, &ret->e);
}

static void compare(const char *made, const struct said *plain, const struct said *known)
{
	if (plain->rc == known->rc && (!plain->rc || !strcmp(plain->e.msg, known->e.msg)) &&
	    !strcmp(text_str(&plain->notes), text_str(&known->notes)) &&
	    (plain->rc || plain->pod.shape == known->pod.shape))
		return;
	fail_msg("%s\nread: %d %s shape %u\n%s\nremembered: %d %s shape %u\n%s", made, plain->rc,
		 plain->rc ? plain->e.msg : "", plain->pod.shape, text_str(&plain->notes), known->rc,
		 known->rc ? known->e.msg : "", known->pod.shape, text_str(&known->notes));
}

static void try_pod(struct vocab *v, struct shape_memory *m, struct rng *rng, const struct ways *usual)
{
	struct arena *a = arena_new(1 << 12);
	struct said plain, known;
	struct text made = {0};
	const struct tree *t;
	uint32_t before = m->v.n;
	bool is_lenient = !rng_below(rng, 8), has_notes = rng_below(rng, 2);
	struct err e;

	make_pod(rng, usual, &made);
	assert_int_equal(tree_parse_json("made", text_str(&made), made.n, a, &t, &e), ERR_OK);
	read_pod(v, NULL, is_lenient, has_notes, t, &plain);
	read_pod(v, m, is_lenient, has_notes, t, &known);
	compare(text_str(&made), &plain, &known);
	tally.pods++;
	tally.refused += plain.rc != ERR_OK;
	tally.known += !known.rc && !known.notes.n && m->v.n == before;
	if (!plain.rc)
		obj_pod_drop(v, &plain.pod);
	if (!known.rc)
		obj_pod_drop(v, &known.pod);
	text_free(&plain.notes);
	text_free(&known.notes);
	text_free(&made);
	arena_free(a);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void a_shape_that_is_remembered_is_the_one_that_would_be_read(void **state)
{
	struct rng rng = {.s = number("CEDE_SEED", 1)};
	struct vocab *v = vocab_new();
	struct shape_memory m = {0};
	struct ways usual = {0};

	(void)state;
	for (uint64_t i = number("CEDE_N", 30000); i > 0; i--) {
		for (size_t k = 0; k < SLOTS && i % USUAL == 0; k++)
			usual.v[k] = 0;
		for (uint32_t k = i % USUAL ? 0 : rng_below(&rng, SLOTS); k > 0; k--)
			choose(&rng, &usual, rng_below(&rng, SLOTS));
		try_pod(v, &m, &rng, &usual);
		if (i % 4096 == 0)
			shape_memory_free(&m);
	}
	shape_memory_free(&m);
	for (shape_id i = 0; i < shape_limit(v); i++)
		assert_false(shape_is_live(v, i)); /* nobody holds one any more */
	printf("shape_memory: %" PRIu64 " pods, %" PRIu64 " remembered, %" PRIu64 " refused, 0 differences\n",
	       tally.pods, tally.known, tally.refused);
	assert_true(tally.known > tally.pods / 20);
	vocab_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shape_that_is_remembered_is_the_one_that_would_be_read),
	};

	return cmocka_run_group_tests_name("shape_memory", tests, NULL, NULL);
}
