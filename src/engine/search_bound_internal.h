/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_bound_internal.h - what search_bound.c (all nodes), search_rows.c (one node, row by row), search_kinds.c (what
 * rules say of each kind of pod), search_cover.c (the least that a set costs that is enough), search_class.c (what a
 * node offers all searches of which rules say the same), search_block.c (the same of several nodes together) and
 * search_memory.c (bounds of a shape) share; for them alone.
 */
#pragma once

#include "engine/node_rows.h"
#include "engine/search_bound.h"

enum { SETS = 8, WANTED = 8, CHEAPEST = 4 };

/* ---- search_kinds.c ---- */

/* What rules say of a kind, as far as they go by the kind. */
enum kind_says {
	NOT_ASKED, /* the action does not look at it */
	MAY,
	LAST,	 /* it opted out: it goes only if nothing else works */
	KEPT,	 /* it is protected */
	OPEN,	 /* the pod itself has to be asked */
	UNKNOWN, /* in a class: there was no pod of it */
	WILD,	 /* in a wide class: not asked when it was made, and counted as one who may go */
};

struct kind_answer {
	uint64_t stamp;
	int64_t plain_until_s; /* kind_plain_until */
	int32_t least;	       /* the priority he counts with */
	uint64_t view;	  /* in search_bounds.once: of whom it holds, if no more than that decides; 0: of nobody else */
	uint8_t says;	  /* enum kind_says */
	bool is_of_group; /* who goes with whom is not told by the kind */
	bool is_of_one_queue;	   /* all that may go with it are of its queue */
	bool has_verdict;	   /* KEPT, LAST: the verdict is that of every pod of the kind */
	bool is_untold;		   /* and nobody wants to be told of it */
	bool is_silent;		   /* nobody of it goes, or is to be told of, whatever is special about him */
	bool is_open_by_history;   /* OPEN for that alone: it may go unless its work was evicted before */
	bool is_open_by_guarantee; /* or because it may be too big for its queue, which does not end by itself */
	int64_t inside_from;	   /* who started after this is inside its minimum runtime, */
	int64_t window_ns;	   /* which is so long; 0: there is none */
	uint64_t below;		 /* whoever of the kind goes and holds one of these takes a queue below its guarantee */
	struct rule_verdict why; /* KEPT, LAST */
};

/*
 * Between queues rules see whoever waits in one of several siblings alike: what they say of a kind that is in none of
 * their queues and in no group is the same for all of them. Compared as bytes.
 */
struct kinds_view {
	uint64_t run, budgets, epoch; /* nothing else changes that they go by */
	int64_t priority_offset;
	int32_t priority;
	uint32_t is_priority_fence;
	queue_id parent, fence;
};

struct shape_answer {
	uint64_t stamp;
	uint64_t types;		   /* it holds something of, and RES_PODS */
	int64_t share;		   /* of the cluster */
	int64_t frees[WANTED + 1]; /* the last is of no type, and 0 */
};

struct shapes_basis { /* what is known of shapes is good for */
	uint64_t reuses;
	int64_t capacity[RES_MAX];
	uint32_t n_wanted;
	res_id wanted[WANTED];
};

struct kind_answers { /* for one set of short types */
	uint64_t short_types;
	struct kind_answer *v; /* by kind */
	uint32_t n;
	bool is_complete;	    /* every kind that has pods was asked */
	bool keeps_all;		    /* and nobody of any goes, whatever is special about him */
	struct search_class *class; /* NULL: not looked for yet */
};

/* ---- search_class.c ---- */

enum { LEVELS = 4, CLASS_TYPES = 3, LISTED = 4 };

struct class_level { /* who may go up to a priority and did not opt out */
	int64_t priority;
	int64_t frees[CLASS_TYPES]; /* all of them together */
	int64_t most[CLASS_TYPES];  /* one of them at most */
	int64_t lost[CHEAPEST];	    /* by the first, two, three, four of whom least is lost */
};

