/* SPDX-License-Identifier: Apache-2.0 */
/* emit_fields.h - fields of data that are left out where they have no value. */
#pragma once

#include "base/clock.h"
#include "base/emit.h"
#include "units/duration.h"
#include "units/timestamp.h"

static inline void emit_some(struct emit *e, const char *key, const char *s)
{
	if (s && *s)
		emit_str(e, key, s);
}

static inline void emit_time(struct emit *e, const char *key, int64_t ns)
{
	struct text t = {0};

	if (ns == TIME_NONE)
		return;
	timestamp_text(ns, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

static inline void emit_duration(struct emit *e, const char *key, int64_t ns)
{
	struct text t = {0};

	if (ns == TIME_NONE)
		return;
	duration_text(ns, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}
