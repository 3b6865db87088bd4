/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - what a manifest holds between reading and building. Inside manifest/ only.
 */
#pragma once

#include "base/map.h"
#include "manifest/fields.h"
#include "manifest/manifest.h"
#include "manifest/shape_memory.h"

struct place {
	const char *file;
	uint32_t line, col;
};

union any_object {
	struct obj_pod pod;
	struct obj_node node;
	struct obj_namespace namespace;
	struct obj_class class;
	struct obj_pdb pdb;
	struct obj_owner owner;
	struct obj_group group;
	struct obj_pv pv;
	struct obj_pvc pvc;
	struct obj_storage_class storage_class;
	struct obj_csi_node csi_node;
	struct obj_csi_driver csi_driver;
	struct obj_csi_capacity csi_capacity;
	struct obj_attachment attachment;
};

struct record { /* one object, read and not yet built */
	const struct object_kind *kind;
	struct place at;
	bool is_added; /* by manifest_add */
	void *obj;     /* heap; NULL after it was moved into a cluster */
};

/* How one kind of object is read, named, put into a cluster and let go. */
struct object_kind {
	const char *kind;
	const char *api; /* apiVersion must begin so; "" for any */
	uint32_t rank;	 /* order of building */
	size_t size;
	enum err_code (*read)(struct vocab *v, const struct object_source *src, const struct tree *t, void *ret,
			      struct err *e);
	enum err_code (*put)(struct cluster *c, void *obj, struct err *e);
	void (*drop)(struct vocab *v, void *obj);
	void (*identity)(const struct vocab *v, const void *obj, name_id *ret_ns, name_id *ret_name);
};

extern const struct object_kind object_kinds[];
extern const size_t object_kind_count;

struct setting { /* a configuration document, kept as read */
	enum { SETTING_SHARD, SETTING_KAI, SETTING_KUBE, SETTING_CEDE } kind; /* the last one has the last word */
	const char *file;
	bool is_added;
	const struct tree *root; /* in strings */
};

struct drained {
	const char *node;
	bool is_found; /* there is such a node */
};

struct workload_template { /* something with a template of pods, to be asked for them */
	const char *kind, *file;
	const struct tree *root; /* in strings */
};

enum { UNKNOWN_KINDS = 50 };

struct unknown_kind {
	const char *kind; /* "apps/v1 Deployment" */
	uint32_t count;
	struct place first;
};

/* What many objects may have and cede does not act on. */
enum { UNREAD_COUNT = 2 };

struct unread {
	uint32_t n;
	struct place first;
	const char *who; /* "Pod ml/train", in manifest.strings */
};

struct read_text { /* what was read, as it was */
	const char *name, *data;
	size_t len;
	enum manifest_plugins plugins;
};

struct manifest {
	struct vocab *vocab;
	struct arena *strings;	      /* names of files, trees of settings, queue paths */
	struct arena *scratch;	      /* of one object */
	struct shape_memory shapes;   /* until they are built */
	struct arena *document;	      /* of one document */
	const char *file;	      /* being read */
	ARRAY(struct record) records; /* until they are built */
	bool has_built;		      /* there were some */
	struct map *seen;	      /* per object kind: (namespace, name) -> record */
	ARRAY(struct queue_def) kai_queues;
	struct name_bag kai_names; /* of them */
	struct map kai_queue_at;   /* by name: where in kai_queues */
	bool has_yunikorn;
	bool yunikorn_is_default; /* it is of ConfigMap yunikorn-defaults */
	bool is_in_defaults;	  /* that ConfigMap is being read */
	struct place yunikorn_at;
	struct yunikorn_config yunikorn;
	bool queues_are_built;
	ARRAY(struct setting) settings;
	bool keeps_settings;	       /* later ones of a kind are left out */
	enum manifest_plugins plugins; /* what is done with those that are named in what is being read */
	bool is_adding;		       /* manifest_add is reading: objects take the place of those of their name */
	uint32_t first_added_queue;    /* of kai_queues; those before may be replaced */
	bool yunikorn_is_added;
	ARRAY(struct workload_template) workloads; /* that were added and have no pods yet */
	ARRAY(struct drained) drained;		   /* nodes */
	uint32_t n_made;			   /* pods made for workloads */
	ARRAY(struct unknown_kind) unknown;	   /* the first UNKNOWN_KINDS of them */
	struct unknown_kind other_unknown;	   /* all the rest together */
	const char *settings_namespace;		   /* whose ConfigMaps count; NULL: the well-known ones */
	uint32_t passed_maps;			   /* ConfigMaps that look like settings, and are not */
	struct place passed_map;		   /* the first */
	struct unread unread[UNREAD_COUNT];	   /* annotations of pods */
	struct unread controllers;		   /* with a template of pods */
	uint32_t n_owned_pods;
	struct text notes;
	ARRAY(const char *) note_lines; /* into strings */
	uint32_t n_documents;
	bool keeps_texts;
	ARRAY(struct read_text) texts; /* in their order */
};

/* An object of a known kind. */
enum err_code manifest_take_object(struct manifest *m, const struct object_kind *k, const struct tree *t,
				   struct err *e);
/* workloads.c: remembers what has a template of pods; false: it is no such kind. */
bool workloads_note(struct manifest *m, const char *api, const char *kind, const struct tree *t);
/* Makes the pods of all that are remembered. */
enum err_code workloads_make_pods(struct manifest *m, struct err *e);
/* budgets.c: how many may go by budgets without a status. */
void budgets_count(struct manifest *m, struct cluster *c);
/* drain.c: a node as it is thought of; a pod's document with its node taken out if that is drained. */
void drain_node(struct manifest *m, struct obj_node *o);
const struct tree *drain_pod(const struct manifest *m, const struct tree *pod);
/* One document: finds its kind and takes it in. */
enum err_code manifest_take(struct manifest *m, const struct tree_doc *doc, struct err *e);
/* A document without a kind: YuniKorn's queues.yaml or KAI's scheduler configuration. */
enum err_code manifest_take_plain(struct manifest *m, const struct tree *t, struct err *e);
void manifest_note_at(struct manifest *m, struct place at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* config_map.c: settings in it are taken in, what looks like settings is counted and told in the end. */
enum err_code manifest_take_config_map(struct manifest *m, const struct tree *t, struct err *e);
void config_map_notes(struct manifest *m);
/* unread.c: looked at as they are read, told in the end. */
void unread_pod(struct manifest *m, const struct obj_pod *pod, const struct tree *t);
void unread_controller(struct manifest *m, const char *kind, const struct tree *t);
void unread_notes(struct manifest *m);
