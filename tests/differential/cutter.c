/* Cuts the stream where our parser returns to its ground state; the parser's last action gives the kind of piece. */
#include "cutter.h"

#include "ring/utf8.h"

#include <string.h>

static void note(struct cutter *c, enum piece_kind kind)
{
	c->piece.kind = c->actions++ == 0 ? kind : PIECE_MIXED;
}

static void on_text(void *user, const uint8_t *ascii, size_t length)
{
	(void)ascii;
	(void)length;
	note(user, PIECE_TEXT);
}

static void on_character(void *user, uint32_t code)
{
	struct cutter *c = user;
	c->piece.code = code;
	note(c, PIECE_CHARACTER);
}

static void on_control(void *user, uint8_t code)
{
	struct cutter *c = user;
	c->piece.code = code;
	note(c, PIECE_CONTROL);
}

static void on_escape(void *user, uint32_t id)
{
	struct cutter *c = user;
	c->piece.id = id;
	/* ST, after a string that ended at its ESC. */
	note(c, id == '\\' ? PIECE_NOTHING : PIECE_ESCAPE);
}

static void on_csi(void *user, uint32_t id, const struct params *params)
{
	struct cutter *c = user;
	c->piece.id = id;
	c->piece.params = *params;
	note(c, PIECE_CSI);
}

static void on_osc(void *user, uint32_t number, const char *data, size_t length)
{
	(void)number;
	(void)data;
	(void)length;
	note(user, PIECE_STRING);
}

static void on_dcs(
	void *user, uint32_t id, const struct params *params, const char *data, size_t length)
{
	(void)id;
	(void)params;
	(void)data;
	(void)length;
	note(user, PIECE_STRING);
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

void cutter_init(struct cutter *c)
{
	memset(c, 0, sizeof *c);
	parser_init(&c->parser, &ops, c, 0);
}

void cutter_finish(struct cutter *c)
{
	parser_finish(&c->parser);
}

static bool is_text(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

/* Whether a sequence begins within these bytes, or a byte belongs to no sequence. */
static bool is_broken(const struct piece *t)
{
	if (t->kind == PIECE_STRING || t->kind == PIECE_MIXED)
		return false;
	if (t->kind == PIECE_TEXT)
		return !is_text(t->bytes[0]);
	if (t->kind == PIECE_CHARACTER)
		return t->length != utf8_size(t->code);
	if (t->kind == PIECE_CONTROL)
		return t->length != (t->code < 0x80 ? 1 : 2);
	for (size_t i = 1; i < t->length; i++)
		if (!is_text(t->bytes[i]) && !(i == 1 && t->bytes[0] == 0xc2))
			return true;
	return false;
}

bool cutter_next(struct cutter *c, const uint8_t *bytes, size_t length, size_t text_max,
	struct piece *ret_piece)
{
	struct parser *p = &c->parser;
	parser_reset(p);
	c->actions = 0;
	c->piece = (struct piece){.kind = PIECE_NOTHING, .bytes = bytes};
	size_t n = 0;
	do {
		if (n == length)
			return false;
		n += parser_feed(p, bytes + n, 1, NULL);
	} while (!parser_is_ground(p));
	while (c->piece.kind == PIECE_TEXT && n < length && n < text_max && is_text(bytes[n]))
		n++;
	c->piece.length = n;
	if (c->piece.kind == PIECE_NOTHING && bytes[0] == '\033')
		c->piece.kind = PIECE_STRING;
	if (is_broken(&c->piece))
		c->piece.kind = PIECE_MIXED;
	*ret_piece = c->piece;
	return true;
}
