/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan FILE...: asks the engine what it would decide for the cluster in these files, then what would be different if
 * the first waiting pod were not there.
 *
 *	cc plan.c $(pkg-config --cflags --libs cede) -o plan
 *	./plan nodes.yaml pods.yaml
 */
#include <cede.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t n = 0, got;

	if (!f)
		err(1, "%s", path);
	do {
		text = realloc(text, n + 65536);
		if (!text)
			err(1, "%s", path);
		got = fread(text + n, 1, 65536, f);
		n += got;
	} while (got > 0);
	if (ferror(f))
		err(1, "%s", path);
	fclose(f);
	*ret_len = n;
	return text;
}

/* Every call that fails has left its words with the handle. */
static void check(struct cede *c, enum cede_status status)
{
	if (status != CEDE_OK)
		errx(1, "%s", cede_error(c));
}

static void print_plan(const struct cede_result *plan)
{
	struct cede_decision d;
	struct cede_victim v;

	for (size_t i = 0; cede_result_decision(plan, i, &d, sizeof(d)) == CEDE_OK; i++) {
		printf("%-24s %-10s %s\n", *d.pod ? d.pod : d.group, d.outcome, *d.node ? d.node : d.message);
		for (size_t j = 0; cede_result_victim(plan, i, j, &v, sizeof(v)) == CEDE_OK; j++)
			printf("    %s has to go: %s\n", v.pod, v.reason);
	}
}

/* "ns/name" of the first pod that waits; false: none does. */
static int first_waiting(const struct cede_result *plan, char ns[256], char name[256])
{
	struct cede_decision d;

	for (size_t i = 0; cede_result_decision(plan, i, &d, sizeof(d)) == CEDE_OK; i++)
		if (!strcmp(d.outcome, "waiting") && sscanf(d.pod, "%255[^/]/%255s", ns, name) == 2)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct cede *c = cede_new();
	struct cede_result *before, *after, *difference;
	char ns[256], name[256], change[600];

	check(c, cede_set_now(c, "2026-11-15T12:00:00Z"));
	for (int i = 1; i < argc; i++) {
		size_t len;
		char *text = read_file(argv[i], &len);

		check(c, cede_apply(c, argv[i], text, len));
		free(text);
	}
	check(c, cede_plan(c, CEDE_JSON, &before));
	print_plan(before);
	if (first_waiting(before, ns, name)) {
		snprintf(change, sizeof(change), "remove %s/%s", ns, name);
		check(c, cede_remove(c, "Pod", ns, name));
		check(c, cede_plan(c, CEDE_JSON, &after));
		check(c, cede_difference(c, before, after, change, CEDE_TEXT, &difference));
		printf("\nWithout %s/%s:\n%s", ns, name, cede_result_text(difference));
		cede_result_free(difference);
		cede_result_free(after);
	}
	cede_result_free(before);
	cede_free(c);
	return 0;
}
