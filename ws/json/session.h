/* Sessions, times, signals and leases as JSON, for the API and the terminal socket. */
#pragma once

#include "shell/session/session.h"

#include <jansson.h>

/* A wall-clock time in ISO 8601; 0 is null. All functions here that return json_t return a new reference. */
json_t *time_json(uint64_t wall_ms);

/* A session. */
json_t *session_json(const struct session *s);

/* {code, signal, reason, offset} of a session that has ended. */
json_t *session_exit_json(const struct session *s);

/* {restarted, restarts, exitCode, signal} after the shell of a session has been restarted. */
json_t *session_restart_json(const struct session *s);

/* The name of a signal, "INT", or its number as text. */
json_t *signal_json(int number);

/* The number of a signal named like "INT" or "SIGINT"; -1 if the name is unknown. */
int signal_parse(const char *name);

/* The number of a signal, from its name or number as JSON. Returns -1 if it is neither. */
int signal_number(const json_t *signal);

/* The lease without its secret; null if it is not held. */
json_t *lease_json(const struct lease *l);

/* The note that the last holder of the lease left; null if there is none. */
json_t *lease_note_json(const struct lease *l);
