/*
 * POST /api/backup/upload-parts sends an archive to a store in parts, to presigned URLs; POST
 * /api/backup/upload sends it as a whole.
 */
#include "ws/api/backup/fields.h"
#include "ws/api/backup/transfer.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <stdlib.h>
#include <string.h>

static json_t *parts_json(const struct parts_result *result)
{
	json_t *list = json_array();
	for (size_t i = 0; i < result->count; i++)
		json_array_append_new(list,
			json_pack("{s:i, s:s}", "partNumber", (int)result->all[i].number, "etag",
				result->all[i].etag));
	return json_pack("{s:o}", "parts", list);
}

static json_t *whole_json(const struct parts_result *result)
{
	const char *etag = result->all[0].etag;
	return json_pack(
		"{s:I, s:s*}", "sizeBytes", (json_int_t)result->total, "etag", *etag ? etag : NULL);
}

static const char *parse_part(const json_t *value, struct part *p)
{
	const json_t *number = json_object_get(value, "partNumber");
	const json_t *offset = json_object_get(value, "offset");
	const json_t *size = json_object_get(value, "size");
	const char *url;
	if (!json_is_integer(number) || json_integer_value(number) < 1 ||
		json_integer_value(number) > (json_int_t)PARTS_NUMBER_MAX)
		return "Each partNumber must be from 1 to 10000";
	if (!json_is_integer(offset) || json_integer_value(offset) < 0)
		return "Each offset must be a whole number, 0 or more";
	if (!json_is_integer(size) || json_integer_value(size) < 1 ||
		json_integer_value(size) > (json_int_t)PARTS_SIZE_MAX)
		return "Each size must be from 1 byte to 5 GiB";
	if (!body_find_text(value, "url", &url) || !url || !parts_url_is_valid(url))
		return BACKUP_URLS_RULE;
	p->number = (unsigned)json_integer_value(number);
	p->offset = (uint64_t)json_integer_value(offset);
	p->size = (uint64_t)json_integer_value(size);
	p->url = strdup(url);
	return NULL;
}

/* Part numbers must differ. */
static const char *check_parts(struct part *all, size_t count, uint64_t total)
{
	bool seen[PARTS_NUMBER_MAX + 1] = {false};
	(void)total;
	for (size_t i = 0; i < count; i++) {
		if (seen[all[i].number])
			return "Each partNumber must be unique";
		seen[all[i].number] = true;
	}
	return NULL;
}

static void upload_parts(struct request *r)
{
	static const struct transfer_kind kind = {.operation = "backup.upload",
		.event = "uploaded",
		.code = "BACKUP_CREATE_FAILED",
		.failed = "The backup could not be uploaded",
		.parse = parse_part,
		.check = check_parts,
		.result = parts_json};
	struct parts_options o = {.count = 0};
	char archive[BODY_PATH_MAX];
	json_t *body = body_read(r);
	const struct backup_fields fields = {api_of(r), r, body};
	if (body && backup_parse_transfer(&fields, archive, &o.timeout_ms) &&
		(o.all = transfer_parse_parts(&fields, &kind, 0, &o.count)))
		transfer_start(r, &kind, archive, &o);
}

/* Parse "url" as the only part; its size is that of the archive. Returns it, owned, or NULL likewise. */
static struct part *parse_whole(const struct backup_fields *f)
{
	const char *url;
	if (!body_find_text(f->body, "url", &url) || !url || !parts_url_is_valid(url)) {
		backup_refuse(f->request, "url", BACKUP_URL_RULE);
		return NULL;
	}
	struct part *part = calloc(1, sizeof *part);
	if (part) {
		part->number = 1;
		part->url = strdup(url);
	}
	if (part && part->url)
		return part;
	free(part);
	refuse_memory(f->request);
	return NULL;
}

static void upload(struct request *r)
{
	static const struct transfer_kind kind = {.operation = "backup.upload",
		.event = "uploaded",
		.code = "BACKUP_CREATE_FAILED",
		.failed = "The backup could not be uploaded",
		.result = whole_json};
	struct parts_options o = {.count = 1, .whole = true};
	char archive[BODY_PATH_MAX];
	json_t *body = body_read(r);
	const struct backup_fields fields = {api_of(r), r, body};
	if (body && backup_parse_transfer(&fields, archive, &o.timeout_ms) &&
		(o.all = parse_whole(&fields)))
		transfer_start(r, &kind, archive, &o);
}

const struct route_row api_backup_upload_rows[] = {
	{METHOD_POST, "/api/backup/upload-parts", ROUTE_OWNER, .plain = upload_parts},
	{METHOD_POST, "/api/backup/upload", ROUTE_OWNER, .plain = upload},
	{.path = NULL},
};
