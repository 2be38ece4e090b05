/*
 * A follower: a client of a terminal at /ws/terminal, as the Sandbox's preview has it. It is told places in the output, by
 * cursors (ws/cursor.h), with which it goes on later; what it is too late for is told, too. See "The terminal socket of the
 * preview" in ws/README.md.
 */
#pragma once

#include "shell/session/sessions.h"
#include "ws/cursor.h"
#include "ws/dispatcher.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLLOWER_MESSAGE_MAX ((size_t)1 << 20) /* bytes that a client may send in one message */
#define FOLLOWER_CONTROL_MAX 4096u             /* of a text */
#define FOLLOWER_PIECE ((size_t)12 << 10)      /* bytes of output in one message */
#define FOLLOWER_ASKED_MAX 8u                  /* requests of a client's that are under way */

struct follower;

/* All of them. */
struct followers {
	struct dispatcher *dispatcher; /* borrowed, like all here */
	struct metrics *metrics;
	const char *incarnation; /* of the runtime, see sessions_incarnation() */
	struct follower *list;
	uint8_t *scratch; /* headroom and one frame */
};

/* The query of the upgrade. */
struct follower_query {
	char id[NAME_ID_MAX + 1]; /* of the terminal, or what is none */
	bool resumes, strange;    /* it has a cursor; that is none of this terminal */
	uint64_t offset;
	unsigned rows, cols; /* 0 = not given */
};

int followers_open(struct followers *all, struct dispatcher *dispatcher, struct metrics *metrics,
	const char *incarnation);
void followers_close(struct followers *all);

/* Read the query. Pure. */
struct refusal follower_parse(char *const *params, size_t count, const char *incarnation,
	struct follower_query *ret_query);

/* Whether this principal may open it now. What is not there is told on the socket. */
struct refusal follower_check(const struct followers *all, const struct follower_query *query,
	const struct principal *principal);

/*
 * Begin, after the upgrade. The transport's memory must live until closed() of follower_protocol. Returns NULL when memory is
 * short.
 */
struct follower *follower_open(struct followers *all, const struct follower_query *query,
	const struct principal *principal, const char *peer,
	const struct frames_transport *transport, void *transport_user);

/* What the transport calls, with what follower_open() returned. */
extern const struct frames_protocol follower_protocol;

/* Close what has expired by now_ms (wall clock). */
void followers_expire(struct followers *all, uint64_t now_ms);
