/* POST /api/backup/download: fetch an archive from a store, in ranges of presigned URLs. */
#include "ws/api/backup/fields.h"
#include "ws/api/backup/transfer.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <stdlib.h>
#include <string.h>

static json_t *size_json(const struct parts_result *result)
{
	return json_pack("{s:I}", "sizeBytes", (json_int_t)result->total);
}

/* Parse "bytes=FIRST-LAST". FIRST must be the part's offset. Sets its size. */
static bool parse_range(const char *text, struct part *p)
{
	static const char unit[] = "bytes=";
	uint64_t first, last;
	if (strncmp(text, unit, sizeof unit - 1) != 0)
		return false;
	text += sizeof unit - 1;
	if (!parts_parse_number(&text, &first) || *text++ != '-' ||
		!parts_parse_number(&text, &last) || *text || first != p->offset || last < first ||
		last - first >= PARTS_TOTAL_MAX)
		return false;
	p->ranged = true;
	p->size = last - first + 1;
	return true;
}

static const char *parse_part(const json_t *value, struct part *p)
{
	const json_t *offset = json_object_get(value, "offset");
	const char *url, *range;
	if (!json_is_integer(offset) || json_integer_value(offset) < 0)
		return "Each offset must be a whole number, 0 or more";
	p->offset = (uint64_t)json_integer_value(offset);
	if (!body_find_text(value, "range", &range) || (range && !parse_range(range, p)))
		return "Each range must be bytes=FIRST-LAST, and FIRST the offset of its part";
	if (!body_find_text(value, "url", &url) || !url || !parts_url_is_valid(url))
		return BACKUP_URLS_RULE;
	p->url = strdup(url);
	return NULL;
}

static int by_offset(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sort the parts, which must cover each byte of total once. */
static const char *check_parts(struct part *all, size_t count, uint64_t total)
{
	static const char wrong[] = "The parts must cover each byte of expectedSize once";
	uint64_t at = 0;
	qsort(all, count, sizeof *all, by_offset);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].ranged)
			all[i].size = total;
		if (all[i].offset != at || all[i].size > total - at)
			return wrong;
		all[i].number = (unsigned)i + 1;
		at += all[i].size;
	}
	return at == total ? NULL : wrong;
}

static bool parse_total(const struct backup_fields *f, uint64_t *ret_total)
{
	const json_t *size = json_object_get(f->body, "expectedSize");
	if (!json_is_integer(size) || json_integer_value(size) < 1 ||
		json_integer_value(size) > (json_int_t)PARTS_TOTAL_MAX)
		return backup_refuse(f->request, "expectedSize", "Must be from 1 byte to 256 GiB");
	*ret_total = (uint64_t)json_integer_value(size);
	return true;
}

static void download(struct request *r)
{
	static const struct transfer_kind kind = {.operation = "backup.download",
		.event = "downloaded",
		.code = "BACKUP_RESTORE_FAILED",
		.failed = "The backup could not be downloaded",
		.parse = parse_part,
		.check = check_parts,
		.result = size_json};
	struct parts_options o = {.fetch = true};
	char archive[BODY_PATH_MAX];
	uint64_t total = 0;
	json_t *body = body_read(r);
	const struct backup_fields fields = {api_of(r), r, body};
	if (body && backup_parse_transfer(&fields, archive, &o.timeout_ms) &&
		parse_total(&fields, &total) &&
		(o.all = transfer_parse_parts(&fields, &kind, total, &o.count)))
		transfer_start(r, &kind, archive, &o);
}

const struct route_row api_backup_download_rows[] = {
	{METHOD_POST, "/api/backup/download", ROUTE_OWNER, .plain = download},
	{.path = NULL},
};
