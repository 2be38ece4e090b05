/* Bytes of programs as text for JSON: any bytes in any pieces give the same valid text. */
#include "ring/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "ws/text.h"

/* Decode data in one piece, or in pieces with sizes from the input. */
static size_t decode(const uint8_t *data, size_t size, size_t piece, char *dst, bool *ret_lossy)
{
	struct text_decoder d = {0};
	size_t n = 0;
	for (size_t at = 0; at < size; at += piece) {
		size_t length = size - at < piece ? size - at : piece;
		uint8_t *copy = fuzz_alloc(length);
		memcpy(copy, data + at, length);
		size_t more = text_decode(&d, copy, length, dst + n);
		FUZZ_CHECK(more <= TEXT_SIZE(length));
		n += more;
		free(copy);
	}
	n += text_decode_end(&d, dst + n);
	*ret_lossy = d.lossy;
	return n;
}

/* The bytes that are cut off at the ends of a part are those that would have been replaced. */
static void check_ends(const uint8_t *data, size_t size, size_t cut, bool lossy)
{
	bool head_lossy, tail_lossy;
	char *dst = fuzz_alloc(TEXT_SIZE(size));
	size_t before = utf8_incomplete(data, cut),
	       after = utf8_leading_continuations(data + cut, size - cut, 3);
	FUZZ_CHECK(before <= 3 && before <= cut && after <= 3 && after <= size - cut);
	decode(data, cut - before, SIZE_MAX / 2, dst, &head_lossy);
	decode(data + cut + after, size - cut - after, SIZE_MAX / 2, dst, &tail_lossy);
	FUZZ_CHECK(lossy || (!head_lossy && !tail_lossy));
	free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	bool lossy, again_lossy;
	size_t piece = 1 + fuzz_byte(&in) % 9, cut = fuzz_byte(&in);
	cut = cut < in.left ? cut : in.left;
	char *whole = fuzz_alloc(TEXT_SIZE(in.left)), *pieces = fuzz_alloc(TEXT_SIZE(in.left) + 3);
	size_t n = decode(in.at, in.left, SIZE_MAX / 2, whole, &lossy);
	FUZZ_CHECK(decode(in.at, in.left, piece, pieces, &again_lossy) == n);
	FUZZ_CHECK(memcmp(whole, pieces, n) == 0 && lossy == again_lossy);
	json_t *json = json_stringn(whole, n);
	FUZZ_CHECK(json);
	struct text_decoder d = {0};
	json_t *other = text_json(&d, in.at, in.left, true);
	FUZZ_CHECK(other && json_equal(json, other) && d.lossy == lossy);
	FUZZ_CHECK(lossy || (n == in.left && memcmp(whole, in.at, n) == 0));
	check_ends(in.at, in.left, cut, lossy);
	json_decref(json);
	json_decref(other);
	free(whole);
	free(pieces);
	return 0;
}
