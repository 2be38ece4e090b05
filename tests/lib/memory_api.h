/*
 * The API without a network and without a process: the real dispatcher, routes, handlers and tables, whose sessions and
 * processes have their holders in memory (tests/lib/memory_holder.h), on a loop that turns while a test waits. A test asks
 * as a transport does, and gets what a transport would send.
 *
 * What every answer has to have is looked at here: an error is {code, message, context, httpStatus, timestamp} with the
 * status of its code, which api/openapi.json names for that route; a success says so.
 */
#pragma once

#include "shell/process/processes.h"
#include "shell/session/sessions.h"
#include "tests/lib/folder.h"
#include "tests/lib/leak.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"
#include "ws/api/api.h"
#include "ws/dispatcher.h"
#include "ws/request.h"
#include "ws/socket/control_socket.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MEMORY_API_SESSIONS 4u  /* at most */
#define MEMORY_API_PROCESSES 3u /* that run */

/* What there is of a server. */
struct memory_api {
	struct folder folder; /* the runtime directory */
	uv_loop_t loop;
	uv_timer_t alive; /* what else a server has: without anything a loop does not turn */
	struct sessions sessions;
	struct processes processes;
	struct runs *runs;
	struct auth auth;
	struct metrics metrics;
	struct terminals terminals;
	struct control_sockets controls;
	struct api api;
	struct dispatcher dispatcher;
	struct call *calls; /* that have not ended */
	bool open;
};
extern struct memory_api memory_api;

/* For .init and .fini of a suite; and the last line of each test, where what was leaked or left open fails it. */
void memory_api_open(void);
void memory_api_clear_up(void);
#define MEMORY_API_CLOSE()          \
	do {                        \
		memory_api_close(); \
		ASSERT_NO_LEAKS();  \
	} while (0)
void memory_api_close(void);

/* The tables are closed as if the server ended, which open requests are told; nothing can be asked afterwards. */
void memory_api_end_tables(void);

/* The next server, which adopts what the last one has left: holders that answer have been attached to. */
void memory_api_restart(void);

/* Sessions and processes by their id, which must be there; and their holders. */
struct session *memory_api_session(const char *id);
struct memory_holder *memory_api_holder(const char *session);
struct process *memory_api_process(const char *id);
struct memory_holder *memory_api_process_holder(const char *id);

/* A session that runs. Its shell cannot be given commands: it is no bash. */
struct session *memory_api_start(const char *id);

/* One whose shell has ended with this wait(2) status, or whose holder has not answered yet. */
struct session *memory_api_start_ended(const char *id, int status);
struct session *memory_api_start_slow(const char *id);

/* Turn the loop until all that holders have said has been read. */
void memory_api_settle(void);

/* Asking */

enum asker { BY_OWNER, BY_DRIVER, BY_VIEWER, BY_NOBODY };

struct ask {
	const char *line; /* "POST /api/session/create?a=b", decoded as HTTP's transport does */
	const char *body; /* NULL: none */
	size_t length;    /* of the body; 0: that of the string */
	enum asker by;
	const char *only; /* by a link for this session; NULL: for all */
	const char *hint; /* the header X-Session-Id */
};

/* A request that is under way, or has been answered. */
struct call {
	struct call *next;
	struct request *request;
	char line[512];  /* for messages */
	bool answered;   /* once */
	bool streaming;  /* the answer is a stream */
	bool more;       /* which has said that there is more */
	json_t *json;    /* the answer, or the last event, if it is JSON */
	unsigned events; /* that were taken */
};

/* Ask, and do not wait for the answer. */
struct call *memory_api_ask(const struct ask *ask);

/* As owner: ask, and wait for the answer. body: NULL, or JSON in which ' stands for ". */
struct call *memory_api_call(const char *line, const char *body);

/* The same, not waiting. */
struct call *memory_api_begin(const char *line, const char *body);

/* Wait for the answer. */
void call_await(struct call *c);

/* It is over, or its client has gone: c is freed. */
void call_end(struct call *c);

/* Of an answer: its status, a header (NULL: none), what error (""; none), the first field that is said to be wrong. */
int call_status(const struct call *c);
const char *call_header(const struct call *c, const char *name);
const char *call_code(const struct call *c);
const char *call_field(const struct call *c);

/* The body as it is. */
const char *call_body(const struct call *c);

/* A value of its JSON, by names and numbers between dots: "data.0.id". NULL: there is none. */
const json_t *call_get(const struct call *c, const char *path);

/* The same that must be text, a number, true or false: otherwise the test fails. */
const char *call_text(const struct call *c, const char *path);
json_int_t call_number(const struct call *c, const char *path);
bool call_is_true(const struct call *c, const char *path);
bool call_is_null(const struct call *c, const char *path);

/* The next event of a stream that has its "type" (NULL: any); waits for it. False: the stream has ended before. */
bool call_event(struct call *c, const char *type);

/* Tables */

/* What a request is refused with. field: the one that is wrong; NULL: whatever. */
struct refused {
	const char *line, *body; /* as memory_api_call() */
	int status;
	const char *code, *field;
	enum asker by;
};

/* Ask all, one after another; each must be refused so. Between two of them nothing has changed. */
void memory_api_expect_refused(const struct refused *cases, size_t count);
#define EXPECT_REFUSED(cases) memory_api_expect_refused(cases, sizeof(cases) / sizeof *(cases))

/* As owner, and wait: the status. */
int memory_api_status(const char *line, const char *body);

/* Texts that no field should fall over; and JSON that is no text, nor a number in its place. NULL-terminated. */
extern const char *const memory_api_hostile[];
