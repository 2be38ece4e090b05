/* See mux_frame.h. */
#include "ws/socket/mux_frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static uint32_t read_u32(const uint8_t *at)
{
	uint32_t n;
	memcpy(&n, at, sizeof n);
	return ntohl(n);
}

static void write_u32(uint8_t *at, uint32_t n)
{
	n = htonl(n);
	memcpy(at, &n, sizeof n);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int mux_read(
	struct mux_reader *r, const uint8_t **at, const uint8_t *end, struct mux_piece *ret_piece)
{
	bool first = r->head_length < MUX_HEAD;
	size_t head = smaller(MUX_HEAD - r->head_length, (size_t)(end - *at));
	memcpy(r->head + r->head_length, *at, head);
	r->head_length += head;
	*at += head;
	if (r->head_length < MUX_HEAD)
		return 0;
	uint32_t length = read_u32(r->head + 4), channel = read_u32(r->head) & MUX_CHANNEL_MAX;
	if (r->head[0] > MUX_TEXT_PART || channel == 0)
		return -EINVAL;
	if (first)
		r->left = length;
	else if (*at == end)
		return 0;
	size_t size = smaller(r->left, (size_t)(end - *at));
	r->left -= (uint32_t)size;
	*ret_piece = (struct mux_piece){.kind = (enum mux_kind)r->head[0],
		.channel = channel,
		.length = length,
		.first = first,
		.last = r->left == 0,
		.bytes = *at,
		.size = size};
	*at += size;
	if (r->left == 0)
		r->head_length = 0;
	return 1;
}

void mux_write_head(uint8_t head[MUX_HEAD], enum mux_kind kind, uint32_t channel, size_t length)
{
	write_u32(head, (uint32_t)kind << 24 | channel);
	write_u32(head + 4, (uint32_t)length);
}
