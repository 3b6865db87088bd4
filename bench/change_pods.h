/* SPDX-License-Identifier: Apache-2.0 */
/* change_pods.h - a cluster's text in which some pods became others, as between two moments. For benchmarks. */
#pragma once

#include <string.h>

#include "base/array.h"
#include "base/map.h"

typedef ARRAY(size_t) text_offsets;

/* Where the pods of a List begin. */
static inline void find_pods(char *list, text_offsets *ret)
{
	for (char *p = list; (p = strstr(p, "\"kind\":\"Pod\",")); p++)
		array_push(ret, (size_t)(p - list));
}

/* Digits and letters of a value become others of their kind. */
static inline void change_value(char *object, const char *key, size_t skip, uint64_t random)
{
	char *p = strstr(object, key);

	if (!p)
		return;
	for (p += strlen(key) + skip; *p && *p != '"'; p++) {
		random = hash_u64(random);
		if (*p >= '0' && *p <= '5')
			*p = (char)('0' + random % 6);
		else if (*p >= 'a' && *p <= 'f')
			*p = (char)('a' + random % 6);
	}
}

static inline void change_pods(char *list, const text_offsets *pods, uint32_t n, uint32_t round)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t random = hash_u64(map_key2(round, i));
		char *pod = list + pods->v[random % pods->n];

		change_value(pod, "\"name\":\"", 10, random + 1);
		change_value(pod, "\"uid\":\"", 0, random + 2);
		change_value(pod, "\"nodeName\":\"", 5, random + 3);
		change_value(pod, "\"startTime\":\"", 11, random + 4);
	}
}