struct class_node {	     /* its levels come right behind it */
	uint64_t generation; /* of the node; 0: nothing known */
	int64_t until_ns;    /* a minimum runtime ends */
	uint8_t n_levels, cap_levels;
	uint8_t n_listed;	    /* more than LISTED: too many to be kept here */
	bool has_groups;	    /* who goes with whom is not told by rows */
	bool has_last;		    /* somebody may be there who goes only if nothing else works, and does not now */
	bool is_sorted;		    /* those listed, by name */
	uint32_t listed[LISTED];    /* rows of pods that are protected, or have to be asked */
	int64_t all[CLASS_TYPES];   /* what everybody frees, with those who opted out */
	int64_t clear[CLASS_TYPES]; /* who did not opt out, and takes no queue below its guarantee for sure */
};

struct class_block_level { /* of several nodes: the most that any of them offers, and the least that is lost */
	int64_t priority;
	int64_t by_all[CLASS_TYPES];		   /* room with all of them gone */
	int64_t by_few[CHEAPEST - 1][CLASS_TYPES]; /* with as many as the one largest, two, three take */
	int64_t lost[CHEAPEST];			   /* as of a level */
};

struct class_block {
	bool is_known;
	bool is_silent; /* nobody has to be told of, on any of them */
	bool has_last;
	uint8_t n_levels;
	int64_t until_ns;
	int64_t all[CLASS_TYPES], clear[CLASS_TYPES]; /* room, if those went */
	struct class_block_level levels[LEVELS];
};

struct class_blocks { /* of one list of nodes */
	uint64_t list_id;
	uint64_t stamp;	  /* of the search that they are right for */
	uint64_t changes; /* of nodes that were seen */
	struct class_block *v;
	uint32_t n;
};

struct known_answer { /* of a kind of pod */
	int64_t window_ns;
	uint8_t says;
	bool is_of_group, is_untold;
	bool is_untold_inside; /* also of those inside their minimum runtime, because another rule speaks first */
	uint64_t below;
};

struct search_class {
	uint64_t id; /* never given twice; 0: not in use */
	uint64_t short_types;
	int64_t capacity[RES_MAX]; /* of the cluster: lost work is by shares of it */
	bool has_lost;		   /* somebody may go; else it is good for any capacity */
	bool is_fast, with_opted_out, tells_times, is_wide;
	enum action action;
	bool is_current;  /* rules of the present search say the same; known if it was checked */
	uint64_t checked; /* stamp of the search */
	uint64_t last_use;
	int64_t now_ns;		      /* of the last use */
	struct known_answer *answers; /* by kind */
	uint32_t n_answers;
	uint32_t differs_at;	   /* the kind of which other searches were told something else, the last time */
	struct class_node **nodes; /* by node id; NULL: not looked at yet */
	uint32_t n_nodes;
	struct arena *arena; /* that they are in, one after the other: memory touched for the first time costs much */
	struct class_blocks blocks;
};

enum { CLASSES_MIN = 4, CLASSES = 32, MEMORIES_MIN = 24, MEMORIES = 96, CLASS_ENTRIES = 1 << 18, ENTRIES = 1 << 21 };

/* ---- search_memory.c ---- */

struct bound_entry {
	uint64_t generation; /* of the node; 0: nothing known */
	int64_t until_ns;    /* a minimum runtime ends */
	uint64_t class_id;
	int64_t lost;
	int64_t refined_ns; /* when it was looked at more closely; TIME_NONE */
	uint64_t members;   /* of queues, plus 1: good while the same pods are drivers; 0: whoever is one */
	int32_t highest;
	uint16_t class_at;
	bool needs_opted_out, needs_drivers;
	bool is_out; /* no set is enough */
	bool is_below;
	bool is_silent; /* nobody there has to be told of */
	bool has_last;	/* as in the class */
};

/* A closer look that was taken at another time is a bound still, and one to be taken again. */
static inline struct node_bound entry_bound(const struct bound_entry *e, int64_t now_ns, uint32_t at)
{
	return (struct node_bound){.opted_out = e->needs_opted_out,
				   .needs_drivers = e->needs_drivers,
				   .is_below = e->is_below,
				   .highest = e->highest,
				   .lost = e->lost,
				   .at = at,
				   .is_refined = e->refined_ns == now_ns};
}

