/*
 * An answer whose bytes are not all in memory: the transport pulls the next piece when it can send, so a file of any size
 * costs the memory of one piece. If the length is unknown, the answer is sent in chunks (HTTP/1.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

#define DOWNLOAD_UNKNOWN UINT64_MAX /* length */

/* Result of a source's next(). */
enum download_state {
	DOWNLOAD_WAIT,  /* no piece yet; the source calls download_more() when there is one */
	DOWNLOAD_PIECE, /* *ret_bytes, *ret_length > 0 */
	DOWNLOAD_END,   /* no more pieces; a known length has been given completely */
	DOWNLOAD_FAILED /* the source failed: the connection is cut, so the client sees that the answer is incomplete */
};

/* Where the bytes come from. */
struct download_source {
	/*
	 * Get the next piece, which stays valid until the next call of next() or closed(). Called when the last piece has been
	 * sent, never from inside download_reply() or download_more(), and not for HEAD. Any size works; 64 KiB is good. It
	 * must not answer the request or drop references.
	 */
	enum download_state (*next)(void *user, const char **ret_bytes, size_t *ret_length);
	/* Called once: all has been sent, or the transport wants no more. It may come from inside download_reply(). */
	void (*closed)(void *user);
	void *user;
};

/* State of a request's download; for download.c and transports. */
struct download {
	struct download_source source; /* next is NULL if there is no download, or it is closed */
	uint64_t length;               /* or DOWNLOAD_UNKNOWN */
	uint64_t left;                 /* bytes of length that are not sent yet */
};

/*
 * Answer r with a download; reply_header() may be called before. type: a literal, or NULL. length: total bytes from next(),
 * or DOWNLOAD_UNKNOWN. source: copied. The download counts as a stream (QUOTA_STREAMS) and ends when access ends. A
 * client that reads less than BODY_RATE_MIN while there is something to read is disconnected. The control socket and MCP
 * do not support downloads: there r is answered with 501 and source is closed.
 */
void download_reply(struct request *r, int status, const char *type, uint64_t length,
	const struct download_source *source);

/* Report that next() has another piece, or the end. Harmless after closed(), as long as r is referenced. */
void download_more(struct request *r);

/*
 * Get the next piece, for transports. Never returns more than length bytes in total, and DOWNLOAD_END only after all of
 * them. A closed download returns DOWNLOAD_FAILED.
 */
enum download_state download_next(struct request *r, const char **ret_bytes, size_t *ret_length);

/* Close the source; the transport wants no more. Harmless if it is closed already. */
void download_close(struct request *r);
