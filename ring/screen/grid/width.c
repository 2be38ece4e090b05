/* Frequent ranges are handled by comparisons, the rest by an index and binary search. */
#include "ring/screen/grid/width.h"

#include <stddef.h>

#include "ring/screen/grid/width_ranges.h"

unsigned width_of(uint32_t code)
{
	if (code < 0x20)
		return 0;
	if (code < 0x300)
		return code < 0x7f || code >= 0xa0;
	/* The bulk of Chinese, Japanese and Korean text. */
	if ((code >= 0x4e00 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3))
		return 2;
	/* Greek and Cyrillic, boxes and blocks. */
	if ((code >= 0x370 && code <= 0x482) || (code >= 0x2500 && code <= 0x25fc))
		return 1;
	size_t count = sizeof ranges / sizeof *ranges, pages = sizeof starts / sizeof *starts - 1,
	       page = code / PAGE < pages ? code / PAGE : pages;
	size_t low = starts[page], high = page < pages ? starts[page + 1] : count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges[middle].last < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ranges[low].first <= code ? ranges[low].width : 1;
}
