/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds DIR N: N random clusters as files, for fuzzers to start from. What the properties try as whole worlds is small
 * enough here to be tried many times a second. The first byte is a digit that fuzz_pipeline.c takes as the profile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "properties/mixed_world.h"
#include "properties/mixed_write.h"
#include "properties/random_manifest.h"

enum { NODES = 2, PODS = 5, PROFILES = 4 };

/* Everything but its pods, and a few of those. Objects come before pods. */
static void mixed_seed(uint64_t seed, struct text *out)
{
	struct rng r = {seed + 1};
	struct mixed m;
	uint32_t n_pods, left = PODS;

	mixed_draw(&m, seed, (enum profile)(seed / 2 % PROFILES));
	mixed_write(&m);
	n_pods = m.p.n;
	for (uint32_t i = 0, n = m.docs.v.n; i < n; i++) {
		bool is_pod = i >= n - n_pods;

		if (is_pod && (!left || rng_below(&r, n - i) >= left))
			continue;
		left -= is_pod;
		text_printf(out, "---\n%s", text_str(&m.docs.v.v[i]));
	}
	for (uint32_t i = 0; i < m.settings.v.n; i++)
		text_printf(out, "---\n%s", text_str(&m.settings.v.v[i]));
	mixed_free(&m);
}

static void odd_seed(uint64_t seed, struct text *out)
{
	struct gen g;

	gen_small_file(&g, seed, false, NODES, PODS);
	text_add(out, text_str(&g.out));
	text_free(&g.out);
}

static bool write_seed(const char *dir, unsigned i)
{
	struct text path = {0}, out = {0};
	bool is_written = false;
	FILE *f;

	text_printf(&out, "%u", i / 2 % PROFILES);
	if (i % 2)
		odd_seed(i, &out);
	else
		mixed_seed(i, &out);
	text_printf(&path, "%s/seed-%03u", dir, i);
	f = fopen(text_str(&path), "wb");
	if (f) {
		is_written = fwrite(text_str(&out), 1, out.n, f) == out.n;
		is_written = !fclose(f) && is_written;
	}
	text_free(&path);
	text_free(&out);
	return is_written;
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (!n || n > 1000) {
		fputs("usage: seeds DIR N, N up to 1000\n", stderr);
		return 2;
	}
	for (unsigned i = 1; i <= n; i++)
		if (!write_seed(argv[1], i)) {
			perror(argv[1]);
			return 1;
		}
	return 0;
}
