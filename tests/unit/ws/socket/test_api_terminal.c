/* Slow and fast clients: a terminal socket whose transport has space when the test allows it. */
#include "tests/lib/memory_api.h"
#include "ws/socket/terminal.h"

#define LAG 1000u
#define MUCH (10 * LAG) /* more than the lag limit, less than a ring */

static struct peer {
	bool room;
	bool small_room; /* accepts a few bytes and then no more */
	uint64_t bytes;  /* of binary frames */
	char texts[16384];
	struct terminal *terminal;
	struct session *session;
} peer;

static size_t on_room(void *user)
{
	(void)user;
	size_t room = peer.small_room ? 64 : FRAMES_PAYLOAD_MAX;
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
		peer.room = !peer.small_room;
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
	cr_assert(LOOP_UNTIL(&memory_api.loop,
		(terminal_protocol.writable(peer.terminal), peer.terminal->ready)));
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

/* The client acknowledges all its bytes. */
static void acknowledge(void)
{
	char text[64];
	snprintf(text, sizeof text, "{\"type\":\"ack\",\"bytes\":%llu}",
		(unsigned long long)peer.bytes);
	terminal_protocol.text(peer.terminal, text, strlen(text));
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
	terminal_protocol.closed(peer.terminal);
	memory_api_close();
}

TestSuite(terminal_slow, .init = memory_api_open, .fini = end, .timeout = 60);

Test(terminal_slow, fast_client_gets_every_byte_even_of_bursts)
{
	begin();
	uint64_t before = peer.bytes;
	for (unsigned i = 0; i < 3; i++) {
		peer.room = false;
		print_much();
		peer.room = true;
		terminal_protocol.writable(peer.terminal);
	}
	cr_expect_eq(peer.bytes - before, 3 * MUCH);
	cr_expect_not(was_resynced());
}

Test(terminal_slow, client_with_a_long_backlog_gets_a_snapshot)
{
	begin();
	uint64_t before = peer.bytes;
	peer.room = false;
	print_much();
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_protocol.writable(peer.terminal);
	cr_expect(was_resynced(), "%s", peer.texts);
	cr_expect_lt(peer.bytes - before, MUCH);
}

/* The client has waited long and then got one piece: later output has waited as long. */
Test(terminal_slow, single_piece_does_not_make_a_client_fast)
{
	begin();
	peer.room = false;
	memory_api_print("s", "a");
	print_much();
	pass_ms(TERMINAL_LAG_MS + 50);
	print_much();
	peer.room = true;
	terminal_protocol.writable(peer.terminal);
	cr_expect(was_resynced(), "%s", peer.texts);
}

Test(terminal_slow, small_backlog_is_never_skipped)
{
	begin();
	uint64_t before = peer.bytes;
	peer.room = false;
	memory_api_print("s", "little");
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_protocol.writable(peer.terminal);
	cr_expect_eq(peer.bytes - before, strlen("little"));
	cr_expect_not(was_resynced());
}

/* The holder waits only for such viewers: see SESSION_VIEWER_READS_MS. */
Test(terminal_slow, only_a_reading_client_holds_back_the_writer)
{
	begin();
	const struct session_viewer *v = &peer.terminal->viewer;
	print_much();
	cr_expect_eq(v->offset, MUCH);
	cr_expect_gt(v->read_ms, 0);
	uint64_t before = v->read_ms;
	peer.room = false;
	pass_ms(TERMINAL_LAG_MS + 50);
	print_much();
	cr_expect_eq(v->read_ms, before, "nothing was sent since");
	cr_expect_eq(v->offset, MUCH);
	pass_ms(TERMINAL_LAG_MS + 50);
	peer.room = true;
	terminal_protocol.writable(peer.terminal);
	cr_expect_eq(v->read_ms, 0, "it gets snapshots and needs no bytes of the ring");
}

Test(terminal_slow, acknowledging_client_gets_the_first_window_at_first)
{
	begin_as(&(struct terminal_query){.session = "s", .lag = TERMINAL_LAG, .acks = true});
	acknowledge();
	uint64_t before = peer.bytes;
	for (unsigned i = 0; i < 4; i++)
		print(PACE_WINDOW_FIRST / 2);
	cr_expect_leq(peer.bytes - before, PACE_WINDOW_FIRST);
	cr_expect_geq(peer.bytes - before, PACE_WINDOW_FIRST - PACE_ACK_EVERY);
	while (peer.bytes - before < PACE_WINDOW_FIRST * 2) {
		uint64_t had = peer.bytes;
		acknowledge();
		cr_assert_gt(peer.bytes, had);
	}
	cr_expect_eq(peer.bytes - before, PACE_WINDOW_FIRST * 2);
	cr_expect_not(was_resynced());
}

Test(terminal_slow, backlog_of_a_slow_line_is_half_a_second)
{
	begin_as(&(struct terminal_query){.session = "s", .lag = TERMINAL_LAG, .acks = true});
	acknowledge();
	/* The window took three seconds. */
	print(PACE_WINDOW_FIRST);
	peer.terminal->pace.since_ms -= 3000;
	acknowledge();
	cr_assert(peer.terminal->pace.slow);
	uint64_t window = peer.terminal->pace.window, before = peer.bytes;
	cr_assert_lt(window, PACE_WINDOW_FIRST / 2);
	print(2 * window);
	pass_ms(TERMINAL_LAG_MS + 50);
	print(window);
	cr_expect_leq(peer.bytes - before, window);
	cr_expect_not(was_resynced());
	peer.terminal->pace.since_ms -= 3000;
	acknowledge();
	memory_api_settle();
	cr_expect(was_resynced());
}

static unsigned count(const char *what)
{
	unsigned n = 0;
	for (const char *at = peer.texts; (at = strstr(at, what)); at++)
		n++;
	return n;
}

Test(terminal_slow, second_snapshot_request_gets_its_own_sync)
{
	static const char ask[] = "{\"type\":\"snapshot\",\"scrollback\":10}";
	begin();
	print(500);
	peer.texts[0] = '\0';
	peer.small_room = true;
	terminal_protocol.text(peer.terminal, ask, strlen(ask));
	cr_assert(LOOP_UNTIL(&memory_api.loop, !peer.room));
	cr_assert_eq(count("\"snapshot\""), 1);
	terminal_protocol.text(peer.terminal, ask, strlen(ask));
	memory_api_settle();
	peer.small_room = false;
	peer.room = true;
	terminal_protocol.writable(peer.terminal);
	cr_assert(
		LOOP_UNTIL(&memory_api.loop, count("\"snapshot\"") == 2 && count("\"sync\"") == 2));
	const char *second = strstr(strstr(peer.texts, "\"snapshot\"") + 1, "\"snapshot\"");
	cr_expect_lt(strstr(peer.texts, "\"sync\""), second, "%s", peer.texts);
	uint64_t before = peer.bytes;
	print(100);
	cr_expect_eq(peer.bytes - before, 100, "output continues");
}

#define HISTORY 500u /* lines */

/* More bytes on the screen than one acknowledgement covers, and lines above it. */
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
			memory_api_settle(); /* the ring has space for so much */
	}
	memory_api_settle();
}

