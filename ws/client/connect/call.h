/* One request to the API and its whole answer. */
#pragma once

#include "ws/client/connect/cli.h"

#define CALL_ANSWER_MAX ((size_t)256 << 20)

/* An answer of the server. Zeroed: none yet. */
struct answer {
	int status;                                      /* HTTP status */
	char type[128];                                  /* Content-Type */
	char to[32], screen[32], first[32], omitted[32]; /* Ringside-To and so on, or "" */
	char *body;                                      /* NUL-terminated; owned */
	size_t length;                                   /* bytes of body */
	json_t *json; /* the parsed body; NULL if it is not JSON; owned */
};

/*
 * Returns "/api/session/ID", with the id encoded, and the formatted text behind it; owned. NULL:
 * out of memory.
 */
char *call_path(const char *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Percent-encode a text for a path segment or a query value. Returns owned; NULL: out of memory. */
char *call_encode(const char *text);

/* Like call_encode(), but leave slashes as they are. */
char *call_encode_path(const char *text);

/*
 * Send a request and run the loop until the answer is complete. Takes path (NULL: out of memory)
 * and body (may be NULL). Returns 0 for an answer of any status, or a negative errno if there is
 * none, such as -ECONNREFUSED or -ECONNRESET. On success the caller calls answer_finish().
 */
int call_try(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/*
 * Like call_try(), but open the connection first unless it is open, and report a missing answer.
 * Returns 0 or the exit status.
 */
int call_request(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/* Like call_request(), but report answers other than 2xx as well. Returns 0 or the exit status. */
int call_api(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer);

/*
 * Like call_api(), and print the answer, or only its field unless that is NULL: as JSON with
 * --json, otherwise by show() unless that is NULL. Returns 0 or the exit status.
 */
int call_show(struct cli *cli, const char *method, char *path, json_t *body, const char *field,
	void (*show)(const json_t *value));

/* Report that there was no answer because of error, a negative errno. Returns the exit status. */
int call_report_lost(struct cli *cli, int error);

/* Report an answer that is an error. Returns the exit status. */
int call_report_error(struct cli *cli, const struct answer *a);

/* Returns a text field of a JSON object; "" if it is missing. */
const char *answer_text(const json_t *object, const char *field);

/* Append received bytes to the body. Returns 0 or -ENOMEM. */
int answer_append(struct answer *a, const void *bytes, size_t length);

/* Parse the complete body if its type is JSON. */
void answer_parse(struct answer *a);

/* Free what the answer owns. */
void answer_finish(struct answer *a);
