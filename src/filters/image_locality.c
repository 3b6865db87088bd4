/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ImageLocality: prefers nodes that have the pod's images already, the larger the better.
 *
 * An image counts by its size times the share of nodes that have it: one that few nodes have would otherwise draw all
 * pods to those few. Below 23 MiB a download does not matter, and above 1000 MiB per container more does not count for
 * more.
 */
#include "filters/builtin.h"

#define MIB (INT64_C(1) << 20)

static const struct obj_image *find_image(const struct obj_node *o, name_id image)
{
	for (uint32_t i = 0; i < o->n_images; i++)
		if (o->images[i].name == image)
			return &o->images[i];
	return NULL;
}

static uint32_t nodes_with(const struct cede_cycle *c, name_id image)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		n += find_image(ledger_node(c->ledger, c->nodes[i])->obj, image) != NULL;
	return n;
}

/* State: how many nodes have each image of the pod, in the order of shape.images. */
static struct cede_verdict pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	const struct shape *s = c->shape;
	uint32_t *counts = cede_alloc(c, (s->n_images + 1) * sizeof(*counts));

	for (uint32_t i = 0; i < s->n_images; i++)
		counts[i] = nodes_with(c, s->images[i]);
	cede_set_state(c, &image_locality_plugin, counts);
	return cede_ok();
}

static int64_t image_score(const struct cede_cycle *c, const uint32_t *counts, uint32_t i, const struct obj_node *o)
{
	const struct obj_image *image = find_image(o, c->shape->images[i]);
	uint32_t n;

	if (!image)
		return 0;
	n = counts ? counts[i] : nodes_with(c, c->shape->images[i]);
	return (int64_t)((double)image->bytes * ((double)n / (double)c->n_nodes));
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct obj_node *o = ledger_node(c->ledger, node)->obj;
	const uint32_t *counts = cede_get_state(c, &image_locality_plugin);
	const int64_t min = 23 * MIB, max = 1000 * MIB * c->shape->n_containers;
	int64_t sum = 0;

	if (!o->n_images)
		return 0;
	for (uint32_t i = 0; i < c->shape->n_images; i++)
		sum = res_add_sat(sum, image_score(c, counts, i, o));
	if (sum <= min || max <= min)
		return 0;
	sum = sum > max ? max : sum;
	return CEDE_SCORE_MAX * (sum - min) / (max - min);
}

const struct cede_plugin image_locality_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "ImageLocality",
	.pre_score = pre_score,
	.score = score,
};
