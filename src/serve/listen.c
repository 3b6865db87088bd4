/* SPDX-License-Identifier: Apache-2.0 */
/* Where to listen: "127.0.0.1:10269", "[::1]:0", "localhost:80", ":10269". */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "manifest/fields.h"
#include "serve/serve_internal.h"

struct endpoint {
	struct sockaddr_storage address;
	socklen_t len;
	char host[256]; /* without brackets */
};

static enum err_code split(const char *where, char *host, size_t cap, uint16_t *ret_port, struct err *e)
{
	const char *colon = strrchr(where, ':');
	size_t n = colon ? (size_t)(colon - where) : 0;
	unsigned long port;
	char *end;

	if (!colon || !isdigit((unsigned char)colon[1]))
		return err_fail(e, ERR_INPUT, "'%s': expected HOST:PORT, for example 127.0.0.1:10269", where);
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > UINT16_MAX)
		return err_fail(e, ERR_INPUT, "'%s': expected a port from 0 to 65535", where);
	if (n >= 2 && *where == '[' && where[n - 1] == ']') {
		where++;
		n -= 2;
	} else if (memchr(where, ':', n)) {
		return err_fail(e, ERR_INPUT, "'%s': an IPv6 address stands in brackets: [::1]:10269", where);
	}
	if (n >= cap)
		return err_fail(e, ERR_INPUT, "'%s': that is no name of a machine", where);
	memcpy(host, where, n);
	host[n] = '\0';
	*ret_port = (uint16_t)port;
	return ERR_OK;
}

static void any_address(struct endpoint *x, uint16_t port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};

	memcpy(&x->address, &a, sizeof(a));
	x->len = sizeof(a);
}

static enum err_code resolve(const char *where, struct endpoint *x, struct err *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
	char service[8];
	uint16_t port;
	int rc;

	*x = (struct endpoint){0};
	TRY(split(where, x->host, sizeof(x->host), &port, e));
	if (!*x->host) {
		any_address(x, port);
		return ERR_OK;
	}
	snprintf(service, sizeof(service), "%u", port);
	rc = getaddrinfo(x->host, service, &hints, &found);
	if (rc)
		return err_fail(e, ERR_INPUT, "'%s': %s", where, gai_strerror(rc));
	memcpy(&x->address, found->ai_addr, found->ai_addrlen);
	x->len = found->ai_addrlen;
	freeaddrinfo(found);
	return ERR_OK;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

enum err_code serve_check_listen(const char *where, bool *ret_is_local, struct err *e)
{
	struct endpoint x;

	TRY(resolve(where, &x, e));
	*ret_is_local = is_loopback(&x.address);
	return ERR_OK;
}

bool serve_is_local(const char *listen)
{
	bool is_local = false;

	return !serve_check_listen(listen, &is_local, NULL) && is_local;
}

bool host_is_local(const char *header, const char *told)
{
	size_t n = *header == '[' ? strcspn(header, "]") + 1 : strcspn(header, ":");
	char host[64];

	if (n >= sizeof(host))
		return false;
	memcpy(host, header, n);
	host[n] = '\0';
	if (strcasecmp(host, "localhost") == 0 || strcasecmp(host, told) == 0 || str_eq(host, "[::1]"))
		return true;
	return str_starts(host, "127.") && inet_addr(host) != INADDR_NONE;
}

static int open_socket(const struct endpoint *x)
{
	int fd = socket(x->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (x->address.ss_family == AF_INET6 && !*x->host)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (const struct sockaddr *)&x->address, x->len) == 0 && listen(fd, 64) == 0)
		return fd;
	on = errno;
	close(fd);
	errno = on;
	return -1;
}

enum err_code listen_open(const char *where, int *ret_fd, char **ret_host, struct err *e)
{
	struct endpoint x;
	int fd;

	TRY(resolve(where, &x, e));
	fd = open_socket(&x);
	if (fd < 0 && !*x.host && errno == EAFNOSUPPORT) { /* a machine without IPv6 */
		struct sockaddr_in6 *was = (struct sockaddr_in6 *)&x.address;
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = was->sin6_port};

		memcpy(&x.address, &a, sizeof(a));
		x.len = sizeof(a);
		fd = open_socket(&x);
	}
	if (fd < 0)
		return err_fail(e, ERR_IO, "cannot listen on %s: %s", where, strerror(errno));
	*ret_fd = fd;
	*ret_host = mem_strdup(x.host);
	return ERR_OK;
}

enum err_code listen_url(int fd, const char *host, bool is_tls, struct text *ret, struct err *e)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {.v6 = {.sin6_family = AF_UNSPEC}};
	socklen_t n = sizeof(a);

	if (getsockname(fd, &a.any, &n) < 0)
		return err_fail(e, ERR_IO, "the address of a socket: %s", strerror(errno));
	text_printf(ret, strchr(host, ':') ? "%s://[%s]:%u" : "%s://%s:%u", is_tls ? "https" : "http",
		    *host ? host : "localhost", ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port));
	return ERR_OK;
}
