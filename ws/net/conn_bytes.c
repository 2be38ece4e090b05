/* Bytes of a connection: reading and writing, encrypted or not, and the buffer of what was read. */
#include "ws/net/conn.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IN_SIZE_MIN ((size_t)1024)

/* The result of conn_read() and conn_write() after SSL_read() or SSL_write() has failed with n. */
static long tls_result(struct conn *c, int n)
{
	switch (SSL_get_error(c->ssl, n)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return -ENOTCONN;
	default:
		return -ECONNRESET;
	}
}

long conn_read(struct conn *c, void *bytes, size_t size)
{
	if (c->ssl) {
		ERR_clear_error();
		int n = SSL_read(c->ssl, bytes, (int)size);
		return n > 0 ? n : tls_result(c, n);
	}
	ssize_t n = recv(c->fd, bytes, size, 0);
	if (n > 0)
		return n;
	return n == 0 ? -ENOTCONN : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

long conn_write(struct conn *c, const void *bytes, size_t length)
{
	if (c->ssl) {
		ERR_clear_error();
		int n = SSL_write(c->ssl, bytes, (int)length);
		return n > 0 ? n : tls_result(c, n);
	}
	ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/* Double the size of c->in. */
static int grow(struct conn *c)
{
	size_t size = c->in_size ? c->in_size * 2 : IN_SIZE_MIN;
	char *in = realloc(c->in, size + 1);
	if (!in)
		return -ENOMEM;
	c->in = in;
	c->in_size = size;
	return 0;
}

/* Ensure that c->in has space for at least one byte. */
static long reserve_in(struct conn *c)
{
	if (c->in_length >= HTTP_HEAD_MAX) /* more: a request of takeover.h, with its body */
		return -ENOBUFS;
	return c->in_length < c->in_size ? 0 : grow(c);
}

long conn_fill(struct conn *c)
{
	long n = reserve_in(c);
	if (n == 0)
		n = conn_read(c, c->in + c->in_length, c->in_size - c->in_length);
	if (n > 0)
		c->in_length += (size_t)n;
	return n;
}

void conn_consume(struct conn *c, size_t length)
{
	c->in_length -= length;
	if (c->in_length > 0) {
		memmove(c->in, c->in + length, c->in_length);
		return;
	}
	free(c->in);
	c->in = NULL;
	c->in_size = 0;
}

int conn_unread(struct conn *c, const char *bytes, size_t length)
{
	if (length == 0)
		return 0;
	assert(c->in_length == 0 && length <= HTTP_HEAD_MAX);
	while (c->in_size < length)
		if (grow(c) < 0)
			return -ENOMEM;
	memcpy(c->in, bytes, length);
	c->in_length = length;
	return 0;
}
