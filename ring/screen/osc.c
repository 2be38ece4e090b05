/* Operating system commands: titles, links, colours, and events for clients. */
#include "ring/hex.h"
#include "ring/screen/leftover.h"
#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *find(const char *data, size_t length, char c)
{
	return length > 0 ? memchr(data, c, length) : NULL;
}

/* Titles */

static void set_title(struct screen *s, const char *data, size_t length)
{
	screen_set_text(&s->title, data, length, SCREEN_TITLE_MAX);
	screen_emit(s,
		(struct screen_event){.type = SCREEN_TITLE,
			.text = screen_title(s),
			.length = strlen(screen_title(s))});
}

static void set_icon(struct screen *s, const char *data, size_t length)
{
	screen_set_text(&s->icon, data, length, SCREEN_TITLE_MAX);
	screen_emit(s,
		(struct screen_event){.type = SCREEN_ICON,
			.text = screen_icon(s),
			.length = strlen(screen_icon(s))});
}

static void push(struct title_stack *stack, const char *title)
{
	char *copy = NULL;
	screen_set_text(&copy, title, strlen(title), SCREEN_TITLE_MAX);
	if (!copy)
		return;
	if (stack->count == SCREEN_TITLES_MAX) {
		free(stack->items[0]);
		memmove(stack->items, stack->items + 1, --stack->count * sizeof *stack->items);
	}
	stack->items[stack->count++] = copy;
}

static void pop(struct screen *s, struct title_stack *stack,
	void (*set)(struct screen *s, const char *data, size_t length))
{
	if (stack->count == 0)
		return;
	char *title = stack->items[--stack->count];
	set(s, title, strlen(title));
	free(title);
}

void screen_window_op(struct screen *s, const struct params *a)
{
	int op = screen_param(a, 0), which = screen_param(a, 1);
	if (op == 22 && (which == 0 || which == 2))
		push(&s->titles, screen_title(s));
	if (op == 22 && (which == 0 || which == 1))
		push(&s->icons, screen_icon(s));
	if (op == 23 && (which == 0 || which == 2))
		pop(s, &s->titles, set_title);
	if (op == 23 && (which == 0 || which == 1))
		pop(s, &s->icons, set_icon);
}

/* Links: OSC 8 ; params ; uri */

/* The value of id= in params, which are separated by colons. */
static const char *link_id(const char *params, size_t length, size_t *ret_length)
{
	const char *end = params + length;
	while (params < end) {
		const char *stop = find(params, (size_t)(end - params), ':');
		if (!stop)
			stop = end;
		if (stop - params >= 3 && memcmp(params, "id=", 3) == 0) {
			*ret_length = (size_t)(stop - params) - 3;
			return params + 3;
		}
		params = stop < end ? stop + 1 : end;
	}
	*ret_length = 0;
	return NULL;
}

static bool is_blank(const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isspace((unsigned char)data[i]))
			return false;
	return true;
}

/* Stored as a kind, the id, NUL, the URI. A link without an id gets a unique one. */
static void open_link(
	struct screen *s, const char *id, size_t id_length, const char *uri, size_t length)
{
	char link[SCREEN_LINK_MAX + sizeof s->next_link + 2];
	size_t at = 0;
	if (id_length + length > SCREEN_LINK_MAX)
		return;
	link[at++] = id_length > 0 ? 'i' : 'n';
	if (id_length == 0) {
		id = (const char *)&s->next_link;
		id_length = sizeof s->next_link;
	}
	memcpy(link + at, id, id_length);
	at += id_length;
	link[at++] = '\0';
	memcpy(link + at, uri, length);
	at += length;
	screen_sweep(s, &s->links);
	s->pen.link = intern_put(&s->links, link, at);
	s->next_link += link[0] == 'n';
}

static void set_link(struct screen *s, const char *data, size_t length)
{
	const char *uri = find(data, length, ';');
	if (!uri)
		return;
	size_t params_length = (size_t)(uri - data), id_length;
	uri++;
	length -= params_length + 1;
	const char *id = link_id(data, params_length, &id_length);
	if (length > 0)
		open_link(s, id, id_length, uri, length);
	else if (is_blank(data, params_length))
		s->pen.link = 0;
	else
		return;
	if (s->pen.underline != UNDERLINE_NONE || s->pen.link != 0)
		s->pen.flags |= STYLE_EXTENDED;
	else
		s->pen.flags &= (uint16_t)~STYLE_EXTENDED;
	s->pen_changed = true;
}

/* Colours */

/* A decimal index below PALETTE_SIZE, or -1. */
static int parse_index(const char *data, size_t length)
{
	unsigned index = 0;
	if (length == 0)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (data[i] < '0' || data[i] > '9' || index >= PALETTE_SIZE)
			return -1;
		index = index * 10 + (unsigned)(data[i] - '0');
	}
	return index < PALETTE_SIZE ? (int)index : -1;
}

