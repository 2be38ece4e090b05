/*
 * Standard input that is written while the command reads it (shell/output/inlet.h). POST /api/stdin returns the id of
 * an input, PUT /api/stdin/ID uploads its bytes. The upload pauses while the command does not read. If the client
 * disconnects, the input ends.
 */
#include "shell/output/inlet.h"
#include "shell/own_error.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse_input(struct request *r, int error)
{
	if (error == -ENOENT)
		reply_invalid(
			r, "id", "There is no such input, or it is already in use", "not_found");
	else if (error == -EBUSY)
		reply_error(r, "RESOURCE_BUSY", "Another client is writing this input", NULL);
	else if (error == -ERR_LIMIT)
		reply_error(r, "LIMIT_REACHED", "Too many inputs are waiting for their commands",
			json_pack("{s:i}", "limit", (int)INLETS_MAX));
	else
		reply_error(r, error_code_of(error), error_text(error), NULL);
}

static void make_input(struct request *r)
{
	char id[FIFO_ID_SIZE];
	json_t *body = body_read(r);
	if (!body)
		return;
	int rc = inlet_create(api_of(r)->inlets, id);
	if (rc < 0)
		refuse_input(r, rc);
	else
		reply_success(r, json_pack("{s:s}", "id", id));
}

/* An upload in progress. */
struct writing {
	struct request *request; /* our reference */
	struct inlet *inlet;
};

static void free_writing(struct writing *w)
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
	free_writing(w);
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
		refuse_input(w->request, rc);
		free_writing(w);
	}
}

/* The client has disconnected. */
static void on_gone(void *user)
{
	struct writing *w = user;
	inlet_write_end(w->inlet, false);
	free_writing(w);
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
		refuse_input(r, rc);
		return;
	}
	*w = (struct writing){request_ref(r), i};
	upload_begin(r,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = w});
}

unsigned api_count_inputs(const struct api *a)
{
	return inlets_count(a->inlets);
}

const struct route_row api_stdin_rows[] = {
	{METHOD_POST, "/api/stdin", ROUTE_OWNER, .plain = make_input},
	{METHOD_PUT, "/api/stdin/{}", ROUTE_OWNER, .plain = stream_input, .upload = true,
		.upload_slow = true},
	{.path = NULL},
};
