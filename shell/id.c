/* Ids without randomness could be guessed or collide, so a failure of the kernel is returned as an error. */
#include "shell/id.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* getrandom(2) is not interrupted up to this size. */
#define RANDOM_AT_ONCE 256u

int id_random(void *bytes, size_t size)
{
	unsigned char *at = bytes;
	while (size > 0) {
		size_t part = size < RANDOM_AT_ONCE ? size : RANDOM_AT_ONCE;
		ssize_t n = getrandom(at, part, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int id_digits(char *ret_text, size_t count, unsigned base)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	unsigned char bytes[RANDOM_AT_ONCE];
	assert(base >= 2 && base < sizeof digits && count <= sizeof bytes);
	ret_text[0] = '\0';
	int rc = id_random(bytes, count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		ret_text[i] = digits[bytes[i] % base];
	ret_text[count] = '\0';
	return 0;
}

int id_hex(char *ret_text, size_t size)
{
	return id_digits(ret_text, size - 1, 16);
}

int id_stamped(char *ret_id, const char *word, uint64_t now_ms, size_t count, unsigned base)
{
	int n = snprintf(ret_id, ID_STAMPED_SIZE, "%s_%llu_", word, (unsigned long long)now_ms);
	assert(n > 0 && (size_t)n + count < ID_STAMPED_SIZE);
	int rc = id_digits(ret_id + n, count, base);
	if (rc < 0)
		ret_id[0] = '\0';
	return rc;
}
