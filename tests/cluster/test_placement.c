/* SPDX-License-Identifier: Apache-2.0 */
/* Placement rules by themselves: paths, filters, expressions and access lists. */
#include "cluster/cluster_fixture.h"

/* ---- expressions ---- */

struct pattern_row {
	const char *says, *expression, *matches, *passes; /* what it matches, and what not; NULL: not asked */
};

static void GQ_14_expressions_are_those_of_go(void **state)
{
	(void)state;
	const struct pattern_row rows[] = {
		{"letters anywhere", "dev", "my-devs", "ops"},
		{"anchors", "^dev$", "dev", "devs"},
		{"alternatives", "^(a|b)$", "b", "ab"},
		{"classes", "^[a-c0-9_]+$", "a_9", "d"},
		{"a class that does not", "^[^x]$", "y", "x"},
		{"a bracket at the beginning of a class", "^[]a]$", "]", "b"},
		{"classes with names", "^[[:upper:]x]$", "Q", "q"},
		{"digits", "^\\d{3}$", "007", "07"},
		{"no digits", "^\\D$", "a", "1"},
		{"digits and dashes in a class", "^[\\d\\-]+$", "1-2", "1.2"},
		{"words in a class", "^[\\w.]+$", "a_b.c", "a-b"},
		{"words", "^\\w+$", "a_b", "a-b"},
		{"the beginning and the end", "\\Aab\\z", "ab", "xab"},
		{"a dot that is one", "^a\\.b$", "a.b", "axb"},
		{"a backslash before what needs none", "^a\\-b\\@c$", "a-b@c", "a\\-b@c"},
		{"a bracket that is one", "^\\[$", "[", "\\"},
		{"a smaller sign is no boundary of words", "^\\<a$", "<a", "a"},
		{"groups that nobody counts", "^(?:ab)+$", "abab", "aba"},
		{"groups with names", "^(?P<n>a)(?<m>b)$", "ab", "a"},
		{"any case", "(?i)^dev$", "DEV", "ops"},
		{"as few as possible", "^a+?b*?c??$", "aabb", "bc"},
		{"counted", "^a{2,3}$", "aaa", "aaaa"},
		{"counted without an end", "^a{2,}$", "aaaa", "a"},
		{"a brace is one", "^a{b$", "a{b", "ab"},
		{"nothing is in everything", "()", "x", NULL},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct pattern *p = pattern_new(rows[i].expression);
		if (p == NULL)
			fail_msg("%s: refused", rows[i].says);
		if (!pattern_matches(p, rows[i].matches))
			fail_msg("%s: %s does not match", rows[i].says, rows[i].matches);
		if (rows[i].passes != NULL && pattern_matches(p, rows[i].passes))
			fail_msg("%s: %s matches", rows[i].says, rows[i].passes);
		pattern_free(p);
	}
}

static void GQ_14_expressions_that_are_none_are_refused(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"(a",
		"a)",
		"[a",
		"[",
		"[]",
		"*",
		"+a",
		"?",
		"a**",
		"(*a)",
		"a|*",
		"{2}",
		"a{3,2}",
		"\\",
		"\\1",
		"\\pN",
		"\\Qa",
		"(?=a)",
		"(?s)a",
		"(?P<n",
		"[[.a.]]",
		"[[=a=]]",
		"[\\",
		"[\\]]",
		"[\\pN]",
		"a{256}",
		"(a{100}){100}",
		"((((a{9}){9}){9}){9})",
		"((((((((((((((((a))))))))))))))))",
		"a\\\x01",
	};
	char deep[2000];

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct pattern *p = pattern_new(rows[i]);
		if (p != NULL)
			fail_msg("%s is taken", rows[i]);
	}
	memset(deep, 'a', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_null(pattern_new(deep));
	deep[256] = '\0';
	struct pattern *p = pattern_new(deep);
	assert_non_null(p);
	pattern_free(p);
	pattern_free(NULL);
}

/* ---- access lists ---- */

struct acl_row {
	const char *says, *acl, *user, *groups;
	bool lets_in;
};

