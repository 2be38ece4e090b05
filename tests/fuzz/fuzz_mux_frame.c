/*
 * Frames of the multiplex socket: in any pieces they give the same frames; no piece is outside of the input; and each byte is
 * part of exactly one head or payload. The first byte of the input is the size of the pieces.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/socket/mux_frame.h"

struct outcome {
	int rc;
	uint64_t hash; /* of all frames and their payloads */
	size_t heads, payload, frames;
};

static void add(struct outcome *o, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < size; i++)
		o->hash = (o->hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void add_piece(struct outcome *o, const struct mux_piece *p)
{
	uint8_t head[MUX_HEAD];
	FUZZ_CHECK(p->channel > 0 && p->channel <= MUX_CHANNEL_MAX && p->kind <= MUX_TEXT_PART);
	if (p->first) {
		mux_write_head(head, p->kind, p->channel, p->length);
		add(o, head, sizeof head);
		o->heads += MUX_HEAD;
	}
	add(o, p->bytes, p->size);
	o->payload += p->size;
	o->frames += p->last;
}

/* Read the input in pieces of step bytes. */
static struct outcome parse(const uint8_t *bytes, size_t length, size_t step)
{
	struct mux_reader r = {0};
	struct outcome o = {.rc = 0};
	for (size_t from = 0; o.rc == 0 && from < length; from += step) {
		size_t size = length - from < step ? length - from : step;
		uint8_t *input = fuzz_alloc(size);
		memcpy(input, bytes + from, size);
		const uint8_t *at = input;
		struct mux_piece p;
		while ((o.rc = mux_read(&r, &at, input + size, &p)) > 0) {
			FUZZ_CHECK(p.bytes >= input && p.bytes + p.size == at && at <= input + size);
			add_piece(&o, &p);
		}
		FUZZ_CHECK(o.rc < 0 || at == input + size);
		free(input);
	}
	size_t begun = r.head_length < MUX_HEAD ? r.head_length : 0;
	FUZZ_CHECK(o.rc < 0 || o.heads + o.payload + begun == length);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct outcome whole = parse(data + 1, size - 1, size);
	struct outcome cut = parse(data + 1, size - 1, (size_t)data[0] + 1);
	FUZZ_CHECK(whole.rc == cut.rc && whole.hash == cut.hash);
	FUZZ_CHECK(whole.payload == cut.payload && whole.frames == cut.frames);
	return 0;
}
