/*
 * The API without a network and without processes: the real dispatcher, routes, handlers and tables. Sessions and
 * processes have holders in memory (tests/lib/memory_holder.h). The loop runs while a test waits. A test sends requests
 * and gets answers as a transport does.
 */
#pragma once

#include "shell/process/processes.h"
#include "shell/session/sessions.h"
#include "tests/lib/folder.h"
#include "tests/lib/memory_call.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"
#include "ws/api/api.h"
#include "ws/dispatcher.h"
#include "ws/socket/control_socket.h"

#include <criterion/criterion.h>
#include <stdbool.h>

#define MEMORY_API_SESSIONS 4u
#define MEMORY_API_PROCESSES 3u /* that run at once */

/* The parts of a server. */
struct memory_api {
	struct folder folder; /* the runtime directory */
	uv_loop_t loop;
	uv_timer_t alive; /* keeps the loop alive */
	struct sessions sessions;
	struct processes processes;
	struct runs *runs;
	struct auth auth;
	struct metrics metrics;
	struct terminals terminals;
	struct control_sockets controls;
	struct api api;
	struct dispatcher dispatcher;
	struct call *calls; /* which call_end() has not freed */
};
extern struct memory_api memory_api;

/* .init and .fini of a suite. The second fails if something is still open. */
void memory_api_open(void);
void memory_api_close(void);

/* .init of a suite whose tests begin with a running session "s", see memory_api_start(). */
void memory_api_open_session(void);

/* Close the tables as at the end of the server; pending requests are answered. No request may follow. */
void memory_api_end_tables(void);

/* Start the next server, which adopts what the last one left. On return it has attached to all holders that respond. */
void memory_api_restart(void);

/* Find sessions, processes and their holders by id; they must exist. */
struct session *memory_api_session(const char *id);
struct memory_holder *memory_api_holder(const char *session);
struct process *memory_api_process(const char *id);
struct memory_holder *memory_api_process_holder(const char *id);

/* Start a session. Its shell is no bash, so it cannot run commands. */
struct session *memory_api_start(const char *id);

/* Start a session whose shell has exited with this wait(2) status; one whose holder has not responded yet. */
struct session *memory_api_start_ended(const char *id, int status);
struct session *memory_api_start_slow(const char *id);

/* Run the loop until all output of holders has been consumed. */
void memory_api_settle(void);

/* Let a session print a text, or twice as much as its ring holds, until all of it has been consumed. */
void memory_api_print(const char *session, const char *text);
void memory_api_overflow(const char *session);
