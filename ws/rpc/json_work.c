/*
 * A job has its own references to the request and the JSON. jansson counts references atomically.
 */
#include "ws/rpc/json_work.h"
#include "shell/json_read.h"

#include <stdlib.h>
#include <string.h>

struct json_work {
	uv_work_t work;
	struct request *request; /* reading: our reference; otherwise NULL */
	json_t *json;            /* result of reading, or message to write; our reference */
	char *text;              /* result of writing; owned */
	size_t length;
	json_work_read_done read; /* one of the two is set; after json_work_detach() none */
	json_work_written_done written;
	void *user;
};

json_t *json_work_read_now(const struct reply *reply)
{
	if (reply->length == 0)
		return NULL;
	return json_read(reply->body, reply->length, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
}

char *json_work_write_now(const json_t *message, size_t *ret_length)
{
	char *text = json_dumps(message, JSON_COMPACT);
	*ret_length = text ? strlen(text) : 0;
	return text;
}

static void on_work(uv_work_t *work)
{
	struct json_work *a = work->data;
	if (a->request)
		a->json = json_work_read_now(&a->request->reply);
	else
		a->text = json_work_write_now(a->json, &a->length);
}

static void on_done(uv_work_t *work, int status)
{
	struct json_work *a = work->data;
	(void)status; /* always 0: it is never cancelled */
	if (a->request)
		request_unref(a->request);
	if (a->read) {
		a->read(a->user, a->json);
	} else {
		json_decref(a->json);
		if (a->written)
			a->written(a->user, a->text, a->length);
		else
			free(a->text);
	}
	free(a);
}

/* Queue the work. Takes a, unless it fails. */
static bool begin(uv_loop_t *loop, struct json_work *a)
{
	a->work.data = a;
	return uv_queue_work(loop, &a->work, on_work, on_done) == 0;
}

struct json_work *json_work_read(
	uv_loop_t *loop, struct request *r, json_work_read_done done, void *user)
{
	struct json_work *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->read = done;
	a->user = user;
	a->request = r;
	if (!begin(loop, a)) {
		free(a);
		return NULL;
	}
	request_ref(r);
	return a;
}

struct json_work *json_work_write(
	uv_loop_t *loop, json_t *message, json_work_written_done done, void *user)
{
	struct json_work *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->written = done;
	a->user = user;
	a->json = message;
	if (!begin(loop, a)) {
		free(a);
		return NULL;
	}
	json_incref(message);
	return a;
}

void json_work_detach(struct json_work *a)
{
	if (!a)
		return;
	a->read = NULL;
	a->written = NULL;
}
