#include "shell/files/temp_name.h"

#include "shell/hash.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX ".ringside-"
#define HASH_DIGITS 16u

bool temp_name_matches(const char *name)
{
	if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
		return false;
	name += sizeof PREFIX - 1;
	for (unsigned i = 0; i < HASH_DIGITS; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return name[HASH_DIGITS] == '\0' || name[HASH_DIGITS] == '-';
}

void temp_name_make(const char *target, const char *suffix, bool other, char *ret_name, size_t size)
{
	static atomic_uint count;
	int n = snprintf(
		ret_name, size, PREFIX "%016" PRIx64 "%s", hash_text(HASH_START, target), suffix);
	if (other && n > 0 && (size_t)n < size)
		snprintf(ret_name + n, size - (size_t)n, "-%d-%u", (int)getpid(),
			atomic_fetch_add(&count, 1));
}
