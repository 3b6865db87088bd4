/* SPDX-License-Identifier: Apache-2.0 */
/* KAI has two API groups, and a PodGroup of one name may be in both: one counts, always the same, with a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/manifest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define GROUP(api, name, min)                                                       \
	"---\napiVersion: " api "/v2alpha2\nkind: PodGroup\nmetadata: {name: " name \
	", namespace: ml}\nspec: {minMember: " min "}\n"
#define RUN_AI(name, min) GROUP("scheduling.run.ai", name, min)
#define NVIDIA(name, min) GROUP("scheduling.kai.nvidia.com", name, min)
#define LEFT_OUT \
	"PodGroup ml/g of scheduling.kai.nvidia.com: not used, because scheduling.run.ai has one of this name at "

struct row {
	const char *story, *docs, *added; /* added: by manifest_add */
	int min;			  /* of group ml/g */
	const char *note, *error;
};

static const struct row rows[] = {
	{"one API group", NVIDIA("g", "3"), NULL, 3, NULL, NULL},
	{"the other", RUN_AI("g", "2"), NULL, 2, NULL, NULL},
	{"both: scheduling.run.ai counts", RUN_AI("g", "2") NVIDIA("g", "3"), NULL, 2,
	 "a.yaml:7:1: " LEFT_OUT "a.yaml:2:1", NULL},
	{"in any order", NVIDIA("g", "3") RUN_AI("g", "2"), NULL, 2, "a.yaml:2:1: " LEFT_OUT "a.yaml:7:1", NULL},
	{"two names are two groups", RUN_AI("g", "2") NVIDIA("h", "3"), NULL, 2, NULL, NULL},
	{"one name twice in one API group is a mistake", NVIDIA("g", "3") NVIDIA("g", "2"), NULL, 0, NULL,
	 "a.yaml:7:1: PodGroup ml/g: metadata.name: already defined at a.yaml:2:1"},
	{"what is added takes the place of the one of its name", RUN_AI("g", "2"), NVIDIA("g", "3"), 3, NULL, NULL},
};

static void check(const struct row *row, struct cluster *c, struct names *names)
{
	name_id ns = names_find(names, "ml", 2), name = names_find(names, "g", 1);
	group_id id = ledger_group_find(cluster_ledger(c), ns, name, false);

	if (id == GROUP_NONE || ledger_group(cluster_ledger(c), id)->obj->min_member != row->min)
		fail_msg("%s: minMember is not %d", row->story, row->min);
}

static void a_pod_group_in_both_api_groups_is_noted(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct vocab *v = vocab_new();
		struct manifest *m = manifest_new(v);
		struct cluster_options o = {.now_ns = 1};
		struct cluster *c = NULL;
		struct err e = {0};

		if (manifest_read_bytes(m, "a.yaml", row->docs, strlen(row->docs), &e) ||
		    (row->added && manifest_add_bytes(m, "b.yaml", row->added, strlen(row->added), &e)) ||
		    manifest_build(m, &o, &c, &e)) {
			if (!row->error || strcmp(e.msg, row->error) != 0)
				fail_msg("%s: %s", row->story, e.msg);
		} else if (row->error) {
			fail_msg("%s: not refused", row->story);
		} else {
			check(row, c, vocab_names(v));
		}
		if (!row->error && (manifest_note_count(m) != (row->note != NULL) ||
				    (row->note && strcmp(manifest_note(m, 0), row->note) != 0)))
			fail_msg("%s: %s", row->story, manifest_note_count(m) ? manifest_note(m, 0) : "no note");
		cluster_free(c);
		manifest_free(m);
		vocab_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_pod_group_in_both_api_groups_is_noted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
