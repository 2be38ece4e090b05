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
bool refuse_if_directory(struct request *r, const char *cwd, int error);

/* Answer that there are as many sessions as there may be. */
void refuse_sessions(struct request *r, const struct sessions *all);

/* Answer that the session is leased, or that the lease that was shown is over. */
void refuse_leased(struct request *r, const struct session *s);

/* Answer with the reason why a request to the session has returned rc. */
void refuse_session(struct request *r, const struct session *s, int rc);

/* Answer with the reason why exec_start() has returned rc. */
void refuse_exec(struct request *r, struct session *s, int rc);
