/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue properties: reading, writing and inheriting them. One table row per property; a setter returns false for a bad
 * value and leaves the default that was put there before.
 */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "model/queue.h"
#include "units/duration.h"
#include "units/labels.h"

#define BACKOFF_DELAY_DEFAULT_NS (30 * NS_PER_S)
/* What a queue does not get from its parent. Of preemption.policy only "disabled" comes down. */
#define NOT_INHERITED ((uint32_t)(STATED_PRIORITY_POLICY | STATED_PRIORITY_OFFSET | STATED_PREEMPTION_POLICY))

static bool set_sort(struct queue_props *p, const char *s)
{
	bool is_fair = strcmp(s, "fair") == 0;
	p->sort = is_fair ? SORT_FAIR : SORT_FIFO;
	return is_fair || *s == '\0' || strcmp(s, "fifo") == 0;
}

static bool set_sort_priority(struct queue_props *p, const char *s)
{
	p->sort_ignores_priority = strcasecmp(s, "disabled") == 0;
	return p->sort_ignores_priority || *s == '\0' || strcasecmp(s, "enabled") == 0;
}

static bool set_priority_policy(struct queue_props *p, const char *s)
{
	p->is_priority_fence = strcasecmp(s, "fence") == 0;
	return p->is_priority_fence || *s == '\0' || strcasecmp(s, "default") == 0;
}

static bool set_priority_offset(struct queue_props *p, const char *s)
{
	int64_t v;
	if (!label_number(s, strlen(s), &v) || v < INT32_MIN || v > INT32_MAX)
		return false;
	p->priority_offset = (int32_t)v;
	return true;
}

static const char *const policy_words[] = {
	[POLICY_DEFAULT] = "default",
	[POLICY_FENCE] = "fence",
	[POLICY_DISABLED] = "disabled",
};

static bool set_preemption_policy(struct queue_props *p, const char *s)
{
	for (int i = POLICY_DEFAULT; i <= POLICY_DISABLED; i++) {
		if (strcasecmp(s, policy_words[i]) == 0) {
			p->preemption_policy = (enum preemption_policy)i;
			return true;
		}
	}
	return *s == '\0';
}

static bool set_positive(int64_t *ret, const char *s)
{
	int64_t ns;
	if (duration_parse(s, strlen(s), false, &ns, NULL) != ERR_OK || ns <= 0)
		return false;
	*ret = ns;
	return true;
}

static bool set_preemption_delay(struct queue_props *p, const char *s)
{
	return set_positive(&p->preemption_delay_ns, s);
}

/* Zero switches it off, which is what a bad value does as well: only the wording differs. */
static bool set_quota_delay(struct queue_props *p, const char *s)
{
	int64_t ns;
	bool is_off = duration_parse(s, strlen(s), false, &ns, NULL) == ERR_OK && ns == 0;
	return is_off || set_positive(&p->quota_delay_ns, s);
}

static bool set_backoff(struct queue_props *p, const char *s)
{
	uint64_t v = 0;
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	p->backoff = v;
	return true;
}

static bool set_backoff_delay(struct queue_props *p, const char *s)
{
	return set_positive(&p->backoff_delay_ns, s);
}

/* "none" lifts what a parent says. */
static bool set_protected_hours(struct queue_props *p, const char *s)
{
	return strcmp(s, "none") == 0 || week_hours_parse(s, strlen(s), &p->protected_hours, NULL) == ERR_OK;
}

static const struct prop {
	enum queue_stated which;
	const char *key;
	bool (*set)(struct queue_props *p, const char *value);
} props[] = {
	{STATED_SORT, "application.sort.policy", set_sort},
	{STATED_SORT_PRIORITY, "application.sort.priority", set_sort_priority},
	{STATED_PRIORITY_POLICY, "priority.policy", set_priority_policy},
	{STATED_PRIORITY_OFFSET, "priority.offset", set_priority_offset},
	{STATED_PREEMPTION_POLICY, "preemption.policy", set_preemption_policy},
	{STATED_PREEMPTION_DELAY, "preemption.delay", set_preemption_delay},
	{STATED_QUOTA_DELAY, "quota.preemption.delay", set_quota_delay},
	{STATED_BACKOFF, "application.unschedasks.backoff", set_backoff},
	{STATED_BACKOFF_DELAY, "application.unschedasks.backoff.delay", set_backoff_delay},
	{STATED_PROTECTED_HOURS, PROTECTED_HOURS_KEY, set_protected_hours},
};
#define N_PROPS (sizeof(props) / sizeof(*props))

