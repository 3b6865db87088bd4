/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes on random clusters of all kinds of objects, in every profile (VO-1, VO-2): no volume is given twice, every
 * one that is given reaches its node and is large enough, every claim of a pod that is placed has one, a claim for one
 * pod is used by one, nothing more is attached than may be, a plan that is taken back leaves nothing behind, and the
 * answer is the same in any order of documents, with any number of threads, and read back from what was written.
 *
 * Beside the mixed world (mixed_world.h) there are volumes of a class that makes none, claims on them and on a class
 * that does, claims that run already, and one claim that only one pod may use.
 *
 * CEDE_N: clusters per profile; CEDE_SEED: from which on; CEDE_DUMP: a file for the last cluster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/mixed_run.h"

enum { V_MAX = 10, CLAIMS_MAX = 2 };
enum claim_kind { NO_CLAIM, STATIC, MADE, ONLY, RUNS };

struct v_volume {
	int size, host, zone; /* GiB; -1: anywhere */
};

struct v_pod {
	enum claim_kind kind[CLAIMS_MAX];
	int size[CLAIMS_MAX];
};

struct world {
	struct mixed m;
	struct v_volume v[V_MAX];
	int n_volumes, limit[M_NODES];
	struct v_pod *p;
	uint64_t seed;
};

static struct {
	uint64_t decisions, given, made, waited;
} counted;

static void breaks(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void breaks(const struct world *w, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	fail_msg("profile %s, CEDE_SEED=%llu: %s", profile_text(w->m.profile), (unsigned long long)w->seed, why);
}

/* ---- drawing ---- */

static void draw_claims(struct world *w, uint32_t i)
{
	struct mixed *m = &w->m;
	struct v_pod *p = &w->p[i];

	if (m->p.v[i].node != NOWHERE) {
		p->kind[0] = one_in(m, 3) ? RUNS : NO_CLAIM;
		return;
	}
	for (int k = 0; k < CLAIMS_MAX; k++) {
		p->kind[k] = one_in(m, 3) ? STATIC : one_in(m, 5) ? MADE : one_in(m, 9) ? ONLY : NO_CLAIM;
		p->size[k] = 1 + below(m, 6);
	}
	if (p->kind[0] == ONLY && p->kind[1] == ONLY)
		p->kind[1] = NO_CLAIM;
}

static int attached_at(const struct world *w, int node)
{
	int n = 0;

	for (uint32_t i = 0; i < w->m.p.n; i++)
		n += w->m.p.v[i].node == node && w->p[i].kind[0] == RUNS;
	return n;
}

static void draw(struct world *w, uint64_t seed, enum profile profile)
{
	*w = (struct world){.seed = seed};
	mixed_draw(&w->m, seed, profile);
	w->p = mem_alloc((w->m.p.n + 1) * sizeof(*w->p));
	w->n_volumes = 1 + below(&w->m, V_MAX - 1);
	for (int i = 0; i < w->n_volumes; i++) {
		int where = below(&w->m, 3);

		w->v[i] = (struct v_volume){.size = 1 + below(&w->m, 8),
					    .host = where == 0 ? below(&w->m, w->m.n_nodes) : -1,
					    .zone = where == 1 ? below(&w->m, 2) : -1};
	}
	for (uint32_t i = 0; i < w->m.p.n; i++)
		draw_claims(w, i);
	for (int n = 0; n < w->m.n_nodes; n++)
		w->limit[n] = one_in(&w->m, 3) ? -1 : attached_at(w, n) + below(&w->m, 2);
	for (uint32_t i = 0; i < w->m.p.n; i++) { /* somebody may have it */
		if (w->m.p.v[i].node == NOWHERE || w->p[i].kind[0] != NO_CLAIM || w->m.p.v[i].ns != 0 ||
		    !one_in(&w->m, 4))
			continue;
		w->p[i].kind[0] = ONLY;
		break;
	}
}

/* ---- writing ---- */

static void write_claim(struct world *w, uint32_t i, int k)
{
	const struct m_pod *p = &w->m.p.v[i];
	const struct v_pod *c = &w->p[i];
	struct text *t;

	if (c->kind[k] == NO_CLAIM || c->kind[k] == ONLY)
		return;
	t = doc_new(&w->m.docs);
	text_printf(t, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c%u-%d, namespace: s%d%s}\n", i,
		    k, p->ns, c->kind[k] == RUNS ? ", annotations: {pv.kubernetes.io/bind-completed: y}" : "");
	text_printf(
		t,
		"spec: {accessModes: [ReadWriteOnce], storageClassName: %s, resources: {requests: {storage: %dGi}}%s",
		c->kind[k] == STATIC ? "local" : "made", c->size[k], c->kind[k] == RUNS ? ", volumeName: " : "}\n");
	if (c->kind[k] != RUNS)
		return;
	text_printf(t, "r%u}\n", i);
	text_printf(
		doc_new(&w->m.docs),
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: r%u}\nspec: {capacity: {storage: 9Gi}, "
		"accessModes: [ReadWriteOnce], storageClassName: made, claimRef: {namespace: s%d, name: c%u-%d}, csi: "
		"{driver: d, volumeHandle: h%u}}\nstatus: {phase: Bound}\n",
		i, p->ns, i, k, i);
}

