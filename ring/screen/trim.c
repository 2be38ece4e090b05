/* Lines are dropped in groups until enough memory is free. */
#include "ring/screen/trim.h"

#include "ring/screen/screen_internal.h"

#define PIECE 64u      /* lines dropped at once */
#define CELL_BYTES 96u /* approximate table bytes that a cell can keep in use */

struct screen_weight screen_measure(const struct screen *s)
{
	size_t tables = intern_memory(&s->styles) + intern_memory(&s->clusters) +
		intern_memory(&s->links),
	       cells = 2 * (size_t)s->rows * s->cols * CELL_BYTES, stored = s->scrollback.stored;
	return (struct screen_weight){.all = screen_memory(s),
		.lines = stored > 0 && tables > cells ? stored + tables - cells : stored};
}

bool screen_can_freeze(const struct screen *s)
{
	return scrollback_can_freeze(&s->scrollback, s->rows * SCREEN_UNFROZEN_SCREENS, BLOCK_BYTES);
}

bool screen_freeze(struct screen *s, unsigned blocks)
{
	unsigned made = scrollback_freeze(
		&s->scrollback, s->rows * SCREEN_UNFROZEN_SCREENS, BLOCK_BYTES, blocks);
	scrollback_drop_cache(&s->scrollback);
	return made > 0;
}

size_t screen_size_bytes(unsigned rows, unsigned cols)
{
	size_t line = sizeof(struct line) + cols * sizeof(struct cell) + 2 * sizeof(struct line *);
	return 3 * rows * line;
}

uint64_t screen_trim(struct screen *s, size_t bytes)
{
	struct scrollback *b = &s->scrollback;
	uint64_t before = b->dropped;
	size_t all = screen_measure(s).lines, kept = all > bytes ? all - bytes : 0;
	size_t goal = all > 0 ? (size_t)((uint64_t)b->stored * kept / all) : 0;
	do
		screen_drop_lines(s, PIECE);
	while (b->count > 0 && b->stored > goal);
	scrollback_shrink(b);
	screen_collect(s);
	intern_shrink(&s->styles);
	intern_shrink(&s->clusters);
	intern_shrink(&s->links);
	s->version++;
	return b->dropped - before;
}
