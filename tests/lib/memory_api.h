/*
 * The API without a network and without a process: the real dispatcher, routes, handlers and tables, whose sessions and
 * processes have their holders in memory (tests/lib/memory_holder.h), on a loop that turns while a test waits. A test asks
 * as a transport does, and gets what a transport would send.
 */
#pragma once

#include "shell/process/processes.h"
#include "shell/session/sessions.h"
#include "tests/lib/folder.h"
#include "tests/lib/leak.h"
#include "tests/lib/memory_call.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"
#include "ws/api/api.h"
#include "ws/dispatcher.h"
#include "ws/socket/control_socket.h"

#include <criterion/criterion.h>
#include <stdbool.h>

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
