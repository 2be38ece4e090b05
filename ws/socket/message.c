/* Parses messages of clients; see message.h. */
#include "ws/socket/message.h"

#include "ring/screen/screen.h"
#include "shell/json_read.h"
#include "shell/session/presence.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static bool parse_side(const json_t *root, const char *key, unsigned *ret_side)
{
	const json_t *value = json_object_get(root, key);
	json_int_t side = json_integer_value(value);
	if (!json_is_integer(value) || side < 1 || side > (json_int_t)PRESENCE_SIDE_MAX)
		return false;
	*ret_side = (unsigned)side;
	return true;
}

/* Copy the `t` of a ping, as JSON. */
static void copy_time(const json_t *root, char *text)
{
	const json_t *value = json_object_get(root, "t");
	size_t length = value
		? json_dumpb(value, text, MESSAGE_TIME_MAX - 1, JSON_COMPACT | JSON_ENCODE_ANY)
		: 0;
	if (length == 0 || length > MESSAGE_TIME_MAX - 1)
		length = (size_t)snprintf(text, MESSAGE_TIME_MAX, "null");
	text[length] = '\0';
}

/* A positive integer of at most max, or 0. */
static uint64_t positive(const json_t *root, const char *key, uint64_t max)
{
	json_int_t n = json_integer_value(json_object_get(root, key));
	return n > 0 && (uint64_t)n <= max ? (uint64_t)n : 0;
}

static void parse_paste(const json_t *root, struct message *m)
{
	m->paste = positive(root, "id", INT64_MAX);
	m->bytes = positive(root, "bytes", MESSAGE_PASTE_MAX);
	m->lines = positive(root, "lines", MESSAGE_PASTE_MAX);
	m->longest = positive(root, "longest", MESSAGE_PASTE_MAX);
	m->confirmed = json_is_true(json_object_get(root, "confirmed"));
	bool ends = json_is_true(json_object_get(root, "end"));
	m->type = !m->paste || (!ends && !m->bytes) ? MESSAGE_BAD_PASTE
		: ends                              ? MESSAGE_PASTE_END
						    : MESSAGE_PASTE;
}

static bool parse_color(const json_t *value, uint32_t *ret_color)
{
	return theme_parse_color(json_string_value(value), ret_color);
}

static void parse_theme(const json_t *root, struct message *m)
{
	struct theme *theme = &m->theme;
	const json_t *colors = json_object_get(root, "colors");
	bool good = json_array_size(colors) == THEME_COLORS &&
		parse_color(json_object_get(root, "foreground"), &theme->foreground) &&
		parse_color(json_object_get(root, "background"), &theme->background) &&
		parse_color(json_object_get(root, "cursor"), &theme->cursor);
	for (unsigned i = 0; good && i < THEME_COLORS; i++)
		good = parse_color(json_array_get(colors, i), &theme->colors[i]);
	m->type = good ? MESSAGE_THEME : MESSAGE_BAD_THEME;
}

static void parse_object(const json_t *root, struct message *m)
{
	const char *type = json_string_value(json_object_get(root, "type"));
	if (!type) {
		m->type = MESSAGE_INVALID;
	} else if (strcmp(type, "resize") == 0) {
		bool good = parse_side(root, "rows", &m->rows) && parse_side(root, "cols", &m->cols);
		m->type = good ? MESSAGE_RESIZE : MESSAGE_BAD_SIZE;
	} else if (strcmp(type, "ping") == 0) {
		m->type = MESSAGE_PING;
		copy_time(root, m->time);
	} else if (strcmp(type, "name") == 0) {
		const char *name = json_string_value(json_object_get(root, "name"));
		m->type = name && name_is_text(name) ? MESSAGE_NAME : MESSAGE_BAD_NAME;
		if (m->type == MESSAGE_NAME)
			snprintf(m->name, sizeof m->name, "%s", name);
	} else if (strcmp(type, "ack") == 0) {
		m->type = MESSAGE_ACK;
		json_int_t bytes = json_integer_value(json_object_get(root, "bytes"));
		m->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	} else if (strcmp(type, "snapshot") == 0) {
		json_int_t lines = json_integer_value(json_object_get(root, "scrollback"));
		m->type = MESSAGE_SNAPSHOT;
		m->scrollback = lines < 0                           ? 0
			: lines > (json_int_t)SCREEN_SCROLLBACK_MAX ? SCREEN_SCROLLBACK_MAX
								    : (unsigned)lines;
	} else if (strcmp(type, "lease") == 0) {
		const char *id = json_string_value(json_object_get(root, "id"));
		m->type = MESSAGE_LEASE;
		/* A longer id is cut, and invalid in any case. */
		snprintf(m->lease, sizeof m->lease, "%s", id ? id : "");
	} else if (strcmp(type, "theme") == 0) {
		parse_theme(root, m);
	} else if (strcmp(type, "paste") == 0) {
		parse_paste(root, m);
	} else {
		m->type = MESSAGE_UNKNOWN;
	}
}

void message_parse(const char *text, size_t length, struct message *ret_message)
{
	*ret_message = (struct message){.type = MESSAGE_INVALID};
	json_t *root = json_read(text, length, 0, NULL);
	if (json_is_object(root))
		parse_object(root, ret_message);
	json_decref(root);
}
