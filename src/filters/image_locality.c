/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ImageLocality: prefers nodes that have the pod's images already, the larger the better.
 *
 * An image counts by its size times the share of nodes that have it: one that few nodes have would otherwise draw all
 * pods to those few. Below 23 MiB a download does not matter, and above 1000 MiB per container more does not count for
 * more.
 */
#include "filters/builtin.h"
#include "filters/node_memo.h"

#define MIB (INT64_C(1) << 20)

/* A set of images as bits: if it does not have the image's bit it does not have the image. */
static uint64_t image_bit(name_id image)
{
	return UINT64_C(1) << (image % 64);
}

static void sum_images(const struct cede_cycle *c, const struct ledger_node *n, struct memo_sums *ret)
{
	for (uint32_t i = 0; i < n->obj->n_images; i++)
		ret->a |= (int64_t)image_bit(n->obj->images[i].name);
}

static const struct obj_image *find_image(void *self, const struct cede_cycle *c, node_id node, name_id image)
{
	const struct memo_sums *known = node_memo_find(self, c, node);
	const struct obj_node *o;

	if (known && !((uint64_t)known->a & image_bit(image)))
		return NULL;
	o = ledger_node(c->ledger, node)->obj;
	for (uint32_t i = 0; i < o->n_images; i++)
		if (o->images[i].name == image)
			return &o->images[i];
	return NULL;
}

static uint32_t nodes_with(void *self, const struct cede_cycle *c, name_id image)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		n += find_image(self, c, c->nodes[i], image) != NULL;
	return n;
}

/* State: how many nodes have each image of the pod, in the order of shape.images. */
static struct cede_verdict pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	const struct shape *s = c->shape;
	uint32_t *counts = cede_alloc(c, (s->n_images + 1) * sizeof(*counts));

	if (s->n_images)
		node_memo_refresh(self, c, c->nodes, c->n_nodes, sum_images);
	for (uint32_t i = 0; i < s->n_images; i++)
		counts[i] = nodes_with(self, c, s->images[i]);
	cede_set_state(c, &image_locality_plugin, counts);
	return cede_ok();
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const uint32_t *counts = cede_get_state(c, &image_locality_plugin);
	const int64_t min = 23 * MIB, max = 1000 * MIB * c->shape->n_containers;
	int64_t sum = 0;

	for (uint32_t i = 0; i < c->shape->n_images; i++) {
		name_id name = c->shape->images[i];
		const struct obj_image *image = find_image(self, c, node, name);
		uint32_t n;

		if (!image)
			continue;
		n = counts ? counts[i] : nodes_with(self, c, name);
		sum = res_add_sat(sum, (int64_t)((double)image->bytes * ((double)n / (double)c->n_nodes)));
	}
	if (sum <= min || max <= min)
		return 0;
	sum = sum > max ? max : sum;
	return CEDE_SCORE_MAX * (sum - min) / (max - min);
}

const struct cede_plugin image_locality_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "ImageLocality",
	.create = node_memo_create,
	.destroy = node_memo_destroy,
	.pre_score = pre_score,
	.score = score,
};
