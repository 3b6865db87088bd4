/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - what went wrong, said once at the source and given context on the way up.
 *
 * A function that can fail returns an enum err_code, 0 being success, and takes a struct err * that it fills on
 * failure only (NULL: the caller does not care for the words). The struct lives on the caller's stack; failing
 * never allocates, so failing cannot fail. "It does not fit" is a result, not an error.
 */
#pragma once

enum err_code {
	ERR_OK = 0,
	ERR_INPUT,    /* the user's input is wrong; the message says where and what was expected */
	ERR_NOTFOUND, /* a named thing does not exist */
	ERR_CONFLICT, /* two things contradict each other */
	ERR_IO,	      /* the operating system said no */
	ERR_LIMIT,    /* the input is well-formed but larger than we accept */
	ERR_INTERNAL, /* a bug in cede: a self-check failed */
};

struct err {
	enum err_code code;
	char msg[512]; /* "queue root.ml: guaranteed: cpu: bad quantity '4x' (queues.yaml:12:9)" */
};

/*
 * Fill *e (if not NULL) and be code: `return err_fail(e, ERR_INPUT, "...", ...)`. A macro, so that compilers and
 * analysers see that it is never success.
 */
#define err_fail(e, code, ...) (err_set((e), (code), __VA_ARGS__), err_same(code))
static inline enum err_code err_same(enum err_code code)
{
	return code;
}
void err_set(struct err *e, enum err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));

/*
 * Put context in front: err_wrap(e, "pod %s", "a/b") makes "pod a/b: " + msg (": " is put between unless the context
 * ends in a blank). Returns e->code; ERR_INTERNAL when e is NULL, so whoever may be given NULL keeps the code it got.
 * The tail is cut if it gets too long, never the front, and never inside a UTF-8 character.
 */
enum err_code err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
