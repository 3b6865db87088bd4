/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - limits of users and groups, and how many applications may run: what holds a pod back whatever
 * room there is.
 *
 * As far as pods show them. An application runs where a pod of it is placed or nominated; pods without an
 * application id are together one application of their namespace. Who is over a limit takes room from nobody.
 *
 * A user's limit in a queue is the one that names the user, else that of "*"; it counts that user's pods in the queue
 * and below. A user is in one group as far as limits go: from the pod's queue upwards the first that a limit names and
 * the user is in; if there is none, "*". A group's limit counts the pods of all its users together.
 */
#pragma once

#include "base/text.h"
#include "ledger/ledger.h"

enum limit_kind { LIMIT_NONE, LIMIT_APPS, LIMIT_AMOUNT };
enum limit_of { OF_QUEUE, OF_USER, OF_GROUP };

struct limit_verdict {
	enum limit_kind kind; /* LIMIT_NONE: nothing is in the way */
	enum limit_of of;
	queue_id queue;
	const char *who; /* the user or group; as long as the pod and the queue are there */
	res_id type;	 /* LIMIT_AMOUNT */
	int64_t used, max, wants;
};

/* The first limit in the way, from the pod's queue upwards; numbers of applications before amounts. */
struct limit_verdict limits_ask(const struct ledger *l, pod_id pod);
/* "user ann uses 4 of at most 4 cpu in queue root.a and the pod wants 1." */
void limit_verdict_text(const struct ledger *l, const struct limit_verdict *v, struct text *out);
