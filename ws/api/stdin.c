/*
 * Standard input for a command. POST /api/stdin: in pieces, before it is started (shell/output/spool.h). PUT /api/stdin/ID: as
 * it comes while the command reads it (shell/output/inlet.h): what the command does not take is not read of its client, and a
 * client that goes away is the input's end.
 */
#include "shell/output/inlet.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse_piece(struct request *r, int error, uint64_t size)
{
	if (error == -ENOENT)
		reply_invalid(r, "id", "There is no such input, or it was taken", "not_found");
	else if (error == -ESPIPE)
		reply_error(r, "VALIDATION_FAILED", "Something is missing before this piece",
			json_pack("{s:I}", "size", (json_int_t)size));
	else if (error == -EFBIG)
		reply_error(r, "REQUEST_TOO_LARGE", "The input is too large",
			json_pack("{s:I}", "limit", (json_int_t)SPOOL_MAX));
	else if (error == -EBUSY)
		reply_error(r, "RESOURCE_BUSY", "Somebody else writes this input", NULL);
	else if (error == -EUSERS)
		reply_error(r, "LIMIT_REACHED", "Too many inputs wait for their commands",
			json_pack("{s:i}", "limit", (int)SPOOLS_MAX));
	else
		reply_error(r, error_code_of(error), strerror(-error), NULL);
}

/* One that is written later, while it is read. */
static void begin_stream(struct request *r)
{
	char id[SPOOL_ID_SIZE];
	int rc = inlet_create(api_of(r)->inlets, id);
	if (rc < 0)
		refuse_piece(r, rc, 0);
	else
		reply_success(r, json_pack("{s:s, s:i}", "id", id, "size", 0));
}

static void keep_input(struct request *r)
{
	struct api *a = api_of(r);
	const char *id = NULL, *base64 = NULL, *dir = a->sessions->config.runtime_dir;
	char made[SPOOL_ID_SIZE];
	uint64_t offset = 0, size = 0;
	size_t length = 0;
	unsigned char *bytes = NULL;
	bool stream = false;
	json_t *body = body_read(r);
	if (!body || !body_flag(r, body, "stream", &stream) || !body_text(r, body, "id", &id) ||
		!body_text(r, body, "base64", &base64) ||
		!body_number(r, body, "offset", 0, SPOOL_MAX, &offset))
		goto out;
	if (stream && (id || base64 || json_is_integer(json_object_get(body, "offset")))) {
		reply_invalid(r, "stream", "Not together with id, base64 or offset", "invalid");
		goto out;
	}
	if (stream) {
		begin_stream(r);
		goto out;
	}
	bytes = base64 ? base64_decode(base64, &length) : NULL;
	if (!bytes) {
		reply_invalid(r, "base64", "Must be base64", base64 ? "invalid" : "required");
		goto out;
	}
	int rc = id ? 0 : spool_create(dir, made);
	id = id ? id : made;
	if (rc == 0)
		rc = spool_add(dir, id, offset, bytes, length, &size);
	if (rc < 0)
		refuse_piece(r, rc, size);
	else
		reply_success(r, json_pack("{s:s, s:I}", "id", id, "size", (json_int_t)size));
out:
	free(bytes);
	json_decref(body);
}

/* Who writes an input as it comes. */
struct writing {
	struct request *request; /* our reference */
	struct inlet *inlet;
};

static void end_writing(struct writing *w)
{
	request_unref(w->request);
	free(w);
}

static void on_drained(void *user)
{
	struct writing *w = user;
	upload_resume(w->request);
}

static void on_ended(void *user, uint64_t bytes, bool refused)
{
	struct writing *w = user;
	w->request->gone = NULL;
	reply_success(
		w->request, json_pack("{s:I, s:b}", "bytes", (json_int_t)bytes, "closed", refused));
	end_writing(w);
}

static const struct inlet_callbacks inlet_callbacks = {.drained = on_drained, .ended = on_ended};

static void on_piece(void *user, const char *bytes, size_t length)
{
	struct writing *w = user;
	int rc = inlet_write(w->inlet, bytes, length);
	if (rc == -EAGAIN) {
		upload_pause(w->request);
	} else if (rc < 0) {
		inlet_write_end(w->inlet, false);
		refuse_piece(w->request, rc, 0);
		end_writing(w);
	}
}

/* Nobody is there any more who writes, or waits for an answer. */
static void on_gone(void *user)
{
	struct writing *w = user;
	inlet_write_end(w->inlet, false);
	end_writing(w);
}

static void on_complete(void *user)
{
	struct writing *w = user;
	w->request->gone = on_gone;
	w->request->gone_user = w;
	inlet_write_end(w->inlet, true);
}

static void on_broken(void *user, enum upload_end why)
{
	(void)why;
	on_gone(user);
}

static void stream_input(struct request *r)
{
	struct inlet *i = inlet_find(api_of(r)->inlets, r->match.id);
	struct writing *w = i ? malloc(sizeof *w) : NULL;
	int rc = !i ? -ENOENT : !w ? -ENOMEM : inlet_write_begin(i, &inlet_callbacks, w);
	if (rc < 0) {
		free(w);
		refuse_piece(r, rc, 0);
		return;
	}
	*w = (struct writing){request_ref(r), i};
	upload_take(r,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = w});
}

const struct route_row api_stdin_rows[] = {
	{METHOD_POST, "/api/stdin", WHO_OWNER, .plain = keep_input},
	{METHOD_PUT, "/api/stdin/{}", WHO_OWNER, .plain = stream_input, .upload = true,
		.upload_slow = true},
	{.path = NULL},
};
