/* One request of a command line, and its answer as a whole. */
#pragma once

#include "ws/client/connect/cli.h"

#define CALL_ANSWER_MAX ((size_t)256 << 20)

struct answer {
	int status; /* of HTTP */
	char type[128];
	char to[32], screen[32], first[32], omitted[32]; /* Ringside-To and so on, or "" */
	char *body;                                      /* NUL-terminated; owned */
	size_t length;
	json_t *json; /* of the body; NULL when it is none; owned */
};

/* The path of what belongs to a session, "/api/session/ID" and then what follows; owned; NULL: no memory. */
char *call_path(const char *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text as it is written in a path or a query; owned; NULL: no memory. */
char *call_encode(const char *text);
/* The same, where slashes stay what they are. */
char *call_encode_path(const char *text);

/*
 * Ask, and wait for the answer. path and body are taken; body may be NULL. Returns 0 when there is an answer,
 * whatever it says; -ECONNREFUSED, -ECONNRESET or another negative errno when there is none.
 */
int call_try(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/* The same; returns 0, or the status to end with where there is no answer. */
int call_ask(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/* The same, where every answer but a good one has been complained of and is the status to end with. */
int call_api(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/* Complain of there being no answer, for which error is the reason; returns the status to end with. */
int call_lost(struct cli *cli, int error);

/* Complain of an answer that is an error; returns the status to end with. */
int call_complain(struct cli *cli, const struct answer *a);

/* A text of an object in an answer; "" where there is none. */
const char *answer_text(const json_t *object, const char *field);

/* Of an answer that is being received: add bytes of its body, and read it when it is whole. Returns 0 or -ENOMEM. */
int answer_add(struct answer *a, const void *bytes, size_t length);
void answer_read(struct answer *a);

void answer_finish(struct answer *a);
