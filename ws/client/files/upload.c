#include "ws/client/files/upload.h"

#include "ws/client/connect/body_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int find_status(struct cli *cli, const struct body_stream *s, const char *name)
{
	struct answer *a = s->answer;
	answer_parse(a);
	if (s->read_error < 0)
		return cli_fail(cli, "%s: %s", name, strerror(-s->read_error));
	if (s->error < 0)
		return call_report_lost(cli, s->error);
	if (a->status < 200 || a->status > 299)
		return call_report_error(cli, a);
	const json_t *size = json_object_get(a->json, "size");
	if (!size || (uint64_t)json_integer_value(size) != s->size)
		return cli_fail(cli, "the server has not received as many bytes as were sent");
	return 0;
}

int upload_file(struct cli *cli, const struct upload_source *from, const struct place *to,
	struct answer *ret_answer)
{
	*ret_answer = (struct answer){0};
	struct body_stream *s = calloc(1, sizeof *s);
	if (!s)
		return call_report_lost(cli, -ENOMEM);
	*s = (struct body_stream){.cli = cli, .fd = from->fd, .answer = ret_answer};
	body_stream_open(s, place_url(to, from->parents));
	while (!s->over)
		uv_run(&cli->loop, UV_RUN_ONCE);
	body_stream_close(s);
	int status = find_status(cli, s, from->name);
	if (status != 0)
		answer_finish(ret_answer);
	free(s);
	return status;
}
