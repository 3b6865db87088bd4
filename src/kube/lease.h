/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h - which replica leads: client-go's leader election as a state machine.
 *
 * It is given the time and the answers, and says what to ask next; it has no clock, thread or connection of its own.
 *
 * Nobody trusts another machine's clock: a lease that somebody else holds is over when it was not renewed for its
 * duration since *we* first saw it as it is, by our steady clock (one that is never set, and goes on while the machine
 * sleeps). The leader may write until the renew deadline after the moment it *sent* the last renewal that succeeded.
 * Others can take the lease at the earliest its duration after that moment, so there is a gap (5 s with the defaults)
 * in which nobody writes; a leader that was stopped and goes on finds its time over before it does anything.
 *
 * Answers that come late, twice, or to a question nobody asked any more are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kube/write.h"

struct lease_options {
	const char *ns, *name, *identity; /* outlive it */
	int64_t duration_ns;		  /* 15 s */
	int64_t renew_deadline_ns;	  /* 10 s; less than the duration */
	int64_t retry_ns;		  /* 2 s; with jitter, the deadline is longer */
};
struct lease_options lease_options_default(void); /* without names */

enum lease_state {
	LEASE_STANDBY, /* somebody else leads, or nobody yet */
	LEASE_LEADING,
	LEASE_LOST,	/* it led and does not any more; it stands by again after lease_retry */
	LEASE_RELEASED, /* it gave it up; nothing more happens */
};

struct lease;

struct lease *lease_new(const struct lease_options *o, uint64_t seed);
void lease_free(struct lease *l);

enum lease_state lease_state(const struct lease *l);
const char *lease_holder(const struct lease *l); /* who holds it, as far as known; "" nobody */
uint32_t lease_transitions(const struct lease *l);

/*
 * Time passes (both clocks; wall_ns is only written down for people). true: send *w, and bring what comes of it to
 * lease_answer under the number *ret_ticket. At most one question is open.
 */
bool lease_ask(struct lease *l, int64_t steady_ns, int64_t wall_ns, struct kube_write *w, uint64_t *ret_ticket);
/* status 0: no answer. body: the object, where the server sent one. */
void lease_answer(struct lease *l, uint64_t ticket, int status, const char *body, size_t len, int64_t steady_ns);
/* When lease_ask or lease_check may do something by themselves. */
int64_t lease_next_ns(const struct lease *l);
/* Until when the leader may write; INT64_MIN: not at all. Set as the client's fence after every call here. */
int64_t lease_fence_ns(const struct lease *l);
/* Is the time over? To be called before deciding anything. */
void lease_check(struct lease *l, int64_t steady_ns);

/*
 * Gives the lease up. true: send *w (others need not wait for the end of the duration then). Writes must have ended
 * before.
 */
bool lease_release(struct lease *l, int64_t steady_ns, int64_t wall_ns, struct kube_write *w);
void lease_retry(struct lease *l, int64_t steady_ns); /* after LEASE_LOST: stand by again */
