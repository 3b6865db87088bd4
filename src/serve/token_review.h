/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_review.h - who asks, and may he? As the API server says: a TokenReview for the token, and a SubjectAccessReview
 * for the path (nonResourceURLs in a ClusterRole: "/metrics", "/cede/api/v1/…") with the verb get or post. Paths below
 * /api stand below /cede there: by default everybody whom a cluster knows may get its /api/…
 *
 * It has a client of its own, so that nothing of the scheduler waits for it. One thread at a time.
 */
#pragma once

#include "kube/kubeconfig.h"
#include "serve/serve.h"

struct token_review;

enum err_code token_review_new(const struct kube_config_source *src, struct token_review **ret, struct err *e);
void token_review_free(struct token_review *t); /* NULL is fine */
enum serve_access token_review_judge(struct token_review *t, const char *token, const char *method, const char *path);

/* The same with somebody else's way to the API server, for tests: sends body to path; status 0: no answer. */
struct review_transport {
	int (*post)(void *ctx, const char *path, const struct text *body, struct text *ret_answer);
	void *ctx;
};
enum serve_access token_review_with(const struct review_transport *t, const char *token, const char *method,
				    const char *path);
