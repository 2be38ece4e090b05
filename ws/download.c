/* A download ends when all bytes have been given, or when it is closed early. Its source is closed once. */
#include "ws/download.h"

#include "ws/access.h"
#include "ws/request.h"

#include <assert.h>

static void refuse(struct request *r, const struct download_source *source, bool is_supported)
{
	request_ref(r);
	source->closed(source->user);
	if (is_supported)
		access_refuse(r, QUOTA_STREAMS);
	else
		reply_error(r, "NOT_IMPLEMENTED", "This is only available over HTTP", NULL);
	request_unref(r);
}

void download_reply(struct request *r, int status, const char *type, uint64_t length,
	const struct download_source *source)
{
	if (!request_may_answer(r)) {
		source->closed(source->user);
		return;
	}
	assert(!r->done);
	bool is_supported = !r->transport || r->transport->downloading;
	if (!is_supported || !access_stream(r)) {
		refuse(r, source, is_supported);
		return;
	}
	r->reply.status = status;
	r->reply.content_type = type;
	r->done = true;
	r->download = (struct download){.source = *source, .length = length, .left = length};
	if (r->transport)
		r->transport->downloading(r->transport_user);
	else
		download_close(r);
}

void download_more(struct request *r)
{
	if (r->transport && r->download.source.next)
		r->transport->more(r->transport_user);
}

void download_close(struct request *r)
{
	struct download_source source = r->download.source;
	r->download.source = (struct download_source){0};
	if (source.next)
		source.closed(source.user);
}

enum download_state download_next(struct request *r, const char **ret_bytes, size_t *ret_length)
{
	struct download *d = &r->download;
	bool known = d->length != DOWNLOAD_UNKNOWN;
	if (!d->source.next)
		return DOWNLOAD_FAILED;
	if (known && d->left == 0)
		return DOWNLOAD_END;
	enum download_state state = d->source.next(d->source.user, ret_bytes, ret_length);
	if (!known)
		return state;
	if (state == DOWNLOAD_END)
		return DOWNLOAD_FAILED; /* the source has become shorter */
	if (state == DOWNLOAD_PIECE) {
		*ret_length = *ret_length < d->left ? *ret_length : (size_t)d->left;
		d->left -= *ret_length;
	}
	return state;
}