enum { BLOCK_CLASSES = 4 };

struct bound_block {	/* entries of some nodes, one after the other in the list */
	bool is_known;	/* all of them are, in these classes, and nothing changed since */
	bool is_sketch; /* only the least of them is known, not each of them */
	bool is_of_now; /* some were passed over, which holds for one search */
	bool is_open;	/* a set may be enough on some of them */
	bool is_silent; /* all of them are */
	bool has_last;	/* some of them have */
	uint8_t n_classes;
	uint32_t entries; /* where those of its nodes begin, plus 1; 0: there are none */
	uint16_t class_at[BLOCK_CLASSES];
	uint64_t class_id[BLOCK_CLASSES];
	int64_t until_ns;	 /* the first minimum runtime ends */
	uint64_t members;	 /* as of entries; 0: whoever is a driver */
	struct node_bound least; /* of those on which a set may be enough */
};

struct bound_want { /* what a shape asks for */
	uint32_t n;
	res_id type[WANTED];
	int64_t amount[WANTED];
};

struct bound_rooms { /* of the nodes of one list, whoever wants it */
	uint64_t list_id;
	struct bound_want want; /* the types, in their order */
	uint64_t stamp;		/* of the search that they are right for */
	uint64_t changes;	/* of nodes that were seen */
	struct bits is_known;	/* by block */
	struct bits is_lasting; /* by block: whatever the time */
	int64_t *v;		/* by place in the list, of each type */
	int64_t *most, *least;	/* by block */
	uint32_t n;		/* room for so many */
};

struct bound_list { /* of nodes; the same for all shapes that look at the same ones */
	uint32_t n_users;
	uint64_t id; /* never given twice */
	uint32_t n, n_places;
	uint32_t block; /* nodes of one */
	node_id *v;
	uint32_t *places; /* by node id, of n_places; UINT32_MAX: it is not there */
};

static inline uint32_t list_place(const struct bound_list *x, node_id node)
{
	return node < x->n_places ? x->places[node] : UINT32_MAX;
}

struct bound_memory { /* what nodes were bounded by for a shape, by one way to take room */
	shape_id shape;
	enum action action;
	bool with_opted_out;
	struct vocab *vocab; /* where the reference to the shape is; NULL: not in use */
	uint64_t last_use;
	uint64_t changes; /* of nodes that were seen */
	uint64_t epoch;	  /* of the rows, plus 1; 0: nothing known */
	struct bound_want want;
	struct bound_list *list;	   /* NULL: none yet */
	struct bound_block *blocks;	   /* of the list */
	ARRAY(struct bound_entry) entries; /* of blocks that were opened, as that came: of most there are none */
};

/* ---- search_rows.c ---- */

struct row_candidate {
	const struct pod_row *row;
	const struct shape_answer *shape;
	bool is_last;
};

struct class_wanted {	/* which of the wanted types the short ones of a class are */
	uint64_t stamp; /* of the search */
	uint64_t short_types;
	uint32_t n, at[CLASS_TYPES];
};

struct search_inside { /* searches that asked pods of their own queue alone */
	shape_id shape;
	queue_id queue;
	uint32_t n; /* one after the other */
};

struct few_node { /* one that has pods of the own queue */
	node_id node;
	int64_t frees[WANTED]; /* all of them together */
	int64_t lowest, lost;  /* at least: the priority of one who goes, and the work that is lost */
};

