/*
 * Uploads or downloads an archive in parts, each with a presigned HTTPS URL (S3 multipart uploads, ranges of an
 * object): PARTS_AT_ONCE at a time, by libcurl, on a thread of the crew. It fails as a whole if a part fails; a
 * failed download leaves the old file.
 *
 * A presigned URL is a secret: errors contain no URLs, and of a store's answer only its status and error code.
 * Refused are URLs with a user or another scheme than https, redirections, and hosts with an address that is
 * link-local (169.254.0.0/16, fe80::/10, which includes the metadata services of clouds), another known
 * metadata address, multicast or unspecified. Other private addresses are allowed: only the owner may start
 * transfers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#define PARTS_MAX 1000u
#define PARTS_NUMBER_MAX 10000u            /* S3's limit */
#define PARTS_SIZE_MAX (UINT64_C(5) << 30) /* bytes of a part: S3's limit */
#define PARTS_URL_MAX 8192u                /* bytes */
#define PARTS_ETAG_MAX 256u                /* bytes */
#define PARTS_AT_ONCE 16u                  /* parallel transfers */
#define PARTS_TRIES 3u                     /* of each part */
#define PARTS_RETRY_MS 250u /* before the second try; four times that before the third */
#define PARTS_TIMEOUT_MS (UINT64_C(1800) * 1000)          /* default, for all parts */
#define PARTS_TIMEOUT_MAX_MS (UINT64_C(24) * 3600 * 1000) /* maximum */
#define PARTS_TOTAL_MAX (UINT64_C(256) << 30)             /* bytes of a download */
#define PARTS_CONNECT_MS 15000u
#define PARTS_STALL_S 60 /* a try without progress fails after this */
#define PARTS_ANSWER_MAX ((size_t)64 << 10)

struct crew;
struct parts;

/* A part of an archive. */
struct part {
	unsigned number; /* 1 to PARTS_NUMBER_MAX, unique */
	uint64_t offset; /* in the archive */
	uint64_t size;   /* upload: 1 to PARTS_SIZE_MAX */
	bool ranged;     /* download: request a range; otherwise, the part is the whole object */
	char *url;       /* owned */
	char etag[PARTS_ETAG_MAX + 1]; /* upload: from the store's answer */
};

/* A transfer. */
struct parts_options {
	const char *root;    /* directory of archives, absolute; links cannot lead out of it */
	const char *path;    /* of the archive in root */
	struct part *all;    /* array of malloc(); owned by the transfer if it starts */
	size_t count;        /* 1 to PARTS_MAX */
	bool fetch;          /* download; parts are contiguous, from offset 0 */
	bool whole;          /* upload: the only part is the whole archive; its size is ignored */
	uint64_t timeout_ms; /* for all parts; 0: PARTS_TIMEOUT_MS */
};

/* The outcome. */
struct parts_result {
	const char *error;      /* message without secrets; NULL: success */
	unsigned number;        /* of the part that failed; 0: none */
	int status;             /* HTTP status of that part; 0: none */
	uint64_t bytes;         /* transferred, including failed tries */
	uint64_t total;         /* size of all parts */
	const struct part *all; /* sorted by number */
	size_t count;
};

/*
 * Called once, on the loop, when the transfer has ended, unless a disk is stuck when the server ends. result:
 * borrowed; the transfer is freed after the call.
 */
typedef void (*parts_cb)(void *user, const struct parts_result *result);

/* Start a transfer. Returns 0, -ENOMEM, or as crew_send(); on error, the caller still owns options->all. */
int parts_start(struct crew *crew, const struct parts_options *options, parts_cb done, void *user,
	struct parts **ret_parts);

/* Cancel a transfer; done() follows with an error. */
void parts_cancel(struct parts *p);

/* Bytes transferred so far, without failed tries. */
uint64_t parts_progress(const struct parts *p);

/* Whether a URL is allowed: https, a host, no user, at most PARTS_URL_MAX printable bytes. Pure. */
bool parts_url_is_valid(const char *url);

/* Whether connections to an address are refused, see above. Pure. */
bool parts_address_is_refused(const struct sockaddr *address);

/* Parse digits at *at and move *at behind them. Returns false if there are none or too many. */
bool parts_parse_number(const char **at, uint64_t *ret_number);
