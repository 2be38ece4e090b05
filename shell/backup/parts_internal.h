/*
 * Shared by parts.c, which drives a transfer, and parts_send.c and parts_fetch.c, which implement its
 * direction. Used by the thread alone, except for atomic fields.
 */
#pragma once

#include "shell/backup/parts.h"
#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "shell/files/replace.h"

#include <curl/curl.h>
#include <stdatomic.h>

#define PARTS_BUFFER_SIZE 262144L
#define PARTS_ANSWER_KEPT 1024u /* bytes of an error answer that are kept */

/* The state of a part's transfer. */
struct piece {
	struct parts *parts;
	struct part *part;
	CURL *easy; /* during a try */
	unsigned tries;
	uint64_t at;       /* bytes transferred by this try */
	uint64_t retry_ms; /* time of the next try; 0: now */
	bool done;
	bool refused; /* the host's address is refused */
	char answer[PARTS_ANSWER_KEPT + 1];
	size_t answer_length, answer_total;
};

/* A direction: upload or download. */
struct parts_direction {
	/* Open p->path in p->place, which is entered. Returns NULL or an error message. */
	const char *(*open)(struct parts *p);
	/* Close the archive. good: all parts were transferred. May call parts_fail(). */
	void (*close)(struct parts *p, bool good);
	/* Set curl's options for a try. Returns CURLE_OK or another CURLcode. */
	int (*set_up)(struct piece *piece);
	/* Check an answer of status 2xx. Returns NULL or an error message. */
	const char *(*check)(const struct piece *piece, long status);
};

/* The directions, in parts_send.c and parts_fetch.c. */
extern const struct parts_direction parts_upload, parts_download;

/* A transfer. */
struct parts {
	struct job job;
	struct place place;
	char path[PLACE_PATH_MAX];
	const struct parts_direction *way;
	struct part *all;
	struct piece *pieces;
	size_t count;
	parts_cb cb;
	void *user;
	const char *authorities; /* file of CA certificates, or NULL: the system's */
	CURLM *multi;
	struct curl_slist *headers; /* upload */
	struct content archive;     /* upload */
	struct replace file;        /* download */
	uint64_t total;             /* bytes of all parts */
	unsigned going, done;
	uint64_t timeout_ms, deadline_ms;
	bool whole; /* the only part is the whole archive */
	atomic_bool cancelled;
	atomic_ullong moved; /* bytes, without failed tries */
	uint64_t bytes;      /* with failed tries */
	char error[512];     /* "": none yet */
	unsigned failed_number;
	int failed_status;
};

/* Set the transfer's error, unless it has one. piece: the part that failed, or NULL. status: HTTP status, or 0. */
void parts_fail(struct parts *p, const struct piece *piece, int status, const char *why);

/* Count transferred bytes. */
void piece_advance(struct piece *piece, size_t length);

/* Start counting again from the beginning of the part. */
void piece_rewind(struct piece *piece);

/*
 * Store the beginning of an error answer. Returns the value for libcurl's write callback: 0 if it exceeds
 * PARTS_ANSWER_MAX.
 */
size_t piece_add_answer(struct piece *piece, const char *bytes, size_t length);