/* The next field up to a semicolon. Moves *at, which becomes NULL after the last. */
static size_t next_field(const char **at, const char *end, const char **ret_field)
{
	const char *stop = find(*at, (size_t)(end - *at), ';');
	*ret_field = *at;
	size_t length = (size_t)((stop ? stop : end) - *at);
	*at = stop ? stop + 1 : NULL;
	return length;
}

static void reply_color(struct screen *s, const char *what, uint32_t rgb)
{
	unsigned r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	screen_reply(s, "\033]%s;rgb:%02x%02x/%02x%02x/%02x%02x\033\\", what, r, r, g, g, b, b);
}

/* OSC 4 ; index ; colour or ? … */
static void set_indexed(struct screen *s, const char *data, size_t length)
{
	const char *at = data, *end = data + length, *index, *spec;
	while (at) {
		size_t index_length = next_field(&at, end, &index);
		if (!at)
			return;
		size_t spec_length = next_field(&at, end, &spec);
		int number = parse_index(index, index_length);
		uint32_t rgb;
		if (number < 0)
			continue;
		if (spec_length == 1 && *spec == '?') {
			char what[16] = "4;";
			char *to = what + 2;
			for (int unit = 100; unit > 0; unit /= 10)
				if (number >= unit || unit == 1)
					*to++ = (char)('0' + number / unit % 10);
			*to = '\0';
			reply_color(s, what, palette_get(&s->palette, (unsigned)number));
		} else if (palette_parse(spec, spec_length, &rgb)) {
			palette_set(&s->palette, (unsigned)number, rgb);
		}
	}
}

/* OSC 10 to 12: each further field sets the next colour. */
static void set_dynamic(struct screen *s, unsigned which, const char *data, size_t length)
{
	static const char *const names[] = {"10", "11", "12"};
	const char *at = data, *end = data + length, *spec;
	for (; at && which < 3; which++) {
		size_t spec_length = next_field(&at, end, &spec);
		uint32_t rgb;
		if (spec_length == 1 && *spec == '?')
			reply_color(s, names[which], palette_dynamic(&s->palette, which));
		else if (palette_parse(spec, spec_length, &rgb))
			s->palette.dynamic[which] = 0xff000000 | rgb;
	}
}

/* OSC 104 [; index …] */
static void restore_indexed(struct screen *s, const char *data, size_t length)
{
	const char *at = data, *end = data + length, *index;
	if (length == 0)
		palette_restore(&s->palette, -1);
	while (length > 0 && at) {
		size_t index_length = next_field(&at, end, &index);
		int number = parse_index(index, index_length);
		if (number >= 0)
			palette_restore(&s->palette, number);
	}
}

/* Events for clients */

/* OSC 7 ; file://host/path */
static void set_cwd(struct screen *s, const char *data, size_t length)
{
	char path[SCREEN_CWD_MAX + 1];
	size_t n = 0;
	if (length < 7 || memcmp(data, "file://", 7) != 0)
		return;
	const char *at = find(data + 7, length - 7, '/'), *end = data + length;
	for (; at && at < end && n < SCREEN_CWD_MAX; at++) {
		int high = -1, low = -1;
		if (*at == '%' && end - at > 2) {
			high = hex_value(at[1]);
			low = hex_value(at[2]);
		}
		int c = high >= 0 && low >= 0 ? high * 16 + low : (unsigned char)*at;
		if (c < 0x20 || c == 0x7f)
			return;
		if (high >= 0 && low >= 0)
			at += 2;
		path[n++] = (char)c;
	}
	if (n == 0 || at < end || !utf8_is_clean((const uint8_t *)path, n))
		return;
	path[n] = '\0';
	screen_set_text(&s->cwd, path, n, SCREEN_CWD_MAX);
	screen_emit(s,
		(struct screen_event){
			.type = SCREEN_CWD, .text = screen_cwd(s), .length = strlen(screen_cwd(s))});
}

static void notify(
	struct screen *s, const char *text, size_t length, const char *title, size_t title_length)
{
	screen_emit(s,
		(struct screen_event){.type = SCREEN_NOTIFICATION,
			.text = text,
			.length = length,
			.detail = title,
			.detail_length = title_length});
}

/* A decimal number; digits after the value has reached 100 are ignored. Advances *at. */
static unsigned read_number(const char **at, const char *end)
{
	unsigned value = 0;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		if (value < 100)
			value = value * 10 + (unsigned)(**at - '0');
	return value;
}

