/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cede.h - the engine as a library: what would be decided, asked from a program.
 *
 *	struct cede *c = cede_new();
 *
 *	if (cede_set_now(c, "2026-11-15T12:00:00Z") || cede_apply(c, "cluster.yaml", text, strlen(text)))
 *		errx(1, "%s", cede_error(c));
 *	struct cede_result *plan;
 *	if (cede_plan(c, CEDE_JSON, &plan))
 *		errx(1, "%s", cede_error(c));
 *	puts(cede_result_text(plan));
 *	cede_result_free(plan);
 *	cede_free(c);
 *
 * A handle holds objects and settings: whatever `cede plan -f` reads. Objects come, are replaced by later versions and
 * go (cede_apply, cede_remove); a plan is what the engine would decide for those that are there at the time that was
 * set, and it changes nothing. The same objects, settings and time give the same bytes, those of the program, on any
 * machine and with any number of threads. The library asks no clock, reads no file, knows no environment, loads no
 * plugin and prints nothing.
 *
 * What a change costs: cede_apply and cede_remove look at their own objects alone. The first question after a change
 * reads all objects that are kept into a new cluster; more questions about the same objects do not.
 *
 * Errors are values. Every function that can fail returns an enum cede_status, CEDE_OK being 0, and then cede_error has
 * the words: where ("cluster.yaml:12:9"), which object and field, and what was expected. A call that fails changes
 * nothing. Input of any kind, also with a hostile author, fails or works; it ends nobody's process. What does: running
 * out of memory (cede_on_out_of_memory), and an assertion about the library's own state, which is a bug to be reported.
 *
 * Strings are UTF-8 with a NUL at the end. Those that are handed in are copied. Those that are handed out belong to the
 * handle or result they come from.
 *
 * Threads: one handle, and one result, is used by one thread at a time; who shares one locks. Different handles and
 * results have nothing in common and may be used at the same time. Results outlive changes of their handle, and the
 * handle itself. The caller's locale is left alone and does not matter.
 *
 * Names are kept from version to version (libcede.so.0, symbols CEDE_0); functions and enumerators are only added.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cede_status {
	CEDE_OK = 0,
	CEDE_BAD_INPUT = 1, /* the input is wrong */
	CEDE_NOT_FOUND = 2, /* something that was named is not there */
	CEDE_CONFLICT = 3,  /* two objects contradict each other */
	CEDE_TOO_LARGE = 4, /* well-formed, and more than is accepted */
	CEDE_MISUSE = 5,    /* a NULL that must not be, no time set, the wrong kind of result */
	CEDE_INTERNAL = 6,  /* a check of the library's own failed: a bug */
};

enum cede_format { CEDE_JSON, CEDE_YAML, CEDE_TEXT };

struct cede;	    /* objects, settings and a time */
struct cede_result; /* one answer */

const char *cede_version(void); /* "0.1.0" */

/*
 * What to do when there is no more memory: called in the thread that needed it, and must not return. NULL, and at the
 * beginning: abort(). For the whole process; set it before other threads use the library.
 */
void cede_on_out_of_memory(void (*f)(void));

struct cede *cede_new(void);
void cede_free(struct cede *c); /* NULL is fine */

/* The words of the last call that failed with this handle; "" if none has. Good until the next call that fails. */
const char *cede_error(const struct cede *c);

/* ---- what is there ---- */

/*
 * Objects and settings, YAML or JSON, any number of documents or Lists: each is added, or takes the place of the one of
 * its kind, namespace and name. Of a queues.yaml and of each kind of scheduler configuration there is one. name is for
 * messages. All of the text or nothing of it. A document that is wrong in itself is refused here; what is wrong only
 * together with others (a pod on a node that is not there, parents of queues in a circle) is said by cede_check and by
 * every question, until it is put right.
 */
enum cede_status cede_apply(struct cede *c, const char *name, const char *text, size_t len);
/*
 * The object goes; of settings and of KAI's Queues too. Objects without a namespace: "" or NULL; so are those of
 * namespace default. A queues.yaml without a ConfigMap around it: kind "partitions"; KAI's plain scheduler
 * configuration: kind "tiers"; both without a name.
 */
