/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include "base/arena.h"

#include <stdlib.h>

uint32_t array_next_cap(uint32_t cap, uint32_t want)
{
	const uint32_t most = UINT32_C(1) << 31;
	if (want > most)
		mem_fail();
	cap = cap > 8 ? cap : 8;
	while (cap < want)
		cap = cap > most / 2 ? most : cap * 2;
	return cap;
}
