/* A WebSocket server on the loop of a test, which sees every byte, and may break every rule (RFC 6455). */
#pragma once

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define WS_PEER_CONNS 32u
#define WS_PEER_FIN 0x80u

enum ws_peer_opcode { WS_CONTINUATION, WS_TEXT, WS_BINARY, WS_CLOSE = 8, WS_PING, WS_PONG };

/* A connection. */
struct ws_peer_conn {
	uv_tcp_t tcp;
	char head[32768]; /* of the request, with NUL */
	size_t head_length;
	bool asked, gone;
	unsigned char *input; /* frames that are not complete; owned */
	size_t input_length, input_size;
	uint64_t to_flood, flooded; /* bytes of the pattern that are to be sent; that were */
	bool flooding;
	uint64_t received;   /* bytes of binary messages */
	unsigned messages;   /* binary ones and texts */
	bool differs;        /* they are not the pattern */
	char text[256];      /* the beginning of the latest text, with NUL */
	size_t text_length;  /* of it */
	unsigned close_code; /* of the client's close frame */
	char close_reason[128];
	unsigned pings, pongs;
};

struct ws_peer {
	uv_tcp_t tcp;
	char url[64];
	void (*answer)(struct ws_peer_conn *c); /* the request is complete; NULL: accept it */
	/* A message has come; NULL: count it. */
	void (*message)(
		struct ws_peer_conn *c, unsigned opcode, const unsigned char *bytes, size_t length);
	struct ws_peer_conn *conns[WS_PEER_CONNS];
	unsigned count;
};

static struct ws_peer peer;

/* Byte at an offset of the pattern. */
static inline unsigned char ws_peer_pattern(uint64_t offset)
{
	return (unsigned char)(offset * 31 + (offset >> 13));
}

struct ws_peer_write {
	uv_write_t request;
	char bytes[];
};

static inline void ws_peer_on_written(uv_write_t *request, int status)
{
	(void)status; /* the client may have gone */
	free(request->data);
}

/* Send bytes as they are. */
static inline void ws_peer_send(struct ws_peer_conn *c, const void *bytes, size_t length)
{
	struct ws_peer_write *w = malloc(sizeof *w + length);
	cr_assert_not_null(w);
	w->request.data = w;
	memcpy(w->bytes, bytes, length);
	uv_buf_t buf = uv_buf_init(w->bytes, (unsigned)length);
	if (uv_write(&w->request, (uv_stream_t *)&c->tcp, &buf, 1, ws_peer_on_written) < 0)
		free(w);
}

/* Write the head of a frame. Returns its length. */
static inline size_t ws_peer_head(unsigned char *head, unsigned first, uint64_t length)
{
	head[0] = (unsigned char)first;
	if (length < 126) {
		head[1] = (unsigned char)length;
		return 2;
	}
	unsigned size = length <= 65535 ? 2 : 8;
	head[1] = size == 2 ? 126 : 127;
	for (unsigned i = 0; i < size; i++)
		head[2 + i] = (unsigned char)(length >> (8 * (size - 1 - i)));
	return 2 + size;
}

/* Send a frame. first: WS_PEER_FIN and the opcode. */
static inline void ws_peer_frame(
	struct ws_peer_conn *c, unsigned first, const void *bytes, size_t length)
{
	unsigned char *frame = malloc(10 + length);
	cr_assert_not_null(frame);
	size_t head = ws_peer_head(frame, first, length);
	if (length > 0)
		memcpy(frame + head, bytes, length);
	ws_peer_send(c, frame, head + length);
	free(frame);
}

static inline void ws_peer_text(struct ws_peer_conn *c, const char *text)
{
	ws_peer_frame(c, WS_PEER_FIN | WS_TEXT, text, strlen(text));
}

static inline void ws_peer_close_frame(struct ws_peer_conn *c, unsigned code, const char *reason)
{
	unsigned char payload[128] = {(unsigned char)(code >> 8), (unsigned char)code};
	size_t length = strlen(reason);
	memcpy(payload + 2, reason, length);
	ws_peer_frame(c, WS_PEER_FIN | WS_CLOSE, payload, 2 + length);
}

static inline void ws_peer_on_closed(uv_handle_t *handle)
{
	struct ws_peer_conn *c = handle->data;
	free(c->input);
	c->input = NULL;
}

/* Close the connection without a close frame. */
static inline void ws_peer_hang_up(struct ws_peer_conn *c)
{
	if (!c->gone)
		uv_close((uv_handle_t *)&c->tcp, ws_peer_on_closed);
	c->gone = true;
}

