/*
 * A connection of HTTP/2, from the preface to its end, through the server's border to handlers and back: see border.h. Input: a byte of
 * how it comes, a seed of where it is cut, and frames: a type, flags, a stream and a length, a byte each, and the payload, of which the
 * header is made. FF and a length are bytes as they are.
 *
 * What is answered are frames that may come: heads for streams that the client has opened, each with one status, nothing behind a stream's
 * end; and when the client has gone, nothing is left of it.
 */
#include "tests/fuzz/border.h"
#include "tests/fuzz/pieces.h"
#include "ws/net/http1.h"
#include "ws/net/http2.h"

#include <nghttp2/nghttp2.h>

#define FRAME_HEAD 9u
#define FRAME_MAX ((size_t)16384)
#define SENT_MAX ((size_t)64 << 10)
#define STREAMS_KNOWN 256u /* by their number: that is a byte */

enum {
	HOW_OWNER = 1,
	HOW_UNIX = 2,
	HOW_GONE = 4,    /* the client reads nothing, and closes */
	HOW_FOREIGN = 8, /* there is no preface */
};

struct client {
	uint8_t bytes[SENT_MAX];
	size_t length;
	bool opened[STREAMS_KNOWN]; /* a head has been sent, or something that may be one */
	bool wild;                  /* what is sent is not all frames */
	unsigned how;
};

struct opened {
	bool headed; /* its status is no interim one */
	bool ended;
};

/* tests/fuzz/meson.build gives the border this in place of http1.c's. */
void __wrap_http1_begin(
	struct caller *c); /* NOLINT(bugprone-reserved-identifier): so the linker calls it */
void __wrap_http1_begin(struct caller *c) /* NOLINT(bugprone-reserved-identifier) */
{
	http2_begin(c);
}

/* What is sent */

static void add(struct client *c, const void *bytes, size_t length)
{
	FUZZ_CHECK(length <= SENT_MAX - c->length);
	if (length > 0)
		memcpy(c->bytes + c->length, bytes, length);
	c->length += length;
}

static void add_frame(struct client *c, uint8_t type, struct fuzz_input *in)
{
	uint8_t flags = fuzz_byte(in), stream = fuzz_byte(in);
	size_t length = fuzz_byte(in);
	length = length < in->left ? length : in->left;
	const uint8_t head[FRAME_HEAD] = {0, 0, (uint8_t)length, type, flags, 0, 0, 0, stream};
	add(c, head, sizeof head);
	add(c, in->at, length);
	in->at += length;
	in->left -= length;
	c->opened[stream] |= type == NGHTTP2_HEADERS;
}

static void add_raw(struct client *c, struct fuzz_input *in)
{
	size_t length = fuzz_byte(in);
	length = length < in->left ? length : in->left;
	add(c, in->at, length);
	in->at += length;
	in->left -= length;
	c->wild = true;
}

static void take_input(struct client *c, struct fuzz_input *in)
{
	static const uint8_t settings[FRAME_HEAD] = {0, 0, 0, NGHTTP2_SETTINGS};
	if (!(c->how & HOW_FOREIGN)) {
		add(c, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
		add(c, settings, sizeof settings);
	}
	while (in->left > 0 && SENT_MAX - c->length > 256 + FRAME_HEAD) {
		uint8_t type = fuzz_byte(in);
		if (type == 0xff)
			add_raw(c, in);
		else
			add_frame(c, type, in);
	}
}

/* What is answered */

struct reader {
	nghttp2_hd_inflater *inflater;
	struct opened streams[STREAMS_KNOWN];
	size_t at;        /* frames of the answers that have been looked at */
	uint32_t heading; /* a stream whose head goes on in the next frame; 0: none */
	bool interim, first;
};

/* What stands in a head; the status is first. Returns whether it is that of an interim answer. */
static void read_field(struct reader *r, const nghttp2_nv *nv)
{
	FUZZ_CHECK(nv->namelen > 0 && r->first == (nv->name[0] == ':'));
	for (size_t i = 0; i < nv->namelen; i++)
		FUZZ_CHECK(nv->name[i] > ' ' && nv->name[i] < 0x7f &&
			!(nv->name[i] >= 'A' && nv->name[i] <= 'Z'));
	for (size_t i = 0; i < nv->valuelen; i++)
		FUZZ_CHECK(nv->value[i] >= ' ' && nv->value[i] < 0x7f);
	if (r->first) {
		FUZZ_CHECK(nv->namelen == 7 && memcmp(nv->name, ":status", 7) == 0);
		FUZZ_CHECK(nv->valuelen == 3 && nv->value[0] >= '1' && nv->value[0] <= '5');
		r->interim = nv->value[0] == '1';
	}
	r->first = false;
}

static void read_fields(struct reader *r, const uint8_t *bytes, size_t length, bool last)
{
	for (;;) {
		nghttp2_nv nv;
		int flags = 0;
		ssize_t n = nghttp2_hd_inflate_hd2(r->inflater, &nv, &flags, bytes, length, last);
		FUZZ_CHECK(n >= 0);
		bytes += n;
		length -= (size_t)n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT)
			read_field(r, &nv);
		if (flags & NGHTTP2_HD_INFLATE_FINAL)
			nghttp2_hd_inflate_end_headers(r->inflater);
		if ((flags & NGHTTP2_HD_INFLATE_FINAL) ||
			(length == 0 && !(flags & NGHTTP2_HD_INFLATE_EMIT)))
			return;
	}
}

