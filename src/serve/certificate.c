/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A certificate that nobody vouches for, for a server that was given none: what is said cannot be read by others on the
 * way, and a client that wants to know whom it speaks to has to be given the certificate of --tls-cert.
 */
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <unistd.h>

#include "serve/serve_internal.h"

enum { VALID_DAYS = 365 };

static int add_name(gnutls_x509_crt_t c, const char *host)
{
	unsigned char address[16];

	if (inet_pton(AF_INET, host, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_IPADDRESS, address, 4, GNUTLS_FSAN_APPEND);
	if (inet_pton(AF_INET6, host, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_IPADDRESS, address, 16, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_DNSNAME, host, (unsigned)strlen(host),
						    GNUTLS_FSAN_APPEND);
}

/* Also for this machine: a forwarded port is reached there, whatever the server's own name and address are. */
static int name_it(gnutls_x509_crt_t c, const char *host)
{
	char self[256] = "cede";
	const char *const names[] = {self, "localhost", "127.0.0.1", "::1", host};
	int rc;

	gethostname(self, sizeof(self) - 1);
	rc = gnutls_x509_crt_set_dn_by_oid(c, GNUTLS_OID_X520_COMMON_NAME, 0, self, (unsigned)strlen(self));
	for (size_t i = 0; rc >= 0 && i < sizeof(names) / sizeof(*names); i++)
		if (*names[i])
			rc = add_name(c, names[i]);
	return rc;
}

static int sign(gnutls_x509_crt_t c, gnutls_x509_privkey_t k, const char *host, int64_t wall_ns)
{
	int64_t from = wall_ns / NS_PER_S - 3600;
	uint64_t serial = (uint64_t)wall_ns >> 1;
	int rc = gnutls_x509_crt_set_version(c, 3);

	if (rc >= 0)
		rc = gnutls_x509_crt_set_serial(c, &serial, sizeof(serial));
	if (rc >= 0)
		rc = gnutls_x509_crt_set_activation_time(c, from);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_expiration_time(c, from + (int64_t)VALID_DAYS * 86400);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key(c, k);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key_usage(c, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key_purpose_oid(c, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (rc >= 0)
		rc = name_it(c, host);
	return rc >= 0 ? gnutls_x509_crt_sign2(c, c, k, GNUTLS_DIG_SHA256, 0) : rc;
}

static int make(gnutls_x509_crt_t c, gnutls_x509_privkey_t k, const char *host, int64_t wall_ns, struct text *cert,
		struct text *key)
{
	gnutls_datum_t pem = {0};
	int rc = gnutls_x509_privkey_generate(k, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);

	if (rc >= 0)
		rc = sign(c, k, host, wall_ns);
	if (rc >= 0)
		rc = gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &pem);
	if (rc < 0)
		return rc;
	text_add_n(cert, (const char *)pem.data, pem.size);
	gnutls_free(pem.data);
	rc = gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &pem);
	if (rc < 0)
		return rc;
	text_add_n(key, (const char *)pem.data, pem.size);
	gnutls_memset(pem.data, 0, pem.size);
	gnutls_free(pem.data);
	return 0;
}

enum err_code certificate_make(const char *host, int64_t wall_ns, struct text *ret_cert, struct text *ret_key,
			       struct err *e)
{
	gnutls_x509_privkey_t k = NULL;
	gnutls_x509_crt_t c = NULL;
	int rc = gnutls_x509_privkey_init(&k);

	if (rc >= 0)
		rc = gnutls_x509_crt_init(&c);
	if (rc >= 0)
		rc = make(c, k, host, wall_ns, ret_cert, ret_key);
	if (c)
		gnutls_x509_crt_deinit(c);
	if (k)
		gnutls_x509_privkey_deinit(k);
	return rc >= 0 ? ERR_OK : err_fail(e, ERR_IO, "a certificate could not be made: %s", gnutls_strerror(rc));
}
