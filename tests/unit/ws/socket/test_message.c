#include "ws/socket/message.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static struct message parse(const char *text)
{
	struct message m;
	/* On the heap and without a NUL, so that ASan detects reads beyond the end. */
	size_t length = strlen(text);
	char *copy = malloc(length + 1);
	memcpy(copy, text, length);
	copy = realloc(copy, length ? length : 1);
	memset(&m, 0x55, sizeof m);
	message_parse(copy, length, &m);
	free(copy);
	return m;
}

Test(message_parse, types)
{
	static const struct {
		const char *text;
		enum message_type type;
	} cases[] = {
		{"", MESSAGE_INVALID},
		{"{}", MESSAGE_INVALID},
		{"[]", MESSAGE_INVALID},
		{"\"resize\"", MESSAGE_INVALID},
		{"[{\"type\":\"ping\"}]", MESSAGE_INVALID},
		{"{\"type\":null}", MESSAGE_INVALID},
		{"{\"type\":{\"type\":\"ping\"}}", MESSAGE_INVALID},
		{"{\"type\":\"ping\"} x", MESSAGE_INVALID},
		{"{\"type\":\"ping\"", MESSAGE_INVALID},
		{"{\"type\":\"pi\xff\"}", MESSAGE_INVALID},

		{"{\"type\":\"future\",\"x\":[1,2]}", MESSAGE_UNKNOWN},
		{"{\"type\":\"\"}", MESSAGE_UNKNOWN},
		{"{\"type\":\"Resize\"}", MESSAGE_UNKNOWN},

		{"{\"type\":\"resize\",\"cols\":80,\"rows\":24}", MESSAGE_RESIZE},
		{" {\"type\":\"resize\",\"cols\":1,\"rows\":1000,\"more\":{}}\n", MESSAGE_RESIZE},
		{"{\"type\":\"resize\",\"cols\":80}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":0,\"rows\":24}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":80,\"rows\":1001}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":80.5,\"rows\":24}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":\"80\",\"rows\":24}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":4294967376,\"rows\":24}", MESSAGE_BAD_SIZE},
		{"{\"type\":\"resize\",\"cols\":99999999999999999999,\"rows\":24}", MESSAGE_INVALID},

		{"{\"type\":\"ping\"}", MESSAGE_PING},
		{"{\"type\":\"name\",\"name\":\"Ann\"}", MESSAGE_NAME},
		{"{\"type\":\"name\"}", MESSAGE_BAD_NAME},
		{"{\"type\":\"name\",\"name\":7}", MESSAGE_BAD_NAME},
		{"{\"type\":\"name\",\"name\":\"\\u001b[31m\"}", MESSAGE_BAD_NAME},
		{"{\"type\":\"ack\",\"bytes\":7}", MESSAGE_ACK},
		{"{\"type\":\"ack\",\"bytes\":-7}", MESSAGE_ACK},
		{"{\"type\":\"ack\"}", MESSAGE_ACK},
		{"{\"type\":\"paste\",\"id\":1,\"bytes\":16777216}", MESSAGE_PASTE},
		{"{\"type\":\"paste\",\"id\":1,\"bytes\":16777217}", MESSAGE_BAD_PASTE},
		{"{\"type\":\"paste\",\"id\":1,\"bytes\":0}", MESSAGE_BAD_PASTE},
		{"{\"type\":\"paste\",\"id\":-1,\"bytes\":1}", MESSAGE_BAD_PASTE},
		{"{\"type\":\"paste\",\"bytes\":1}", MESSAGE_BAD_PASTE},
		{"{\"type\":\"paste\",\"end\":true}", MESSAGE_BAD_PASTE},
		{"{\"type\":\"paste\",\"id\":1,\"end\":true}", MESSAGE_PASTE_END},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(parse(cases[i].text).type, cases[i].type, "%s", cases[i].text);
}

Test(message_parse, a_paste_has_the_shape_of_its_text)
{
	struct message m = parse(
		"{\"type\":\"paste\",\"id\":9,\"bytes\":30,\"lines\":3,\"longest\":20,\"confirmed\":true}");
	cr_assert(m.type == MESSAGE_PASTE && m.paste == 9 && m.bytes == 30);
	cr_assert(m.lines == 3 && m.longest == 20 && m.confirmed);
	m = parse("{\"type\":\"paste\",\"id\":9,\"bytes\":30,\"lines\":-3,\"confirmed\":1}");
	cr_assert(m.type == MESSAGE_PASTE && m.lines == 0 && !m.confirmed);
}

Test(message_parse, resize_has_both_sides)
{
	struct message m = parse("{\"type\":\"resize\",\"cols\":132,\"rows\":43}");
	cr_assert_eq(m.rows, 43);
	cr_assert_eq(m.cols, 132);
}

Test(message_parse, ping_keeps_its_payload)
{
	cr_assert_str_eq(parse("{\"type\":\"ping\",\"t\":12.25}").time, "12.25");
	cr_assert_str_eq(parse("{\"type\":\"ping\",\"t\":1795238220123}").time, "1795238220123");
	cr_assert_str_eq(parse("{\"type\":\"ping\",\"t\":\"a\\\"b\"}").time, "\"a\\\"b\"");
	cr_assert_str_eq(parse("{\"type\":\"ping\",\"t\":[1, 2]}").time, "[1,2]");
	cr_assert_str_eq(parse("{\"type\":\"ping\"}").time, "null");
}

Test(message_parse, payload_of_a_ping_that_is_too_large_becomes_null)
{
	char text[2 * MESSAGE_TIME_MAX] = "{\"type\":\"ping\",\"t\":\"";
	size_t before = strlen(text);
	/* The quotes count: the largest text, and one byte more. */
	memset(text + before, 'x', MESSAGE_TIME_MAX - 3);
	strcpy(text + before + MESSAGE_TIME_MAX - 3, "\"}");
	cr_assert_eq(strlen(parse(text).time), MESSAGE_TIME_MAX - 1);
	strcpy(text + before + MESSAGE_TIME_MAX - 3, "x\"}");
	cr_assert_str_eq(parse(text).time, "null");
}

Test(message_parse, name_is_copied)
{
	cr_assert_str_eq(parse("{\"type\":\"name\",\"name\":\"Zo\\u00eb\"}").name, "Zo\xc3\xab");
}

Test(message_parse, lease_is_copied)
{
	static const char id[] = "0123456789abcdef0123456789abcdef";
	struct message m = parse("{\"type\":\"lease\",\"id\":\"0123456789abcdef0123456789abcdef\"}");
	cr_assert_eq(m.type, MESSAGE_LEASE);
	cr_assert_str_eq(m.lease, id);
	cr_assert_str_eq(parse("{\"type\":\"lease\"}").lease, "");
	cr_assert_str_eq(parse("{\"type\":\"lease\",\"id\":7}").lease, "");
}

/* A theme with these parameters. */
static struct message parse_theme(const char *colors, const char *cursor)
{
	char text[1024];
	snprintf(text, sizeof text,
		"{\"type\":\"theme\",\"foreground\":\"#010203\",\"background\":\"#FfffFE\",\"cursor\":%s,"
		"\"colors\":[%s]}",
		cursor, colors);
	return parse(text);
}

#define FIFTEEN                                                                                \
	"\"#000000\",\"#000001\",\"#000002\",\"#000003\",\"#000004\",\"#000005\",\"#000006\"," \
	"\"#000007\",\"#000008\",\"#000009\",\"#00000a\",\"#00000b\",\"#00000c\",\"#00000d\",\"#00000e\""

Test(message_parse, theme_has_all_colors)
{
	struct message m = parse_theme(FIFTEEN ",\"#a1b2c3\"", "\"#0000ff\"");
	cr_assert_eq(m.type, MESSAGE_THEME);
	cr_expect_eq(m.theme.foreground, 0x010203);
	cr_expect_eq(m.theme.background, 0xfffffe);
	cr_expect_eq(m.theme.cursor, 0xff);
	cr_expect_eq(m.theme.colors[14], 14);
	cr_expect_eq(m.theme.colors[15], 0xa1b2c3);
	cr_expect_eq(parse_theme(FIFTEEN, "\"#0000ff\"").type, MESSAGE_BAD_THEME);
	cr_expect_eq(parse_theme(FIFTEEN ",\"red\"", "\"#0000ff\"").type, MESSAGE_BAD_THEME);
	cr_expect_eq(parse_theme(FIFTEEN ",\"#a1b2c\"", "\"#0000ff\"").type, MESSAGE_BAD_THEME);
	cr_expect_eq(parse_theme(FIFTEEN ",\"#a1b2c3\"", "\"#0000fg\"").type, MESSAGE_BAD_THEME);
	cr_expect_eq(parse_theme(FIFTEEN ",\"#a1b2c3\"", "null").type, MESSAGE_BAD_THEME);
	cr_expect_eq(parse("{\"type\":\"theme\"}").type, MESSAGE_BAD_THEME);
}

Test(message_parse, longest_name)
{
	char text[1024] = "{\"type\":\"name\",\"name\":\"";
	for (unsigned i = 0; i < NAME_TEXT_MAX; i++)
		strcat(text, "\xf0\x9f\x98\x80");
	strcat(text, "\"}");
	struct message m = parse(text);
	cr_assert_eq(m.type, MESSAGE_NAME);
	cr_assert_eq(strlen(m.name), NAME_BYTES_MAX);
}

Test(message_parse, deep_nesting_is_refused)
{
	char *text = malloc(MESSAGE_MAX + 1);
	memset(text, '[', MESSAGE_MAX);
	text[MESSAGE_MAX] = '\0';
	cr_assert_eq(parse(text).type, MESSAGE_INVALID);
	free(text);
}
