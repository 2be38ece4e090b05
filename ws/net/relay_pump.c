/*
 * Moves bytes between the two connections of a relay. A piece is read only when the one before it has been written, so that a
 * slow receiver slows its sender down.
 */
#include "ws/net/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PIECE_MAX ((size_t)48 << 10)
#define FRAME_MAX 24u /* bytes in front of a chunk */

_Static_assert(FRAME_MAX + PIECE_MAX + HTTP_HEAD_MAX < ((size_t)64 << 10),
	"scratch holds a piece and its frame");

void relay_rest_free(struct relay_rest *rest)
{
	free(rest->bytes);
	*rest = (struct relay_rest){0};
}

/* Buffer for a piece, with space for a chunk's frame around it. */
static char *scratch_of(const struct relay *r)
{
	return (char *)r->server->scratch + FRAME_MAX;
}

static void note_moved(struct relay *r)
{
	r->moved_ms = server_now_ms(r->server);
}

static long write_up(struct relay *r, const char *bytes, size_t length)
{
	ssize_t n = send(r->up->fd, bytes, length, MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static long write_down(struct relay *r, const char *bytes, size_t length)
{
	return conn_write(r->conn, bytes, length);
}

static int send_some(struct relay *r, struct relay_rest *rest,
	long (*write)(struct relay *r, const char *bytes, size_t length), const char *bytes,
	size_t length)
{
	while (length > 0 && !rest->bytes) {
		long n = write(r, bytes, length);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		note_moved(r);
		bytes += n;
		length -= (size_t)n;
	}
	if (length == 0)
		return 0;
	char *kept = realloc(rest->bytes, rest->length + length);
	if (!kept)
		return -ENOMEM;
	memcpy(kept + rest->length, bytes, length);
	rest->bytes = kept;
	rest->length += length;
	return 0;
}

/* Write what is kept. Returns 1 when nothing is left, 0 if it would block, or a negative errno. */
static int flush(struct relay *r, struct relay_rest *rest,
	long (*write)(struct relay *r, const char *bytes, size_t length))
{
	while (rest->sent < rest->length) {
		long n = write(r, rest->bytes + rest->sent, rest->length - rest->sent);
		if (n <= 0)
			return (int)n;
		note_moved(r);
		rest->sent += (size_t)n;
	}
	relay_rest_free(rest);
	return 1;
}

/* The program does not read the request any more. It may have answered. */
static void abandon_request(struct relay *r)
{
	r->in_lost = r->in_over = true;
	r->close_after = true;
	relay_rest_free(&r->up_rest);
}

static int send_up(struct relay *r, const char *bytes, size_t length)
{
	if (r->in_lost)
		return 0;
	int rc = send_some(r, &r->up_rest, write_up, bytes, length);
	if (rc < 0 && rc != -ENOMEM) {
		abandon_request(r);
		rc = 0;
	}
	return rc;
}

static int flush_up(struct relay *r)
{
	int rc = flush(r, &r->up_rest, write_up);
	if (rc < 0)
		abandon_request(r);
	return rc < 0 ? 1 : rc;
}

int relay_send_down(struct relay *r, const char *bytes, size_t length)
{
	r->begun |= length > 0;
	return send_some(r, &r->down_rest, write_down, bytes, length);
}

/* Put a chunk's frame around bytes in the scratch buffer. over: also add the last chunk. Returns the beginning. */
static char *frame(char *bytes, size_t *length, bool over)
{
	static const char last[] = {'0', '\r', '\n', '\r', '\n'};
	char size[FRAME_MAX];
	if (*length > 0) {
		int n = snprintf(size, sizeof size, "%zx\r\n", *length);
		bytes[*length] = '\r';
		bytes[*length + 1] = '\n';
		bytes -= n;
		memcpy(bytes, size, (size_t)n);
		*length += (size_t)n + 2;
	}
	if (over) {
		memcpy(bytes + *length, last, sizeof last);
		*length += sizeof last;
	}
	return bytes;
}

/* Read from the peer, at most size bytes; from c->in first. */
static long read_down(struct relay *r, char *bytes, size_t size)
{
	struct conn *c = r->conn;
	if (c->in_length == 0)
		return conn_read(c, bytes, size);
	size_t n = c->in_length < size ? c->in_length : size;
	memcpy(bytes, c->in, n);
	conn_consume(c, n);
	return (long)n;
}

/* Put bytes after a body's end back, in front of c->in. */
static int unread(struct relay *r, const char *bytes, size_t length)
{
	struct conn *c = r->conn;
	if (length == 0)
		return 0;
	size_t all = length + c->in_length;
	char *text = all <= HTTP_HEAD_MAX ? malloc(all) : NULL;
	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, length);
	if (c->in_length > 0) {
		memcpy(text + length, c->in, c->in_length);
		conn_consume(c, c->in_length);
	}
	int rc = conn_unread(c, text, all);
	free(text);
	return rc;
}

/* How much of a chunked body may be read at once, so that at most HTTP_HEAD_MAX bytes follow its end. */
static size_t chunked_most(const struct chunked *c)
{
	uint64_t left = chunked_left(c);
	return left < PIECE_MAX ? (left < HTTP_HEAD_MAX ? HTTP_HEAD_MAX : (size_t)left) : PIECE_MAX;
}

/* Forward a piece of the request's body, or of a tunnel. Returns 1, 0 when nothing has come, or a negative errno. */
static int forward_piece(struct relay *r, size_t *budget)
{
	char *bytes = scratch_of(r);
	size_t most = r->in == RELAY_LENGTH
		? (r->in_left < PIECE_MAX ? (size_t)r->in_left : PIECE_MAX)
		: r->in == RELAY_CHUNKED ? chunked_most(&r->in_chunks)
					 : PIECE_MAX;
	size_t size;
	long n = read_down(r, bytes, most);
	if (n <= 0)
		return (int)n;
	*budget -= (size_t)n < *budget ? (size_t)n : *budget;
	note_moved(r);
	size = (size_t)n;
	if (r->in == RELAY_LENGTH) {
		r->in_left -= size;
		r->in_over = r->in_left == 0;
	} else if (r->in == RELAY_CHUNKED) {
		size_t used;
		if (chunked_decode(&r->in_chunks, bytes, (size_t)n, &used, &size) < 0)
			return -EBADMSG;
		r->in_over = chunked_is_complete(&r->in_chunks);
		int rc = unread(r, bytes + used, (size_t)n - used);
		if (rc < 0)
			return rc;
		bytes = frame(bytes, &size, r->in_over);
	}
	int rc = send_up(r, bytes, size);
	return rc < 0 ? rc : 1;
}

/* The peer has ended its side of a tunnel: pass that on to the program. */
static void end_up(struct relay *r)
{
	if (r->state != RELAY_TUNNEL || !r->in_over || r->in_shut || r->up_rest.bytes || !r->up)
		return;
	r->in_shut = true;
	shutdown(r->up->fd, SHUT_WR);
}

/* Reading or forwarding the request has failed. */
static void fail_in(struct relay *r, int error)
{
	if (error == -EBADMSG && !r->begun)
		relay_fail(r, "VALIDATION_FAILED", "Invalid chunked encoding in the request's body");
	else if (error == -ENOMEM && !r->begun)
		relay_fail(r, "OUT_OF_MEMORY", "Out of memory");
	else
		conn_drop(r->conn);
}

bool relay_pump_up(struct relay *r, size_t *budget)
{
	while (*budget > 0 && r->up) {
		if (r->state == RELAY_CONNECTING || flush_up(r) == 0 || r->in_over)
			break;
		int rc = forward_piece(r, budget);
		if (rc == 0)
			break;
		if (rc == -ENOTCONN && r->state == RELAY_TUNNEL) {
			r->in_over = true;
		} else if (rc < 0) {
			fail_in(r, rc);
			return false;
		}
	}
	end_up(r);
	return true;
}

/* Forward a piece of the answer's body. Returns 0, or a negative errno if it is invalid. */
static int forward_answer(struct relay *r, char *bytes, size_t length)
{
	size_t used = length, size = length;
	if (r->out == ANSWER_LENGTH) {
		/* Drop bytes beyond Content-Length. */
		size = length < r->out_left ? length : (size_t)r->out_left;
		r->out_left -= size;
		r->out_over = r->out_left == 0;
	} else if (r->out == ANSWER_CHUNKED) {
		int rc = chunked_decode(&r->out_chunks, bytes, length, &used, &size);
		if (rc < 0)
			return rc;
		r->out_over = chunked_is_complete(&r->out_chunks);
	}
	if (r->out_framed)
		bytes = frame(bytes, &size, r->out_over);
	return size > 0 ? relay_send_down(r, bytes, size) : 0;
}

/* The program has closed its side. Returns 0, or -ECONNRESET if the answer is incomplete. */
static int end_answer(struct relay *r)
{
	if (r->state == RELAY_TUNNEL) {
		r->out_over = true;
		return 0;
	}
	if (r->state != RELAY_BODY || r->out != ANSWER_CLOSE)
		return -ECONNRESET;
	r->out_over = true;
	return r->out_framed ? relay_send_down(r, "0\r\n\r\n", 5) : 0;
}

/* Read from the program, and forward that. Returns 1, 0 when nothing has come, or a negative errno. */
static int read_answer(struct relay *r, size_t *budget)
{
	char *bytes = scratch_of(r), *rest = bytes;
	ssize_t n = recv(r->up->fd, bytes, PIECE_MAX, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		int rc = end_answer(r);
		return rc < 0 ? rc : 1;
	}
	note_moved(r);
	size_t length = (size_t)n;
	*budget -= length < *budget ? length : *budget;
	int rc = r->state == RELAY_HEAD ? relay_forward_head(r, bytes, length, &rest, &length) : 1;
	if (rc == 0)
		return 1;
	/* More than a piece may have come with the head. */
	while (rc == 1 && length > 0 && !r->out_over) {
		size_t piece = length < PIECE_MAX ? length : PIECE_MAX;
		memmove(bytes, rest, piece);
		int taken = r->state == RELAY_TUNNEL ? relay_send_down(r, bytes, piece)
						     : forward_answer(r, bytes, piece);
		rc = taken < 0 ? taken : 1;
		rest += piece;
		length -= piece;
	}
	if (r->state != RELAY_HEAD) {
		free(r->head);
		r->head = NULL;
		r->head_length = 0;
	}
	return rc;
}

/* The program has ended its side of a tunnel: pass that on to the peer. */
static void end_down(struct relay *r)
{
	if (r->state != RELAY_TUNNEL || !r->out_over || r->out_shut || r->down_rest.bytes)
		return;
	r->out_shut = true;
	conn_shutdown(r->conn);
}

static void fail_out(struct relay *r, int error)
{
	if (error == -ENOTCONN || r->begun)
		relay_break(r);
	else if (error == -EPROTO || error == -EINVAL || error == -E2BIG)
		relay_fail(r, "PORT_ANSWER_INVALID",
			error == -E2BIG ? "The head of the program's answer is too large"
					: "What listens there gives no answer of HTTP/1.1");
	else if (error == -ENOMEM)
		relay_fail(r, "OUT_OF_MEMORY", "Out of memory");
	else
		relay_fail(r, "PORT_ANSWER_INVALID",
			"The program closed the connection without an answer");
}

bool relay_pump_down(struct relay *r, size_t *budget)
{
	while (*budget > 0) {
		int rc = flush(r, &r->down_rest, write_down);
		if (rc < 0) {
			conn_drop(r->conn);
			return false;
		}
		if (rc == 0 || r->out_over || !r->up || r->state == RELAY_CONNECTING)
			break;
		rc = read_answer(r, budget);
		if (rc == 0)
			break;
		if (rc < 0) {
			fail_out(r, rc);
			return false;
		}
	}
	end_down(r);
	return true;
}
