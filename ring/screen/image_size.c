#include "ring/screen/image_size.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIXEL_HEIGHT 6u /* pixels of a band */
#define NUMBER_MAX 1000000u

static bool is_allowed(struct image_size size)
{
	return size.width > 0 && size.height > 0 && size.width <= IMAGE_SIDE_MAX &&
		size.height <= IMAGE_SIDE_MAX;
}

static bool is_ascii(const char *data, size_t length)
{
	uint8_t all = 0;
	for (size_t i = 0; i < length; i++)
		all |= (uint8_t)data[i];
	return all < 0x80;
}

/* The next character, without moving behind it; controls are passed over. '\0': there is none. */
static char peek(const char **at, const char *end)
{
	while (*at < end && (**at < 0x20 || **at == 0x7f))
		++*at;
	return *at < end ? **at : '\0';
}

/* Read digits. Moves *at behind them; larger numbers become NUMBER_MAX. */
static unsigned read_number(const char **at, const char *end)
{
	unsigned number = 0;
	for (char c; (c = peek(at, end)) >= '0' && c <= '9'; ++*at)
		if (number < NUMBER_MAX)
			number = number * 10 + (unsigned)(c - '0');
	return number < NUMBER_MAX ? number : NUMBER_MAX;
}

/* Sixel graphics */

/* Raster attributes, behind the quotation mark: Pan ; Pad ; Ph ; Pv. Returns whether there is a size. */
static bool read_raster(const char **at, const char *end, struct image_size *ret_size)
{
	unsigned fields[4] = {0};
	for (unsigned i = 0; i < 4; i++) {
		fields[i] = read_number(at, end);
		if (peek(at, end) != ';')
			break;
		++*at;
	}
	*ret_size = (struct image_size){.width = fields[2], .height = fields[3]};
	return fields[2] > 0 && fields[3] > 0;
}

bool image_size_sixel(const char *data, size_t length, struct image_size *ret_size)
{
	const char *at = data, *end = data + length;
	struct image_size drawn = {0};
	unsigned x = 0, top = 0;
	if (!is_ascii(data, length))
		return false;
	while (at < end) {
		char c = *at++;
		unsigned count = 1;
		if (c == '"' && drawn.height == 0 && read_raster(&at, end, ret_size))
			return is_allowed(*ret_size);
		if (c == '$' || c == '-')
			x = 0;
		if (c == '-' && top < IMAGE_SIDE_MAX)
			top += SIXEL_HEIGHT;
		if (c == '!') {
			count = read_number(&at, end);
			c = peek(&at, end);
			at += c != '\0';
		}
		if (c < '?' || c > '~')
			continue;
		x = x + count < NUMBER_MAX ? x + count : NUMBER_MAX;
		drawn.width = x > drawn.width ? x : drawn.width;
		drawn.height = top + SIXEL_HEIGHT;
	}
	*ret_size = drawn;
	return is_allowed(drawn);
}

/* Files, in base64 */

/* A file in base64 without white space. */
struct encoded {
	const char *text;
	size_t length; /* of the text */
};

static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The byte at an offset; -1 behind the end, or if the text is not base64 there. */
static int byte_at(const struct encoded *file, size_t offset)
{
	size_t at = offset / 3 * 4 + offset % 3;
	if (at + 1 >= file->length)
		return -1;
	int high = digit_value(file->text[at]), low = digit_value(file->text[at + 1]);
	unsigned shift = 2 * (unsigned)(offset % 3) + 2;
	return high < 0 || low < 0 ? -1 : (high << shift | low >> (6 - shift)) & 0xff;
}

/* A number of `count` bytes, the most significant first; or last. -1: there is none. */
static int64_t number_at(const struct encoded *file, size_t offset, unsigned count, bool last)
{
	int64_t number = 0;
	for (unsigned i = 0; i < count; i++) {
		int byte = byte_at(file, offset + (last ? count - 1 - i : i));
		if (byte < 0)
			return -1;
		number = number << 8 | byte;
	}
	return number;
}

static bool begins_with(const struct encoded *file, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (byte_at(file, i) != (unsigned char)bytes[i])
			return false;
	return true;
}

static bool set_size(int64_t width, int64_t height, struct image_size *ret_size)
{
	if (width <= 0 || height <= 0 || width > IMAGE_FILE_SIDE_MAX || height > IMAGE_FILE_SIDE_MAX)
		return false;
	*ret_size = (struct image_size){.width = (unsigned)width, .height = (unsigned)height};
	return true;
}

/* JPEG: the first frame header (ITU-T T.81, B.2.2), behind other segments. */
static bool jpeg_size(const struct encoded *file, struct image_size *ret_size)
{
	size_t at = 2;
	for (;;) {
		int64_t marker = number_at(file, at, 2, false),
			length = number_at(file, at + 2, 2, false);
		if (marker == 0xffff) { /* fill bytes */
			at++;
			continue;
		}
		if (marker < 0xffc0 || marker == 0xffda || length < 2)
			return false;
		if (marker <= 0xffcf && marker != 0xffc4 && marker != 0xffc8 && marker != 0xffcc)
			return set_size(number_at(file, at + 7, 2, false),
				number_at(file, at + 5, 2, false), ret_size);
		at += 2 + (size_t)length;
	}
}

