/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - a cluster read once, for commands that look and go.
 *
 * Lists every kind that cede reads, page by page, and the ConfigMaps with settings, into a manifest, as if they had
 * been files; messages then name the server's path instead of a file. The lists are not of one moment: what points to
 * something that came or went meanwhile is no error, so the cluster is not to be built strictly.
 */
#pragma once

#include "base/text.h"
#include "kube/client.h"
#include "manifest/manifest.h"

struct kube_snapshot_options {
	const char *ns; /* of the ConfigMaps; "": none are read */
	uint32_t page;	/* objects of one page; 0: 500 */
};

/*
 * Kinds that may be missing or forbidden become a line in notes. A list whose pages expired under us is an
 * error: it can be begun anew, but not from here.
 */
enum err_code kube_snapshot(struct kube_client *c, const struct kube_snapshot_options *o, struct manifest *m,
			    struct text *notes, struct err *e);

/* One page, taken apart. */
struct kube_page {
	const char *next;	  /* the continue token; "" at the last page */
	const char *version;	  /* resourceVersion of the list */
	const struct tree *items; /* a list; NULL: the server sent none, or null */
};
enum err_code kube_page_parse(const char *name, const char *data, size_t len, struct arena *a, struct kube_page *ret,
			      struct err *e);