static inline void ws_peer_on_reset(uv_handle_t *handle)
{
	ws_peer_on_closed(handle);
}

/* End the connection as the kernel does when the process is killed and has unread bytes. */
static inline void ws_peer_reset(struct ws_peer_conn *c)
{
	c->gone = true;
	cr_assert_eq(uv_tcp_close_reset(&c->tcp, ws_peer_on_reset), 0);
}

/* Write the answer that accepts the handshake. Returns its length. */
static inline int ws_peer_answer(const struct ws_peer_conn *c, char *answer, size_t size)
{
	static const char id[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	const char *key = strcasestr(c->head, "sec-websocket-key: ");
	char text[128];
	unsigned char hash[EVP_MAX_MD_SIZE], accept[64];
	unsigned length;
	cr_assert_not_null(key);
	snprintf(text, sizeof text, "%.24s%s", key + 19, id);
	cr_assert(EVP_Digest(text, strlen(text), hash, &length, EVP_sha1(), NULL));
	EVP_EncodeBlock(accept, hash, (int)length);
	return snprintf(answer, size,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
		"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		(char *)accept);
}

static inline void ws_peer_accept(struct ws_peer_conn *c)
{
	char answer[256];
	ws_peer_send(c, answer, (size_t)ws_peer_answer(c, answer, sizeof answer));
}

static inline void ws_peer_flood_on(struct ws_peer_conn *c);

static inline void ws_peer_on_flooded(uv_write_t *request, int status)
{
	struct ws_peer_conn *c = request->handle->data;
	free(request->data);
	if (status == 0)
		ws_peer_flood_on(c);
}

/* Send the next frame of the pattern when the one before has been written. */
static inline void ws_peer_flood_on(struct ws_peer_conn *c)
{
	size_t length = c->to_flood < 60000 ? (size_t)c->to_flood : 60000;
	c->flooding = length > 0;
	if (!c->flooding)
		return;
	struct ws_peer_write *w = malloc(sizeof *w + 10 + length);
	cr_assert_not_null(w);
	size_t head = ws_peer_head((unsigned char *)w->bytes, WS_PEER_FIN | WS_BINARY, length);
	for (size_t i = 0; i < length; i++)
		w->bytes[head + i] = (char)ws_peer_pattern(c->flooded + i);
	c->to_flood -= length;
	c->flooded += length;
	w->request.data = w;
	uv_buf_t buf = uv_buf_init(w->bytes, (unsigned)(head + length));
	if (uv_write(&w->request, (uv_stream_t *)&c->tcp, &buf, 1, ws_peer_on_flooded) < 0)
		free(w);
}

/* Send so many more bytes of the pattern as binary messages. */
static inline void ws_peer_flood(struct ws_peer_conn *c, uint64_t bytes)
{
	c->to_flood += bytes;
	if (!c->flooding)
		ws_peer_flood_on(c);
}

static inline void ws_peer_count(
	struct ws_peer_conn *c, unsigned opcode, const unsigned char *bytes, size_t length)
{
	c->messages++;
	if (opcode == WS_TEXT) {
		snprintf(c->text, sizeof c->text, "%.*s", (int)(length < 255 ? length : 255),
			(const char *)bytes);
		c->text_length = length;
		return;
	}
	for (size_t i = 0; i < length; i++)
		c->differs |= bytes[i] != ws_peer_pattern(c->received + i);
	c->received += length;
}

static inline void ws_peer_take(
	struct ws_peer_conn *c, unsigned opcode, const unsigned char *bytes, size_t length)
{
	c->pings += opcode == WS_PING;
	c->pongs += opcode == WS_PONG;
	if (opcode == WS_CLOSE && length >= 2) {
		c->close_code = (unsigned)bytes[0] << 8 | bytes[1];
		snprintf(c->close_reason, sizeof c->close_reason, "%.*s", (int)length - 2,
			(const char *)bytes + 2);
	}
	if (opcode != WS_TEXT && opcode != WS_BINARY)
		return;
	(peer.message ? peer.message : ws_peer_count)(c, opcode, bytes, length);
}

/* Take the first frame of the input. Returns its length, or 0 if it is not complete. The client does not split messages. */
static inline size_t ws_peer_take_frame(struct ws_peer_conn *c, unsigned char *at, size_t left)
{
	uint64_t length = left < 2 ? 0 : at[1] & 0x7f;
	unsigned size = length == 126 ? 2 : length == 127 ? 8 : 0;
	if (left < 2 + size + 4)
		return 0;
	cr_assert(at[0] & WS_PEER_FIN, "messages are not split");
	cr_assert(at[1] & 0x80, "frames of clients are masked");
	if (size > 0)
		length = 0;
	for (unsigned i = 0; i < size; i++)
		length = length << 8 | at[2 + i];
	unsigned char *mask = at + 2 + size, *payload = mask + 4;
	if (left - 2 - size - 4 < length)
		return 0;
	for (size_t i = 0; i < length; i++)
		payload[i] ^= mask[i & 3];
	ws_peer_take(c, at[0] & 0xf, payload, (size_t)length);
	return 2 + size + 4 + (size_t)length;
}

static inline void ws_peer_take_input(struct ws_peer_conn *c)
{
	size_t at = 0, length;
	while ((length = ws_peer_take_frame(c, c->input + at, c->input_length - at)) > 0)
		at += length;
	memmove(c->input, c->input + at, c->input_length - at);
	c->input_length -= at;
}

/* Take bytes of the request. Returns how many belong to it. */
static inline size_t ws_peer_take_head(struct ws_peer_conn *c, const char *bytes, size_t length)
{
	size_t taken = 0;
	while (!c->asked && taken < length) {
		cr_assert_lt(c->head_length, sizeof c->head - 1);
		c->head[c->head_length++] = bytes[taken++];
		c->asked = c->head_length >= 4 &&
			memcmp(c->head + c->head_length - 4, "\r\n\r\n", 4) == 0;
	}
	if (c->asked)
		(peer.answer ? peer.answer : ws_peer_accept)(c);
	return taken;
}

static inline void ws_peer_on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct ws_peer_conn *c = stream->data;
	size_t at = 0;
	if (n < 0)
		ws_peer_hang_up(c);
	else if (!c->asked)
		at = ws_peer_take_head(c, buf->base, (size_t)n);
	if (n > 0 && (size_t)n > at) {
		size_t length = (size_t)n - at;
		if (c->input_size < c->input_length + length) {
			c->input_size = (c->input_length + length) * 2;
			c->input = realloc(c->input, c->input_size);
			cr_assert_not_null(c->input);
		}
		memcpy(c->input + c->input_length, buf->base + at, length);
		c->input_length += length;
		ws_peer_take_input(c);
	}
	free(buf->base);
}

static inline void ws_peer_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	(void)handle;
	*buf = uv_buf_init(malloc(suggested), (unsigned)suggested);
}

