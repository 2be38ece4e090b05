/*
 * The lines that shells report (zsh, fish). They are more exact than the text on the terminal, which may include a
 * prompt on the right. The holder may read the marks of a short command before the record of its line.
 */
#include "shell/block/internal.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The oldest of the last blocks that have neither a record nor a reported line. */
static struct block *find_unreported(const struct blocks *b)
{
	struct block *block = block_last(b), *found = NULL;
	for (; block && !block->has_record && !block->stored; block = block_before(b, block))
		if (!block->exec[0] && !block->has_reported_line)
			found = block;
	return found;
}

static void set_line(struct blocks *b, const char *line)
{
	struct block *block = find_unreported(b);
	size_t length = utf8_is_valid_string(line) ? utf8_cut(line, strlen(line), BLOCK_COMMAND_KEPT)
						   : 0;
	char *text = length > 0 ? strndup(line, length) : NULL;
	if (!text)
		return;
	char **place = block ? &block->command : &b->line;
	free(*place);
	*place = text;
	if (block)
		block->has_reported_line = true;
}

void blocks_handle_line(struct blocks *b, const struct record *record)
{
	if (record->kind == RECORD_LINE)
		set_line(b, record->line);
	if (record->kind != RECORD_PROMPT)
		return;
	free(b->line);
	b->line = NULL;
}
