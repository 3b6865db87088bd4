/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.h - messages from many threads to one, without a lock.
 *
 * A message begins with a struct mail. Whoever puts one into an empty box wakes the reader; the reader takes all at
 * once, in the order they were put.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mail {
	struct mail *next;
};

struct mailbox {		     /* zero-initialised is empty */
	_Atomic(struct mail *) head; /* the newest first */
};

/* true: it was empty, the reader may sleep. */
static inline bool mailbox_put(struct mailbox *b, struct mail *m)
{
	struct mail *head = atomic_load_explicit(&b->head, memory_order_relaxed);

	do
		m->next = head;
	while (!atomic_compare_exchange_weak_explicit(&b->head, &head, m, memory_order_release, memory_order_relaxed));
	return !head;
}

/* All of them, the oldest first; NULL: none. */
static inline struct mail *mailbox_take(struct mailbox *b)
{
	struct mail *m = atomic_exchange_explicit(&b->head, NULL, memory_order_acquire), *list = NULL;

	while (m) {
		struct mail *next = m->next;

		m->next = list;
		list = m;
		m = next;
	}
	return list;
}
