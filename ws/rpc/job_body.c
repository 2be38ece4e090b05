/*
 * A stream from the client as the body of a request. When the handler has consumed a chunk, the
 * next one is requested, which acknowledges it to the client.
 */
#include "ws/rpc/job_internal.h"

void job_body_break(struct job *j, const char *why)
{
	json_t *body = json_pack("{s:s, s:s}", "code", "STREAM_ERROR", "message", why);
	upload_abort(j->request, UPLOAD_BROKEN);
	job_fail(j, body, 0);
	json_decref(body);
}

/* Pass bytes to the handler as long as it wants them. May free j. */
static void feed(struct job *j)
{
	struct request *r = request_ref(j->request);
	struct jobs *all = j->all;
	j->feeding = true;
	/* If the transport is gone, the request was answered and j freed. */
	while (r->transport && upload_wants_piece(r) && !j->body_broken) {
		size_t n = j->piece_length < UPLOAD_PIECE_MAX ? j->piece_length : UPLOAD_PIECE_MAX;
		const uint8_t *bytes = j->piece;
		if (n > 0) {
			j->piece += n;
			j->piece_length -= n;
			upload_pass(r, (const char *)bytes, n);
		} else if (j->body_over) {
			upload_finish(r);
		} else if (!j->requested) {
			j->requested = true;
			rpc_reader_resume(j->reader);
		} else {
			break;
		}
	}
	if (r->transport) {
		j->feeding = false;
		if (j->body_broken)
			job_body_break(j, "The stream has broken off");
	}
	request_unref(r);
	all->due(all->user);
}

void job_body_feed(struct job *j)
{
	if (!j->feeding)
		feed(j);
}

static void on_piece(void *user, const uint8_t *bytes, size_t length)
{
	struct job *j = user;
	j->piece = bytes;
	j->piece_length = length;
	j->requested = false;
	j->silent = 0;
	job_body_feed(j);
}

static void on_body_over(void *user)
{
	struct job *j = user;
	j->reader = NULL;
	j->body_over = true;
	job_body_feed(j);
}

static void on_body_broken(void *user)
{
	struct job *j = user;
	j->reader = NULL;
	j->body_broken = true;
	job_body_feed(j);
}

bool job_body_open(struct job *j)
{
	static const struct rpc_sink sink = {
		.piece = on_piece, .complete = on_body_over, .broken = on_body_broken};
	struct rpc_sink own = sink;
	own.user = j;
	j->reader = rpc_call_read(j->call, j->row->stream - 1, &own);
	j->request->upload.live = true;
	j->request->upload.length = UPLOAD_UNKNOWN;
	return j->reader != NULL;
}
