/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "kube/credentials.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CONTEXT "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u, namespace: ml}}\n"
#define CLUSTER "clusters:\n- {name: k, cluster: {server: https://a:6443/}}\n"
#define USER(x) CONTEXT CLUSTER "users:\n- {name: u, user: {" x "}}\n"
#define EXEC(x) USER("exec: {apiVersion: client.authentication.k8s.io/v1, command: x, " x "}")

/* ---- what is refused ---- */

static const struct {
	const char *name, *text, *expected;
} refused[] = {
	{"nothing at all", "", "test.yaml: there is no current-context; say one with --context"},
	{"not a map", "- a\n", "test.yaml:1:1: expected a kubeconfig, found a list"},
	{"no context", CLUSTER, "test.yaml: there is no current-context; say one with --context"},
	{"a context that is not there", "current-context: x\n", "test.yaml: there is no context \"x\""},
	{"a cluster that is not there", CONTEXT, "test.yaml: there is no cluster \"k\""},
	{"a user that is not there", CONTEXT CLUSTER, "test.yaml: there is no user \"u\""},
	{"contexts as a map", "current-context: c\ncontexts: {}\n",
	 "test.yaml:2:11: contexts: expected a list, found a map"},
	{"a cluster without server", CONTEXT "clusters:\n- {name: k, cluster: {}}\n",
	 "test.yaml:5:22: cluster k: server: expected an address such as https://10.0.0.1:6443"},
	{"a server that is no address", CONTEXT "clusters:\n- {name: k, cluster: {server: 'a:6443'}}\n",
	 "test.yaml:5:31: cluster k: server: expected an address such as https://10.0.0.1:6443"},
	{"a password in the address", CONTEXT "clusters:\n- {name: k, cluster: {server: 'https://me:hush@a'}}\n",
	 "test.yaml:5:31: cluster k: server: expected an address such as https://10.0.0.1:6443"},
	{"an authority and none wanted",
	 CONTEXT "clusters:\n- {name: k, cluster: {server: https://a, insecure-skip-tls-verify: true, "
		 "certificate-authority: x}}\n",
	 "test.yaml:5:22: cluster k: insecure-skip-tls-verify and a certificate authority: one of the two"},
	{"base64 that is none", USER("client-certificate-data: '!hush'"),
	 "test.yaml:7:45: user u: client-certificate-data: expected base64 of a PEM file, found something else"},
	{"a token that is a list", USER("token: [hush]"),
	 "test.yaml:7:27: user u: token: expected a string, found a list"},
	{"a certificate without key", USER("client-certificate: a.crt"),
	 "test.yaml:7:19: user u: a client certificate and its key: both or none"},
	{"groups of nobody", USER("as-groups: [a]"),
	 "test.yaml:7:19: user u: as-uid, as-groups or as-user-extra without as"},
	{"an auth-provider", USER("auth-provider: {name: gcp}"),
	 "test.yaml:7:19: user u: auth-provider: not supported, as in kubectl since 1.26; use an exec plugin"},
	{"a plugin of an unknown version", USER("exec: {apiVersion: client.authentication.k8s.io/v1alpha1}"),
	 "test.yaml:7:39: user u: exec.apiVersion: expected client.authentication.k8s.io/v1 or …/v1beta1"},
	{"a plugin without a program", USER("exec: {apiVersion: client.authentication.k8s.io/v1}"),
	 "test.yaml:7:26: user u: exec.command: expected a program, found nothing"},
	{"a mode nobody knows", EXEC("interactiveMode: Sometimes"),
	 "test.yaml:7:101: user u: exec.interactiveMode: expected Never, IfAvailable or Always"},
	{"broken YAML around a secret", "token: 'hush\nhush: hush'\n  x: {hush\n",
	 "test.yaml:3:3: this is not YAML that can be read (what stands there is not shown)"},
	{"broken JSON around a secret", "{\"token\": hush}",
	 "test.yaml:1:11: this is not YAML that can be read (what stands there is not shown)"},
};

static void what_is_wrong_is_told_with_its_place_and_without_secrets(void **state)
{
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct kube_config *c = NULL;
		struct err e = {0};

		if (!kube_config_parse("test.yaml", "/etc/k", refused[i].text, strlen(refused[i].text), NULL, &c, &e))
			fail_msg("%s: accepted", refused[i].name);
		if (strstr(e.msg, "hush"))
			fail_msg("%s: a secret in \"%s\"", refused[i].name, e.msg);
		if (!str_eq(e.msg, refused[i].expected))
			fail_msg("%s:\n  %s\nexpected\n  %s", refused[i].name, e.msg, refused[i].expected);
	}
}

