/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/emit.h"
#include "base/text.h"
#include "manifest/fields.h"

enum { OUTPUT_MAX = 1 << 20, SECONDS_MAX = 60 };

static bool is_interactive(const struct kube_exec *x)
{
	return x->interaction != EXEC_NEVER && isatty(STDIN_FILENO);
}

static void encode_base64(const struct secret *x, struct text *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < x->n; i += 3) {
		size_t n = x->n - i < 3 ? x->n - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < n ? (unsigned char)x->s[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			text_add_n(out, k <= n ? &digits[bits >> (18 - 6 * k) & 63] : "=", 1);
	}
}

static void emit_cluster(struct emit *j, const struct kube_config *c)
{
	struct text ca = {0};

	emit_object(j, "cluster");
	emit_str(j, "server", c->server);
	if (*c->tls_server_name)
		emit_str(j, "tls-server-name", c->tls_server_name);
	if (c->is_insecure)
		emit_bool(j, "insecure-skip-tls-verify", true);
	if (*c->proxy)
		emit_str(j, "proxy-url", c->proxy);
	if (secret_is_set(&c->ca)) {
		encode_base64(&c->ca, &ca);
		emit_str(j, "certificate-authority-data", text_str(&ca));
	}
	emit_end(j);
	text_free(&ca);
}

static void info_text(const struct kube_config *c, struct text *out)
{
	struct emit j;

	text_add(out, "KUBERNETES_EXEC_INFO=");
	emit_init(&j, out, EMIT_JSON_LINE);
	emit_object(&j, NULL);
	emit_str(&j, "apiVersion", c->exec->api);
	emit_str(&j, "kind", "ExecCredential");
	emit_object(&j, "spec");
	emit_bool(&j, "interactive", is_interactive(c->exec));
	if (c->exec->wants_cluster)
		emit_cluster(&j, c);
	emit_end(&j);
	emit_end(&j);
	out->s[--out->n] = '\0'; /* the newline */
}

typedef ARRAY(char *) word_list;

static bool is_same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* Ours, with what the kubeconfig says instead of what it was. */
static void make_environment(const struct kube_exec *x, char *info, word_list *ret)
{
	for (char **p = environ; *p; p++) {
		bool is_replaced = is_same_variable(info, *p);

		for (uint32_t i = 0; !is_replaced && i < x->n_env; i++)
			is_replaced = is_same_variable(x->env[i], *p);
		if (!is_replaced)
			array_push(ret, *p);
	}
	for (uint32_t i = 0; i < x->n_env; i++)
		array_push(ret, (char *)x->env[i]);
	array_push(ret, info);
	array_push(ret, NULL);
}

static enum err_code start(const struct kube_config *c, int out_fd, pid_t *ret, struct err *e)
{
	const struct kube_exec *x = c->exec;
	posix_spawn_file_actions_t files;
	word_list env = {0}, args = {0};
	struct text info = {0};
	int rc;

	info_text(c, &info);
	make_environment(x, info.s, &env);
	array_push(&args, (char *)x->command);
	for (uint32_t i = 0; i < x->n_args; i++)
		array_push(&args, (char *)x->args[i]);
	array_push(&args, NULL);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	if (!is_interactive(x))
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	rc = posix_spawnp(ret, x->command, &files, NULL, args.v, env.v);
	posix_spawn_file_actions_destroy(&files);
	array_free(&args);
	array_free(&env);
	text_free(&info);
	if (!rc)
		return ERR_OK;
	return err_fail(e, ERR_IO, "%s: user: exec: %s: %s%s%.200s", c->where, x->command, strerror(rc),
			*x->install_hint ? "; " : "", x->install_hint);
}

/* It had its time; what is left of it goes. */
static int finish(pid_t pid, bool has_failed)
{
	int status = 0;

	if (has_failed)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

enum err_code exec_plugin_run(const struct kube_config *config, struct secret *ret, struct err *e)
{
	struct clock clock = clock_steady();
	const struct kube_exec *x = config->exec;
	int fds[2], status;
	enum err_code rc;
	pid_t pid = 0;

	if (x->interaction == EXEC_ALWAYS && !is_interactive(x))
		return err_fail(e, ERR_IO,
				"%s: user: exec: %s wants a terminal (interactiveMode: Always), and there is none",
				config->where, x->command);
	if (pipe2(fds, O_CLOEXEC))
		return err_fail(e, ERR_IO, "pipe: %s", strerror(errno));
	rc = start(config, fds[1], &pid, e);
	close(fds[1]);
	if (!rc) {
		rc = secret_drain(ret, fds[0], OUTPUT_MAX, clock_now(&clock) + SECONDS_MAX * NS_PER_S, x->command, e);
		status = finish(pid, rc != ERR_OK);
		if (!rc && (!WIFEXITED(status) || WEXITSTATUS(status)))
			rc = err_fail(e, ERR_IO, "%s: user: exec: %s ended with %s %d", config->where, x->command,
				      WIFEXITED(status) ? "exit code" : "signal",
				      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
		if (rc)
			secret_free(ret);
	}
	close(fds[0]);
	return rc;
}
