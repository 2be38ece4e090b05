/* The query of a request for a terminal socket: its parser. Pure. */
#pragma once

#include "shell/name.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERMINAL_LAG ((uint64_t)1 << 20) /* default of lag */

/* A parsed query. */
struct terminal_query {
	char session[NAME_ID_MAX + 1]; /* with sandbox: one in it; "" = none */
	char sandbox[NAME_ID_MAX + 1]; /* of a session of its own; "" = a shared session */
	char name[NAME_BYTES_MAX + 1]; /* "" = none given */
	char shell[256];               /* "" = default; counts only for a new session */
	unsigned rows, cols;           /* 0 = not given */
	bool resume;
	uint64_t epoch, offset;
	unsigned lines;               /* of scrollback */
	uint64_t lag;                 /* backlog in bytes from which a snapshot replaces it */
	bool acks;                    /* it acknowledges bytes */
	bool blocks;                  /* it wants events of commands */
	char client[NAME_ID_MAX + 1]; /* the same on all its connections; "" = no receipts */
	char person[NAME_ID_MAX + 1]; /* the same on all clients of a person; "" = unknown */
	uint64_t typed;               /* bytes of its last receipt */
};

/* Parse a query. */
struct refusal terminal_query_parse(
	char *const *params, size_t count, struct terminal_query *ret_query);

/* The same for an own session in a sandbox. header: Session-Id, or "". */
struct refusal terminal_query_parse_private(const char *sandbox, const char *header,
	char *const *params, size_t count, struct terminal_query *ret_query);