/* ---- what is read ---- */

static struct kube_config *parse(const char *text, const char *context)
{
	struct kube_config *c = NULL;
	struct err e = {0};

	if (kube_config_parse("test.yaml", "/etc/k", text, strlen(text), context, &c, &e))
		fail_msg("%s", e.msg);
	return c;
}

static void everything_is_found(void **state)
{
	struct kube_config *c = parse(
		"current-context: other\n"
		"contexts:\n- {name: c, context: {cluster: k, user: u, namespace: ml}}\n"
		"clusters:\n- name: k\n  cluster:\n    server: https://[::1]:6443/base/\n    tls-server-name: name\n"
		"    proxy-url: http://proxy:3128\n    certificate-authority-data: Q0E=\n"
		"users:\n- name: u\n  user:\n    client-certificate-data: Q0VSVA==\n    client-key: keys/a.key\n"
		"    tokenFile: /run/token\n    username: 12\n    password: 34\n"
		"    as: ann\n    as-uid: '7'\n    as-groups: [a, b]\n    as-user-extra: {why: [x, y]}\n",
		"c");

	assert_string_equal(c->server, "https://[::1]:6443/base");
	assert_string_equal(c->ns, "ml");
	assert_string_equal(c->where, "test.yaml, context c");
	assert_string_equal(c->tls_server_name, "name");
	assert_string_equal(c->proxy, "http://proxy:3128");
	assert_string_equal(c->ca.s, "CA");
	assert_string_equal(c->cert.s, "CERT");
	assert_string_equal(c->key_file, "/etc/k/keys/a.key");
	assert_string_equal(c->token_file, "/run/token");
	assert_string_equal(c->user, "12");
	assert_string_equal(c->password.s, "34");
	assert_string_equal(c->as, "ann");
	assert_string_equal(c->groups[1], "b");
	assert_int_equal(c->n_extra, 2);
	assert_string_equal(c->extra[1].value, "y");
	assert_false(c->is_insecure);
	assert_null(c->exec);
	kube_config_free(c);
}

static void programs_are_found_beside_the_file(void **state)
{
	struct kube_config *c = parse(
		USER("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [a, 2], "
		     "env: [{name: X, value: 'y=z'}], provideClusterInfo: true, interactiveMode: Never}"),
		NULL);

	assert_string_equal(c->exec->command, "/etc/k/./bin/login");
	assert_int_equal(c->exec->n_args, 2);
	assert_string_equal(c->exec->args[1], "2");
	assert_string_equal(c->exec->env[0], "X=y=z");
	assert_true(c->exec->wants_cluster);
	assert_int_equal(c->exec->interaction, EXEC_NEVER);
	kube_config_free(c);
}

/* ---- files ---- */

static char folder[64];

static const char *write_file(const char *name, const char *text)
{
	static char path[4][128];
	static int next;
	char *p = path[next++ % 4];
	FILE *f;

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	f = fopen(p, "w");
	fputs(text, f);
	fclose(f);
	return p;
}

static void files_of_the_list_are_put_together_and_the_first_is_right(void **state)
{
	char list[400];
	struct kube_config_source src = {.list = list};
	struct kube_config *c;
	struct err e;
	const char *a =
		write_file("a", "current-context: c\nclusters:\n- {name: k, cluster: {server: https://first}}\n");
	const char *b = write_file("b", CONTEXT "clusters:\n- {name: k, cluster: {server: https://second}}\n"
						"users:\n- {name: u, user: {tokenFile: tok}}\n");

	snprintf(list, sizeof(list), "%s/missing::%s:%s", folder, a, b);
	assert_int_equal(kube_config_load(&src, &c, &e), ERR_OK);
	assert_string_equal(c->server, "https://first");
	assert_non_null(strstr(c->token_file, "/tok"));
	assert_true(str_starts(c->token_file, folder));
	kube_config_free(c);

	src.file = "/nonexistent"; /* one that was named must be there */
	assert_int_equal(kube_config_load(&src, &c, &e), ERR_NOTFOUND);
	assert_string_equal(e.msg, "/nonexistent: No such file or directory");
}