struct search_bounds { /* memory used by one search after the other */
	struct node_rows rows;
	struct bits made;		   /* nodes whose rows were made since their kinds got numbers */
	uint64_t made_epoch, made_changes; /* of rows, plus 1; of nodes */
	ARRAY(node_id) made_list;	   /* the last that they were made for */
	uint32_t *made_at;		   /* by node id: where it is in that, if it is there */
	uint32_t n_made_at;
	struct search_class classes[CLASSES];
	struct bound_memory memories[MEMORIES];
	struct search_inside inside[MEMORIES]; /* the last of them, by shape */
	struct bound_rooms rooms;
	uint64_t clock, class_ids, list_ids;
	uint64_t stamp; /* of the search; only grows */
	uint64_t epoch; /* of the rows, when everything in classes was made */
	int64_t capacity[RES_MAX];
	struct shapes_basis basis;
	uint64_t shapes_stamp; /* of what is known of shapes; only grows */
	uint32_t n_sets;
	struct kind_answers sets[SETS];
	struct kind_answers once; /* what does not depend on short types */
	struct kinds_view view;
	uint64_t view_stamp;	     /* of it; only grows */
	uint64_t sees;		     /* by the present search: that; 0: nothing that others saw */
	struct shape_answer *shapes; /* by id */
	uint32_t n_shapes;
	struct row_candidate *candidates;
	struct listed *listed;
	uint32_t n_candidates;
	/* of the present search */
	struct node_search *g;
	struct bound_memory *memory; /* NULL: none */
	bool has_own;		     /* pods of the own application run, or own is there */
	bool asks_lower;	     /* only pods of its queue with a lower priority matter, or are told of */
	bool is_wide;		     /* its queue is small and nobody is told: a class is shared with others */
	uint64_t n_asked;	     /* pods of kinds that were asked, as far as kinds_say came */
	bool has_last;		     /* somebody may be left who goes only if nothing else works */
	bool is_of_few;		     /* only nodes on which pods of its queue are enough: nobody else is asked */
	struct bits few;	     /* those nodes */
	bool is_rough;		     /* of these no rows were looked at, until one may be the best */
	ARRAY(struct few_node) own_nodes;
	uint32_t *own_at; /* by node id: where in own_nodes, if it is there */
	uint32_t n_own_at;
	struct class_wanted wanted; /* as it was asked last */
	bool is_by_rows;	    /* so little is looked at that it is not worth knowing the class */
	pod_id own;		    /* of the waiting pod's group, and a row like those without one; POD_NONE */
	uint64_t lone_changes;	    /* that were seen */
	int64_t path_lacks[WANTED];
	uint32_t cycle;
	/* of the present node */
	uint64_t types; /* that are short there or below a maximum */
	int64_t lacks[WANTED];
	uint32_t n, n_listed;
	uint32_t enough; /* with those before it and itself, and without who opted out, it is enough; UINT32_MAX */
	bool is_clear;	 /* it is enough without those who take a queue below its guarantee for sure */
	bool is_listing; /* more may be told of */
	bool has_groups;
	bool has_drivers; /* they were left out */
	bool has_too_big; /* in a closer look somebody was left out for what his queue has at the moment */
	int64_t until_ns; /* the first minimum runtime ends */
};

/* ---- search_kinds.c ---- */

/* The answers for a set of short types, asked as they are needed; NULL: there are too many sets. */
struct kind_answers *kinds_for(struct search_bounds *b, uint64_t short_types);
/* Who looks at kinds now: is it somebody for whom rules say what they said before? */
void kinds_begin(struct search_bounds *b);
/* Asks rules about one of its pods, for b->types. */
void kind_ask(struct search_bounds *b, uint32_t kind, struct kind_answer *a, pod_id pod);
/*
 * Whoever of the kind started up to then may go, and costs what his start says: he is outside his minimum runtime, and
 * not of the future. In seconds, below ROW_APART; -1: nobody, also where costs are priorities.
 */
int64_t kind_plain_until(const struct search_bounds *b, const struct kind_answer *a);
/* Asks about every kind that has pods. */
void kinds_ask_all(struct search_bounds *b, struct kind_answers *s);
/* What rules say of all kinds that have pods, whatever is short: asked up to the first that may go. */
enum kinds_say { ALL_NOT_ASKED, ALL_KEPT, SOME_MAY_GO };
enum kinds_say kinds_say(struct search_bounds *b);
/*
 * Left open because of evictions before, but of this one's work there are too few: it may go. Or left open for its size
 * as well, where nobody wants to be told of that.
 */
bool row_is_unknown(const struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row);
void measure_shape(struct search_bounds *b, shape_id id, struct shape_answer *a);
/* What shapes free of the wanted types, and what share of the cluster they hold. */
static inline const struct shape_answer *shape_of(struct search_bounds *b, shape_id id)
{
	if (b->shapes[id].stamp != b->shapes_stamp)
		measure_shape(b, id, &b->shapes[id]);
	return &b->shapes[id];
}