static bool natural_size(const struct encoded *file, struct image_size *ret_size)
{
	if (begins_with(file, "\x89PNG\r\n\x1a\n", 8) &&
		number_at(file, 12, 4, false) == 0x49484452) /* IHDR */
		return set_size(
			number_at(file, 16, 4, false), number_at(file, 20, 4, false), ret_size);
	if (begins_with(file, "GIF87a", 6) || begins_with(file, "GIF89a", 6))
		return set_size(number_at(file, 6, 2, true), number_at(file, 8, 2, true), ret_size);
	return begins_with(file, "\xff\xd8", 2) && jpeg_size(file, ret_size);
}

/* The arguments of OSC 1337 ; File= */
struct file_options {
	unsigned width, height; /* pixels; 0: auto */
	bool keeps_ratio, is_inline;
};

/* A side: N cells, Npx, N% of the terminal, or auto. In pixels; 0: auto. */
static unsigned parse_side(const char *value, const char *end, unsigned cells, unsigned cell)
{
	unsigned number = read_number(&value, end);
	size_t left = (size_t)(end - value);
	if (number > IMAGE_FILE_SIDE_MAX)
		number = IMAGE_FILE_SIDE_MAX;
	if (left == 2 && memcmp(value, "px", 2) == 0)
		return number;
	if (left == 1 && *value == '%')
		return (unsigned)((uint64_t)number * cells * cell / 100);
	return left == 0 ? number * cell : 0;
}

static bool is_key(const char *at, const char *equals, const char *key)
{
	return (size_t)(equals - at) == strlen(key) && memcmp(at, key, strlen(key)) == 0;
}

static void parse_options(
	const char *at, const char *end, unsigned cols, unsigned rows, struct file_options *o)
{
	*o = (struct file_options){.keeps_ratio = true};
	while (at < end) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		if (!stop)
			stop = end;
		const char *equals = memchr(at, '=', (size_t)(stop - at));
		const char *value = equals ? equals + 1 : stop;
		if (!equals)
			equals = stop;
		if (is_key(at, equals, "width"))
			o->width = parse_side(value, stop, cols, CELL_WIDTH);
		else if (is_key(at, equals, "height"))
			o->height = parse_side(value, stop, rows, CELL_HEIGHT);
		else if (is_key(at, equals, "inline"))
			o->is_inline = stop - value == 1 && *value == '1';
		else if (is_key(at, equals, "preserveAspectRatio"))
			o->keeps_ratio = !(stop - value == 1 && *value == '0');
		at = stop < end ? stop + 1 : end;
	}
}

/* a * b / c, rounded, at least 1. */
static unsigned scale(unsigned a, unsigned b, unsigned c)
{
	uint64_t scaled = ((uint64_t)a * b + c / 2) / c;
	return scaled == 0 ? 1 : scaled > NUMBER_MAX ? NUMBER_MAX : (unsigned)scaled;
}

static struct image_size scale_to_width(struct image_size size, unsigned width)
{
	return (struct image_size){.width = width, .height = scale(size.height, width, size.width)};
}

static struct image_size scale_to_height(struct image_size size, unsigned height)
{
	return (struct image_size){
		.width = scale(size.width, height, size.height), .height = height};
}

static struct image_size shown_size(struct image_size natural, const struct file_options *o)
{
	if (o->width == 0 && o->height == 0)
		return natural;
	if (o->width == 0)
		return scale_to_height(natural, o->height);
	if (o->height == 0)
		return scale_to_width(natural, o->width);
	if (!o->keeps_ratio)
		return (struct image_size){.width = o->width, .height = o->height};
	bool by_width = (uint64_t)o->width * natural.height <= (uint64_t)o->height * natural.width;
	return by_width ? scale_to_width(natural, o->width) : scale_to_height(natural, o->height);
}

bool image_size_file(
	const char *data, size_t length, unsigned cols, unsigned rows, struct image_size *ret_size)
{
	static const char prefix[] = "File=";
	const char *end = data + length, *colon = memchr(data, ':', length);
	struct file_options o;
	struct image_size natural;
	if (!colon || !is_ascii(data, length) || length < sizeof prefix - 1 ||
		memcmp(data, prefix, sizeof prefix - 1) != 0)
		return false;
	parse_options(data + sizeof prefix - 1, colon, cols, rows, &o);
	const struct encoded file = {.text = colon + 1, .length = (size_t)(end - colon - 1)};
	if (!o.is_inline || !natural_size(&file, &natural))
		return false;
	*ret_size = shown_size(natural, &o);
	if (ret_size->width > cols * CELL_WIDTH)
		*ret_size = scale_to_width(*ret_size, cols * CELL_WIDTH);
	return is_allowed(*ret_size);
}