static void in_a_pod_the_service_account_is_used(void **state)
{
	struct kube_config_source src = {
		.home = "/nonexistent", .host = "fd00::1", .port = "443", .account_dir = folder};
	struct credentials *credentials;
	struct kube_config *c;
	struct identity *id;
	struct err e;

	write_file("token", "one\n");
	write_file("namespace", "kube-system");
	assert_int_equal(kube_config_load(&src, &c, &e), ERR_OK);
	assert_string_equal(c->server, "https://[fd00::1]:443");
	assert_string_equal(c->ns, "kube-system");

	credentials = credentials_new(c);
	assert_null(credentials_get(credentials, 0));
	assert_true(credentials_is_due(credentials, 0));
	assert_int_equal(credentials_refresh(credentials, 0, &e), ERR_OK);
	id = credentials_get(credentials, 0);
	assert_string_equal(id->token.s, "one");
	identity_release(credentials, id);

	write_file("token", "two"); /* the kubelet replaces it */
	assert_false(credentials_is_due(credentials, 59 * NS_PER_S));
	assert_true(credentials_is_due(credentials, 60 * NS_PER_S));
	id = credentials_get(credentials, 0);
	assert_int_equal(credentials_refresh(credentials, 60 * NS_PER_S, &e), ERR_OK);
	assert_string_equal(id->token.s, "one"); /* who has it keeps it */
	identity_release(credentials, id);
	id = credentials_get(credentials, 60 * NS_PER_S);
	assert_string_equal(id->token.s, "two");
	identity_release(credentials, id);

	write_file("token", ""); /* what was there stays */
	assert_int_equal(credentials_refresh(credentials, 120 * NS_PER_S, &e), ERR_INPUT);
	assert_non_null(strstr(e.msg, "expected a token, found an empty file"));
	id = credentials_get(credentials, 120 * NS_PER_S);
	assert_string_equal(id->token.s, "two");
	identity_release(credentials, id);
	credentials_free(credentials);
	kube_config_free(c);
}

static void without_any_it_is_told_where_one_was_looked_for(void **state)
{
	struct kube_config_source src = {.home = "/nonexistent"};
	struct kube_config *c;
	struct err e;

	assert_int_equal(kube_config_load(&src, &c, &e), ERR_NOTFOUND);
	assert_non_null(strstr(e.msg, "neither --kubeconfig nor $KUBECONFIG nor ~/.kube/config"));
}

/* ---- plugins ---- */

#define ANSWER(status) \
	"{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":" status "}"

static const struct {
	const char *name, *text, *expected; /* the error; NULL: it is right */
	int64_t until_ns;
} answers[] = {
	{"a token for ever", ANSWER("{\"token\":\"hush\"}"), NULL, INT64_MAX},
	{"a token that expires", ANSWER("{\"token\":\"hush\",\"expirationTimestamp\":\"1970-01-01T00:01:00Z\"}"), NULL,
	 60 * NS_PER_S},
	{"a certificate", ANSWER("{\"clientCertificateData\":\"hush\",\"clientKeyData\":\"hush\"}"), NULL, INT64_MAX},
	{"half a JSON", "{\"apiVersion\":\"hush", "exec: x: what it wrote is not JSON", 0},
	{"nothing", "", "exec: x: what it wrote is not JSON", 0},
	{"another kind", "{\"kind\":\"hush\"}", "exec: x: kind: expected ExecCredential", 0},
	{"another version", "{\"apiVersion\":\"hush\",\"kind\":\"ExecCredential\"}",
	 "exec: x: apiVersion: it is not the one of the kubeconfig", 0},
	{"no status", ANSWER("null"), "exec: x: status: neither a token nor a certificate", 0},
	{"a key without certificate", ANSWER("{\"token\":\"hush\",\"clientKeyData\":\"hush\"}"),
	 "exec: x: status: a certificate and its key: both or none", 0},
	{"a time that is none", ANSWER("{\"token\":\"hush\",\"expirationTimestamp\":\"hush\"}"),
	 "exec: x: status.expirationTimestamp: expected a time such as 2026-11-15T12:00:00Z", 0},
};

