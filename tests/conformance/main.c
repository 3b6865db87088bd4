/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform DIR [--known FILE] [--only FILTER] [--verbose]
 *
 * Runs every fact below DIR: a folder per system, files of facts in it. A line per file, then one per system. Exit code
 * 0: nothing failed, 1: something did, 2: called wrongly or unreadable input.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "conform.h"
#include "known.h"

enum { SHOWN_PER_FILE = 10 };

struct tally {
	uint32_t passed, failed, skipped;
};

struct run {
	const char *dir, *only;
	bool is_verbose;
	struct known known;
	struct arena *file_arena, *fact_arena;
	struct tally file;
	struct tally system;
	struct text details; /* of the file at hand */
};

/* ---- one fact ---- */

static void show(struct run *r, const struct fact *f, const char *how, const char *why)
{
	text_printf(&r->details, "  %s %s%s%s\n", how, f->id, why ? ": " : "", why ? why : "");
}

static void count_passed(struct run *r, const struct fact *f, const struct known_difference *known)
{
	if (!known) {
		r->file.passed++;
		return;
	}
	r->file.failed++;
	show(r, f, "failed", "it is listed as a known difference and does not differ any more");
}

static void count_differing(struct run *r, const struct fact *f, const struct known_difference *known)
{
	if (known && known_is_so(known, text_str(&f->instead))) {
		r->file.skipped++;
		if (r->is_verbose)
			show(r, f, "skipped", known->because);
		return;
	}
	r->file.failed++;
	if (known)
		text_printf(&r->details, "  %s differs otherwise than listed; instead: %s\n", f->id,
			    text_str(&f->instead));
	if (!r->is_verbose && r->file.failed > SHOWN_PER_FILE)
		return;
	show(r, f, "failed", NULL);
	text_add(&r->details, text_str(&f->diff));
}

/* Fields of an expect that are of the original's own works: cede has nothing they could be compared with. */
static const char *const its_own[] = {
	"log",	     "log_count_after_4_tries", /* sentences of its log, and how often */
	"event",     "events_after_4_tries",	/* words of its events */
	"snapshots",				/* copies of queues it makes */
};

static bool is_looked_at(const struct fact *f, const char *name)
{
	for (size_t i = 0; i < sizeof(its_own) / sizeof(*its_own); i++)
		if (str_eq(its_own[i], name))
			return true;
	for (uint32_t i = 0; i < f->n_looked_at; i++)
		if (str_eq(f->looked_at[i], name))
			return true;
	return false;
}

/* A fact that expects what nobody compares proves less than it says. */
static void check_all_compared(struct fact *f)
{
	const struct tree *expect = tree_get(f->t, "expect");

	for (uint32_t i = 0; tree_is(expect, TREE_MAP) && i < expect->n; i++)
		if (!is_looked_at(f, expect->fields[i].key))
			fact_differs(f, expect->fields[i].key, "that somebody compares it", "nobody who does");
}

static void judge(struct run *r, struct fact *f)
{
	const struct op *op = op_find(f->system, f->op);
	struct known_difference *known = known_find(&r->known, f->id);

	if (known)
		known->is_seen = true;
	if (!op)
		fact_differs(f, "operation", "one that ops.c lists", f->op);
	else if (op->run)
		op->run(f);
	else
		fact_skip(f, op->why_not);
	if (!f->diff.n && !f->skip)
		check_all_compared(f);
	if (f->diff.n) {
		count_differing(r, f, known);
	} else if (f->skip && known) {
		r->file.failed++;
		show(r, f, "failed", "it is listed as a known difference and not run at all");
	} else if (f->skip) {
		r->file.skipped++;
		if (r->is_verbose)
			show(r, f, "skipped", f->skip);
	} else {
		count_passed(r, f, known);
	}
}

static bool is_wanted(const struct run *r, const struct fact *f)
{
	return !r->only || strstr(f->id, r->only) || strstr(f->file, r->only) || str_eq(f->op, r->only);
}

