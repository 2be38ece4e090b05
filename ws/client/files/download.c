/*
 * A body of status 200 is passed on piece by piece; any other answer is kept for the error message.
 * While take() blocks, nothing is read, and the server waits.
 */
#include "ws/client/files/download.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void on_head(void *user, int status, const char *content_type)
{
	struct download *d = user;
	d->answer.status = status;
	snprintf(d->answer.type, sizeof d->answer.type, "%s", content_type);
	d->good = status == 200;
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct download *d = user;
	if (d->over)
		return;
	if (!d->good) {
		d->error = answer_append(&d->answer, bytes, length);
		d->over = d->error < 0;
		return;
	}
	int rc = d->take(d->user, bytes, length);
	if (rc != 0)
		download_stop(d, rc);
	else
		d->size += length;
}

static void on_done(void *user, int error)
{
	struct download *d = user;
	d->call = NULL;
	if (!d->over)
		d->error = error;
	d->over = true;
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static int find_status(struct download *d)
{
	if (d->status != 0)
		return d->status;
	if (d->error < 0)
		return call_report_lost(d->cli, d->error);
	if (d->good)
		return 0;
	answer_parse(&d->answer);
	return call_report_error(d->cli, &d->answer);
}

int download_file(struct download *d, const struct place *from)
{
	char *url = place_url(from, false);
	d->error = url ? client_request(d->cli->client,
				 &(struct client_request){.method = "GET", .path = url}, &callbacks,
				 d, &d->call)
		       : -ENOMEM;
	free(url);
	while (d->error == 0 && !d->over)
		uv_run(&d->cli->loop, UV_RUN_ONCE);
	if (d->call)
		client_call_cancel(d->call);
	d->call = NULL;
	int status = find_status(d);
	answer_finish(&d->answer);
	return status;
}

void download_stop(struct download *d, int status)
{
	if (d->over)
		return;
	d->over = true;
	d->status = status;
}