static void answers_of_plugins_are_understood_or_refused_without_a_word_of_them(void **state)
{
	const struct kube_exec x = {.api = "client.authentication.k8s.io/v1", .command = "x"};

	for (size_t i = 0; i < COUNT(answers); i++) {
		struct identity id = {0};
		struct err e = {0};
		int64_t until_ns = 0;
		enum err_code rc = credentials_parse(&x, answers[i].text, strlen(answers[i].text), &id, &until_ns, &e);

		if (answers[i].expected ? !str_eq(e.msg, answers[i].expected) : rc || until_ns != answers[i].until_ns)
			fail_msg("%s: %s", answers[i].name, e.msg);
		secret_free(&id.token);
		secret_free(&id.cert);
		secret_free(&id.key);
	}
}

static struct kube_config *plugin(const char *script, const char *more)
{
	char text[900];
	const char *path = write_file("login", script);

	chmod(path, 0700);
	snprintf(text, sizeof(text),
		 CONTEXT CLUSTER "users:\n- {name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
				 "command: '%s'%s}}}\n",
		 path, more);
	return parse(text, NULL);
}

static void plugins_are_run_once_until_what_they_gave_expires(void **state)
{
	struct kube_config *c = plugin(
		"#!/bin/sh\necho run >> $LOG\n"
		"[ \"$KUBERNETES_EXEC_INFO\" ] || exit 3\n"
		"echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"
		"{\"token\":\"'$1'\",\"expirationTimestamp\":\"1970-01-01T01:00:00Z\"}}'\n",
		", args: [hush], env: [{name: LOG, value: /dev/null}], provideClusterInfo: true");
	struct credentials *credentials = credentials_new(c);
	struct identity *id;
	struct err e = {0};

	if (credentials_refresh(credentials, 0, &e))
		fail_msg("%s", e.msg);
	id = credentials_get(credentials, 0);
	assert_string_equal(id->token.s, "hush");
	assert_false(credentials_is_due(credentials, 3500 * NS_PER_S));
	assert_true(credentials_is_due(credentials, 3570 * NS_PER_S)); /* a little before */
	assert_null(credentials_get(credentials, 3600 * NS_PER_S));    /* it is over */
	credentials_refused(credentials, id);
	assert_true(credentials_is_due(credentials, 0)); /* the server would not have it */
	identity_release(credentials, id);
	credentials_free(credentials);
	kube_config_free(c);
}

static void plugins_that_fail_are_named(void **state)
{
	static const struct {
		const char *name, *script, *more, *expected;
	} rows[] = {
		{"an exit code", "#!/bin/sh\necho hush\nexit 7\n", "", "ended with exit code 7"},
		{"a signal", "#!/bin/sh\nkill -9 $$\n", "", "ended with signal 9"},
		{"it wants a terminal", "#!/bin/sh\n", ", interactiveMode: Always", "wants a terminal"},
		{"too much", "#!/bin/sh\nhead -c 3000000 /dev/zero\n", "", "more than 1048576 bytes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kube_config *c = plugin(rows[i].script, rows[i].more);
		struct secret out = {0};
		struct err e = {0};

		if (!exec_plugin_run(c, &out, &e) || !strstr(e.msg, rows[i].expected) || strstr(e.msg, "hush"))
			fail_msg("%s: %s", rows[i].name, e.msg);
		kube_config_free(c);
	}
}

static void a_missing_plugin_says_how_to_get_it(void **state)
{
	struct kube_config *c = parse(EXEC("installHint: get it there"), NULL);
	struct secret out = {0};
	struct err e = {0};

	c->exec->command = "/nonexistent/login";
	assert_int_equal(exec_plugin_run(c, &out, &e), ERR_IO);
	assert_string_equal(e.msg, "test.yaml, context c: user: exec: /nonexistent/login: No such file or directory; "
				   "get it there");
	kube_config_free(c);
}

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/cede-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	static const char *const names[] = {"a", "b", "token", "namespace", "login"};
	char path[128];

	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_told_with_its_place_and_without_secrets),
		cmocka_unit_test(everything_is_found),
		cmocka_unit_test(programs_are_found_beside_the_file),
		cmocka_unit_test(files_of_the_list_are_put_together_and_the_first_is_right),
		cmocka_unit_test(in_a_pod_the_service_account_is_used),
		cmocka_unit_test(without_any_it_is_told_where_one_was_looked_for),
		cmocka_unit_test(answers_of_plugins_are_understood_or_refused_without_a_word_of_them),
		cmocka_unit_test(plugins_are_run_once_until_what_they_gave_expires),
		cmocka_unit_test(plugins_that_fail_are_named),
		cmocka_unit_test(a_missing_plugin_says_how_to_get_it),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