/* What a fact is about: its own words, or for KAI's the file it is in. */
static const char *operation(const struct fact *f)
{
	const char *policy = strstr(f->file, "/policy/"), *op = tree_text(tree_get(f->t, "op"), NULL);

	if (op)
		return op;
	if (policy) {
		policy += strlen("/policy/");
		return arena_strndup(f->arena, policy, strcspn(policy, "."));
	}
	return tree_text(tree_get(f->t, "kind"), "actions");
}

static void run_fact(struct run *r, const char *system, const char *file, const struct tree *root, const struct tree *t,
		     const char *where, uint32_t i)
{
	struct fact f = {.system = system, .file = file, .t = t, .root = root, .arena = r->fact_arena};
	const char *id = tree_text(tree_get(t, "id"), NULL);

	f.id = id ? id : arena_printf(r->fact_arena, "%s/%s/%03u", file, where, i);
	f.op = operation(&f);
	if (is_wanted(r, &f))
		judge(r, &f);
	text_free(&f.diff);
	text_free(&f.instead);
	arena_reset(r->fact_arena);
}

/* ---- files ---- */

/* Where facts stand in a file. */
static const char *const lists[] = {"cases",
				    "resolver",
				    "protection",
				    "seed_example_reclaim.cases",
				    "seed_example_preempt.cases",
				    "argument_durations.valid_nonzero",
				    "argument_durations.invalid_become_zero",
				    "argument_durations.negative_become_zero"};

static void run_list(struct run *r, const char *system, const char *file, const struct tree *root,
		     const struct tree *list, const char *where)
{
	for (uint32_t i = 0; i < tree_count(list); i++)
		run_fact(r, system, file, root, list->items[i], where, i);
}

static void report_file(struct run *r, const char *file)
{
	struct tally *t = &r->file;

	if (t->passed + t->failed + t->skipped)
		printf("%s: %u passed, %u failed, %u skipped\n%s", file, t->passed, t->failed, t->skipped,
		       text_str(&r->details));
	if (!r->is_verbose && t->failed > SHOWN_PER_FILE)
		printf("  and more: --verbose shows all\n");
	fflush(stdout);
	r->system.passed += t->passed;
	r->system.failed += t->failed;
	r->system.skipped += t->skipped;
	r->file = (struct tally){0};
	text_reset(&r->details);
}

static enum err_code run_file(struct run *r, const char *system, const char *path, const char *file, struct err *e)
{
	struct tree_doc doc = {0};
	struct tree_reader *reader;
	enum err_code rc;
	char *data;
	size_t len;

	rc = file_read(path, &data, &len, e);
	if (rc)
		return rc;
	reader = tree_reader_new(path, data, len);
	rc = tree_next(reader, r->file_arena, &doc, e);
	if (!rc && tree_is(doc.root, TREE_LIST))
		run_list(r, system, file, doc.root, doc.root, "facts");
	for (size_t i = 0; !rc && i < sizeof(lists) / sizeof(*lists); i++)
		run_list(r, system, file, doc.root, tree_path(doc.root, lists[i]), lists[i]);
	report_file(r, file);
	tree_reader_free(reader);
	mem_free(data);
	arena_reset(r->file_arena);
	return rc;
}

static bool is_fact_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	/* What the collectors left out, and why: not facts. */
	if (str_eq(name, "skipped.json"))
		return false;
	return dot && (str_eq(dot, ".json") || str_eq(dot, ".yaml"));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static enum err_code run_folder(struct run *r, const char *system, const char *relative, struct err *e);

static enum err_code run_entry(struct run *r, const char *system, const char *relative, const char *name, struct err *e)
{
	struct text path = {0}, file = {0};
	enum err_code rc = ERR_OK;
	struct stat st;

