/* Upload: each part is PUT to its URL, and the store confirms it with an ETag. */
#include "shell/backup/parts_internal.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const char *open_archive(struct parts *p)
{
	int rc = content_open(&p->place, p->path, &p->archive);
	if (rc < 0)
		return rc == -ENOENT || rc == -ENOTDIR ? "The archive does not exist"
						       : "The archive cannot be opened";
	uint64_t size = (uint64_t)p->archive.st.st_size;
	if (p->whole)
		p->all[0].size = p->total = size;
	if (p->whole && size > PARTS_SIZE_MAX)
		parts_fail(p, NULL, 0, "The archive exceeds 5 GiB, the limit of one part");
	for (size_t i = 0; i < p->count; i++)
		if (p->all[i].offset > size || p->all[i].size > size - p->all[i].offset)
			parts_fail(p, &p->pieces[i], 0, "The part exceeds the end of the archive");
	return NULL;
}

static void close_archive(struct parts *p, bool good)
{
	(void)good;
	content_close(&p->archive);
}

static size_t on_read(char *to, size_t size, size_t count, void *user)
{
	struct piece *piece = user;
	struct parts *p = piece->parts;
	uint64_t left = piece->part->size - piece->at;
	size_t want = size * count < left ? size * count : (size_t)left, length = 0;
	if (atomic_load(&p->cancelled))
		return CURL_READFUNC_ABORT;
	if (want == 0)
		return 0;
	int rc = content_read(&p->archive, piece->part->offset + piece->at, to, want, &length);
	if (rc < 0 || length == 0) {
		parts_fail(p, piece, 0,
			rc < 0 ? "The archive cannot be read"
			       : "The archive was truncated meanwhile");
		return CURL_READFUNC_ABORT;
	}
	piece_advance(piece, length);
	return length;
}

/* libcurl rewinds when a reused connection turns out to be dead. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
	struct piece *piece = user;
	if (origin != SEEK_SET || offset != 0)
		return CURL_SEEKFUNC_FAIL;
	piece_rewind(piece);
	return CURL_SEEKFUNC_OK;
}

static void parse_etag(struct part *part, const char *value, size_t length)
{
	while (length > 0 && (*value == ' ' || *value == '\t')) {
		value++;
		length--;
	}
	while (length > 0 && strchr(" \t\r\n", value[length - 1]))
		length--;
	bool good = length <= PARTS_ETAG_MAX;
	for (size_t i = 0; good && i < length; i++)
		good = value[i] > ' ' && value[i] < 0x7f;
	if (good)
		memcpy(part->etag, value, length);
	part->etag[good ? length : 0] = '\0';
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
	static const char name[] = "etag:";
	struct piece *piece = user;
	size_t length = size * count;
	if (length >= 5 && strncmp(line, "HTTP/", 5) == 0)
		piece->part->etag[0] =
			'\0'; /* a previous answer to the same request, such as 100 Continue */
	else if (length >= sizeof name - 1 && strncasecmp(line, name, sizeof name - 1) == 0)
		parse_etag(piece->part, line + sizeof name - 1, length - (sizeof name - 1));
	return length;
}

static size_t on_answer(char *bytes, size_t size, size_t count, void *user)
{
	return piece_add_answer(user, bytes, size * count);
}

static int set_up(struct piece *piece)
{
	struct parts *p = piece->parts;
	CURL *e = piece->easy;
	piece->part->etag[0] = '\0';
	CURLcode rc = curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)piece->part->size);
	rc |= curl_easy_setopt(e, CURLOPT_HTTPHEADER, p->headers);
	rc |= curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, PARTS_BUFFER_SIZE);
	rc |= curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
	rc |= curl_easy_setopt(e, CURLOPT_READDATA, piece);
	rc |= curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
	rc |= curl_easy_setopt(e, CURLOPT_SEEKDATA, piece);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERDATA, piece);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_answer);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEDATA, piece);
	return (int)rc;
}

/* The store may answer before it has received everything. */
static const char *check(const struct piece *piece, long status)
{
	(void)status;
	if (piece->at != piece->part->size)
		return "The store answered before it received the whole part";
	/* The client needs the ETags of parts to complete a multipart upload; a single object needs none. */
	return piece->parts->whole || piece->part->etag[0] ? NULL : "The store's answer has no ETag";
}

const struct parts_direction parts_upload = {
	.open = open_archive, .close = close_archive, .set_up = set_up, .check = check};