static void GQ_14_access_lists(void **state)
{
	(void)state;
	const struct acl_row rows[] = {
		{"nobody", "", "ann", "dev", false},
		{"nobody, with a space", " ", "ann", "dev", false},
		{"everybody", "*", "ann", "", true},
		{"every group is everybody", " *", "ann", "", true},
		{"everybody, and groups that say no more", "* dev", "ann", "", true},
		{"one user", "ann", "ann", "", true},
		{"one of several", "bob,ann", "ann", "", true},
		{"another", "bob,eve", "ann", "", false},
		{"not by the beginning of a name", "anna", "ann", "", false},
		{"nor by a longer one", "an", "ann", "", false},
		{"in its own case", "Ann", "ann", "", false},
		{"a group", " dev", "ann", "dev", true},
		{"one of several groups", "bob ops,dev", "ann", "qa,dev", true},
		{"a group is not a user", "dev", "ann", "dev", false},
		{"a user is not a group", " ann", "ann", "dev", false},
		{"a star among names is none", "bob,*", "ann", "", false},
		{"what is no name is nobody's", "1ann", "1ann", "", false},
		{"nor is it a group's", " d/v", "ann", "d/v", false},
		{"users may have what groups may not", "a#b/c@d$", "a#b/c@d$", "", true},
		{"empty places in the list", ",,ann,", "ann", "", true},
		{"nor do empty names match", ",,", "", ",", false},
	};
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct placement_user user = {rows[i].user, rows[i].groups};
		if (acl_allows(rows[i].acl, &user) != rows[i].lets_in)
			fail_msg("%s", rows[i].says);
	}
	assert_false(acl_allows("ann dev", &(struct placement_user){"eve", NULL}));
}

/* ---- rules ---- */

struct rule_row {
	const char *says;
	struct placement_rule rule;
	struct pod_is pod;    /* queue, user, groups, ns */
	const char *expected; /* a path; "" for none; "?name": refused because of name */
};

#define NAMES(...)                                                                              \
	{                                                                                       \
		.n = N_OF(((const char *const[]){__VA_ARGS__})), .names = (const char *const[]) \
		{                                                                               \
			__VA_ARGS__                                                             \
		}                                                                               \
	}

static void put_tree(struct fix *f)
{
	put_queues(f, FROM_YUNIKORN, {.path = "root.leaf"}, {.path = "root.box", .is_parent = true},
		   {.path = "root.team.x"});
}

static const char *place(struct fix *f, const struct placement_rule *rule, const struct pod_is *pod, struct text *path)
{
	struct placement *p = placement_new(rule, 1, NULL);
	struct name_bag bag = name_bag_of(f->names);
	uint32_t n;
	assert_non_null(p);
	name_id user = name_bag_add_str(&bag, pod->user), wanted = NAME_NONE;
	struct placement_ask ask = {.tree = ledger_queues(f->l),
				    .queue = name_bag_add_str(&bag, pod->yunikorn_queue),
				    .ns = name_bag_add_str(&bag, OR(pod->ns, "ns")),
				    .parent_queue = name_bag_add_str(&bag, pod->labels),
				    .user_name = user,
				    .user = {OR(pod->user, "nobody"), OR(pod->groups, "")}};
	enum placement_verdict v = placement_run(placement_rules(p, &n), &ask, path, &wanted);
	if (v == PLACEMENT_REFUSED) {
		text_reset(path);
		text_printf(path, "?%s", name_str(f->names, wanted));
	}
	if (v == PLACEMENT_NO)
		text_reset(path);
	name_bag_drop(&bag);
	placement_free(p);
	return text_str(path);
}

static void run_rules(const struct rule_row *rows, size_t n)
{
	struct text path = {0};
	struct fix f;

	fix_init(&f, PROFILE_DEFAULT);
	put_tree(&f);
	for (size_t i = 0; i < n; i++) {
		const char *found = place(&f, &rows[i].rule, &rows[i].pod, &path);
		if (strcmp(found, rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].says, found);
	}
	text_free(&path);
	fix_free(&f);
}

#define PROVIDED .kind = PLACEMENT_PROVIDED
#define USER .kind = PLACEMENT_USER
#define CREATE .may_create = true
#define TAG(t) .kind = PLACEMENT_TAG, .value = t
#define FIXED(v) .kind = PLACEMENT_FIXED, .value = v
#define BELOW(...) .parent = RULE_OF(__VA_ARGS__)