struct queue_props queue_props_default(void)
{
	return (struct queue_props){
		.preemption_delay_ns = PREEMPTION_DELAY_DEFAULT_NS,
		.backoff_delay_ns = BACKOFF_DELAY_DEFAULT_NS,
	};
}

void queue_props_take(struct queue_props *to, const struct queue_props *from, uint32_t which)
{
	if (which & STATED_SORT)
		to->sort = from->sort;
	if (which & STATED_SORT_PRIORITY)
		to->sort_ignores_priority = from->sort_ignores_priority;
	if (which & STATED_PRIORITY_POLICY)
		to->is_priority_fence = from->is_priority_fence;
	if (which & STATED_PRIORITY_OFFSET)
		to->priority_offset = from->priority_offset;
	if (which & STATED_PREEMPTION_POLICY)
		to->preemption_policy = from->preemption_policy;
	if (which & STATED_PREEMPTION_DELAY)
		to->preemption_delay_ns = from->preemption_delay_ns;
	if (which & STATED_QUOTA_DELAY)
		to->quota_delay_ns = from->quota_delay_ns;
	if (which & STATED_BACKOFF)
		to->backoff = from->backoff;
	if (which & STATED_BACKOFF_DELAY)
		to->backoff_delay_ns = from->backoff_delay_ns;
	if (which & STATED_PROTECTED_HOURS)
		to->protected_hours = from->protected_hours;
	to->stated |= which;
}

bool queue_prop_set(struct queue_props *p, const char *key, const char *value, bool *ret_is_bad)
{
	for (size_t i = 0; i < N_PROPS; i++) {
		if (strcmp(key, props[i].key) != 0)
			continue;
		const struct queue_props defaults = queue_props_default();
		queue_props_take(p, &defaults, props[i].which);
		bool is_good = props[i].set(p, value);
		if (ret_is_bad != NULL)
			*ret_is_bad = !is_good;
		return true;
	}
	return false;
}

const char *queue_prop_key(enum queue_stated which)
{
	for (size_t i = 0; i < N_PROPS; i++)
		if (props[i].which == which)
			return props[i].key;
	assert(!"one of enum queue_stated");
	return "";
}

void queue_prop_text(const struct queue_props *p, enum queue_stated which, struct text *out)
{
	switch (which) {
	case STATED_SORT:
		text_add(out, p->sort == SORT_FAIR ? "fair" : "fifo");
		break;
	case STATED_SORT_PRIORITY:
		text_add(out, p->sort_ignores_priority ? "disabled" : "enabled");
		break;
	case STATED_PRIORITY_POLICY:
		text_add(out, p->is_priority_fence ? "fence" : "default");
		break;
	case STATED_PRIORITY_OFFSET:
		text_printf(out, "%" PRId32, p->priority_offset);
		break;
	case STATED_PREEMPTION_POLICY:
		text_add(out, policy_words[p->preemption_policy]);
		break;
	case STATED_PREEMPTION_DELAY:
		duration_text(p->preemption_delay_ns, out);
		break;
	case STATED_QUOTA_DELAY:
		duration_text(p->quota_delay_ns, out);
		break;
	case STATED_BACKOFF:
		text_printf(out, "%" PRIu64, p->backoff);
		break;
	case STATED_BACKOFF_DELAY:
		duration_text(p->backoff_delay_ns, out);
		break;
	case STATED_PROTECTED_HOURS:
		if (p->protected_hours.days)
			week_hours_text(&p->protected_hours, out);
		else
			text_add(out, "none");
		break;
	case STATED_END:
		break;
	}
}

struct queue_props queue_effective(const struct queue_props *parent, const struct queue_props *own)
{
	struct queue_props p = queue_props_default();
	queue_props_take(&p, parent, parent->stated & ~NOT_INHERITED);
	if (parent->preemption_policy == POLICY_DISABLED)
		queue_props_take(&p, parent, parent->stated & STATED_PREEMPTION_POLICY);
	queue_props_take(&p, own, own->stated);
	return p;
}

struct queue_props queue_props_resolve(const struct queue_props *parent, const struct queue_spec *spec)
{
	const struct queue_props defaults = queue_props_default();
	struct queue_props p = queue_effective(parent != NULL ? parent : &defaults, &spec->props);
	bool knows_delay = spec->sources == 0 || (spec->sources & (FROM_YUNIKORN | FROM_TEMPLATE)) != 0;
	if (!knows_delay && !(spec->props.stated & STATED_PREEMPTION_DELAY)) {
		p.stated &= ~(uint32_t)STATED_PREEMPTION_DELAY;
		p.preemption_delay_ns = 0;
	}
	return p;
}
