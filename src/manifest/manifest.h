/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - files of objects in, a cluster and a configuration out; and back.
 *
 * Reading collects; manifest_build makes a cluster of it, all or nothing. The first mistake ends the reading with
 * "file:line:column: kind name: field: what was expected". Unknown kinds are skipped with one note per kind; unknown
 * fields of objects are ignored; unknown fields of configuration are refused with "did you mean". Things that are odd
 * but real (a node with less room than its pods take, an unset KAI limit) become notes.
 */
#pragma once

#include "base/text.h"
#include "cluster/cluster.h"
#include "engine/config.h"
#include "manifest/tree.h"

struct manifest;

struct manifest *manifest_new(struct vocab *v);
void manifest_free(struct manifest *m);

/* A file, a folder (its *.yaml, *.yml and *.json, by name, folders inside too), or "-" for standard input. */
enum err_code manifest_read(struct manifest *m, const char *path, struct err *e);
enum err_code manifest_read_bytes(struct manifest *m, const char *name, const char *data, size_t len, struct err *e);

/*
 * Plugins are code, and most of what is read are other people's data: a CedeConfiguration's `plugins` count only in
 * what manifest_read_config reads, from a file or folder (not standard input). Elsewhere they are passed over with a
 * note, as if they had not been written, unless told otherwise.
 */
enum manifest_plugins {
	PLUGINS_PASSED_OVER,
	PLUGINS_REFUSED, /* an error, which says that they must be allowed */
	PLUGINS_TAKEN,
};
void manifest_set_plugins(struct manifest *m, enum manifest_plugins elsewhere);
/* As manifest_read, for a file that somebody named as the settings to decide with. */
enum err_code manifest_read_config(struct manifest *m, const char *path, struct err *e);

/*
 * Before anything is read: keep the texts, so that another manifest can read the same once more, plugins included, when
 * the files have changed or are gone.
 */
void manifest_keep_texts(struct manifest *m);
enum err_code manifest_read_again(struct manifest *m, const struct manifest *before, struct err *e);

/*
 * ConfigMaps are settings only by name (cede, yunikorn-configs, yunikorn-defaults, scheduler-config,
 * kai-scheduler-default) and in a namespace that belongs to a scheduler: yunikorn, kai-scheduler and kube-system, or
 * the one that is said here (which must outlive the manifest). Others that look like settings are passed over with a
 * note.
 */
void manifest_set_namespace(struct manifest *m, const char *ns);

/*
 * The same for what is only thought of ("what if this came?"): an object takes the place of one of its name that was
 * read before, and a workload (Deployment, ReplicaSet, StatefulSet, Job, JobSet) that has fewer pods than it wants gets
 * the missing ones, as its controller would make them. Where controllers add random letters to a name, a number stands:
 * NAME-0, NAME-1. Such pods have no creation time, so no delay holds them back.
 */
enum err_code manifest_add(struct manifest *m, const char *path, struct err *e);
enum err_code manifest_add_bytes(struct manifest *m, const char *name, const char *data, size_t len, struct err *e);
bool manifest_adds_queues(const struct manifest *m); /* what was added has a document with partitions */

/*
 * Before anything is read: as if the node took no more pods, and what runs there waited, as old as it is. Pods of
 * DaemonSets and of the kubelet stay, as do those that are leaving. Afterwards: was there such a node?
 */
void manifest_drain(struct manifest *m, const char *node);
bool manifest_has_drained(const struct manifest *m, const char *node);

/*
 * A cluster of everything read so far: all of it, or an error and nothing. The objects move into it; the manifest keeps
 * settings and notes. Duplicate names, pods on nodes that are not there, cycles and contradictions of queues are errors
 * that say where.
 */
enum err_code manifest_build(struct manifest *m, const struct cluster_options *o, struct cluster **ret, struct err *e);

/*
 * Put the settings found in the documents on top of config: KAI's scheduler configuration or else its SchedulingShard,
 * KubeSchedulerConfiguration, and last CedeConfiguration, in whatever order they were read.
 */
enum err_code manifest_configure(const struct manifest *m, struct engine_config *config, struct err *e);

/*
 * The configuration documents that were read, in their order: the file, and YAML that reads back as the same settings.
 * What is nested deeper than any setting is ERR_LIMIT.
 */
uint32_t manifest_setting_count(const struct manifest *m);
const char *manifest_setting_file(const struct manifest *m, uint32_t i);
enum err_code manifest_write_setting(const struct manifest *m, uint32_t i, struct text *out, struct err *e);
/* Is it a kind of objects that goes into a cluster? */
bool manifest_reads(const char *kind);
bool manifest_names_profile(const struct manifest *m); /* one of them says which profile */
bool manifest_has_objects(const struct manifest *m);   /* something that is no setting was read, too */
/* From now on, of settings of a kind that is there already nothing is taken: what was read before stands for them. */
void manifest_keep_settings(struct manifest *m);

uint32_t manifest_note_count(const struct manifest *m);
const char *manifest_note(const struct manifest *m, uint32_t i);

