/* TLS; see tls.h. */
#include "ws/net/tls.h"

#include "ws/log.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* RFC 7301: choose http/1.1 if it is offered; otherwise continue without ALPN. */
static int on_select(SSL *ssl, const unsigned char **name, unsigned char *length,
	const unsigned char *offered, unsigned offered_length, void *user)
{
	static const unsigned char ours[] = "\x08http/1.1";
	(void)ssl;
	(void)user;
	return SSL_select_next_proto((unsigned char **)(uintptr_t)name, length, ours,
		       sizeof ours - 1, offered, offered_length) == OPENSSL_NPN_NEGOTIATED
		? SSL_TLSEXT_ERR_OK
		: SSL_TLSEXT_ERR_NOACK;
}

/* Encrypted keys are not supported: there is no terminal to ask for a password. */
static int on_password(char *text, int size, int writing, void *user)
{
	(void)text;
	(void)size;
	(void)writing;
	(void)user;
	return -1;
}

static void configure(SSL_CTX *tls)
{
	SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(tls,
		SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
	SSL_CTX_set_alpn_select_cb(tls, on_select, NULL);
	SSL_CTX_set_default_passwd_cb(tls, on_password);
}

/* Log OpenSSL's first error. Returns -EIO. */
static int fail(const char *what, const char *file)
{
	char text[160] = "not enough memory";
	unsigned long error = ERR_get_error();
	if (error)
		ERR_error_string_n(error, text, sizeof text);
	log_write(LOG_ERROR, "server", "cannot set up TLS", "what", what, "file", file, "error",
		text, NULL);
	ERR_clear_error();
	return -EIO;
}

int tls_open(struct server *s)
{
	const struct server_options *o = &s->options;
	if (!o->tls_cert)
		return 0;
	ERR_clear_error();
	s->tls = SSL_CTX_new(TLS_server_method());
	if (!s->tls)
		return fail("memory", "");
	configure(s->tls);
	if (SSL_CTX_use_certificate_chain_file(s->tls, o->tls_cert) != 1)
		return fail("the certificate", o->tls_cert);
	/* This also checks that it matches the certificate. */
	if (SSL_CTX_use_PrivateKey_file(s->tls, o->tls_key, SSL_FILETYPE_PEM) != 1)
		return fail("the key", o->tls_key);
	return 0;
}

void tls_close(struct server *s)
{
	SSL_CTX_free(s->tls);
	s->tls = NULL;
}

bool tls_is_clear(const struct conn *c)
{
	char first;
	return recv(c->fd, &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z';
}

void tls_begin(struct conn *c)
{
	c->ssl = SSL_new(c->server->tls);
	if (!c->ssl || SSL_set_fd(c->ssl, c->fd) != 1) {
		conn_drop(c);
		return;
	}
	SSL_set_accept_state(c->ssl);
	conn_set_state(c, CONN_HANDSHAKE, c->limit_ms);
	tls_turn(c);
}

void tls_turn(struct conn *c)
{
	ERR_clear_error();
	int rc = SSL_do_handshake(c->ssl);
	int why = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, rc);
	if (why == SSL_ERROR_NONE)
		http1_begin(c);
	else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		conn_watch(c, why == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT);
	else
		conn_drop(c);
}