static void write_volume(struct world *w, int i)
{
	const struct v_volume *v = &w->v[i];
	struct text *t = doc_new(&w->m.docs);

	text_printf(
		t,
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v%d}\nspec:\n  capacity: {storage: %dGi}\n"
		"  accessModes: [ReadWriteOnce]\n  storageClassName: local\n",
		i, v->size);
	if (v->host >= 0 || v->zone >= 0)
		text_printf(
			t,
			"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, "
			"values: [%c%d]}]}]}}\n",
			v->host >= 0 ? "kubernetes.io/hostname" : "zone", v->host >= 0 ? 'n' : 'z',
			v->host >= 0 ? v->host : v->zone);
	text_add(t, "status: {phase: Available}\n");
}

static void write_storage(struct world *w)
{
	struct docs *d = &w->m.docs;

	text_add(doc_new(d), "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\n"
			     "provisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n");
	text_add(doc_new(d),
		 "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: made}\nprovisioner: d\n"
		 "volumeBindingMode: WaitForFirstConsumer\n");
	text_add(doc_new(d),
		 "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: only, namespace: s0, annotations: "
		 "{pv.kubernetes.io/bind-completed: y}}\nspec: {accessModes: [ReadWriteOncePod], volumeName: only, "
		 "storageClassName: local}\n");
	text_add(doc_new(d),
		 "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: only}\nspec: {capacity: {storage: 9Gi}, "
		 "storageClassName: local, claimRef: {namespace: s0, name: only}}\nstatus: {phase: Bound}\n");
	for (int i = 0; i < w->n_volumes; i++)
		write_volume(w, i);
	for (int n = 0; n < w->m.n_nodes; n++)
		if (w->limit[n] >= 0)
			text_printf(doc_new(d),
				    "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n%d}\nspec: "
				    "{drivers: [{name: "
				    "d, nodeID: x, allocatable: {count: %d}}]}\n",
				    n, w->limit[n]);
	for (uint32_t i = 0; i < w->m.p.n; i++)
		for (int k = 0; k < CLAIMS_MAX; k++)
			write_claim(w, i, k);
}

static const char *claim_name(const struct world *w, uint32_t i, int k)
{
	static char name[24];

	if (w->p[i].kind[k] == ONLY)
		return "only";
	snprintf(name, sizeof(name), "c%u-%d", i, k);
	return name;
}

/* The pod's document gets its volumes, before its containers. A claim is of its pod's namespace: "only" is of s0. */
static void give_volumes(struct world *w, uint32_t i, struct text *doc)
{
	char *at = strstr(doc->s, "  containers:");
	struct text t = {0};

	if (w->p[i].kind[0] == NO_CLAIM && w->p[i].kind[1] == NO_CLAIM)
		return;
	text_add_n(&t, doc->s, (size_t)(at - doc->s));
	text_add(&t, "  volumes: [");
	for (int k = 0; k < CLAIMS_MAX; k++)
		if (w->p[i].kind[k] != NO_CLAIM)
			text_printf(&t, "{name: v%d, persistentVolumeClaim: {claimName: %s}}, ", k,
				    claim_name(w, i, k));
	text_add(&t, "{name: tmp, emptyDir: {}}]\n");
	text_add(&t, at);
	text_free(doc);
	*doc = t;
}