static void GQ_14_rules_make_paths(void **state)
{
	(void)state;
	const struct rule_row rows[] = {
		{"provided: nothing", {PROVIDED, CREATE}, {0}, ""},
		{"provided: a path", {PROVIDED}, {.yunikorn_queue = "root.team.x"}, "root.team.x"},
		{"provided: in any case", {PROVIDED}, {.yunikorn_queue = "ROOT.Team.X"}, "root.team.x"},
		{"provided: a name", {PROVIDED}, {.yunikorn_queue = "leaf"}, "root.leaf"},
		{"provided: a dot in a name is no step",
		 {PROVIDED, CREATE},
		 {.yunikorn_queue = "Team.x"},
		 "root.team_dot_x"},
		{"provided: not there", {PROVIDED}, {.yunikorn_queue = "root.nix"}, ""},
		{"provided: not there and made", {PROVIDED, CREATE}, {.yunikorn_queue = "root.nix.y"}, "root.nix.y"},
		{"provided: the root itself", {PROVIDED, CREATE}, {.yunikorn_queue = "root"}, "root"},
		{"provided: only begins like the root", {PROVIDED, CREATE}, {.yunikorn_queue = "roots"}, "root.roots"},
		{"provided: root.default is there for all", {PROVIDED}, {.yunikorn_queue = "default"}, "root.default"},
		{"user", {USER, CREATE}, {.user = "Ann.Lee"}, "root.ann_dot_lee"},
		{"user: nobody known", {USER, CREATE}, {0}, "root.nobody"},
		{"user: no such queue", {USER}, {.user = "ann"}, ""},
		{"tag: the namespace", {TAG("namespace"), CREATE}, {.ns = "prod"}, "root.prod"},
		{"tag: in any case", {TAG("Namespace"), CREATE}, {.ns = "prod"}, "root.prod"},
		{"tag: the namespace's queue", {TAG("namespace.parentqueue")}, {.labels = "root.box"}, "root.box"},
		{"tag: the namespace says none", {TAG("namespace.parentqueue"), CREATE}, {0}, ""},
		{"tag: pods show no other", {TAG("color"), CREATE}, {.labels = "color"}, ""},
		{"fixed: a path", {FIXED("root.Team.x")}, {0}, "root.team.x"},
		{"fixed: a name with dots is a path", {FIXED("team.x")}, {0}, "root.team.x"},
		{"fixed: not there", {FIXED("team.y")}, {0}, ""},
		{"recovery gives nothing", {.kind = PLACEMENT_RECOVERY, CREATE}, {.yunikorn_queue = "leaf"}, ""},
	};
	run_rules(rows, N_OF(rows));
}

static void GQ_14_rules_run_after_their_parents(void **state)
{
	(void)state;
	const struct rule_row rows[] = {
		{"user below fixed", {USER, CREATE, BELOW(FIXED("box"))}, {.user = "ann"}, "root.box.ann"},
		{"fixed below fixed", {FIXED("x"), BELOW(FIXED("team"))}, {0}, "root.team.x"},
		{"three in a row",
		 {USER, CREATE, BELOW(TAG("namespace"), CREATE, BELOW(FIXED("box")))},
		 {.user = "ann", .ns = "prod"},
		 "root.box.prod.ann"},
		{"the namespace below the queue it names",
		 {TAG("namespace"), CREATE, BELOW(TAG("namespace.parentqueue"))},
		 {.ns = "prod", .labels = "root.box"},
		 "root.box.prod"},
		{"a path does not ask the parent",
		 {PROVIDED, BELOW(FIXED("nix"))},
		 {.yunikorn_queue = "root.leaf"},
		 "root.leaf"},
		{"a parent that gives nothing", {USER, CREATE, BELOW(PROVIDED)}, {.user = "ann"}, ""},
		{"a parent that is not there", {USER, CREATE, BELOW(FIXED("nix"))}, {.user = "ann"}, ""},
		{"a parent that is made", {USER, CREATE, BELOW(FIXED("nix"), CREATE)}, {.user = "ann"}, "root.nix.ann"},
		{"root.default is no parent by itself",
		 {USER, CREATE, BELOW(PROVIDED)},
		 {.user = "ann", .yunikorn_queue = "root.default"},
		 ""},
		{"a parent whose filter says no",
		 {USER, CREATE, BELOW(FIXED("box"), .filter = {.denies = true})},
		 {.user = "ann"},
		 ""},
		{"a parent that is a leaf", {USER, CREATE, BELOW(FIXED("leaf"))}, {.user = "ann"}, "?root.leaf"},
	};
	run_rules(rows, N_OF(rows));
}

static void GQ_14_names_that_are_none_are_refused(void **state)
{
	(void)state;
	char deep[4 * QUEUE_DEPTH_MAX + 8] = "root", long_name[66];
	for (int i = 1; i < QUEUE_DEPTH_MAX; i++)
		snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), ".a");
	memset(long_name, 'a', 65);
	long_name[65] = '\0';
	char too_deep[sizeof(deep) + 4], longest[66];
	snprintf(too_deep, sizeof(too_deep), "%s.a", deep);
	snprintf(longest, sizeof(longest), "%s", long_name + 1);
	char below[80], refused[80], refused_deep[sizeof(too_deep) + 2];
	snprintf(below, sizeof(below), "root.%s", longest);
	snprintf(refused, sizeof(refused), "?%s", long_name);
	snprintf(refused_deep, sizeof(refused_deep), "?%s", too_deep);
	const struct rule_row rows[] = {
		{"a space", {PROVIDED, CREATE}, {.yunikorn_queue = "a b"}, "?a b"},
		{"an empty step", {PROVIDED, CREATE}, {.yunikorn_queue = "root..b"}, "?root..b"},
		{"nothing after the root", {PROVIDED, CREATE}, {.yunikorn_queue = "root."}, "?root."},
		{"a user", {USER, CREATE}, {.user = "a%b"}, "?a%b"},
		{"letters of elsewhere", {PROVIDED, CREATE}, {.yunikorn_queue = "k\u00f6ln"}, "?k\u00f6ln"},
		{"as long as may be", {PROVIDED, CREATE}, {.yunikorn_queue = longest}, below},
		{"longer", {PROVIDED, CREATE}, {.yunikorn_queue = long_name}, refused},
		{"as deep as may be", {PROVIDED, CREATE}, {.yunikorn_queue = deep}, deep},
		{"deeper", {PROVIDED, CREATE}, {.yunikorn_queue = too_deep}, refused_deep},
		{"refused even where nothing is made", {PROVIDED}, {.yunikorn_queue = "a b"}, "?a b"},
	};
	run_rules(rows, N_OF(rows));
}

