/* Translates the parser's callbacks into lines. Cannot fail. */
#include "ring/search/line_reader.h"

#include "ring/screen/screen.h"
#include "ring/utf8.h"

#define TAB 8u

static void on_text(void *user, const uint8_t *ascii, size_t length)
{
	struct line_reader *r = user;
	r->ops->text(r->user, ascii, length, r->parser.offset - length);
}

static void on_character(void *user, uint32_t code)
{
	struct line_reader *r = user;
	r->ops->character(r->user, code, r->parser.offset - utf8_size(code), r->parser.offset);
}

static void on_control(void *user, uint8_t code)
{
	struct line_reader *r = user;
	uint64_t offset = r->parser.offset;
	switch (code) {
	case '\b':
		r->ops->back(r->user);
		break;
	case '\t':
		r->ops->blanks(r->user, TAB - r->ops->column(r->user) % TAB, offset - 1, offset);
		break;
	case '\n':
	case '\v':
	case '\f':
	case '\r':
	case 0x84: /* IND */
	case 0x85: /* NEL */
		r->ops->end(r->user);
		break;
	default:
		break;
	}
}

/* Other cursor movements end the line. */
static void on_csi(void *user, uint32_t id, const struct params *params)
{
	struct line_reader *r = user;
	unsigned count = params->value[0] > 1 ? (unsigned)params->value[0] : 1;
	switch (id) {
	case SEQUENCE(0, 'C'):
		r->ops->blanks(r->user, count < SCREEN_SIDE_MAX ? count : SCREEN_SIDE_MAX,
			r->parser.start, r->parser.offset);
		break;
	case SEQUENCE(0, 'G'):
	case SEQUENCE(0, '`'):
		r->ops->blanks(
			r->user, r->ops->is_begun(r->user), r->parser.start, r->parser.offset);
		break;
	case SEQUENCE(0, 'A'):
	case SEQUENCE(0, 'B'):
	case SEQUENCE(0, 'E'):
	case SEQUENCE(0, 'F'):
	case SEQUENCE(0, 'H'):
	case SEQUENCE(0, 'd'):
	case SEQUENCE(0, 'f'):
		r->ops->end(r->user);
		break;
	default:
		break;
	}
}

static void on_escape(void *user, uint32_t id)
{
	struct line_reader *r = user;
	if (id == SEQUENCE(0, 'D') || id == SEQUENCE(0, 'E') || id == SEQUENCE(0, 'M') ||
		id == SEQUENCE(0, 'c'))
		r->ops->end(r->user);
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

void line_reader_init(struct line_reader *r, const struct line_reader_ops *reader_ops, void *user,
	uint64_t offset)
{
	parser_init(&r->parser, &ops, r, offset);
	r->ops = reader_ops;
	r->user = user;
}

void line_reader_finish(struct line_reader *r)
{
	parser_finish(&r->parser);
}

void line_reader_feed(struct line_reader *r, const uint8_t *bytes, size_t length, const bool *pause)
{
	parser_feed(&r->parser, bytes, length, pause);
}

void line_reader_skip(struct line_reader *r, uint64_t offset)
{
	parser_reset(&r->parser);
	r->parser.offset = offset;
}
