/*
 * Passes pieces of a body to its sink while the sink accepts them. A body that the transport has completely is passed here,
 * in one piece. `over` is set before the last callback, so none follows it.
 */
#include "ws/upload.h"

#include "ws/access.h"
#include "ws/request.h"

#include <assert.h>

uint64_t upload_length(const struct request *r)
{
	return r->upload.live ? r->upload.length : r->body_length;
}

bool upload_wants_piece(const struct request *r)
{
	const struct upload *u = &r->upload;
	return u->taken && !u->paused && !u->over && !r->done;
}

void upload_pass(struct request *r, const char *bytes, size_t length)
{
	struct upload *u = &r->upload;
	assert(upload_wants_piece(r) && length > 0);
	u->got += length;
	request_ref(r); /* the sink may answer it */
	u->sink.piece(u->sink.user, bytes, length);
	request_unref(r);
}

void upload_finish(struct request *r)
{
	struct upload *u = &r->upload;
	assert(upload_wants_piece(r));
	u->over = true;
	u->sink.complete(u->sink.user);
}

bool upload_abort(struct request *r, enum upload_end why)
{
	struct upload *u = &r->upload;
	if (!u->taken || u->over || r->done)
		return false;
	u->over = true;
	r->cut = true;
	r->gone = NULL;
	u->sink.broken(u->sink.user, why);
	return true;
}

void upload_refuse(struct request *r, enum upload_end why, const char *code, const char *message)
{
	void (*gone)(void *user) = r->gone;
	request_ref(r); /* the handler may hold the last reference */
	access_leave(r);
	bool is_reported = upload_abort(r, why);
	r->cut = true;
	r->gone = NULL;
	reply_replace(r, code, message);
	if (!is_reported && gone)
		gone(r->gone_user);
	if (r->transport)
		r->transport->answered(r->transport_user);
	request_unref(r);
}

/* Pass a complete body. */
static void give_whole(struct request *r)
{
	request_ref(r);
	r->upload.giving = true;
	if (r->upload.got < r->body_length)
		upload_pass(r, r->body, r->body_length);
	if (upload_wants_piece(r))
		upload_finish(r);
	r->upload.giving = false;
	request_unref(r);
}

static void proceed(struct request *r)
{
	if (!upload_wants_piece(r) || r->upload.giving)
		return;
	if (!r->upload.live)
		give_whole(r);
	else if (r->transport)
		r->transport->uploading(r->transport_user);
}

void upload_begin(struct request *r, const struct upload_sink *sink)
{
	assert(!r->upload.taken);
	r->upload.sink = *sink;
	r->upload.taken = true;
	if (!r->transport || r->cut) {
		/* The client disconnected, or its access ended, before the handler was ready. */
		r->upload.over = true;
		sink->broken(sink->user, r->cut ? UPLOAD_CUT : UPLOAD_LOST);
		return;
	}
	proceed(r);
}

void upload_pause(struct request *r)
{
	r->upload.paused = true;
}

void upload_resume(struct request *r)
{
	if (!r->upload.paused)
		return;
	r->upload.paused = false;
	proceed(r);
}