static void GQ_14_filters_of_rules(void **state)
{
	(void)state;
	const struct rule_row rows[] = {
		{"no lists: all", {USER, CREATE}, {.user = "ann"}, "root.ann"},
		{"no lists, denied: none", {USER, CREATE, .filter = {.denies = true}}, {.user = "ann"}, ""},
		{"named", {USER, CREATE, .filter = {.users = NAMES("bob", "ann")}}, {.user = "ann"}, "root.ann"},
		{"not named", {USER, CREATE, .filter = {.users = NAMES("bob", "eve")}}, {.user = "ann"}, ""},
		{"denied", {USER, CREATE, .filter = {.denies = true, .users = NAMES("ann")}}, {.user = "ann"}, ""},
		{"others denied",
		 {USER, CREATE, .filter = {.denies = true, .users = NAMES("bob")}},
		 {.user = "ann"},
		 "root.ann"},
		{"by a group",
		 {USER, CREATE, .filter = {.groups = NAMES("ops", "dev")}},
		 {.user = "ann", .groups = "qa,dev"},
		 "root.ann"},
		{"by no group",
		 {USER, CREATE, .filter = {.groups = NAMES("ops")}},
		 {.user = "ann", .groups = "qa,dev"},
		 ""},
		{"denied by a group",
		 {USER, CREATE, .filter = {.denies = true, .groups = NAMES("dev")}},
		 {.user = "ann", .groups = "qa,dev"},
		 ""},
		{"users are no groups", {USER, CREATE, .filter = {.groups = NAMES("ann")}}, {.user = "ann"}, ""},
		{"an expression",
		 {USER, CREATE, .filter = {.users = {.expression = "^a"}}},
		 {.user = "ann"},
		 "root.ann"},
		{"an expression that does not",
		 {USER, CREATE, .filter = {.users = {.expression = "^b"}}},
		 {.user = "ann"},
		 ""},
		{"an expression for groups",
		 {USER, CREATE, .filter = {.groups = {.expression = "^dev$"}}},
		 {.user = "ann", .groups = "devs,dev"},
		 "root.ann"},
		{"each group by itself",
		 {USER, CREATE, .filter = {.groups = {.expression = "a,b"}}},
		 {.user = "ann", .groups = "a,b"},
		 ""},
		{"what is no name names nobody",
		 {PROVIDED, CREATE, .filter = {.users = NAMES("a b", "c d")}},
		 {.user = "a b", .yunikorn_queue = "leaf"},
		 ""},
		{"nobody is a user as well", {USER, CREATE, .filter = {.users = NAMES("nobody")}}, {0}, "root.nobody"},
	};
	run_rules(rows, N_OF(rows));
}

static void GQ_14_rules_with_broken_expressions_are_refused(void **state)
{
	(void)state;
	struct err e = {0};
	const struct placement_rule rules[] = {
		{USER, .filter = {.users = {.expression = "^ok$"}}},
		{USER, BELOW(TAG("namespace"), .filter = {.groups = {.expression = "(oops"}})},
	};
	assert_null(placement_new(rules, 2, &e));
	assert_int_equal(e.code, ERR_INPUT);
	assert_string_equal(e.msg, "placement rule: '(oops' is not a regular expression that can be used");
	uint32_t n = 7;
	assert_null(placement_rules(NULL, &n));
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_expressions_are_those_of_go),
		cmocka_unit_test(GQ_14_expressions_that_are_none_are_refused),
		cmocka_unit_test(GQ_14_access_lists),
		cmocka_unit_test(GQ_14_rules_make_paths),
		cmocka_unit_test(GQ_14_rules_run_after_their_parents),
		cmocka_unit_test(GQ_14_names_that_are_none_are_refused),
		cmocka_unit_test(GQ_14_filters_of_rules),
		cmocka_unit_test(GQ_14_rules_with_broken_expressions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
