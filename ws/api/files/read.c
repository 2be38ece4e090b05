/* POST /api/read: a file of up to READ_MAX bytes, as text or base64; or some of its lines. */
#include "ws/api/files/call.h"
#include "ws/api/files/type.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MAX ((size_t)32 << 20) /* bytes of a file */

#define LINES_MAX UINT64_C(1000000000)
#define LINES_DEFAULT 2000u
#define BYTES_DEFAULT ((uint64_t)64 << 10)

static bool parse_options(struct file_call *c)
{
	c->max_lines = LINES_DEFAULT;
	c->max_bytes = BYTES_DEFAULT;
	c->lines = json_object_get(c->body, "fromLine") != NULL;
	return body_text(c->request, c->body, "encoding", &c->encoding) &&
		body_number(c->request, c->body, "fromLine", 1, LINES_MAX, &c->from_line) &&
		body_number(c->request, c->body, "maxLines", 1, LINES_MAX, &c->max_lines) &&
		body_number(c->request, c->body, "maxBytes", 1, READ_MAX, &c->max_bytes);
}

/* Some lines of a text. If the first line exceeds max_bytes, it is cut, and the only one. */
struct text_part {
	const char *text;
	size_t length;
	uint64_t next; /* number of the line after them; 0: end of file */
	bool cut;
};

static struct text_part find_lines(const struct file_call *c, const char *bytes, size_t length)
{
	const char *at = bytes, *end = bytes + length;
	uint64_t line = 1, count = 0;
	for (; line < c->from_line && at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		at = newline ? newline + 1 : end;
	}
	struct text_part l = {.text = at};
	while (at < end && count < c->max_lines) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;
		uint64_t left = c->max_bytes - l.length;
		l.cut = (uint64_t)(next - at) > left;
		if (l.cut && count > 0)
			break;
		l.length += l.cut ? (size_t)left : (size_t)(next - at);
		at = next;
		count++;
		if (l.cut)
			break;
	}
	l.cut = l.cut && count == 1;
	l.next = at < end ? line + count : 0;
	return l;
}

/* The answer with some lines, and with the hash that /api/write can expect. */
static int put_lines(struct file_call *c, const char *type, const char *bytes, size_t length)
{
	struct reply_text *a = &c->answer;
	char hash[CONTENT_HASH_SIZE];
	bool binary = file_type_is_binary(type, c->encoding) || memchr(bytes, '\0', length);
	size_t mark = binary ? 0 : file_type_bom_length(bytes, length);
	struct text_part l = {.text = ""};
	if (!binary)
		l = find_lines(c, bytes + mark, length - mark);
	if (content_hash(bytes, length, hash) < 0)
		return -ENOMEM;
	file_answer_begin(c);
	reply_text_raw(a, ",\"content\":");
	reply_text_string(a, l.text, l.length);
	reply_text_raw(a, ",\"encoding\":\"utf-8\",\"isBinary\":");
	reply_text_bool(a, binary);
	reply_text_raw(a, ",\"mimeType\":");
	reply_text_cstring(a, type);
	reply_text_raw(a, ",\"size\":");
	reply_text_number(a, length);
	reply_text_raw(a, ",\"hash\":");
	reply_text_cstring(a, hash);
	reply_text_raw(a, ",\"lineCut\":");
	reply_text_bool(a, l.cut);
	if (l.next > 0) {
		reply_text_raw(a, ",\"nextLine\":");
		reply_text_number(a, l.next);
	}
	file_answer_end(c);
	return 0;
}

static void put_whole(struct file_call *c, const char *type, const char *bytes, size_t length)
{
	struct reply_text *a = &c->answer;
	bool binary = file_type_is_binary(type, c->encoding);
	size_t mark = binary ? 0 : file_type_bom_length(bytes, length);
	file_answer_begin(c);
	reply_text_raw(a, ",\"content\":");
	if (binary)
		reply_text_base64(a, bytes, length);
	else
		reply_text_string(a, bytes + mark, length - mark);
	reply_text_raw(a, binary ? ",\"encoding\":\"base64\"" : ",\"encoding\":\"utf-8\"");
	reply_text_raw(a, ",\"isBinary\":");
	reply_text_bool(a, binary);
	reply_text_raw(a, ",\"mimeType\":");
	reply_text_cstring(a, type);
	reply_text_raw(a, ",\"size\":");
	reply_text_number(a, length);
	file_answer_end(c);
}

static int read_file(struct file_call *c)
{
	char type[MIME_SIZE], *bytes = NULL;
	size_t length = 0;
	struct content content;
	int rc = content_open(&c->place, c->path, &content);
	if (rc < 0)
		return rc;
	rc = content_load(&content, READ_MAX, &bytes, &length);
	c->size = length;
	if (rc == 0)
		rc = file_type_find(&content, c->path, bytes, length, type);
	content_close(&content);
	if (rc == 0 && c->lines)
		rc = put_lines(c, type, bytes, length);
	else if (rc == 0)
		put_whole(c, type, bytes, length);
	free(bytes);
	return rc;
}

/* FILE_NOT_FOUND for files that are not regular, as in the container. */
static bool refuse(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 64];
	if (error == -EFBIG) {
		json_t *context = file_context(c);
		if (context)
			json_object_update_new(context,
				json_pack("{s:I, s:I}", "actualSize", (json_int_t)c->size,
					"maxSize", (json_int_t)READ_MAX));
		snprintf(message, sizeof message,
			"File too large: %" PRIu64 " bytes%s, the limit is %zu: "
			"read it as a stream",
			c->size, c->answer.too_long ? " with too many escapes in JSON" : "",
			READ_MAX);
		reply_error(c->request, "FILE_TOO_LARGE", message, context);
		return true;
	}
	if (error != -EISDIR && error != -EINVAL)
		return false;
	snprintf(message, sizeof message, "File not found: %s is not a regular file", c->path);
	reply_error(c->request, "FILE_NOT_FOUND", message, file_context(c));
	return true;
}

static void read_whole(struct request *r)
{
	static const struct file_action action = {.operation = "file.read",
		.path = "path",
		.parse = parse_options,
		.work = read_file,
		.refuse = refuse};
	file_call(r, &action);
}

const struct route_row api_file_read_rows[] = {
	{METHOD_POST, "/api/read", ROUTE_OWNER_OR_TRUSTED, .plain = read_whole, .reads = true},
	{.path = NULL},
};