static void read_head(
	struct reader *r, uint32_t id, uint8_t flags, const uint8_t *bytes, size_t length)
{
	bool last = flags & NGHTTP2_FLAG_END_HEADERS;
	FUZZ_CHECK(!(flags & (NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_PRIORITY)));
	read_fields(r, bytes, length, last);
	r->heading = last ? 0 : id;
	if (!last)
		return;
	FUZZ_CHECK(!r->first && !r->streams[id].headed);
	r->streams[id].headed |= !r->interim;
}

static void read_frame(struct reader *r, const struct client *c, const uint8_t *frame, size_t length)
{
	uint8_t type = frame[3], flags = frame[4];
	uint32_t id = (uint32_t)frame[5] << 24 | (uint32_t)frame[6] << 16 |
		(uint32_t)frame[7] << 8 | frame[8];
	bool known = id < STREAMS_KNOWN;
	struct opened none = {0}, *s = known ? &r->streams[id] : &none;
	FUZZ_CHECK(length <= FRAME_MAX && (r->heading == 0 || type == NGHTTP2_CONTINUATION));
	FUZZ_CHECK(known || c->wild);
	if (!known)
		return;
	switch (type) {
	case NGHTTP2_HEADERS:
		FUZZ_CHECK(id % 2 == 1 && (c->opened[id] || c->wild) && !s->ended);
		r->first = true;
		s->ended = flags & NGHTTP2_FLAG_END_STREAM;
		read_head(r, id, flags, frame + FRAME_HEAD, length);
		return;
	case NGHTTP2_CONTINUATION:
		FUZZ_CHECK(id == r->heading && id > 0);
		read_head(r, id, flags, frame + FRAME_HEAD, length);
		return;
	case NGHTTP2_DATA:
		FUZZ_CHECK(s->headed && !s->ended);
		s->ended = flags & NGHTTP2_FLAG_END_STREAM;
		return;
	case NGHTTP2_RST_STREAM:
		FUZZ_CHECK(id > 0 && length == 4);
		s->ended = true;
		return;
	case NGHTTP2_WINDOW_UPDATE:
		FUZZ_CHECK(length == 4);
		return;
	case NGHTTP2_SETTINGS:
	case NGHTTP2_PING:
	case NGHTTP2_GOAWAY:
		FUZZ_CHECK(id == 0);
		return;
	default:
		FUZZ_CHECK(false);
	}
}

/* Look at the frames that are whole. */
static void read_frames(struct reader *r, const struct client *c, const struct border_answers *got)
{
	while (got->length - r->at >= FRAME_HEAD) {
		const uint8_t *frame = (const uint8_t *)got->bytes + r->at;
		size_t length = (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
		if (got->length - r->at - FRAME_HEAD < length)
			break;
		read_frame(r, c, frame, length);
		r->at += FRAME_HEAD + length;
	}
}

static void run(const struct client *c, struct random *r, size_t most)
{
	struct border_answers got = {0};
	struct reader reader = {0};
	enum arrival_by by = c->how & HOW_OWNER ? ARRIVAL_OWNER : ARRIVAL_ANYBODY;
	FUZZ_CHECK(nghttp2_hd_inflate_new(&reader.inflater) == 0);
	int fd = border_connect(by, c->how & HOW_UNIX);
	for (size_t at = 0, n; at < c->length; at += n) {
		n = pieces_next(r, most, c->length - at);
		border_send(fd, &got, c->bytes + at, n);
		if (c->how & HOW_GONE) {
			border_turn();
			continue;
		}
		border_settle(fd, &got);
		read_frames(&reader, c, &got);
	}
	if (!(c->how & HOW_GONE)) {
		shutdown(fd, SHUT_WR);
		border_settle(fd, &got);
		read_frames(&reader, c, &got);
	}
	border_close(fd);
	nghttp2_hd_inflate_del(reader.inflater);
	free(got.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct client c;
	struct fuzz_input in = {data, size};
	c = (struct client){.how = fuzz_byte(&in)};
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	take_input(&c, &in);
	border_open();
	run(&c, &r, seed < 64 ? 9 : (size_t)seed * 32);
	return 0;
}
