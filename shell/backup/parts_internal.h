/*
 * What the files of an archive's parts share: parts.c drives all of them, and a way is what is special about sending, or
 * fetching, them. All of this is the thread's but for what is atomic.
 */
#pragma once

#include "shell/backup/parts.h"
#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "shell/files/replace.h"

#include <curl/curl.h>
#include <stdatomic.h>

#define PARTS_BUFFER_SIZE 262144L
#define PARTS_CODE_SEARCHED 1024u /* bytes of an answer that are looked at */

/* A part, as the thread sees it. */
struct piece {
	struct parts *parts;
	struct part *part;
	CURL *easy; /* while a try is under way */
	unsigned tries;
	uint64_t at;       /* bytes of it that have been sent, or have come */
	uint64_t retry_ms; /* not before; 0: at once */
	bool done;
	bool refused; /* its host's address is */
	char answer[PARTS_CODE_SEARCHED + 1];
	size_t answer_length, answer_total;
};

struct parts_way {
	/* The archive, in p->place, which has been entered. Returns NULL, or why it cannot be had. */
	const char *(*open)(struct parts *p);
	/* good: all parts are there. May fail. */
	void (*close)(struct parts *p, bool good);
	/* What a try does. Returns CURLE_OK where all of it could be said. */
	int (*set_up)(struct piece *piece);
	/* Of an answer that is no failure: why it is one all the same, or NULL. */
	const char *(*judge)(const struct piece *piece, long status);
};

extern const struct parts_way parts_sending, parts_fetching;

struct parts {
	struct job job;
	struct place place;
	char path[PLACE_PATH_MAX];
	const struct parts_way *way;
	struct part *all;
	struct piece *pieces;
	size_t count;
	parts_cb cb;
	void *user;
	const char *authorities; /* a file of certificates, or NULL: the system's */
	CURLM *multi;
	struct curl_slist *headers; /* of what is sent */
	struct content archive;     /* that is sent */
	struct replace file;        /* that is made */
	uint64_t total;             /* bytes of all parts */
	unsigned going, done;
	uint64_t timeout_ms, deadline_ms;
	bool whole; /* one part is the whole of it */
	atomic_bool cancelled;
	atomic_ullong moved; /* bytes, without those of failed tries */
	uint64_t bytes;
	char error[512]; /* "" while it has not failed */
	unsigned failed_number;
	int failed_status;
};

/* It has failed; the first failure is what is told. piece: that is to blame, or NULL. status: of the store, or 0. */
void parts_fail(struct parts *p, const struct piece *piece, int status, const char *why);

/* So many bytes of it have been sent, or have come. */
void piece_advance(struct piece *piece, size_t length);

/* The same try begins again. */
void piece_rewind(struct piece *piece);

/* A piece of an answer that is not what was asked for: what is looked at of it. Returns how much was taken, for libcurl. */
size_t piece_take_answer(struct piece *piece, const char *bytes, size_t length);
