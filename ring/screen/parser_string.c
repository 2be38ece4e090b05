/*
 * The string of an OSC or DCS. One that is too long, or for which there is no memory, is lost as a whole and not
 * reported.
 */
#include "ring/screen/parser_internal.h"
#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

#define STRING_KEEP 4096u /* bytes that are kept for the next string */

void parser_string_drop(struct parser *p)
{
	free(p->string);
	p->string = NULL;
	p->string_capacity = 0;
}

void parser_string_begin(struct parser *p)
{
	p->string_length = 0;
	p->string_lost = false;
}

/* Sixel graphics, or OSC 1337. */
static bool is_image(const struct parser *p)
{
	static const char file[] = "1337;";
	if (p->tokenizer.state == TOKENIZER_DCS_DATA)
		return p->dcs_id == 'q';
	return p->string_length >= sizeof file - 1 && memcmp(p->string, file, sizeof file - 1) == 0;
}

static bool reserve_string(struct parser *p, size_t more)
{
	size_t wanted = p->string_length + more + 1;
	if (wanted <= p->string_capacity)
		return true;
	size_t capacity = p->string_capacity ? p->string_capacity * 2 : 256;
	while (capacity < wanted)
		capacity *= 2;
	size_t max = wanted > PARSER_STRING_MAX && is_image(p) ? PARSER_IMAGE_MAX
							       : PARSER_STRING_MAX;
	char *grown = wanted > max ? NULL : realloc(p->string, capacity);
	if (!grown) {
		p->string_lost = true;
		return false;
	}
	p->string = grown;
	p->string_capacity = capacity;
	return true;
}

void parser_string_put(struct parser *p, uint32_t code)
{
	if (p->string_lost || !reserve_string(p, 4))
		return;
	p->string_length += utf8_encode(code, (uint8_t *)p->string + p->string_length);
}

void parser_string_append(struct parser *p, const uint8_t *ascii, size_t length)
{
	if (p->string_lost || !reserve_string(p, length))
		return;
	memcpy(p->string + p->string_length, ascii, length);
	p->string_length += length;
}

void parser_string_release(struct parser *p)
{
	if (p->string_capacity <= STRING_KEEP)
		return;
	parser_string_drop(p);
}

void parser_end_osc(struct parser *p)
{
	uint32_t number = 0;
	size_t at = 0;
	if (p->string_lost || !reserve_string(p, 0))
		return;
	p->string[p->string_length] = '\0';
	for (; at < p->string_length && p->string[at] >= '0' && p->string[at] <= '9'; at++)
		if (number < 100000)
			number = number * 10 + (uint32_t)(p->string[at] - '0');
	if (at == 0 || (at < p->string_length && p->string[at] != ';'))
		return;
	if (at < p->string_length)
		at++;
	p->ops->osc(p->user, number, p->string + at, p->string_length - at);
}

void parser_end_dcs(struct parser *p)
{
	if (p->string_lost || !reserve_string(p, 0))
		return;
	p->string[p->string_length] = '\0';
	p->ops->dcs(p->user, p->dcs_id, &p->params, p->string, p->string_length);
}
