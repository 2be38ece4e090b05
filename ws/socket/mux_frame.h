/*
 * Frames of the multiplex socket: a head of MUX_HEAD bytes and a payload, in binary messages of the WebSocket. The head has the
 * kind, the number of the channel and the length of the payload, in network byte order. The parser gets bytes in pieces. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUX_HEAD 8u                          /* bytes: kind 1, channel 3, length 4 */
#define MUX_CHANNEL_MAX ((uint32_t)0xffffff) /* greatest number of a channel; the least is 1 */

/* The kind of a frame. */
enum mux_kind {
	MUX_BINARY,    /* a binary message, or a piece of one */
	MUX_TEXT,      /* a text, or the last piece of one */
	MUX_TEXT_PART, /* a piece of a text; more follows */
};

/* The frame that is being read. Zero: its head is incomplete. */
struct mux_reader {
	uint8_t head[MUX_HEAD];
	size_t head_length;
	uint32_t left; /* bytes of the payload that are still to come */
};

/* A piece of a frame; bytes are in the input. */
struct mux_piece {
	enum mux_kind kind;
	uint32_t channel;
	uint32_t length; /* of the whole payload */
	bool first, last;
	const uint8_t *bytes;
	size_t size;
};

/*
 * Read the next piece from *at, which advances, up to end. Returns 1 with a piece, 0 if all was read, -EINVAL if the head is
 * invalid.
 */
int mux_read(
	struct mux_reader *r, const uint8_t **at, const uint8_t *end, struct mux_piece *ret_piece);

/* Write the head of a frame. */
void mux_write_head(uint8_t head[MUX_HEAD], enum mux_kind kind, uint32_t channel, size_t length);
