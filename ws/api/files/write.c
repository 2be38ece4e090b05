/* POST /api/write: write a file as a whole, from text or base64. */
#include "shell/files/replace.h"
#include "shell/own_error.h"
#include "ws/api/files/call.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of the old file to compare with expectedHash, as /api/read returns them. */
#define HASH_MAX ((size_t)32 << 20)

/* Bytes of the request: enough for READ_MAX bytes as base64. */
#define WRITE_BODY_MAX ((size_t)44 << 20)

static bool parse_fields(struct file_call *c)
{
	if (!body_text(c->request, c->body, "encoding", &c->encoding) ||
		!body_text(c->request, c->body, "expectedHash", &c->expected))
		return false;
	if (!body_flag(c->request, c->body, "hash", &c->hash))
		return false;
	return json_is_string(json_object_get(c->body, "content")) ||
		reply_invalid(c->request, "content", "Must be a string", "required");
}

/* Compare the hash of the old file. Returns 0, -ERR_CHANGED or another negative errno. */
static int check_expected(struct file_call *c, struct stat *ret_st)
{
	struct content content;
	char *bytes = NULL, hash[CONTENT_HASH_SIZE];
	size_t length = 0;
	int rc = content_open(&c->place, c->path, &content);
	if (rc == -ENOENT)
		return -ERR_CHANGED;
	if (rc < 0)
		return rc;
	*ret_st = content.st;
	rc = content_load(&content, HASH_MAX, &bytes, &length);
	content_close(&content);
	if (rc == 0)
		rc = content_hash(bytes, length, hash);
	free(bytes);
	if (rc < 0)
		return rc == -EFBIG ? -ERR_CHANGED : rc;
	return strcasecmp(hash, c->expected) == 0 ? 0 : -ERR_CHANGED;
}

/* Open the replacement. With expectedHash it replaces only the expected file. */
static int open_expected(struct file_call *c, struct replace *to)
{
	struct replace_options options = {.parents = true};
	struct stat st;
	bool has_hash = c->expected && *c->expected;
	int rc = has_hash ? check_expected(c, &st) : 0;
	if (rc < 0)
		return rc;
	if (c->expected)
		options.only = has_hash ? REPLACE_SAME : REPLACE_NEW;
	if (c->expected && !has_hash && content_exists(&c->place, c->path))
		return -ERR_CHANGED;
	rc = replace_open(&c->place, c->path, &options, to);
	if (rc == 0 && has_hash && !replace_is_same(&st, &to->old)) {
		replace_abort(to);
		return -ERR_CHANGED;
	}
	return rc;
}

static int write_bytes(struct file_call *c, const void *bytes, size_t length)
{
	struct replace to;
	int rc = open_expected(c, &to);
	if (rc < 0)
		return rc;
	rc = replace_write(&to, bytes, length);
	if (rc == 0)
		rc = replace_commit(&to);
	else
		replace_abort(&to);
	return rc == -EAGAIN ? -ENOBUFS : rc; /* a full FIFO */
}

static int write_file(struct file_call *c)
{
	const json_t *content = json_object_get(c->body, "content");
	const char *text = json_string_value(content);
	size_t length = json_string_length(content);
	unsigned char *bytes = NULL;
	if (c->encoding && strcmp(c->encoding, "base64") == 0) {
		bool whole = strlen(text) == length; /* no NUL in it */
		bytes = whole ? base64_decode_unpadded(text, &length) : NULL;
		if (!bytes)
			return whole && errno == ENOMEM ? -ENOMEM : -EILSEQ;
	}
	char hash[CONTENT_HASH_SIZE];
	const char *plain = bytes ? (const char *)bytes : text;
	int rc = content_hash(plain, length, hash);
	if (rc == 0)
		rc = write_bytes(c, plain, length);
	free(bytes);
	if (rc < 0)
		return rc;
	file_answer_begin(c);
	if (c->expected || c->hash) {
		reply_text_raw(&c->answer, ",\"hash\":");
		reply_text_cstring(&c->answer, hash);
	}
	file_answer_end(c);
	return 0;
}

static bool refuse(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 64];
	if (error == -EILSEQ) {
		reply_invalid(c->request, "content", "Must be base64", "INVALID_BASE64");
		return true;
	}
	if (c->expected && (error == -ERR_CHANGED || error == -EEXIST)) {
		snprintf(message, sizeof message,
			*c->expected ? "%s has changed: its hash is not expectedHash"
				     : "%s already exists",
			c->path);
		reply_error(c->request, "PRECONDITION_FAILED", message, file_context(c));
		return true;
	}
	if (error != -EISDIR)
		return false;
	snprintf(message, sizeof message, "EISDIR: %s is a directory", c->path);
	json_t *context = file_context(c);
	if (context)
		json_object_update_new(context,
			json_pack("{s:s, s:i}", "stderr", error_text(error), "exitCode", 1));
	reply_error(c->request, "FILESYSTEM_ERROR", message, context);
	return true;
}

static void write_now(struct request *r)
{
	static const struct file_action action = {.operation = "file.write",
		.path = "path",
		.parse = parse_fields,
		.work = write_file,
		.refuse = refuse};
	file_call(r, &action);
}

/* A large body that is parsed on a thread. */
struct parsing {
	struct job job;
	struct request *request; /* our reference */
	bool out_of_memory;
};

static void on_parse(struct job *job)
{
	struct parsing *p = (struct parsing *)job;
	struct request *r = p->request;
	r->json = body_parse(r->body, r->body_length, &p->out_of_memory);
	if (!r->json)
		return;
	free(r->body);
	r->body = NULL;
}

static void on_parsed(struct job *job, int error)
{
	struct parsing *p = (struct parsing *)job;
	struct request *r = p->request;
	error = error == 0 && p->out_of_memory ? -ENOMEM : error;
	free(p);
	if (error == -ERR_LIMIT)
		reply_error(r, "RESOURCE_BUSY", "Too many file operations are waiting", NULL);
	else if (error < 0)
		reply_error(r, error_code_of(error), error_text(error), NULL);
	else if (!r->json)
		reply_invalid(r, "body", "The body is not valid JSON", "invalid");
	else if (r->transport && !r->cut)
		write_now(r);
	request_unref(r);
}

static void write_whole(struct request *r)
{
	struct parsing *p = r->body_length > REQUEST_BODY_MAX ? calloc(1, sizeof *p) : NULL;
	if (!p) {
		write_now(r);
		return;
	}
	p->job = (struct job){.work = on_parse, .done = on_parsed};
	p->request = request_ref(r);
	int rc = crew_send(api_of(r)->crew, &p->job);
	if (rc < 0)
		on_parsed(&p->job, rc);
}

const struct route_row api_file_write_rows[] = {
	{METHOD_POST, "/api/write", ROUTE_OWNER_OR_TRUSTED, .plain = write_whole,
		.body_max = WRITE_BODY_MAX},
	{.path = NULL},
};
