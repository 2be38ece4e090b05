/* Parameters of a request's query. */
#include "ws/api/read/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool query_number_or(struct request *r, const char *name, uint64_t max, const char *message,
	uint64_t *ret_number)
{
	const char *text = request_param(r, name);
	return !text || params_number(text, max, ret_number) ||
		reply_invalid(r, name, message, "invalid");
}

bool query_number(struct request *r, const char *name, uint64_t max, uint64_t *ret_number)
{
	char message[64];
	snprintf(message, sizeof message, "Must be a whole number of at most %" PRIu64, max);
	return query_number_or(r, name, max, message, ret_number);
}

bool query_offset(struct request *r, const char *name, uint64_t *ret_offset)
{
	return query_number_or(r, name, INT64_MAX, "Must be an offset in bytes", ret_offset);
}

bool query_choice(struct request *r, const char *name, const char *const *words, size_t count,
	unsigned *ret_choice)
{
	char message[128] = "Must be ";
	const char *text = request_param(r, name);
	for (unsigned i = 0; text && i < count; i++)
		if (strcmp(text, words[i]) == 0) {
			*ret_choice = i;
			return true;
		}
	if (!text)
		return true;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(message);
		snprintf(message + length, sizeof message - length, "%s%s",
			i == 0                   ? ""
				: i + 1 == count ? " or "
						 : ", ",
			words[i]);
	}
	return reply_invalid(r, name, message, "invalid");
}

/* One of two words. *ret_second: whether it is the second. */
static bool query_either(
	struct request *r, const char *name, const char *const words[2], bool *ret_second)
{
	unsigned choice = *ret_second;
	bool good = query_choice(r, name, words, 2, &choice);
	*ret_second = choice;
	return good;
}

bool query_encoding(struct request *r, bool *ret_base64)
{
	static const char *const words[] = {"text", "base64"};
	return query_either(r, "encoding", words, ret_base64);
}

bool query_flag(struct request *r, const char *name, bool *ret_flag)
{
	static const char *const words[] = {"0", "1"};
	return query_either(r, name, words, ret_flag);
}
