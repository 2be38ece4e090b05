/* Control messages of the terminal socket. */
#include "ring/screen/screen.h"
#include "shell/session/presence.h"
#include "tests/fuzz/fuzz.h"
#include "ws/socket/message.h"

#include <jansson.h>
#include <stdbool.h>

static bool is_side(unsigned side)
{
	return side >= 1 && side <= PRESENCE_SIDE_MAX;
}

/* The time, which is echoed in the answer to a ping. */
static void check_time(const char *time)
{
	FUZZ_CHECK(memchr(time, '\0', MESSAGE_TIME_MAX));
	json_t *value = json_loads(time, JSON_DECODE_ANY, NULL);
	FUZZ_CHECK(value);
	json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message m;
	memset(&m, 0xff, sizeof m);
	message_parse((const char *)data, size, &m);
	FUZZ_CHECK(m.type <= MESSAGE_PASTE_END);
	if (m.type == MESSAGE_RESIZE)
		FUZZ_CHECK(is_side(m.rows) && is_side(m.cols));
	if (m.type == MESSAGE_PING)
		check_time(m.time);
	if (m.type == MESSAGE_SNAPSHOT)
		FUZZ_CHECK(m.scrollback <= SCREEN_SCROLLBACK_MAX);
	if (m.type == MESSAGE_PASTE)
		FUZZ_CHECK(m.paste > 0 && m.bytes > 0 && m.bytes <= MESSAGE_PASTE_MAX);
	if (m.type == MESSAGE_LEASE)
		FUZZ_CHECK(memchr(m.lease, '\0', sizeof m.lease));
	if (m.type == MESSAGE_NAME)
		FUZZ_CHECK(memchr(m.name, '\0', sizeof m.name) && name_is_text(m.name));
	else
		FUZZ_CHECK(!m.name[0]);
	return 0;
}