/* ---- search_rows.c ---- */

/*
 * Who may go on the node, lowest priority first, up to the priority at which it is enough; and whom the rules have to
 * be asked about, of all. Without drivers only those who opted out may be some. False: the rows do not tell.
 */
bool rows_look(struct search_bounds *b, node_id node, bool with_drivers);
/* Room and what has to be freed; is anything? Groups that go as a whole free room below a maximum elsewhere too. */
bool rows_measure_lacks(struct search_bounds *b, node_id node, bool has_groups);
bool rows_are_enough(const struct search_bounds *b); /* everybody who may go */
/* False: not even everybody would be enough. */
bool rows_bound(const struct search_bounds *b, struct node_bound *ret);
/* TIME_NONE is before every time; a start in the future counts as now, which is inside too. */
static inline bool is_inside(const struct kind_answer *a, int64_t started_ns, int64_t now_ns)
{
	return started_ns > a->inside_from && now_ns > a->inside_from && started_ns != TIME_NONE;
}

static inline void note_end(struct search_bounds *b, int64_t end_ns)
{
	b->until_ns = end_ns < b->until_ns ? end_ns : b->until_ns;
}

/* Protected by a rule that is asked before minimum runtimes: whether the pod is inside one does not matter. */
static inline bool speaks_before_windows(const struct kind_answer *a)
{
	return a->says == KEPT && a->has_verdict && a->why.rule < RULE_MIN_RUNTIME;
}

/* Does the kind's answer not hold for this pod of it? *ret_says is what holds then. */
static inline bool row_is_exception(struct search_bounds *b, const struct kind_answer *a, const struct pod_row *row,
				    bool with_app, enum kind_says *ret_says)
{
	const struct judge *j = b->g->s->j;
	int64_t started_ns = row_started(j->ledger, row);

	if (row_is_placed_in(j->ledger, row, b->cycle) && judge_asks(j, RULE_SAME_CYCLE)) {
		*ret_says = a->says == OPEN ? OPEN : KEPT;
		return true;
	}
	if (with_app && b->has_own && j->app != NAME_NONE && ledger_pod(j->ledger, row->pod)->obj->app == j->app) {
		*ret_says = a->says == KEPT ? KEPT : OPEN;
		return true;
	}
	if (is_inside(a, started_ns, j->now_ns) && !speaks_before_windows(a)) {
		*ret_says = a->says == OPEN || (a->is_of_group && a->says != KEPT) ? OPEN : KEPT;
		note_end(b, res_add_sat(started_ns, res_sub_sat(j->now_ns, a->inside_from)));
		return true;
	}
	return false;
}

/* Of each of n types, is there as much as is wanted? */
static inline bool amounts_reach(const int64_t *has, const int64_t *wants, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++)
		if (has[t] < wants[t])
			return false;
	return true;
}

/* The verdict on a pod that is protected or has to be asked; NULL: it has to be asked. */
const struct rule_verdict *row_verdict(const struct kind_answer *a, bool is_exception);
static inline int64_t lost_if_gone(const struct search_bounds *b, int32_t priority, int64_t since_ns,
				   const struct shape_answer *shape)
{
	const struct judge *j = b->g->s->j;

	if (j->action == ACTION_DISPLACE)
		return (int64_t)priority + (INT64_C(1) << 31);
	if (since_ns == TIME_NONE || since_ns > j->now_ns)
		return 0;
	return lost_work(shape->share, res_sub_sat(j->now_ns, since_ns));
}

static inline int64_t row_lost(const struct search_bounds *b, const struct pod_row *row,
			       const struct shape_answer *shape)
{
	return lost_if_gone(b, row_priority(&b->rows, row), row_since(b->g->s->j->ledger, row), shape);
}

/* ---- search_cover.c ---- */

/* So much work is lost at least where candidates go that are enough and did not opt out. */
int64_t rows_least_cover(struct search_bounds *b);

/* ---- search_class.c ---- */

