/*
 * Images: sixel graphics and files of iTerm2. An image is not decoded. Its cells are spaces in a style that names the bytes of
 * the image in the output, so text can be printed over it, and it scrolls, like any text. Clients that can show it get the
 * bytes, see screen_image_of().
 */
#include "ring/screen/image_size.h"
#include "ring/screen/screen_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a row of an image is in its style's foreground: the row, and the screen's column of the image's first cell. */
#define COLUMN_BITS 10
#define COLUMN_MASK ((1u << COLUMN_BITS) - 1)

_Static_assert(
	SCREEN_SIDE_MAX <= 1u << COLUMN_BITS && IMAGE_SIDE_MAX / CELL_HEIGHT < 1u << COLUMN_BITS,
	"columns and rows fit");

/* A whole number of cells. */
static unsigned cells_for(unsigned pixels, unsigned cell)
{
	return (pixels + cell - 1) / cell;
}

/* The link of an image's style: 'p' (picture), and the fields of struct screen_image up to its height. */
static uint32_t put_link(struct screen *s, const struct screen_image *image)
{
	char text[96];
	int length = snprintf(text, sizeof text, "p%llu,%llu,%u,%u",
		(unsigned long long)image->offset, (unsigned long long)image->length, image->width,
		image->height);
	screen_sweep(s, &s->links);
	return intern_put(&s->links, text, (size_t)length + 1);
}

/* Print spaces in a style at the cursor. */
static void print_spaces(struct screen *s, const struct style *style, unsigned count)
{
	static const uint8_t spaces[] =
		"                                                                ";
	struct style pen = s->pen;
	bool insert = s->modes.insert;
	s->held_link = pen.link;
	s->pen = *style;
	s->pen_changed = true;
	s->modes.insert = false;
	while (count > 0) {
		unsigned n = count < sizeof spaces - 1 ? count : (unsigned)sizeof spaces - 1;
		s->join = 0;
		screen_print_ascii(s, spaces, n);
		count -= n;
	}
	s->modes.insert = insert;
	s->pen = pen;
	s->held_link = 0;
	s->pen_changed = true;
	s->join = 0;
	s->in_run = false;
}

/* The style of a row of an image; see screen_image_of(). */
static struct style row_style(uint32_t link, unsigned row, unsigned first)
{
	return (struct style){.fg = row << COLUMN_BITS | first,
		.link = link,
		.flags = STYLE_IMAGE | STYLE_EXTENDED};
}

/*
 * Whether printing cells [first, end) leaves halves of wide characters beside them. These become blank in the pen, which must not
 * be that of the image.
 */
static bool cuts_characters(const struct line *line, unsigned first, unsigned end)
{
	return (first > 0 && cell_width(line->cells[first - 1]) == 2) ||
		(end < line->length && cell_is_tail(line->cells[end]));
}

/* Draw an image whose sequence ends here. Lines are fed as the image needs them. */
static void draw(struct screen *s, struct image_size size, bool to_its_right)
{
	struct buffer *b = s->active;
	unsigned first = b->x < s->cols ? b->x : s->cols - 1, space = s->cols - first;
	unsigned rows = cells_for(size.height, CELL_HEIGHT),
		 count = cells_for(size.width, CELL_WIDTH);
	const struct screen_image image = {.offset = s->parser.start,
		.length = s->parser.offset - s->parser.start,
		.width = size.width,
		.height = size.height};
	count = count < space ? count : space;
	for (unsigned row = 0; row < rows; row++) {
		if (row > 0)
			screen_control(s, '\n');
		b->x = first;
		if (cuts_characters(screen_line(s, b->y), first, first + count)) {
			print_spaces(s, &(struct style){0}, count);
			b->x = first;
		}
		const struct style style = row_style(put_link(s, &image), row, first);
		print_spaces(s, &style, count);
	}
	if (!to_its_right)
		b->x = first;
}

void screen_draw_sixel(struct screen *s, const char *data, size_t length)
{
	struct image_size size;
	if (length <= IMAGE_BYTES_MAX && image_size_sixel(data, length, &size))
		draw(s, size, false);
}

void screen_draw_file(struct screen *s, const char *data, size_t length)
{
	struct image_size size;
	if (length <= IMAGE_BYTES_MAX && image_size_file(data, length, s->cols, s->rows, &size))
		draw(s, size, true);
}

/* Read a decimal number and the comma behind it. Returns what follows; NULL if there is none. */
static const char *next_number(const char *at, uint64_t *ret_number)
{
	char *end;
	if (*at < '0' || *at > '9')
		return NULL;
	*ret_number = strtoull(at, &end, 10);
	return *end == ',' ? end + 1 : end;
}

/* Read `count` numbers. */
static bool read_numbers(const char *at, uint64_t *numbers, unsigned count)
{
	for (unsigned i = 0; at && i < count; i++)
		at = next_number(at, &numbers[i]);
	return at;
}

bool screen_image_of(
	const struct screen *s, const struct style *style, struct screen_image *ret_image)
{
	uint64_t numbers[4];
	const char *link = style->flags & STYLE_IMAGE ? intern_get(&s->links, style->link, NULL)
						      : NULL;
	if (!link || *link != 'p' || !read_numbers(link + 1, numbers, 4))
		return false;
	*ret_image = (struct screen_image){.offset = numbers[0],
		.length = numbers[1],
		.width = (unsigned)numbers[2],
		.height = (unsigned)numbers[3],
		.row = style->fg >> COLUMN_BITS,
		.first = style->fg & COLUMN_MASK};
	return true;
}

void screen_restore_image(struct screen *s, const char *data)
{
	uint64_t n[7];
	if (!read_numbers(data, n, 7) || n[2] > IMAGE_SIDE_MAX || n[3] > IMAGE_SIDE_MAX ||
		n[4] > COLUMN_MASK || n[5] > COLUMN_MASK)
		return;
	const struct screen_image image = {
		.offset = n[0], .length = n[1], .width = (unsigned)n[2], .height = (unsigned)n[3]};
	const struct style style = row_style(put_link(s, &image), (unsigned)n[4], (unsigned)n[5]);
	print_spaces(s, &style, n[6] < s->cols ? (unsigned)n[6] : s->cols);
}
