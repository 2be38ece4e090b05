/* UTF-8: validity, cuts and incomplete ends must agree with each other and with the C library. */
#include "ring/utf8.h"
#include "tests/fuzz/fuzz.h"

#include <locale.h>
#include <wchar.h>

/* Decode the first character with the C library. Returns its bytes, or 0. */
static size_t libc_decode(const uint8_t *bytes, size_t length, uint32_t *ret_code)
{
	static locale_t utf8;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	FUZZ_CHECK(utf8 != (locale_t)0);
	locale_t before = uselocale(utf8);
	mbstate_t state = {0};
	wchar_t wide = 0;
	size_t n = mbrtowc(&wide, (const char *)bytes, length, &state);
	uselocale(before);
	*ret_code = (uint32_t)wide;
	if (n == (size_t)-1 || n == (size_t)-2 ||
		wide > 0x10ffff) /* glibc accepts code points beyond Unicode */
		return 0;
	return n > 0 ? n : length > 0;
}

static void check_character(const uint8_t *bytes, size_t length)
{
	uint32_t code = 0, other = 0;
	unsigned size = utf8_decode(bytes, length, &code);
	FUZZ_CHECK(size == libc_decode(bytes, length, &other));
	if (size == 0)
		return;
	uint8_t again[UTF8_MAX];
	FUZZ_CHECK(code == other && size == utf8_lead_length(bytes[0]) && size == utf8_size(code));
	FUZZ_CHECK(utf8_encode(code, again) == size && memcmp(again, bytes, size) == 0);
	FUZZ_CHECK(utf8_read(bytes, &other) == size && other == code);
	for (unsigned i = 0; i < size; i++)
		FUZZ_CHECK(utf8_continues(bytes, i, bytes[i]));
	FUZZ_CHECK(!utf8_continues(bytes, size, 0x80));
}

/* The same in steps of whole characters. */
static bool is_valid(const uint8_t *bytes, size_t length)
{
	uint32_t code;
	for (size_t at = 0, size; at < length; at += size)
		if ((size = libc_decode(bytes + at, length - at, &code)) == 0)
			return false;
	return true;
}

static void check_cut(const uint8_t *bytes, size_t length, size_t max)
{
	size_t cut = utf8_cut(bytes, length, max), open = utf8_incomplete(bytes, max);
	FUZZ_CHECK(cut <= max);
	FUZZ_CHECK(open < UTF8_MAX && open <= max);
	if (!utf8_is_valid(bytes, length))
		return;
	FUZZ_CHECK(cut == max - open);
	FUZZ_CHECK(utf8_is_valid(bytes, cut) && utf8_is_valid(bytes + cut, length - cut));
	size_t orphaned = utf8_leading_continuations(bytes + max, length - max, SIZE_MAX);
	FUZZ_CHECK(utf8_is_valid(bytes + max + orphaned, length - max - orphaned));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t max = fuzz_byte(&in);
	uint8_t *bytes = fuzz_alloc(in.left);
	memcpy(bytes, in.at, in.left);
	for (size_t at = 0; at <= in.left; at++)
		check_character(bytes + at, in.left - at);
	FUZZ_CHECK(utf8_is_valid(bytes, in.left) == is_valid(bytes, in.left));
	FUZZ_CHECK(!utf8_is_clean(bytes, in.left) || utf8_is_valid(bytes, in.left));
	check_cut(bytes, in.left, max < in.left ? max : in.left);
	free(bytes);
	return 0;
}