static inline void ws_peer_read(struct ws_peer_conn *c)
{
	uv_read_start((uv_stream_t *)&c->tcp, ws_peer_on_alloc, ws_peer_on_read);
}

static inline void ws_peer_on_connection(uv_stream_t *stream, int status)
{
	struct ws_peer_conn *c = calloc(1, sizeof *c);
	cr_assert_eq(status, 0);
	cr_assert_not_null(c);
	cr_assert_lt(peer.count, WS_PEER_CONNS);
	uv_tcp_init(stream->loop, &c->tcp);
	c->tcp.data = c;
	cr_assert_eq(uv_accept(stream, (uv_stream_t *)&c->tcp), 0);
	uv_tcp_nodelay(&c->tcp, 1);
	peer.conns[peer.count++] = c;
	ws_peer_read(c);
}

static inline void ws_peer_open(uv_loop_t *loop)
{
	struct sockaddr_in address;
	int length = sizeof address;
	peer = (struct ws_peer){0};
	uv_tcp_init(loop, &peer.tcp);
	uv_ip4_addr("127.0.0.1", 0, &address);
	cr_assert_eq(uv_tcp_bind(&peer.tcp, (struct sockaddr *)&address, 0), 0);
	cr_assert_eq(uv_listen((uv_stream_t *)&peer.tcp, 64, ws_peer_on_connection), 0);
	uv_tcp_getsockname(&peer.tcp, (struct sockaddr *)&address, &length);
	snprintf(peer.url, sizeof peer.url, "http://127.0.0.1:%d", ntohs(address.sin_port));
}

static inline void ws_peer_close(void)
{
	for (unsigned i = 0; i < peer.count; i++)
		ws_peer_hang_up(peer.conns[i]);
	uv_close((uv_handle_t *)&peer.tcp, NULL);
}

/* After the loop has closed the handles. */
static inline void ws_peer_free(void)
{
	for (unsigned i = 0; i < peer.count; i++)
		free(peer.conns[i]);
	peer.count = 0;
}