enum cede_status cede_remove(struct cede *c, const char *kind, const char *ns, const char *name);
/*
 * "KEY=VALUE" as cede plan --set has it: "queue.root.a.guaranteed.nvidia.com/gpu=16", "rules.opt-out.mode=hard". Counts
 * more than the objects, until cede_unset. What it is about must be there. Needs the time to be set.
 */
enum cede_status cede_set(struct cede *c, const char *setting);
enum cede_status cede_unset(struct cede *c, const char *key); /* CEDE_NOT_FOUND: it was not set */

/* RFC 3339. There is no default: a plan is always of a time. */
enum cede_status cede_set_now(struct cede *c, const char *time);
enum cede_status cede_set_profile(struct cede *c,
				  const char *profile);		     /* counts more than settings; NULL: they count */
enum cede_status cede_set_cycles(struct cede *c, uint32_t cycles);   /* 1 to 10000; at the beginning 1 */
enum cede_status cede_set_threads(struct cede *c, uint32_t threads); /* 1 to 64; at the beginning 1 */

/* How many documents are kept. */
size_t cede_count(const struct cede *c);
/* Are they sound together? CEDE_OK: questions can be answered. */
enum cede_status cede_check(struct cede *c);
/* What was odd but possible in what was last read together, as cede's notes have it; NULL: no more (i from 0). */
const char *cede_note(const struct cede *c, size_t i);

/* ---- questions ---- */

/* What would be decided now: kind Plan, as cede plan prints it. */
enum cede_status cede_plan(struct cede *c, enum cede_format format, struct cede_result **ret);
/* Why "NAMESPACE/POD", a group or a queue ("root.a.b") waits, goes, stays: as cede explain prints it. */
enum cede_status cede_explain(struct cede *c, const char *what, enum cede_format format, struct cede_result **ret);
/* The cluster as it stands: kind ClusterView, as cede show prints it. */
enum cede_status cede_show(struct cede *c, enum cede_format format, struct cede_result **ret);
/*
 * How one plan differs from another: kind PlanDifference, as cede plan --set prints it. change says what was done
 * between them, as the end of "if one were to ..." ("set queue.root.a.max.cpu=8"); NULL: nothing is said. Errors are
 * words of c, which may be any handle.
 */
enum cede_status cede_difference(struct cede *c, const struct cede_result *before, const struct cede_result *after,
				 const char *change, enum cede_format format, struct cede_result **ret);

/* ---- answers ---- */

void cede_result_free(struct cede_result *r); /* NULL is fine */
const char *cede_result_text(const struct cede_result *r);
size_t cede_result_size(const struct cede_result *r); /* bytes of the text, without the NUL */

/* Of a plan; of other results there is nothing. Decisions in the order they were taken. */
enum cede_outcome { CEDE_PLACED, CEDE_NOMINATED, CEDE_WAITING, CEDE_GATED, CEDE_EVICTED, CEDE_OUTCOMES };
uint32_t cede_result_count(const struct cede_result *r, enum cede_outcome outcome); /* pods; CEDE_EVICTED: victims */
size_t cede_result_decisions(const struct cede_result *r);

/* What has no value is "". */
struct cede_decision {
	const char *pod, *group, *queue; /* "ns/name"; "root.a.b" */
	const char *outcome, *action, *node;
	const char *rule, *until; /* what holds back the pod itself, and until when if time decides */
	const char *message;
	size_t n_victims;
};
struct cede_victim {
	const char *pod, *queue, *node;
	const char *rule;   /* the soft rule that was overridden */
	const char *reason; /* why it has to go, in words */
	int64_t lost_seconds;
};
/* size: sizeof of the struct as the caller knows it; more is not written. CEDE_NOT_FOUND: there is none at i (or j). */
enum cede_status cede_result_decision(const struct cede_result *r, size_t i, struct cede_decision *ret, size_t size);
enum cede_status cede_result_victim(const struct cede_result *r, size_t i, size_t j, struct cede_victim *ret,
				    size_t size);

#ifdef __cplusplus
}
#endif
