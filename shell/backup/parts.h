/*
 * An archive on its way to a store, or from one, in parts: each is put, or asked for, where an address says that was signed for
 * it (S3's multipart upload, or ranges of an object), PARTS_AT_ONCE at a time, over HTTPS, by libcurl, on a thread of the crew.
 * All of them arrive, or it has failed; what is fetched is there as a whole, or what was there before is.
 *
 * What somebody has signed is as good as a password: addresses are never told, nor what a store answers beyond its status and
 * the name of its error. Addresses with a user in them, other schemes than https, and redirections are refused; and hosts whose
 * address is of the link (169.254.0.0/16, fe80::/10: there cloud machines ask for their own credentials), of the metadata of
 * EC2 over IPv6, multicast or none, whatever name led there. Others of this network are not: whoever asks is the owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#define PARTS_MAX 1000u
#define PARTS_NUMBER_MAX 10000u            /* S3's */
#define PARTS_SIZE_MAX (UINT64_C(5) << 30) /* bytes of one: S3's */
#define PARTS_URL_MAX 8192u                /* bytes */
#define PARTS_ETAG_MAX 256u                /* bytes */
#define PARTS_AT_ONCE 16u                  /* on their way */
#define PARTS_TRIES 3u                     /* of each */
#define PARTS_RETRY_MS 250u                /* before the second; four times that before the third */
#define PARTS_TIMEOUT_MS (UINT64_C(1800) * 1000)          /* for all */
#define PARTS_TIMEOUT_MAX_MS (UINT64_C(24) * 3600 * 1000) /* that may be asked for */
#define PARTS_TOTAL_MAX (UINT64_C(256) << 30)             /* bytes of what is fetched */
#define PARTS_CONNECT_MS 15000u
#define PARTS_STALL_S 60 /* without a byte: that try is over */
#define PARTS_ANSWER_MAX ((size_t)64 << 10)

struct crew;
struct parts;

struct part {
	unsigned number; /* 1 to PARTS_NUMBER_MAX, each once */
	uint64_t offset; /* bytes of the archive */
	uint64_t size;   /* 1 to PARTS_SIZE_MAX, if it is sent */
	bool ranged;     /* fetched: a part of what is there; otherwise that is all of it */
	char *url;       /* owned */
	char etag[PARTS_ETAG_MAX + 1]; /* as the store has said, once it has the part */
};

struct parts_options {
	const char *root; /* of archives: links do not lead out of it; absolute */
	const char *path; /* of the archive in there */
	struct part *all; /* taken, if it starts: an array of malloc() */
	size_t count;     /* 1 to PARTS_MAX */
	bool fetch;       /* from the store: parts that follow each other, from 0 on */
	bool whole; /* to it: the one part is all of the archive, whatever its size is said to be */
	uint64_t timeout_ms; /* for all; 0: PARTS_TIMEOUT_MS */
};

struct parts_result {
	const char *error; /* why it has failed; NULL: it has not. For people, without secrets */
	unsigned number;   /* of the part that is to blame; 0: none is */
	int status;        /* that the store has answered it with; 0: none */
	uint64_t bytes;    /* that have been sent, or have come, those of failed tries included */
	uint64_t total;    /* of all parts */
	const struct part *all; /* in the order of their numbers */
	size_t count;
};

/* It is over, once, on the loop, unless the server ends while a disk is stuck. All is borrowed for the call, and freed after it. */
typedef void (*parts_cb)(void *user, const struct parts_result *result);

/* Start. Returns 0, or -ENOMEM, -EUSERS, -EAGAIN (as crew_send()), and nothing has been taken. */
int parts_start(struct crew *crew, const struct parts_options *options, parts_cb done, void *user,
	struct parts **ret_parts);

/* Give up soon: done() says so. */
void parts_cancel(struct parts *p);

/* Bytes that have been sent, or have come, so far, those of failed tries left out. */
uint64_t parts_moved(const struct parts *p);

/* Whether an address may be asked for: https, a host, no user, at most PARTS_URL_MAX printable bytes. Pure. */
bool parts_url_is_valid(const char *url);

/* Whether a host's address is one that nothing is asked of. Pure. */
bool parts_address_is_refused(const struct sockaddr *address);
