/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_index.h - where echo.c and gang_echo.c keep what was found of those that waited in vain.
 *
 * An entry is a struct that begins with its key: plain bytes without padding. Entries hold while nothing moves in the
 * ledger, and all are forgotten when something has. Of two keys with one hash only the first is kept.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "ledger/ledger.h"

struct echo_index {
	const struct ledger *ledger;
	uint32_t key_size, size; /* in bytes: of a key, and of an entry */
	ledger_mark mark;	 /* where things stand while entries hold */
	ARRAY(char) v;		 /* entries, one after the other */
	struct map at;		 /* in them, by hash */
};

void echo_index_begin(struct echo_index *x, const struct ledger *l, size_t key_size, size_t size);
void echo_index_end(struct echo_index *x);
/* From now on entries are for things as they stand. False: there are none. */
bool echo_index_follow(struct echo_index *x);
/* The one with the key of this; NULL: there is none. Good until one is added. */
const void *echo_index_find(const struct echo_index *x, const void *entry);
/* Unless something has moved since echo_index_follow. */
void echo_index_add(struct echo_index *x, const void *entry);
