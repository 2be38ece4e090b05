/* Frames of the multiplex socket; the fuzz target reads them in all pieces. */
#include "ws/socket/mux_frame.h"

#include <criterion/criterion.h>
#include <errno.h>

Test(mux_frame, a_head_is_read_as_it_was_written)
{
	static const struct {
		enum mux_kind kind;
		uint32_t channel, length;
	} heads[] = {{MUX_BINARY, 1, 3}, {MUX_TEXT, MUX_CHANNEL_MAX, 0},
		{MUX_TEXT_PART, 0x010203, 70000}};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		uint8_t bytes[MUX_HEAD + 3] = {[MUX_HEAD] = 'a', 'b', 'c'};
		const uint8_t *at = bytes;
		struct mux_reader r = {0};
		struct mux_piece p;
		mux_write_head(bytes, heads[i].kind, heads[i].channel, heads[i].length);
		cr_assert_eq(mux_read(&r, &at, bytes + sizeof bytes, &p), 1);
		cr_expect(p.kind == heads[i].kind && p.channel == heads[i].channel);
		cr_expect(p.length == heads[i].length && p.first && p.last == (p.length <= 3));
		cr_expect_eq(p.size, p.length < 3 ? p.length : 3);
		cr_expect_eq(p.bytes, bytes + MUX_HEAD);
	}
}

Test(mux_frame, channel_0_and_unknown_kinds_are_invalid)
{
	static const uint8_t wrong[][MUX_HEAD] = {{0}, {3, 0, 0, 1}, {255, 255, 255, 255}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const uint8_t *at = wrong[i];
		struct mux_reader r = {0};
		struct mux_piece p;
		cr_expect_eq(mux_read(&r, &at, wrong[i] + MUX_HEAD, &p), -EINVAL);
	}
}