/* One object, for readers of other streams (the API server, facts): as above, but straight into o. */
struct shape_memory; /* shape_memory.h */
struct object_source {
	const char *name;	     /* of the file or stream */
	struct text *notes;	     /* a line each; may be NULL */
	struct arena *scratch;	     /* for drafts, reset after each object; NULL: one is made each time */
	struct shape_memory *shapes; /* of pods that were read before; NULL: each is read anew */
	bool is_lenient; /* names, namespaces and other things the API server would have filled in may be missing */
};
enum err_code manifest_pod(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pod *ret,
			   struct err *e);
enum err_code manifest_node(struct vocab *v, const struct object_source *src, const struct tree *t,
			    struct obj_node *ret, struct err *e);
enum err_code manifest_namespace(struct vocab *v, const struct object_source *src, const struct tree *t,
				 struct obj_namespace *ret, struct err *e);
enum err_code manifest_class(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_class *ret, struct err *e);
enum err_code manifest_pdb(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pdb *ret,
			   struct err *e);
enum err_code manifest_owner(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_owner *ret, struct err *e);
enum err_code manifest_group(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_group *ret, struct err *e);
enum err_code manifest_pv(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pv *ret,
			  struct err *e);
enum err_code manifest_pvc(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pvc *ret,
			   struct err *e);
enum err_code manifest_storage_class(struct vocab *v, const struct object_source *src, const struct tree *t,
				     struct obj_storage_class *ret, struct err *e);
enum err_code manifest_csi_node(struct vocab *v, const struct object_source *src, const struct tree *t,
				struct obj_csi_node *ret, struct err *e);
enum err_code manifest_csi_driver(struct vocab *v, const struct object_source *src, const struct tree *t,
				  struct obj_csi_driver *ret, struct err *e);
enum err_code manifest_csi_capacity(struct vocab *v, const struct object_source *src, const struct tree *t,
				    struct obj_csi_capacity *ret, struct err *e);
enum err_code manifest_attachment(struct vocab *v, const struct object_source *src, const struct tree *t,
				  struct obj_attachment *ret, struct err *e);

/* A document with `partitions:`: every rule of YuniKorn's own validation. Paths and names live in arena a. */
struct yunikorn_config {
	uint32_t n;
	struct queue_def *queues; /* root first, parents before children */
	bool preemption_enabled, quota_preemption_enabled;
	uint32_t n_rules;
	const struct placement_rule *rules; /* of placement, in the arena too */
};
enum err_code manifest_yunikorn(struct vocab *v, struct arena *a, const struct object_source *src, const struct tree *t,
				struct yunikorn_config *ret, struct err *e);
/* A KAI Queue object. */
enum err_code manifest_kai_queue(struct vocab *v, struct arena *a, const struct object_source *src,
				 const struct tree *t, struct queue_def *ret, struct err *e);
/*
 * Configuration documents on top of an engine_config: all of a document, or an error and nothing.
 * The vocab must outlive the config.
 */
enum err_code manifest_cede_config(const struct object_source *src, const struct tree *t, struct engine_config *config,
				   struct err *e);
enum err_code manifest_kube_config(struct vocab *v, const struct object_source *src, const struct tree *t,
				   struct engine_config *config, struct err *e);
enum err_code manifest_kai_config(const struct object_source *src, const struct tree *t, struct engine_config *config,
				  struct err *e);
/* A SchedulingShard. One for a pool of nodes of its own is checked, and not used: *ret_applies is false. */
enum err_code manifest_kai_shard(const struct object_source *src, const struct tree *t, struct engine_config *config,
				 bool *ret_applies, struct err *e);

/*
 * The whole cluster as normalised manifests that read back, with the same options, as the same cluster: YAML documents,
 * or one JSON List. Objects are in order of kind, namespace and name; writing what was read gives the same bytes again.
 * Queues of a queues.yaml are a ConfigMap yunikorn-configs.
 *
 * It is the ledger that is written: a pod that was placed, evicted, vacated or was nominated since its object was read
 * looks as if that had been carried out. An evicted one has a deletionTimestamp (the options' now, else a time that is
 * known of it) and is listed by the budgets it spent; a reservation becomes a nomination.
 *
 * Not kept: fields nobody reads (other annotations, field managers, commands, volumes but for that there are some);
 * which container asks for what (the first asks for the sums; annotation cede.dev/scoring-request has what they score
 * with where that does not follow); the kind of owners that cede does not know ("Other"); what was wrong with a node
 * selector term that matches nothing; API groups and versions; settings (profiles, switches of a partition); the start
 * of a scheduling.k8s.io PodGroup and of a gang without one; queues that are being drained, and nodes that are gone
 * while pods are on them (their pods are written, and are readable unless the options are strict).
 */
struct emit;
void manifest_write(const struct cluster *c, struct emit *out);
/* One pod that is over, as JSON: with annotation cede.dev/run-time for how long it ran, unless it says one itself. */
void manifest_write_pod(const struct cluster *c, pod_id pod, int64_t run_ns, struct emit *out);
/* The queues alone, as documents in YAML; nothing if there are none but those that are always there. */
void manifest_write_queues(const struct cluster *c, struct emit *out);
