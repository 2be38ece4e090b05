/* Who is slow and who is not: a terminal socket whose peer has room when the test says so. */
#include "tests/lib/memory_api.h"
#include "ws/socket/terminal.h"

#define LAG 1000u
#define MUCH (10 * LAG) /* more than that, and less than a ring */

static struct peer {
	bool room;
	uint64_t bytes; /* of frames that are not texts */
	char texts[16384];
	struct terminal *terminal;
	struct session *session;
} peer;

static size_t on_room(void *user)
{
	(void)user;
	return peer.room ? FRAMES_PAYLOAD_MAX : 0;
}

static size_t on_queued(void *user)
{
	(void)user;
	return peer.room ? 0 : FRAMES_PAYLOAD_MAX;
}

static bool on_send(void *user, uint8_t *payload, size_t length, enum frame_kind kind)
{
	(void)user;
	cr_assert(peer.room);
	if (kind == FRAME_BINARY)
		peer.bytes += length;
	else if (strlen(peer.texts) + length < sizeof peer.texts)
		strncat(peer.texts, (const char *)payload, length);
	return true;
}

static void on_want(void *user)
{
	(void)user;
}

static void on_close(void *user, enum close_code code, const char *reason)
{
	(void)user;
	(void)code;
	(void)reason;
}

static const struct frames_transport transport = {
	.room = on_room, .queued = on_queued, .send = on_send, .want = on_want, .close = on_close};

static void begin(void)
{
	const struct principal owner = {.role = ROLE_OWNER};
	const struct terminal_query query = {.session = "s", .lag = LAG};
	peer = (struct peer){.room = true, .session = memory_api_start("s")};
	peer.terminal = terminal_open(&memory_api.terminals, &query, &owner, &transport, &peer);
	cr_assert_not_null(peer.terminal);
	cr_assert(LOOP_UNTIL(&memory_api.loop, peer.terminal->ready));
	memory_api_settle();
}

static void print_much(void)
{
	static char text[MUCH];
	memset(text, 'x', sizeof text);
	memory_holder_put(memory_api_holder("s"), text, sizeof text);
	memory_api_settle();
}

static void pass_ms(uint64_t ms)
{
	uint64_t end = uv_now(&memory_api.loop) + ms;
	cr_assert(LOOP_UNTIL(&memory_api.loop, uv_now(&memory_api.loop) >= end));
}

static bool was_resynced(void)
{
	return strstr(peer.texts, "\"reason\":\"lag\"") != NULL;
}

static void end(void)
{
	terminal_close(peer.terminal);
	MEMORY_API_CLOSE();
}

TestSuite(terminal_slow, .init = memory_api_open, .fini = memory_api_clear_up, .timeout = 60);

Test(terminal_slow, one_that_takes_all_gets_every_byte_however_much_comes_at_once)
{
	begin();
	uint64_t before = peer.bytes;
	for (unsigned i = 0; i < 3; i++) {
		peer.room = false;
		print_much();
		peer.room = true;
		terminal_writable(peer.terminal);
	}
	cr_expect_eq(peer.bytes - before, 3 * MUCH);
	cr_expect_not(was_resynced());
	end();
}

Test(terminal_slow, one_that_has_left_much_for_long_gets_a_snapshot)
{
	begin();
	uint64_t before = peer.bytes;
	peer.room = false;
	print_much();
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_writable(peer.terminal);
	cr_expect(was_resynced(), "%s", peer.texts);
	cr_expect_lt(peer.bytes - before, MUCH);
	end();
}

/* It has waited for long and then been given a piece: what came meanwhile has not waited for less. */
Test(terminal_slow, a_piece_taken_makes_nobody_fast)
{
	begin();
	peer.room = false;
	memory_holder_say(memory_api_holder("s"), "a");
	memory_api_settle();
	print_much();
	pass_ms(TERMINAL_LAG_MS + 50);
	print_much();
	peer.room = true;
	terminal_writable(peer.terminal);
	cr_expect(was_resynced(), "%s", peer.texts);
	end();
}

Test(terminal_slow, little_that_waits_for_long_is_no_reason)
{
	begin();
	uint64_t before = peer.bytes;
	peer.room = false;
	memory_holder_say(memory_api_holder("s"), "little");
	memory_api_settle();
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_writable(peer.terminal);
	cr_expect_eq(peer.bytes - before, strlen("little"));
	cr_expect_not(was_resynced());
	end();
}

/* What the session's holder waits for: see SESSION_VIEWER_READS_MS. */
Test(terminal_slow, only_one_that_takes_what_it_gets_is_waited_for)
{
	begin();
	const struct session_viewer *v = &peer.terminal->viewer;
	print_much();
	cr_expect_eq(v->offset, MUCH);
	cr_expect_gt(v->taken_ms, 0);
	uint64_t taken = v->taken_ms;
	peer.room = false;
	pass_ms(TERMINAL_LAG_MS + 50);
	print_much();
	cr_expect_eq(v->taken_ms, taken, "it has taken nothing since");
	cr_expect_eq(v->offset, MUCH);
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_writable(peer.terminal);
	cr_expect_eq(v->taken_ms, 0, "it gets snapshots now, and needs nothing of the ring");
	end();
}
