/* Error answers that several handlers give. Functions of type bool return false, unless they say otherwise. */
#pragma once

#include "shell/session/sessions.h"
#include "ws/request.h"

#include <stdbool.h>

/* Memory is short. */
bool refuse_memory(struct request *r);

/* The working directory cannot be used. error: a negative errno. */
void refuse_directory(struct request *r, const char *cwd, int error);

/*
 * refuse_directory() if the error of starting a command was caused by its directory. Returns whether r has been
 * answered.
 */
bool refuse_if_directory(
	struct request *r, const struct directory_found *found, const char *cwd, int error);

/* The directory of the session's shell is unknown. */
bool refuse_shell_directory(struct request *r);

/* The working directory could not be checked. error: of crew_send(). */
void refuse_unchecked_directory(struct request *r, const char *cwd, int error);

/* The working directory exists, but not in the sandbox of commands. */
void refuse_directory_not_in_sandbox(struct request *r, const char *cwd);

/* Refuse if the server is being drained. Returns whether r has been answered. */
bool refuse_if_draining(struct request *r, const struct sessions *all);

/* The limit of sessions is reached. */
void refuse_sessions(struct request *r, const struct sessions *all);

/* The memory limit of screens is reached, see shell/pane/budget.h. */
void refuse_screen_size(struct request *r, const struct sessions *all, const char *id);

/* A session could not be created. stage, error: from its session_waiter. */
void refuse_session_start(struct request *r, const struct sessions *all, const char *id,
	enum report_stage stage, int error);

/* run_start() has failed. what: the subject of the message, such as "The command". */
void refuse_run(struct request *r, const char *what, int error);

/* The session is leased, or the lease in the request has expired. */
bool refuse_lease(struct request *r, const struct session *s);

/* An operation on the session has returned rc. */
void refuse_session(struct request *r, const struct session *s, int rc);

/* exec_start() has returned rc. */
void refuse_exec(struct request *r, struct session *s, int rc);
