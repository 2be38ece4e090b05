/* Range headers. Input: the size of the file, eight bytes; the header. A part must lie within the file. */
#include "tests/fuzz/fuzz.h"
#include "ws/api/files/condition.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[REQUEST_HEADER_SIZE];
	uint64_t whole, first = 0, end = 0;
	if (size < sizeof whole)
		return 0;
	memcpy(&whole, data, sizeof whole);
	whole >>= whole & 63; /* small sizes too */
	size_t length = size - sizeof whole < sizeof text - 1 ? size - sizeof whole
							      : sizeof text - 1;
	memcpy(text, data + sizeof whole, length);
	text[length] = '\0';
	if (condition_parse_range(text, whole, &first, &end) == CONDITION_PART)
		FUZZ_CHECK(first < end && end <= whole);
	return 0;
}
