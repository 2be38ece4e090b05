/*
 * An answer of bytes that are not there as a whole: pulled in pieces when the transport can send, so that a file of any size
 * costs the memory of one. Of a known length, or of one that only its end tells (chunks, by HTTP/1.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

#define DOWNLOAD_UNKNOWN UINT64_MAX /* length */

/* What a source says when it is asked for its next piece. */
enum download_state {
	DOWNLOAD_WAIT,  /* there is none yet: download_more() when there is */
	DOWNLOAD_PIECE, /* *ret_bytes, *ret_length > 0 */
	DOWNLOAD_END,   /* there was no more; of a known length that much has been given */
	DOWNLOAD_FAILED /* it cannot go on: the connection ends, so that the client sees that the answer is not whole */
};

/* Where the bytes come from. */
struct download_source {
	/*
	 * The next piece, which stays where it is until the next call of either. It is asked for when the last one has been
	 * sent, never from inside download_reply() or download_more(); not for HEAD. Any size will do; 64 KiB do well. It may
	 * not answer, nor give up references.
	 */
	enum download_state (*next)(void *user, const char **ret_bytes, size_t *ret_length);
	/* Once: all has been sent, or nobody wants more. It may come from inside download_reply(). */
	void (*closed)(void *user);
	void *user;
};

/* Of a request; for download.c and transports. */
struct download {
	struct download_source source; /* next is NULL when there is none, or it has been closed */
	uint64_t length;               /* or DOWNLOAD_UNKNOWN */
	uint64_t left;                 /* of that */
};

/*
 * Answer r, which reply_header() has prepared. type: a literal, or NULL. length: bytes that next() will give in all, or
 * DOWNLOAD_UNKNOWN. source: copied. Who reads it counts as the reader of a stream (QUOTA_STREAMS), and gets no more when
 * their access ends; who takes less than BODY_RATE_MIN while there is something to take is dropped. By the control socket
 * and MCP, which have no such answers, r is answered 501, and source is closed.
 */
void download_reply(struct request *r, int status, const char *type, uint64_t length,
	const struct download_source *source);

/* Say that next() has another piece, or the end. Harmless once it has been closed, as long as r is referenced. */
void download_more(struct request *r);

/*
 * For transports. The next piece, never more of them than the length; the end only when all of the length has been given.
 * What is closed has failed.
 */
enum download_state download_next(struct request *r, const char **ret_bytes, size_t *ret_length);
/* Nobody wants more. */
void download_close(struct request *r);
