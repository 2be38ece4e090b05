#include "ring/search/finder.h"

#include "ring/screen/screen.h"
#include "ring/utf8.h"
#include "ring/screen/grid/width.h"

#include <string.h>

#define KEPT (FINDER_LINE / 2) /* of a line that is too long */
#define TAB 8u

static bool look(struct finder *f)
{
	if (f->found || f->count == f->looked)
		return f->found;
	uint64_t work = FINDER_WORK;
	f->looked = f->count;
	f->found = pattern_find(f->pattern, f->codes, f->count, 0, &work, &f->match);
	uint64_t done = FINDER_WORK - work;
	*f->work -= *f->work < done ? *f->work : done;
	if (f->found) {
		f->start = f->base + f->starts[f->match.start];
		f->end = f->base + f->ends[f->match.end - 1];
	}
	return f->found;
}

static void begin_line(struct finder *f)
{
	f->count = f->looked = 0;
	f->column = 0;
}

static void end_line(struct finder *f)
{
	if (!look(f))
		begin_line(f);
}

/* Room for one more character: of a long line the end is kept. */
static void shorten(struct finder *f)
{
	if (!f->settled_only && look(f))
		return; /* its end is not that of the line */
	size_t gone = f->count - KEPT;
	memmove(f->codes, f->codes + gone, KEPT * sizeof *f->codes);
	memmove(f->starts, f->starts + gone, KEPT * sizeof *f->starts);
	memmove(f->ends, f->ends + gone, KEPT * sizeof *f->ends);
	f->count = KEPT;
	f->looked = KEPT;
}

/* A character of the bytes [start, end). */
static void put(struct finder *f, uint32_t code, uint64_t start, uint64_t end)
{
	if (f->found || start < f->from)
		return;
	if (f->count > 0 && end - f->base > UINT32_MAX)
		end_line(f); /* all of it control sequences */
	if (f->count == FINDER_LINE)
		shorten(f);
	if (f->found)
		return;
	if (f->count == 0)
		f->base = start;
	f->codes[f->count] = code;
	f->starts[f->count] = (uint32_t)(start - f->base);
	f->ends[f->count++] = (uint32_t)(end - f->base);
	f->column += width_of(code);
}

static void on_text(void *user, const uint8_t *ascii, size_t length)
{
	struct finder *f = user;
	uint64_t start = f->parser.offset - length;
	for (size_t i = 0; i < length; i++)
		put(f, ascii[i], start + i, start + i + 1);
}

static void on_character(void *user, uint32_t code)
{
	struct finder *f = user;
	put(f, code, f->parser.offset - utf8_size(code), f->parser.offset);
}

static void put_blanks(struct finder *f, unsigned count, uint64_t start)
{
	for (unsigned i = 0; i < count; i++)
		put(f, ' ', start, f->parser.offset);
}

static void on_control(void *user, uint8_t code)
{
	struct finder *f = user;
	if (f->found)
		return;
	switch (code) {
	case '\b':
		if (f->count > 0)
			f->column -= width_of(f->codes[--f->count]);
		if (f->looked > f->count)
			f->looked = f->count;
		break;
	case '\t':
		put_blanks(f, TAB - f->column % TAB, f->parser.offset - 1);
		break;
	case '\n':
	case '\v':
	case '\f':
	case '\r':
	case 0x84: /* IND */
	case 0x85: /* NEL */
		end_line(f);
		break;
	default:
		break;
	}
}

static void on_csi(void *user, uint32_t id, const struct params *params)
{
	struct finder *f = user;
	unsigned count = params->value[0] > 1 ? (unsigned)params->value[0] : 1;
	if (f->found)
		return;
	switch (id) {
	case SEQUENCE(0, 'C'):
		put_blanks(f, count < SCREEN_SIDE_MAX ? count : SCREEN_SIDE_MAX, f->parser.start);
		break;
	case SEQUENCE(0, 'G'):
	case SEQUENCE(0, '`'):
		put_blanks(f, f->count > 0, f->parser.start);
		break;
	case SEQUENCE(0, 'A'):
	case SEQUENCE(0, 'B'):
	case SEQUENCE(0, 'E'):
	case SEQUENCE(0, 'F'):
	case SEQUENCE(0, 'H'):
	case SEQUENCE(0, 'd'):
	case SEQUENCE(0, 'f'):
		end_line(f);
		break;
	default:
		break;
	}
}

static void on_escape(void *user, uint32_t id)
{
	struct finder *f = user;
	if (!f->found &&
		(id == SEQUENCE(0, 'D') || id == SEQUENCE(0, 'E') || id == SEQUENCE(0, 'M') ||
			id == SEQUENCE(0, 'c')))
		end_line(f);
}

static void on_osc(void *user, uint32_t number, const char *data, size_t length)
{
	(void)user;
	(void)number;
	(void)data;
	(void)length;
}

static void on_dcs(
	void *user, uint32_t id, const struct params *params, const char *data, size_t length)
{
	(void)user;
	(void)id;
	(void)params;
	(void)data;
	(void)length;
}

static const struct parser_ops ops = {
	.text = on_text,
	.character = on_character,
	.control = on_control,
	.escape = on_escape,
	.csi = on_csi,
	.osc = on_osc,
	.dcs = on_dcs,
};

void finder_init(struct finder *f, struct pattern *pattern, uint64_t offset, uint64_t from,
	bool settled_only)
{
	parser_init(&f->parser, &ops, f, offset);
	f->pattern = pattern;
	f->from = from;
	f->settled_only = settled_only;
	f->found = false;
	begin_line(f);
}

void finder_finish(struct finder *f)
{
	parser_finish(&f->parser);
}

uint64_t finder_offset(const struct finder *f)
{
	return f->parser.offset;
}

bool finder_feed(struct finder *f, const uint8_t *bytes, size_t length, uint64_t *work)
{
	f->work = work;
	*work -= *work < length ? *work : length;
	if (!f->found)
		parser_feed(&f->parser, bytes, length, &f->found);
	return f->found || (!f->settled_only && look(f));
}

void finder_skip(struct finder *f, uint64_t offset)
{
	parser_reset(&f->parser);
	f->parser.offset = offset;
	begin_line(f);
}

bool finder_settle(struct finder *f, uint64_t *work)
{
	f->work = work;
	return look(f);
}

size_t finder_text(const struct finder *f, char *dst, size_t size)
{
	size_t length = 0;
	for (size_t i = f->match.start; i < f->match.end; i++) {
		uint8_t bytes[4];
		unsigned n = utf8_encode(f->codes[i], bytes);
		if (length + n > size)
			break;
		memcpy(dst + length, bytes, n);
		length += n;
	}
	return length;
}
