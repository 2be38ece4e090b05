/* The handshake of connections that speak HTTP/2; see tls.h. */
#include "ws/net/tls.h"

#include "ws/log.h"
#include "ws/net/http2.h"
#include "ws/net/relay.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define NAME_SIZE 256u
#define RECORD_SIZE (5u + 16384u) /* of TLS, at most */

struct tls {
	SSL_CTX *context;
	SSL_CTX *hellos; /* looks at a ClientHello, and ends */
};

/* RFC 7301 3.1: the list's length, then each name behind its own. */
static bool has_http2(const unsigned char *list, size_t length)
{
	for (size_t at = 2; at < length; at += 1u + list[at])
		if (list[at] == 2 && at + 2 < length && memcmp(list + at + 1, "h2", 2) == 0)
			return true;
	return false;
}

/* RFC 6066 3: the list's length, and one name behind its type and its own length. */
static void copy_name(const unsigned char *list, size_t length, char ret_name[NAME_SIZE])
{
	size_t n = length < 5 ? 0 : (size_t)list[3] << 8 | list[4];
	bool good = n > 0 && n <= length - 5 && n < NAME_SIZE &&
		list[2] == TLSEXT_NAMETYPE_host_name;
	snprintf(ret_name, NAME_SIZE, "%.*s", good ? (int)n : 0, good ? (const char *)list + 5 : "");
}

/* What a ClientHello says. */
struct hello {
	bool offers_http2;
	char name[NAME_SIZE]; /* of the host, or "" */
};

static int on_hello(SSL *ssl, int *alert, void *user)
{
	const unsigned char *list;
	size_t length;
	struct hello *h = SSL_get_app_data(ssl);
	(void)user;
	*alert = SSL_AD_USER_CANCELLED;
	h->offers_http2 = SSL_client_hello_get0_ext(ssl,
				  TLSEXT_TYPE_application_layer_protocol_negotiation, &list,
				  &length) == 1 &&
		has_http2(list, length);
	if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &list, &length) == 1)
		copy_name(list, length, h->name);
	return SSL_CLIENT_HELLO_ERROR;
}

bool tls_offers_http2(const struct caller *c)
{
	const struct tls *t = c->server->tls;
	char *bytes = (char *)c->server->scratch;
	struct hello hello = {0};
	if (!t)
		return false;
	ssize_t n = recv(c->fd, bytes, RECORD_SIZE, MSG_PEEK);
	SSL *ssl = SSL_new(t->hellos);
	BIO *from = n > 0 ? BIO_new_mem_buf(bytes, (int)n) : NULL, *to = BIO_new(BIO_s_null());
	if (ssl && from && to) {
		SSL_set_app_data(ssl, &hello);
		SSL_set_bio(ssl, from, to); /* takes both */
		ERR_clear_error();
		SSL_accept(ssl);
		ERR_clear_error();
	} else {
		BIO_free(from);
		BIO_free(to);
	}
	SSL_free(ssl);
	/* Previews are served by HTTP/1.1. */
	return hello.offers_http2 && !relay_is_host(c->server, hello.name);
}

/* Nothing else is spoken here. */
static int on_select(SSL *ssl, const unsigned char **name, unsigned char *length,
	const unsigned char *offered, unsigned offered_length, void *user)
{
	static const unsigned char http2[] = "h2";
	(void)ssl;
	(void)offered;
	(void)offered_length;
	(void)user;
	*name = http2;
	*length = 2;
	return SSL_TLSEXT_ERR_OK;
}

/* RFC 9113 9.2: no renegotiation, and with TLS 1.2 these alone. */
static bool configure(SSL_CTX *context, const struct server_options *o)
{
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(context,
		SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_alpn_select_cb(context, on_select, NULL);
	return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
		SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
		SSL_CTX_use_certificate_chain_file(context, o->tls_cert) == 1 &&
		SSL_CTX_use_PrivateKey_file(context, o->tls_key, SSL_FILETYPE_PEM) == 1;
}

int tls_open(struct server *s)
{
	struct tls *t = calloc(1, sizeof *t);
	if (!t)
		return -ENOMEM;
	s->tls = t;
	t->context = SSL_CTX_new(TLS_server_method());
	t->hellos = SSL_CTX_new(TLS_server_method());
	if (!t->context || !t->hellos || !configure(t->context, &s->options)) {
		log_write(LOG_ERROR, "server", "cannot set up", "what", "tls", NULL);
		ERR_clear_error();
		return -EIO;
	}
	SSL_CTX_set_client_hello_cb(t->hellos, on_hello, NULL);
	return 0;
}

void tls_close(struct server *s)
{
	if (!s->tls)
		return;
	SSL_CTX_free(s->tls->context);
	SSL_CTX_free(s->tls->hellos);
	free(s->tls);
	s->tls = NULL;
}

void tls_begin(struct caller *c)
{
	c->ssl = SSL_new(c->server->tls->context);
	if (!c->ssl || SSL_set_fd(c->ssl, c->fd) != 1) {
		caller_drop(c);
		return;
	}
	SSL_set_accept_state(c->ssl);
	caller_move(c, CALLER_HANDSHAKE, c->limit_ms);
	tls_turn(c);
}

void tls_turn(struct caller *c)
{
	ERR_clear_error();
	int rc = SSL_do_handshake(c->ssl);
	int why = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, rc);
	if (why == SSL_ERROR_NONE)
		http2_begin(c);
	else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		caller_watch(c, why == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT);
	else
		caller_drop(c);
}
