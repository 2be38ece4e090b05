/* Where a block is on the screen, found by the positions of its marks. */
#include "ring/screen/screen.h"
#include "shell/block/blocks.h"

bool block_line(const struct block *b, const struct screen *screen, uint64_t *ret_line)
{
	bool left;
	return b->input_mark > 0 && screen_marked_line(screen, b->input_mark, ret_line, &left);
}

bool block_end_line(const struct block *b, const struct screen *screen, uint64_t *ret_line)
{
	uint64_t line, first = 0;
	bool left;
	if (b->end_mark == 0 || !screen_marked_line(screen, b->end_mark, &line, &left))
		return false;
	block_line(b, screen, &first);
	*ret_line = left && line > first ? line - 1 : line;
	return true;
}
