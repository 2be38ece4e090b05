/* Who is slow and who is not: a terminal socket whose peer has room when the test says so. */
#include "tests/lib/memory_api.h"
#include "ws/socket/terminal.h"

#define LAG 1000u
#define MUCH (10 * LAG) /* more than that, and less than a ring */

static struct peer {
	bool room;
	bool thin;      /* it takes a few bytes, and then no more */
	uint64_t bytes; /* of frames that are not texts */
	char texts[16384];
	struct terminal *terminal;
	struct session *session;
} peer;

static size_t on_room(void *user)
{
	(void)user;
	size_t room = peer.thin ? 64 : FRAMES_PAYLOAD_MAX;
	return peer.room ? room : 0;
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
	if (kind == FRAME_BINARY) {
		peer.bytes += length;
		peer.room = !peer.thin;
	} else if (strlen(peer.texts) + length < sizeof peer.texts) {
		strncat(peer.texts, (const char *)payload, length);
	}
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

static void start(void)
{
	peer = (struct peer){.room = true, .session = memory_api_start("s")};
}

static void attach(const struct terminal_query *query)
{
	const struct principal owner = {.role = ROLE_OWNER};
	peer.terminal = terminal_open(&memory_api.terminals, query, &owner, &transport, &peer);
	cr_assert_not_null(peer.terminal);
	cr_assert(LOOP_UNTIL(
		&memory_api.loop, (terminal_writable(peer.terminal), peer.terminal->ready)));
	memory_api_settle();
}

static void begin_as(const struct terminal_query *query)
{
	start();
	attach(query);
}

static void begin(void)
{
	begin_as(&(struct terminal_query){.session = "s", .lag = LAG});
}

static void print(size_t length)
{
	char *text = malloc(length);
	memset(text, 'x', length);
	memory_holder_put(memory_api_holder("s"), text, length);
	free(text);
	memory_api_settle();
}

static void print_much(void)
{
	print(MUCH);
}

/* The client says that all of its bytes have come. */
static void say_reached(void)
{
	char text[64];
	snprintf(text, sizeof text, "{\"type\":\"ack\",\"bytes\":%llu}",
		(unsigned long long)peer.bytes);
	terminal_control(peer.terminal, text, strlen(text));
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

Test(terminal_slow, who_says_what_has_come_gets_no_more_than_is_on_its_way_at_first)
{
	begin_as(&(struct terminal_query){.session = "s", .lag = TERMINAL_LAG, .acks = true});
	say_reached();
	uint64_t before = peer.bytes;
	for (unsigned i = 0; i < 4; i++)
		print(PACE_WINDOW_FIRST / 2);
	cr_expect_leq(peer.bytes - before, PACE_WINDOW_FIRST);
	cr_expect_geq(peer.bytes - before, PACE_WINDOW_FIRST - PACE_ACK_EVERY);
	while (peer.bytes - before < PACE_WINDOW_FIRST * 2) {
		uint64_t had = peer.bytes;
		say_reached();
		cr_assert_gt(peer.bytes, had);
	}
	cr_expect_eq(peer.bytes - before, PACE_WINDOW_FIRST * 2);
	cr_expect_not(was_resynced());
	end();
}

Test(terminal_slow, what_a_slow_line_delivers_in_half_a_second_is_its_backlog)
{
	begin_as(&(struct terminal_query){.session = "s", .lag = TERMINAL_LAG, .acks = true});
	say_reached();
	/* So much took three seconds. */
	print(PACE_WINDOW_FIRST);
	peer.terminal->pace.since_ms -= 3000;
	say_reached();
	cr_assert(peer.terminal->pace.slow);
	uint64_t window = peer.terminal->pace.window, before = peer.bytes;
	cr_assert_lt(window, PACE_WINDOW_FIRST / 2);
	print(2 * window);
	pass_ms(TERMINAL_LAG_MS + 50);
	print(window);
	cr_expect_leq(peer.bytes - before, window);
	cr_expect_not(was_resynced());
	peer.terminal->pace.since_ms -= 3000;
	say_reached();
	memory_api_settle();
	cr_expect(was_resynced());
	end();
}

static unsigned count(const char *what)
{
	unsigned n = 0;
	for (const char *at = peer.texts; (at = strstr(at, what)); at++)
		n++;
	return n;
}

Test(terminal_slow, a_snapshot_asked_for_while_one_is_sent_has_its_own_sync)
{
	static const char ask[] = "{\"type\":\"snapshot\",\"scrollback\":10}";
	begin();
	print(500);
	peer.texts[0] = '\0';
	peer.thin = true;
	terminal_control(peer.terminal, ask, strlen(ask));
	cr_assert(LOOP_UNTIL(&memory_api.loop, !peer.room));
	cr_assert_eq(count("\"snapshot\""), 1);
	terminal_control(peer.terminal, ask, strlen(ask));
	memory_api_settle();
	peer.thin = false;
	peer.room = true;
	terminal_writable(peer.terminal);
	cr_assert(
		LOOP_UNTIL(&memory_api.loop, count("\"snapshot\"") == 2 && count("\"sync\"") == 2));
	const char *second = strstr(strstr(peer.texts, "\"snapshot\"") + 1, "\"snapshot\"");
	cr_expect_lt(strstr(peer.texts, "\"sync\""), second, "%s", peer.texts);
	uint64_t before = peer.bytes;
	print(100);
	cr_expect_eq(peer.bytes - before, 100, "it goes on");
	end();
}

#define HISTORY 500u /* lines */

/* A screen of more than a client need not say has reached it, and lines above that. */
static void print_history(unsigned lines)
{
	char line[256];
	for (unsigned i = 0; i < lines + peer.session->pane.rows; i++) {
		size_t n = 0;
		for (unsigned k = 1; k < 16; k++)
			n += (size_t)snprintf(line + n, sizeof line - n, "\033[3%umword ", k % 8);
		snprintf(line + n, sizeof line - n, "\033[m%u\r\n", i);
		memory_holder_say(memory_api_holder("s"), line);
		if (i % 16 == 0)
			memory_api_settle(); /* a ring has room for so much */
	}
	memory_api_settle();
}

Test(terminal_slow, who_says_what_has_come_sees_the_screen_first)
{
	memory_api.sessions.config.scrollback = HISTORY;
	start();
	print_history(HISTORY);
	attach(&(struct terminal_query){.session = "s", .lines = HISTORY, .lag = LAG, .acks = true});
	cr_expect_gt(peer.bytes, 2 * PACE_ACK_EVERY);
	cr_expect_lt(peer.bytes, PACE_WINDOW_FIRST / 2);
	cr_expect_eq(count("\"lines\":0,"), 1, "%s", peer.texts);
	cr_expect_eq(count("\"partial\":true"), 1);
	cr_expect_eq(count("\"presence\""), 1, "that does not wait for the rest");
	pass_ms(3 * TERMINAL_REFRESH_MS);
	cr_expect_eq(count("\"snapshot\""), 1, "it has yet to come");
	say_reached();
	cr_assert(LOOP_UNTIL(&memory_api.loop, count("\"snapshot\"") == 2));
	cr_expect_eq(count("\"lines\":500,"), 1, "%s", peer.texts);
	for (uint64_t had = 0; had < peer.bytes;) {
		had = peer.bytes;
		say_reached();
	}
	cr_expect_eq(count("\"sync\""), 2);
	cr_expect_eq(count("\"partial\":true"), 1);
	cr_expect_eq(memory_api.terminals.metrics->resyncs, 0, "it was never slow");
	uint64_t before = peer.bytes;
	print(100);
	cr_expect_eq(peer.bytes - before, 100, "it goes on");
	end();
}

Test(terminal_slow, the_screen_brings_little_history_with_it_and_all_to_who_says_nothing)
{
	static const struct {
		unsigned lines;
		bool acks;
	} cases[] = {{100, true}, {HISTORY, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memory_api.sessions.config.scrollback = HISTORY;
		start();
		print_history(HISTORY);
		attach(&(struct terminal_query){
			.session = "s", .lines = cases[i].lines, .lag = LAG, .acks = cases[i].acks});
		say_reached();
		memory_api_settle();
		cr_expect_eq(count("\"snapshot\""), 1, "%s", peer.texts);
		cr_expect_eq(count("\"partial\""), 0);
		cr_expect_eq(peer.terminal->cursor.offset, session_head(peer.session));
		end();
		if (i == 0)
			memory_api_open();
	}
}
