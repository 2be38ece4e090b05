/* How the API and the terminal socket write sessions, times and signals in JSON. */
#pragma once

#include "shell/session/session.h"

#include <jansson.h>

/* A wall-clock time as ISO 8601; 0 is null. Returns a new reference, as all here. */
json_t *time_json(uint64_t wall_ms);

/* A session. */
json_t *session_json(const struct session *s);

/* {code, signal, reason, offset} of a session that has ended. */
json_t *session_exit_json(const struct session *s);

/* {restarted, restarts, exitCode, signal} of one whose shell has been followed by another. */
json_t *session_restart_json(const struct session *s);

/* The name of a signal, "INT", or its number as text. */
json_t *signal_json(int number);

/* The number of a signal named "INT" or "SIGINT"; -1 for another text. */
int signal_parse(const char *name);

/* A name or a number, as JSON. Returns -1 when it is none. */
int signal_number(const json_t *signal);

/* The lease as all may see it, null when nobody has it. Returns a new reference. */
json_t *lease_json(const struct lease *l);

/* What was left by who has given it back, null when nothing was. Returns a new reference. */
json_t *lease_note_json(const struct lease *l);
