/*
 * Download: each part is requested as a range and written at its offset of an unnamed file, which finally
 * becomes the archive.
 */
#include "shell/backup/parts_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *open_file(struct parts *p)
{
	const struct replace_options options = {.parents = true};
	int rc = replace_open(&p->place, p->path, &options, &p->file);
	if (rc < 0)
		return "The archive cannot be written there";
	/* The mode of archives that create.bash makes. */
	if (!p->file.existed && fchmod(p->file.fd, 0600) < 0)
		parts_fail(p, NULL, 0, "The archive cannot be written there");
	/* Reserve the space before any request, if the file system can. */
	if (fallocate(p->file.fd, 0, 0, (off_t)p->total) < 0 && errno != EOPNOTSUPP &&
		errno != ENOSYS)
		parts_fail(p, NULL, 0,
			errno == ENOSPC ? "The disk has not enough space"
					: "The archive cannot be written there");
	return NULL;
}

static void close_file(struct parts *p, bool good)
{
	if (!good)
		replace_abort(&p->file);
	else if (replace_commit(&p->file) < 0)
		parts_fail(p, NULL, 0, "The archive cannot be synced and renamed");
}

static long status_of(const struct piece *piece)
{
	long status = 0;
	curl_easy_getinfo(piece->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
	struct piece *piece = user;
	struct parts *p = piece->parts;
	size_t length = size * count;
	long status = status_of(piece);
	if (atomic_load(&p->cancelled))
		return 0;
	if (status < 200 || status > 299)
		return piece_add_answer(piece, bytes, length);
	if (piece->part->ranged && status != 206) {
		parts_fail(p, piece, (int)status, "The store ignored the requested range");
		return 0;
	}
	if (length > piece->part->size - piece->at) {
		parts_fail(p, piece, (int)status, "The store sent more bytes than the part has");
		return 0;
	}
	int rc = replace_write_at(&p->file, piece->part->offset + piece->at, bytes, length);
	if (rc < 0) {
		parts_fail(p, piece, 0,
			rc == -ENOSPC ? "The disk has not enough space"
				      : "The archive cannot be written");
		return 0;
	}
	piece_advance(piece, length);
	return length;
}

static int set_up(struct piece *piece)
{
	CURL *e = piece->easy;
	char range[48];
	CURLcode rc = curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
	snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, piece->part->offset,
		piece->part->offset + piece->part->size - 1);
	if (piece->part->ranged)
		rc |= curl_easy_setopt(e, CURLOPT_RANGE, range);
	rc |= curl_easy_setopt(e, CURLOPT_BUFFERSIZE, PARTS_BUFFER_SIZE);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEDATA, piece);
	return (int)rc;
}

bool parts_parse_number(const char **at, uint64_t *ret_number)
{
	char *end;
	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

/* Whether the answer's Content-Range is the requested one. */
static bool is_requested_range(const struct piece *piece)
{
	struct curl_header *header;
	uint64_t first, last;
	if (curl_easy_header(piece->easy, "Content-Range", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return false;
	const char *at = header->value;
	if (strncmp(at, "bytes ", 6) != 0)
		return false;
	at += 6;
	return parts_parse_number(&at, &first) && *at++ == '-' && parts_parse_number(&at, &last) &&
		first == piece->part->offset && last - first + 1 == piece->part->size;
}

static const char *check(const struct piece *piece, long status)
{
	if (piece->part->ranged && (status != 206 || !is_requested_range(piece)))
		return "The store sent another range than the requested one";
	return piece->at == piece->part->size ? NULL
					      : "The store sent fewer bytes than the part has";
}

const struct parts_direction parts_download = {
	.open = open_file, .close = close_file, .set_up = set_up, .check = check};
