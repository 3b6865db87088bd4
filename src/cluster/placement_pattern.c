/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's regular expressions in POSIX' words. The difference that matters is what a backslash and "(?" mean; whether a
 * repetition is greedy does not, because nobody asks what matched. Go keeps counted repetitions small; the C library
 * does not, so it is done here.
 */
#include "cluster/placement.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#define LENGTH_MAX 256
#define DEPTH_MAX 16
#define WRITTEN_OUT_MAX 4096 /* letters, with counted repetitions written out */

struct pattern {
	regex_t regex;
};

struct translation {
	const char *at;
	struct text out;
	int flags;
	bool can_repeat; /* something stands here that can be repeated */
	/*
	 * Letters so far, with repetitions written out: in the groups that are open, and what a repetition here would
	 * repeat.
	 */
	uint32_t depth, size[DEPTH_MAX], last;
};

static bool take(struct translation *t, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

/* at is behind the backslash. */
static bool escape(struct translation *t)
{
	static const char same[] = "wWsSbB", special[] = "^.[$()|*+?{\\";
	char c = *t->at++;

	if (c == '\0' || (!isalnum((unsigned char)c) && !ispunct((unsigned char)c)))
		return false;
	if (c == 'd' || c == 'D')
		text_add(&t->out, c == 'd' ? "[0-9]" : "[^0-9]");
	else if (c == 'A' || c == 'z')
		text_add_char(&t->out, c == 'A' ? '^' : '$');
	else if (strchr(same, c) != NULL || strchr(special, c) != NULL)
		text_printf(&t->out, "\\%c", c);
	else if (isalnum((unsigned char)c))
		return false;
	else
		text_add_char(&t->out, c);
	return true;
}

/* A backslash inside brackets, where POSIX has none. */
static bool class_escape(struct translation *t, bool *ret_has_dash)
{
	char c = *t->at++;

	if (c == 'd' || c == 'w')
		text_add(&t->out, c == 'd' ? "0-9" : "A-Za-z0-9_");
	else if (c == '-')
		*ret_has_dash = true;
	else if (c != '\0' && ispunct((unsigned char)c) && strchr("[]^", c) == NULL)
		text_add_char(&t->out, c);
	else
		return false;
	return true;
}

/* "[:alpha:]" inside brackets. What begins like the other two things of POSIX is not said in Go. */
static bool class_name(struct translation *t)
{
	const char *end = t->at[1] == ':' ? strstr(t->at + 2, ":]") : NULL;

	if (end == NULL)
		return false;
	text_add_n(&t->out, t->at, (size_t)(end + 2 - t->at));
	t->at = end + 2;
	return true;
}

/* at is behind the bracket. */
static bool class(struct translation *t)
{
	bool has_dash = false;

	text_add_char(&t->out, '[');
	if (take(t, "^"))
		text_add_char(&t->out, '^');
	if (take(t, "]"))
		text_add_char(&t->out, ']');
	while (*t->at != ']') {
		bool is_good = true;
		if (*t->at == '\0')
			return false;
		if (*t->at == '[')
			is_good = class_name(t);
		else if (take(t, "\\"))
			is_good = class_escape(t, &has_dash);
		else
			text_add_char(&t->out, *t->at++);
		if (!is_good)
			return false;
	}
	t->at++;
	text_add(&t->out, has_dash ? "-]" : "]");
	return true;
}

static bool number(const char **s, uint32_t *ret)
{
	if (!isdigit((unsigned char)**s))
		return false;
	for (*ret = 0; isdigit((unsigned char)**s); (*s)++)
		*ret = *ret < LENGTH_MAX ? *ret * 10 + (uint32_t)(**s - '0') : LENGTH_MAX;
	return true;
}

/*
 * "{2}", "{2,}" or "{2,5}" at s. Gives its length and the larger number, which is too large if they are the wrong way
 * round; 0: a brace is all it is.
 */
static size_t count(const char *s, uint32_t *ret_most)
{
	const char *at = s + 1;
	uint32_t least, most;

	if (!number(&at, &least))
		return 0;
	most = least;
	if (*at == ',') {
		at++;
		number(&at, &most);
	}
	*ret_most = most >= least ? most : LENGTH_MAX;
	return *at == '}' ? (size_t)(at + 1 - s) : 0;
}

static bool repetition(struct translation *t)
{
	uint32_t most = 1;
	size_t n = *t->at == '{' ? count(t->at, &most) : 1;

	if (n == 0) {
		text_add(&t->out, "\\{");
		t->at++;
		t->can_repeat = true;
		return true;
	}
	if (!t->can_repeat || most >= LENGTH_MAX)
		return false;
	text_add_n(&t->out, t->at, n);
	t->at += n;
	take(t, "?"); /* as few as possible */
	t->can_repeat = false;
	t->size[t->depth] += most > 1 ? t->last * (most - 1) : 0;
	return t->size[t->depth] <= WRITTEN_OUT_MAX;
}

static bool group_begin(struct translation *t)
{
	text_add_char(&t->out, '(');
	if (++t->depth == DEPTH_MAX)
		return false;
	t->size[t->depth] = 0;
	if (take(t, "?P<") || take(t, "?<")) {
		t->at += strcspn(t->at, ">");
		return take(t, ">");
	}
	return take(t, "?:") || *t->at != '?';
}

static bool group_end(struct translation *t)
{
	if (t->depth == 0)
		return false;
	text_add_char(&t->out, ')');
	t->last = t->size[t->depth--];
	t->size[t->depth] += t->last;
	return t->size[t->depth] <= WRITTEN_OUT_MAX;
}

static bool step(struct translation *t)
{
	char c = *t->at;

	if (strchr("*+?{", c) != NULL)
		return repetition(t);
	t->at++;
	t->can_repeat = c != '(' && c != '|' && c != '^';
	if (c == '(')
		return group_begin(t);
	if (c == ')')
		return group_end(t);
	t->last = 1;
	t->size[t->depth]++;
	if (c == '\\')
		return escape(t);
	if (c == '[')
		return class(t);
	text_add_char(&t->out, c);
	return true;
}

static bool translate(struct translation *t)
{
	if (strlen(t->at) > LENGTH_MAX)
		return false;
	if (take(t, "(?i)"))
		t->flags |= REG_ICASE;
	while (*t->at != '\0')
		if (!step(t))
			return false;
	return t->depth == 0;
}

struct pattern *pattern_new(const char *expression)
{
	struct translation t = {.at = expression, .flags = REG_EXTENDED | REG_NOSUB};
	struct pattern *p = NULL;

	if (translate(&t)) {
		p = mem_alloc(sizeof(*p));
		if (regcomp(&p->regex, text_str(&t.out), t.flags) != 0) {
			mem_free(p);
			p = NULL;
		}
	}
	text_free(&t.out);
	return p;
}

void pattern_free(struct pattern *p)
{
	if (p == NULL)
		return;
	regfree(&p->regex);
	mem_free(p);
}

bool pattern_matches(const struct pattern *p, const char *s)
{
	return regexec(&p->regex, s, 0, NULL, 0) == 0;
}
