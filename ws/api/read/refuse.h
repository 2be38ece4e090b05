/* Refusals that several handlers give. */
#pragma once

#include "shell/session/sessions.h"
#include "ws/request.h"

#include <stdbool.h>

/* Answer that memory is short. */
void refuse_memory(struct request *r);

/* Answer that the working directory cannot be used; error: a negative errno. */
void refuse_directory(struct request *r, const char *cwd, int error);

/* The same, if it is that directory that a failure to start something speaks of. Returns whether r has been answered. */
bool refuse_if_directory(
	struct request *r, const struct directory_found *found, const char *cwd, int error);

/* Answer that the directory of the session's shell could not be found out. */
void refuse_shell_directory(struct request *r);

/* Answer that nobody could find out whether the working directory can be used; error: of the crew. */
void refuse_look(struct request *r, const char *cwd, int error);

/* A directory that there is, but not where commands live. */
void refuse_hidden_directory(struct request *r, const char *cwd);

/* Whether nothing new is begun, for the server is being drained: then r has been answered. */
bool refuse_if_draining(struct request *r, const struct sessions *all);

/* Answer that there are as many sessions as there may be. */
void refuse_sessions(struct request *r, const struct sessions *all);

/* Answer that there is no memory for a screen of that size, see shell/pane/budget.h. */
void refuse_size(struct request *r, const struct sessions *all, const char *id);

/* Answer with the reason why a session that a request needs could not be made; stage, error: what its waiter was told. */
void refuse_session_start(struct request *r, const struct sessions *all, const char *id,
	enum report_stage stage, int error);

/* Answer with the reason why run_start() has returned error for a command; what: in words, as "The command". */
void refuse_run(struct request *r, const char *what, int error);

/* Answer that the session is leased, or that the lease that was shown is over. */
void refuse_leased(struct request *r, const struct session *s);

/* Answer with the reason why a request to the session has returned rc. */
void refuse_session(struct request *r, const struct session *s, int rc);

/* Answer with the reason why exec_start() has returned rc. */
void refuse_exec(struct request *r, struct session *s, int rc);
