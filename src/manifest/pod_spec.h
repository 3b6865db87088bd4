/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_spec.h - the two halves of reading a pod: where it may run, and what it takes. Drafts live in the reader's
 * scratch arena, names in bag.
 */
#pragma once

#include "manifest/fields.h"
#include "model/podreq.h"

/*
 * What the three below read stands in shape_memory.c too: of two pods that differ in a field which is not there, the
 * second would get the shape of the first.
 */

/* Everything of a shape but the amounts. */
enum err_code pod_spec(const struct reader *r, const struct at *spec, struct name_bag *bag, struct shape *s,
		       struct err *e);
/* What the containers, pod-level resources and status say, exactly as written. */
enum err_code pod_req(const struct reader *r, const struct at *pod, struct req_pod *ret, struct err *e);
/* request, usage and the non-zero amounts of a shape from it. */
enum err_code pod_amounts(const struct reader *r, const struct at *pod, const struct req_pod *req, struct shape *s,
			  struct err *e);
/* What they make of fields of which the rest does not matter. */
bool pod_claims_volumes(const struct at *spec);
bool pod_cannot_resize(const struct at *status); /* what is asked for does not count then */