/* The class of this search for nodes short of b->types; NULL: rows have to be looked at. */
struct search_class *class_for(struct search_bounds *b);
/* Do rules of this search say what they said when the class was made? */
bool class_is_current(struct search_bounds *b, uint32_t at, uint64_t id);
/* The node in a class that is current, known or looked at now. */
const struct class_node *class_node_of(struct search_bounds *b, struct search_class *c, node_id node);
/* Who is listed there, LISTED at most: by name. */
const uint32_t *class_listed(const struct search_bounds *b, struct search_class *c, const struct pod_rows *rows,
			     node_id node);
static inline struct class_level *class_levels(const struct class_node *x)
{
	return (struct class_level *)(x + 1);
}
/* By b->lacks; false: no set is enough. */
bool class_bound(struct search_bounds *b, const struct search_class *c, node_id node, struct node_bound *ret);
void classes_begin(struct search_bounds *b); /* drops them all where kinds have other numbers */
void classes_free(struct search_bounds *b);

/* Which of the wanted types those are. */
const struct class_wanted *class_wanted_types(struct search_bounds *b, uint64_t types);

/* ---- search_block.c ---- */

/* Somebody who is leaving and should go by some time makes the room a matter of time. */
static inline bool node_is_lasting(const struct search_bounds *b, node_id node)
{
	return !ledger_node(b->g->s->c->ledger, node)->n_due;
}

/* Of the nodes of a block of the present memory's list, one after the other. */
const int64_t *rooms_of(struct search_bounds *b, uint32_t from);
bool rooms_are_lasting(const struct search_bounds *b, uint32_t from); /* after that: is it so at any time? */
/* Types that all of them are short of; is none of them short of others? */
uint64_t rooms_short(struct search_bounds *b, uint32_t from, bool *ret_is_same);
/* The nodes of a block as if all of them were of the class. Nobody there should have left by some time. */
const struct class_block *class_block_of(struct search_bounds *b, struct search_class *c, uint32_t from);
/* What is known of a node is not so any more: its block is looked at again, the others are as they were. */
void class_blocks_forget_node(const struct search_bounds *b, struct class_blocks *s, node_id node);
/* What the best set on any of them costs at least; false: none is enough. */
bool class_block_bound(struct search_bounds *b, const struct search_class *c, const struct class_block *k,
		       struct node_bound *ret);

/* ---- search_memory.c ---- */

/*
 * Rows of these nodes are as the ledger is now. They are made before rules are asked: then it is known how many kinds
 * there are.
 */
void rows_make(struct search_bounds *b, const node_id *nodes, uint32_t n);
/* What is known of the shape, for a list of nodes. */
void memory_begin(struct search_bounds *b, const node_id *nodes, uint32_t n);
/* NULL: nothing is known. */
struct bound_entry *memory_find(struct search_bounds *b, node_id node);
void memory_keep(struct search_bounds *b, const struct search_class *c, const struct class_node *x, node_id node,
		 const struct node_bound *bound, bool is_found);
void memories_free(struct search_bounds *b);
void memories_forget_node(struct search_bounds *b, node_id node);
/* The list of that number; NULL: nobody has it any more. */
const struct bound_list *memories_list(const struct search_bounds *b, uint64_t id);
/* Where the block from this place on ends, in a list of n. */
uint32_t block_end(const struct search_bounds *b, uint32_t from, uint32_t n);
/*
 * The block of the nodes from this place of the list on, if all of it is known or classes tell the least of it; NULL.
 * is_telling: who is protected there has to be told, and one that is looked at now is NULL where there is anybody.
 */
const struct bound_block *block_find(struct search_bounds *b, uint32_t from, bool is_telling);
void block_keep(struct search_bounds *b, uint32_t from); /* what is known of its nodes now */
/* Its nodes on which a set may be enough. False: they have to be looked at one by one. */
bool block_open(struct search_bounds *b, uint32_t from, struct node_bound *ret, uint32_t *ret_n);
/* by_drivers: it depends on who is one. */
void memory_refined(struct search_bounds *b, node_id node, const struct node_bound *bound, bool by_drivers);
