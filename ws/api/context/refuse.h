/* Contexts: who may use which, and refusals. */
#pragma once

#include "ws/api/api.h"

/* What the API keeps with a context. */
struct api_context {
	struct context *context;
	enum language language;
	struct request *request; /* that waits for it to start; our reference, NULL once it is answered */
	struct quota_place place;
	char session[NAME_ID_MAX + 1]; /* of the link by which it was made; "": an owner made it */
	char *cwd;                     /* for messages; owned */
};

/* The context of this id; NULL: r has been answered. code: with the fields that the container's protocol has there too. */
struct context *api_context_find(struct api *a, struct request *r, const char *id, bool code);

/* Whether r may see it: an owner all, who came by a link those of its session. */
bool api_context_is_seen(const struct request *r, const struct context *c);

/* Answer with an error that also has the fields error and details. context is taken. */
void api_context_fail(struct request *r, const char *code, const char *message, json_t *context);

/* Answer that no executor could be started; error: as context_callbacks.started() and context_create() have it. */
void api_context_refuse_start(
	struct request *r, enum language language, const char *cwd, int error, bool code);