/* ConEmu's OSC 9 ; 4 ; state ; percent. An error or pause without a percentage keeps the last one. */
static void set_progress(struct screen *s, const char *at, const char *end)
{
	unsigned state = read_number(&at, end);
	bool has_percent = at + 1 < end && *at == ';';
	if (state > PROGRESS_PAUSED || (at < end && *at != ';'))
		return;
	at++;
	unsigned percent = has_percent ? read_number(&at, end) : 0;
	if (!has_percent && (state == PROGRESS_ERROR || state == PROGRESS_PAUSED))
		percent = s->progress.percent;
	if (state == PROGRESS_NONE || state == PROGRESS_INDETERMINATE)
		percent = 0;
	s->progress = (struct progress){state, percent < 100 ? percent : 100};
}

/* OSC 9 is a notification, except ConEmu's: 9 ; digit ; … */
static void osc_9(struct screen *s, const char *data, size_t length)
{
	if (length >= 3 && memcmp(data, "4;", 2) == 0) {
		set_progress(s, data + 2, data + length);
		return;
	}
	if (length >= 2 && data[0] >= '0' && data[0] <= '9' &&
		(data[1] == ';' || (length >= 3 && data[2] == ';')))
		return;
	notify(s, data, length, NULL, 0);
}

/* OSC 777 ; notify ; title ; body */
static void osc_777(struct screen *s, const char *data, size_t length)
{
	if (length < 7 || memcmp(data, "notify;", 7) != 0)
		return;
	const char *title = data + 7, *body = find(title, length - 7, ';'), *end = data + length;
	if (body)
		notify(s, body + 1, (size_t)(end - body) - 1, title, (size_t)(body - title));
	else
		notify(s, title, length - 7, NULL, 0);
}

/* OSC 99 ; metadata ; payload (kitty). The metadata is ignored. */
static void osc_99(struct screen *s, const char *data, size_t length)
{
	const char *body = find(data, length, ';');
	if (body)
		notify(s, body + 1, length - (size_t)(body - data) - 1, NULL, 0);
}

/* OSC 52 ; selections ; base64. The clipboard cannot be read: the reply to ? is empty. */
static void osc_52(struct screen *s, const char *data, size_t length)
{
	const char *text = find(data, length, ';');
	if (!text)
		return;
	size_t selections = (size_t)(text - data);
	text++;
	length -= selections + 1;
	if (length == 1 && *text == '?')
		screen_reply(s, "\033]52;c;\033\\");
	else
		screen_emit(s,
			(struct screen_event){.type = SCREEN_CLIPBOARD,
				.text = text,
				.length = length,
				.detail = data,
				.detail_length = selections});
}

/*
 * Private sequence of a checkpoint: "d", dropped lines; "m", a marker; "i", cells of an image; or the
 * difference of this line's offset to the last one's.
 */
static void osc_7007(struct screen *s, const char *data)
{
	if (!s->private_sequences)
		return;
	if (*data == 'd') {
		s->scrollback.dropped = strtoull(data + 1, NULL, 10);
		return;
	}
	if (*data == 'm') {
		markers_restore(s, data + 1);
		return;
	}
	if (*data == 'i') {
		screen_restore_image(s, data + 1);
		return;
	}
	s->line_offset += (uint64_t)strtoll(data, NULL, 10);
	screen_touch(s, s->active->y)->offset = s->line_offset;
}

void screen_osc(void *user, uint32_t number, const char *data, size_t length)
{
	struct screen *s = user;
	s->join = 0;
	s->in_run = false;
	screen_add_work(s, 1 + length / 16);
	switch (number) {
	case 0:
		set_title(s, data, length);
		set_icon(s, data, length);
		break;
	case 1:
		set_icon(s, data, length);
		break;
	case 2:
		set_title(s, data, length);
		break;
	case 4:
		set_indexed(s, data, length);
		break;
	case 7:
		set_cwd(s, data, length);
		break;
	case 8:
		set_link(s, data, length);
		break;
	case 9:
		osc_9(s, data, length);
		break;
	case 10:
	case 11:
	case 12:
		set_dynamic(s, number - 10, data, length);
		break;
	case 52:
		osc_52(s, data, length);
		break;
	case 99:
		osc_99(s, data, length);
		break;
	case 104:
		restore_indexed(s, data, length);
		break;
	case 110:
	case 111:
	case 112:
		s->palette.dynamic[number - 110] = 0;
		break;
	case 133:
	case 633:
		if (length > 0 && *data == 'D')
			s->progress = (struct progress){0};
		if (number == 133)
			markers_add(s, data, length);
		if (number == 133 && data[0] == 'B')
			s->prompt_pen = s->pen;
		screen_emit(s,
			(struct screen_event){.type = SCREEN_MARK,
				.number = (int)number,
				.row = s->active->y + 1,
				.leftovers = leftover_find(s),
				.text = data,
				.length = length});
		break;
	case 777:
		osc_777(s, data, length);
		break;
	case 1337:
		screen_draw_file(s, data, length);
		break;
	case 7007:
		osc_7007(s, data);
		break;
	default:
		break;
	}
}
