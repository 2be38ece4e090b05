/* POST /api/backup/prepare: what a restoration needs to know first, which is how much of its archive is here already. */
#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "ws/api/backup/fields.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct search {
	struct job job;
	struct request *request; /* a reference of ours */
	struct place place;
	char path[PLACE_PATH_MAX]; /* in there */
	uint64_t size;             /* 0: it is not there */
	int error;                 /* a negative errno */
};

static void on_work(struct job *job)
{
	struct search *l = (struct search *)job;
	struct content archive;
	(void)mkdir(l->place.cwd, 0755); /* if it cannot be made, it cannot be entered */
	l->error = place_enter(&l->place);
	if (l->error < 0)
		return;
	l->error = content_open(&l->place, l->path, &archive);
	place_leave(&l->place);
	if (l->error < 0) {
		l->error = l->error == -ENOENT ? 0 : l->error;
		return;
	}
	l->size = (uint64_t)archive.st.st_size;
	content_close(&archive);
}

static void on_done(struct job *job, int error)
{
	struct search *l = (struct search *)job;
	struct request *r = l->request;
	char message[160];
	error = error < 0 ? error : l->error;
	snprintf(message, sizeof message, "The archive's place cannot be used: %s",
		error_text(error));
	if (!r->done && error < 0)
		reply_error(r, "BACKUP_RESTORE_FAILED", message,
			json_pack("{s:s}", "operation", "backup.prepare"));
	else if (!r->done)
		reply_success(r, json_pack("{s:I}", "existingSize", (json_int_t)l->size));
	request_unref(r);
	free(l);
}

static void start(const struct api *a, struct request *r, const char *archive)
{
	const char *root = backup_root(a, archive), *rest = archive + strlen(root);
	struct search *l = calloc(1, sizeof *l);
	if (!l || !place_of_directory(&l->place, root)) {
		free(l);
		refuse_memory(r);
		return;
	}
	l->place.beneath = true;
	snprintf(l->path, sizeof l->path, "%s", rest + strspn(rest, "/"));
	l->job = (struct job){.work = on_work, .done = on_done};
	access_whose(&r->principal, "", l->job.whose, sizeof l->job.whose);
	l->request = request_ref(r);
	if (crew_send(a->crew, &l->job) == 0)
		return;
	request_unref(r);
	free(l);
	reply_error(r, "LIMIT_REACHED", "There is nobody to look for it now", NULL);
}

static void prepare(struct request *r)
{
	const struct api *a = api_of(r);
	char keep[BODY_PATH_MAX], dir[BODY_PATH_MAX], archive[BODY_PATH_MAX];
	json_t *body = body_read(r);
	const struct backup_fields fields = {a, r, body};
	if (body && backup_may_ask(&fields) && backup_dir(&fields, true, dir) &&
		backup_keep(a, r, keep) && backup_archive(&fields, keep, archive))
		start(a, r, archive);
	json_decref(body);
}

const struct route_row api_backup_prepare_rows[] = {
	{METHOD_POST, "/api/backup/prepare", WHO_OWNER_OR_TRUSTED, .plain = prepare},
	{.path = NULL},
};
