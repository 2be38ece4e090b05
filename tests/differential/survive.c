#include "survive.h"

#include "compare.h"

#include "ring/screen/grid/charset.h"

#include <string.h>

#define PARAMS_MAX 15u /* libvterm has 16 */
#define VALUE_MAX 9999 /* it adds them to int */
#define REPEATED_MAX 4000u

static void put_params(struct second *v, const struct piece *t)
{
	char prefix = (char)(t->id >> 8);
	second_print(v, "\033[");
	if (prefix >= '<' && prefix <= '?')
		second_print(v, "%c", prefix);
	for (unsigned i = 0; i < t->params.count && i < PARAMS_MAX; i++) {
		int n = t->params.value[i];
		second_print(v, i > 0 ? ";%d" : "%d", n < VALUE_MAX ? n : VALUE_MAX);
	}
	if (prefix >= ' ' && prefix < '0')
		second_print(v, "%c", prefix);
	second_print(v, "%c", (char)(t->id & 0xff));
}

bool survive_is_much(const struct screen *s, const struct piece *t)
{
	(void)s;
	bool huge = false;
	for (unsigned i = 0; t->kind == PIECE_CSI && i < t->params.count; i++)
		huge = huge || t->params.value[i] > VALUE_MAX;
	return t->kind == PIECE_CSI &&
		(huge || t->params.count + t->params.sub_count > PARAMS_MAX ||
			(t->params.sub_count > 0 && t->id != 'm'));
}

void survive_put_less(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	if (t->id == 'm' || t->id >> 16 > 0)
		return; /* SGR does not change text */
	put_params(v, t);
}

bool survive_is_repetition(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CSI && t->id == 'b';
}

static unsigned last_cell(const struct screen *s, uint32_t codes[SCREEN_CLUSTER_MAX])
{
	const struct line *line = screen_line(s, s->active->y);
	if (s->join == 0 || s->active->x < s->join || s->active->x - s->join >= line->length)
		return 0;
	struct cell cell = line->cells[s->active->x - s->join];
	if (!(cell.text & CELL_CLUSTER)) {
		codes[0] = cell.text & CELL_CODE;
		return codes[0] != 0;
	}
	size_t bytes = 0;
	const uint32_t *from = intern_get(&s->clusters, cell.text & CELL_CODE, &bytes);
	memcpy(codes, from, bytes);
	return (unsigned)(bytes / sizeof *from);
}

void survive_put_repeated(struct second *v, const struct screen *s, const struct piece *t)
{
	uint32_t codes[SCREEN_CLUSTER_MAX];
	unsigned n = screen_param_or_one(&t->params, 0), count = last_cell(s, codes);
	/* In a charset other than ASCII they have been mapped once already. */
	for (unsigned i = 0; i < count; i++)
		codes[i] = compare_stand_in(charset_map(screen_charset(s), codes[i]));
	for (unsigned i = 0; count > 0 && i < n && i < REPEATED_MAX; i++)
		second_put(v, codes, count);
}
