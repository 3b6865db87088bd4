/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "base/arena.h"
#include "manifest/fields.h"

enum { KEY_SERVER = 0x900, KEY_TOKEN_FILE, KEY_CA_FILE, MAX_ANSWER = 256 << 20, PATIENCE_S = 150 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct remote *r = state->input;

	switch (key) {
	case KEY_SERVER:
		if (!str_starts(arg, "http://") && !str_starts(arg, "https://"))
			argp_error(state, "--server: expected a URL such as http://127.0.0.1:10269, found '%s'", arg);
		r->url = arg;
		return 0;
	case KEY_TOKEN_FILE:
		r->token_file = arg;
		return 0;
	case KEY_CA_FILE:
		r->ca_file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"server", KEY_SERVER, "URL", 0, "Ask a running cede run or cede serve, which knows what it just decided", 0},
	{"token-file", KEY_TOKEN_FILE, "FILE", 0, "A bearer token for it", 0},
	{"ca-file", KEY_CA_FILE, "FILE", 0, "Whom to trust for its certificate, in PEM", 0},
	{0},
};

const struct argp remote_argp = {.options = argp_options, .parser = parse};

void remote_escape(const char *s, struct text *out)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (isalnum(c) || strchr("-._~/", c))
			text_add_char(out, (char)c);
		else
			text_printf(out, "%%%02X", c);
	}
}

static size_t keep(char *data, size_t size, size_t n, void *to)
{
	struct text *t = to;

	if (t->n + size * n > MAX_ANSWER)
		return 0;
	text_add_n(t, data, size * n);
	return size * n;
}

/* "Authorization: Bearer ...", to be freed and wiped. */
static enum err_code read_token(const char *path, struct text *ret, struct err *e)
{
	FILE *f = fopen(path, "re");
	char line[8192];

	if (!f)
		return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	line[strcspn(line, "\r\n \t")] = '\0';
	if (*line)
		text_printf(ret, "Authorization: Bearer %s", line);
	explicit_bzero(line, sizeof(line));
	return ret->n ? ERR_OK : err_fail(e, ERR_INPUT, "%s: expected a token, found nothing", path);
}

/* The words of an answer that is an error, as the server wrote them. */
static void add_words(const char *body, struct text *out)
{
	struct arena *a = arena_new(4096);
	const struct tree *t = NULL, *message;

	if (!tree_parse_json("answer", body, strlen(body), a, &t, NULL)) {
		message = tree_get(t, "message");
		if (tree_is(message, TREE_STRING))
			text_printf(out, ": %s", message->text);
	}
	arena_free(a);
}

static enum err_code judge(CURL *c, CURLcode rc, const char *url, struct text *body, struct err *e)
{
	struct text words = {0};
	long status = 0;

	if (rc)
		return err_fail(e, ERR_IO, "%s: %s", url, curl_easy_strerror(rc));
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return ERR_OK;
	add_words(text_str(body), &words);
	err_set(e, status == 404 ? ERR_NOTFOUND : ERR_IO, "%s answered %ld%s", url, status, text_str(&words));
	text_free(&words);
	text_reset(body);
	return ERR_IO;
}

static void set_up(CURL *c, const struct remote *r, const char *url, struct curl_slist *headers, struct text *ret)
{
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)PATIENCE_S);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, ret);
	if (r->ca_file)
		curl_easy_setopt(c, CURLOPT_CAINFO, r->ca_file);
}

enum err_code remote_get(const struct remote *r, const char *path, struct text *ret, struct err *e)
{
	struct curl_slist *headers = NULL;
	struct text url = {0}, token = {0};
	enum err_code rc = r->token_file ? read_token(r->token_file, &token, e) : ERR_OK;
	CURL *c = rc ? NULL : curl_easy_init();

	text_add(&url, r->url);
	while (url.n && url.s[url.n - 1] == '/')
		url.s[--url.n] = '\0';
	text_add(&url, path);
	if (c) {
		headers = token.n ? curl_slist_append(NULL, text_str(&token)) : NULL;
		set_up(c, r, text_str(&url), headers, ret);
		rc = judge(c, curl_easy_perform(c), r->url, ret, e);
		curl_easy_cleanup(c);
		curl_slist_free_all(headers);
	}
	if (token.n)
		explicit_bzero(token.s, token.n);
	text_free(&token);
	text_free(&url);
	return rc;
}