	text_printf(&file, "%s/%s", relative, name);
	text_printf(&path, "%s/%s", r->dir, text_str(&file));
	if (stat(text_str(&path), &st))
		rc = err_fail(e, ERR_IO, "%s: %s", text_str(&path), strerror(errno));
	else if (S_ISDIR(st.st_mode))
		rc = run_folder(r, system, text_str(&file), e);
	else if (is_fact_file(name))
		rc = run_file(r, system, text_str(&path), text_str(&file), e);
	text_free(&path);
	text_free(&file);
	return rc;
}

static enum err_code run_folder(struct run *r, const char *system, const char *relative, struct err *e)
{
	struct text path = {0};
	struct dirent **names;
	enum err_code rc = ERR_OK;
	int n;

	text_printf(&path, "%s/%s", r->dir, relative);
	n = scandir(text_str(&path), &names, NULL, by_name);
	if (n < 0) {
		rc = err_fail(e, ERR_IO, "%s: %s", text_str(&path), strerror(errno));
		text_free(&path);
		return rc;
	}
	for (int i = 0; i < n; i++) {
		if (!rc && names[i]->d_name[0] != '.')
			rc = run_entry(r, system, relative, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	text_free(&path);
	return rc;
}

/* ---- the whole ---- */

static const char *const systems[] = {"kubernetes", "yunikorn", "kai"};
enum { SYSTEM_COUNT = sizeof(systems) / sizeof(*systems) };

/* A known difference that no fact has is a mistake in the list, unless only some facts were looked at. */
static uint32_t count_unseen(const struct run *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; !r->only && i < r->known.v.n; i++) {
		if (r->known.v.v[i].is_seen)
			continue;
		printf("conform: known difference %s: no such fact\n", r->known.v.v[i].id);
		n++;
	}
	return n;
}

static int run_all(struct run *r)
{
	struct tally tallies[SYSTEM_COUNT];
	uint32_t bad;
	struct err e;

	for (int i = 0; i < SYSTEM_COUNT; i++) {
		r->system = (struct tally){0};
		if (run_folder(r, systems[i], systems[i], &e)) {
			fprintf(stderr, "conform: %s\n", e.msg);
			return 2;
		}
		tallies[i] = r->system;
	}
	bad = count_unseen(r);
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		printf("conform: %s: %u passed, %u failed, %u skipped\n", systems[i], tallies[i].passed,
		       tallies[i].failed, tallies[i].skipped);
		bad += tallies[i].failed;
	}
	return bad ? 1 : 0;
}

static int usage(FILE *to, int code)
{
	fputs("Usage: conform DIR [--known FILE] [--only FILTER] [--verbose]\n\n"
	      "Runs the facts about other schedulers below DIR against cede.\n\n"
	      "  --known FILE   facts that cede departs from on purpose\n"
	      "  --only FILTER  only facts whose id or file contains FILTER, or whose operation is FILTER\n"
	      "  --verbose      all failures, and every skipped fact with the reason\n",
	      to);
	return code;
}

static int read_options(struct run *r, int argc, char **argv)
{
	static const struct option options[] = {{"known", required_argument, NULL, 'k'},
						{"only", required_argument, NULL, 'o'},
						{"verbose", no_argument, NULL, 'v'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct err e;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h')
			exit(usage(stdout, 0));
		else if (c == 'o')
			r->only = optarg;
		else if (c == 'v')
			r->is_verbose = true;
		else if (c != 'k')
			return usage(stderr, 2);
		else if (known_read(&r->known, optarg, &e))
			return fprintf(stderr, "conform: %s\n", e.msg), 2;
	}
	if (optind + 1 != argc)
		return usage(stderr, 2);
	r->dir = argv[optind];
	return 0;
}

int main(int argc, char **argv)
{
	struct run r = {.file_arena = arena_new(1 << 20), .fact_arena = arena_new(1 << 16)};
	int code = read_options(&r, argc, argv);

	if (!code)
		code = run_all(&r);
	known_free(&r.known);
	text_free(&r.details);
	arena_free(r.file_arena);
	arena_free(r.fact_arena);
	return code;
}