static void write_world(struct world *w)
{
	uint32_t first;

	for (uint32_t i = 0; i < w->m.p.n; i++) /* pods of the other namespace have no claim "only" */
		for (int k = 0; k < CLAIMS_MAX; k++)
			if (w->p[i].kind[k] == ONLY && w->m.p.v[i].ns != 0)
				w->p[i].kind[k] = NO_CLAIM;
	mixed_write(&w->m);
	first = w->m.docs.v.n - w->m.p.n;
	for (uint32_t i = 0; i < w->m.p.n; i++)
		give_volumes(w, i, &w->m.docs.v.v[first + i]);
	write_storage(w);
}

/* ---- judging ---- */

static const struct decision *last_of(const struct live *l, uint32_t i)
{
	const struct decision *d = &l->plan.v.v[i];

	for (uint32_t k = i + 1; k < l->plan.v.n; k++)
		if (l->plan.v.v[k].pod == d->pod)
			return NULL;
	return d->pod == POD_NONE ? NULL : d;
}

static bool has_room(const struct decision *d)
{
	return d != NULL && (d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED);
}

static int unbound_claims(const struct world *w, int pod)
{
	int n = 0;

	for (int k = 0; k < CLAIMS_MAX; k++)
		n += w->p[pod].kind[k] == STATIC || w->p[pod].kind[k] == MADE;
	return n;
}

static void judge_volume(const struct world *w, const struct live *l, const struct decision *d,
			 const struct decided_volume *x, int *taken_by)
{
	const struct names *names = vocab_names(l->vocab);
	int pod = live_index(l, d->pod), node = live_node(l, d->node);
	const char *claim = name_str(names, x->claim);
	int k = claim[strlen(claim) - 1] - '0', v;

	if (x->volume == NAME_NONE) {
		if (w->p[pod].kind[k] != MADE)
			breaks(w, "a volume is made for %s, whose class makes none", claim);
		counted.made++;
		return;
	}
	v = (int)strtol(name_str(names, x->volume) + 1, NULL, 10);
	counted.given++;
	if (taken_by[v] >= 0)
		breaks(w, "volume v%d is given to pods %d and %d", v, taken_by[v], pod);
	taken_by[v] = pod;
	if (w->p[pod].kind[k] != STATIC || w->v[v].size < w->p[pod].size[k])
		breaks(w, "%s gets v%d, which is not for it", claim, v);
	if ((w->v[v].host >= 0 && w->v[v].host != node) || (w->v[v].zone >= 0 && w->v[v].zone != w->m.n[node].zone))
		breaks(w, "v%d does not reach n%d", v, node);
}

static void judge_volumes(const struct world *w, const struct live *l)
{
	int taken_by[V_MAX];

	memset(taken_by, 0xff, sizeof(taken_by));
	for (uint32_t i = 0; i < l->plan.v.n; i++) {
		const struct decision *d = last_of(l, i);
		bool holds_none =
			d != NULL && d->outcome == OUTCOME_NOMINATED &&
			(w->m.profile == PROFILE_KUBERNETES || w->m.p.v[live_index(l, d->pod)].node != NOWHERE);

		counted.decisions++;
		counted.waited += d != NULL && !has_room(d);
		if (!has_room(d) || holds_none)
			continue;
		if ((int)d->n_volumes != unbound_claims(w, live_index(l, d->pod)))
			breaks(w, "%s has %u of %d volumes", live_name(l, d->pod), d->n_volumes,
			       unbound_claims(w, live_index(l, d->pod)));
		for (uint32_t k = 0; k < d->n_volumes; k++)
			judge_volume(w, l, d, &d->volumes[k], taken_by);
	}
}

