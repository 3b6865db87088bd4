/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - one request to a server under test. */
#pragma once

#include <curl/curl.h>
#include <string.h>

#include "base/text.h"

struct http_answer {
	long status;
	struct text body, headers;
};

static _Thread_local const char *http_enough; /* a stream is left when this has come */

static inline size_t http_keep(char *data, size_t size, size_t n, void *to)
{
	text_add_n(to, data, size * n);
	return http_enough && strstr(text_str(to), http_enough) ? 0 : size * n;
}

static inline struct http_answer http_ask(const char *base, const char *method, const char *path, const char *header,
					  const char *body)
{
	CURL *c = curl_easy_init();
	struct curl_slist *headers = header ? curl_slist_append(NULL, header) : NULL;
	struct text url = {0};
	struct http_answer a = {0};

	text_printf(&url, "%s%s", base, path);
	curl_easy_setopt(c, CURLOPT_URL, text_str(&url));
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
	if (str_eq(method, "HEAD"))
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
	if (body)
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, http_keep);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &a.body);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, http_keep);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, &a.headers);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, 60000L);
	curl_easy_perform(c);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status);
	curl_easy_cleanup(c);
	curl_slist_free_all(headers);
	text_free(&url);
	return a;
}