Test(terminal_slow, acknowledging_client_gets_the_screen_before_its_history)
{
	memory_api.sessions.config.scrollback = HISTORY;
	start();
	print_history(HISTORY);
	attach(&(struct terminal_query){.session = "s", .lines = HISTORY, .lag = LAG, .acks = true});
	cr_expect_gt(peer.bytes, 2 * PACE_ACK_EVERY);
	cr_expect_lt(peer.bytes, PACE_WINDOW_FIRST / 2);
	cr_expect_eq(count("\"lines\":0,"), 1, "%s", peer.texts);
	cr_expect_eq(count("\"partial\":true"), 1);
	cr_expect_eq(count("\"presence\""), 1, "presence does not wait for the history");
	pass_ms(3 * TERMINAL_REFRESH_MS);
	cr_expect_eq(count("\"snapshot\""), 1, "the first is not acknowledged");
	acknowledge();
	cr_assert(LOOP_UNTIL(&memory_api.loop, count("\"snapshot\"") == 2));
	cr_expect_eq(count("\"lines\":500,"), 1, "%s", peer.texts);
	for (uint64_t had = 0; had < peer.bytes;) {
		had = peer.bytes;
		acknowledge();
	}
	cr_expect_eq(count("\"sync\""), 2);
	cr_expect_eq(count("\"partial\":true"), 1);
	cr_expect_eq(memory_api.terminals.metrics->resyncs, 0, "it was never slow");
	uint64_t before = peer.bytes;
	print(100);
	cr_expect_eq(peer.bytes - before, 100, "output continues");
}

Test(terminal_slow, short_history_comes_with_the_screen_and_all_without_acks)
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
		acknowledge();
		memory_api_settle();
		cr_expect_eq(count("\"snapshot\""), 1, "%s", peer.texts);
		cr_expect_eq(count("\"partial\""), 0);
		cr_expect_eq(peer.terminal->cursor.offset, session_head(peer.session));
		if (i == 0) {
			end();
			memory_api_open();
		}
	}
}