/* Who has the one claim, and what is attached, as the ledger has it in the end. */
static void judge_users(const struct world *w, const struct live *l)
{
	const struct ledger *g = cluster_ledger(l->cluster);
	int users = 0, attached[M_NODES] = {0};
	bool is_changed[M_NODES] = {0};

	for (pod_id id = 0; id < ledger_pod_limit(g); id++) {
		const struct pod *p = ledger_pod(g, id);
		bool is_there = p->state == POD_PLACED || p->state == POD_LEAVING;
		bool holds = p->state == POD_PLACED || p->nomination == NOMINATION_RESERVED;
		int i = p->state == POD_FREE ? -1 : live_index(l, id),
		    node = is_there ? live_node(l, p->node) : NOWHERE;

		for (int k = 0; i >= 0 && k < CLAIMS_MAX; k++)
			users += w->p[i].kind[k] == ONLY && holds;
		if (i < 0 || !is_there || node < 0)
			continue;
		for (int k = 0; k < CLAIMS_MAX; k++) {
			attached[node] += w->p[i].kind[k] == MADE || w->p[i].kind[k] == RUNS;
			is_changed[node] |= w->p[i].kind[k] == MADE;
		}
	}
	if (users > 1)
		breaks(w, "%d pods use the claim for one", users);
	for (int n = 0; n < w->m.n_nodes; n++)
		if (is_changed[n] && w->limit[n] >= 0 && attached[n] > w->limit[n])
			breaks(w, "n%d has %d volumes of at most %d", n, attached[n], w->limit[n]);
}

static void judge_plan(const struct world *w, uint32_t cycles)
{
	struct live l;
	struct ledger *g;
	struct err e = {0};
	ledger_mark mark;
	uint64_t before;

	live_load(&l, &w->m, 0, 1);
	g = cluster_ledger(l.cluster);
	before = ledger_digest(g);
	mark = ledger_get_mark(g);
	live_plan(&l, &w->m, cycles);
	judge_volumes(w, &l);
	judge_users(w, &l);
	if (ledger_check(g, &e))
		breaks(w, "%s", e.msg);
	ledger_rollback(g, mark);
	if (ledger_digest(g) != before)
		breaks(w, "a plan that was taken back left something");
	live_end(&l);
}

static void judge_sameness(const struct world *w)
{
	struct text a = {0}, b = {0};
	struct live l;

	live_load(&l, &w->m, 0, 1);
	live_plan_and_emit(&l, &w->m, 2, &a);
	live_end(&l);
	live_load(&l, &w->m, w->seed + 7, 4);
	live_plan_and_emit(&l, &w->m, 2, &b);
	live_end(&l);
	if (!str_eq(text_str(&a), text_str(&b)))
		breaks(w, "another order of documents and more threads give another plan");
	text_free(&a);
	text_free(&b);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *s = getenv(variable);

	return s != NULL && *s != '\0' ? strtoull(s, NULL, 10) : otherwise;
}

static void VO_2_volumes_on_random_clusters(void **state)
{
	uint64_t n = number_from("CEDE_N", 150), first = number_from("CEDE_SEED", 1);

	for (uint64_t seed = first; seed < first + n; seed++)
		for (enum profile p = 0; p < PROFILE_COUNT; p++) {
			struct world w;

			draw(&w, seed, p);
			write_world(&w);
			if (getenv("CEDE_DUMP")) {
				FILE *f = fopen(getenv("CEDE_DUMP"), "w");
				struct text t = {0};

				mixed_text(&w.m, 0, &t);
				fputs(text_str(&t), f);
				fclose(f);
				text_free(&t);
			}
			judge_plan(&w, 1);
			judge_plan(&w, 3);
			judge_sameness(&w);
			mixed_free(&w.m);
			mem_free(w.p);
		}
	printf("volumes: %llu decisions, %llu volumes given, %llu made, %llu pods waited, 0 violations\n",
	       (unsigned long long)counted.decisions, (unsigned long long)counted.given,
	       (unsigned long long)counted.made, (unsigned long long)counted.waited);
	assert_true(n < 20 || (counted.given > n && counted.made > n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(VO_2_volumes_on_random_clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
