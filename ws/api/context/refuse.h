/* Finding the context of a request, and error answers. */
#pragma once

#include "ws/api/api.h"

/* The API's data of a context: its context_user(). */
struct api_context {
	struct context *context;
	enum language language;
	struct request *request; /* waits for the start; our reference; NULL once answered */
	struct quota_place place;
	char session[NAME_ID_MAX + 1]; /* of the link that created it; "": an owner */
	uint64_t epoch;                /* of that session */
	char *cwd;                     /* for messages; owned */
};

/* The context of an id. Returns NULL if r has been answered. code: answer errors with api_context_refuse(). */
struct context *api_context_find(struct api *a, struct request *r, const char *id, bool code);

/* Whether r may see c: owners see all, links see those of their session. */
bool api_context_is_visible(const struct request *r, const struct context *c);

/* Answer with an error that also has the fields error and details. Takes context. */
void api_context_refuse(struct request *r, const char *code, const char *message, json_t *context);

/*
 * The executor could not be started. error: of context_callbacks.started() or context_create(). code: see
 * api_context_find().
 */
void api_context_refuse_start(
	struct request *r, enum language language, const char *cwd, int error, bool code);
