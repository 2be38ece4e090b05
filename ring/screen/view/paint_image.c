/* Images, for clients that show them: which bytes of the output they are, and which of their cells come here. */
#include "ring/screen/view/paint.h"

static const struct style *image_style(const struct painter *p, uint32_t number)
{
	const struct style *style = number ? intern_get(&p->s->styles, number, NULL) : NULL;
	return style && style->flags & STYLE_IMAGE ? style : NULL;
}

bool paint_has_image(const struct painter *p, const struct packed *packed)
{
	for (unsigned run = 0; p->images && run < packed->runs; run++)
		if (image_style(p, packed->run[run].style))
			return true;
	return false;
}

unsigned paint_image(struct painter *p, const struct cell *cells, unsigned count)
{
	struct screen_image image;
	const struct style *style = p->images && cells->text == ' ' ? image_style(p, cells->style)
								    : NULL;
	unsigned n = 1;
	if (!style || !screen_image_of(p->s, style, &image))
		return 0;
	while (n < count && cells[n].text == ' ' && cells[n].style == cells->style)
		n++;
	output_format(&p->out, "\033]7007;i%llu,%llu,%u,%u,%u,%u,%u\a",
		(unsigned long long)image.offset, (unsigned long long)image.length, image.width,
		image.height, image.row, image.first, n);
	return n;
}
