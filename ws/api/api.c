/*
 * The API's life, its routes, gathered, and how often those who follow the list of sessions are told of changes: at
 * once, and then at most every ANNOUNCE_MS.
 */
#include "ws/api/api.h"

#include "ws/api/rows.h"

#include <utlist.h>

#define ANNOUNCE_MS 200u

void api_register(struct api *a, struct routes *all)
{
	static const struct route_row *const files[] = {api_block_rows, api_commands_rows,
		api_events_rows, api_exec_rows, api_execute_rows, api_keys_rows, api_lease_rows,
		api_login_rows, api_port_rows, api_process_rows, api_process_output_rows,
		api_process_stream_rows, api_process_wait_rows, api_reference_rows, api_run_rows,
		api_screen_rows, api_server_rows, api_session_rows, api_session_create_rows,
		api_session_list_rows, api_share_rows, api_state_rows, api_stdin_rows,
		api_wait_rows};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		routes_add(all, files[i], a);
}

static void announce(struct api *a)
{
	struct list_stream *l, *next;
	a->announced_ms = uv_now(a->announce.loop);
	a->version_of_list++;
	DL_FOREACH_SAFE (a->streams, l, next)
		reply_stream_more(l->request);
}

static void on_announce(uv_timer_t *timer)
{
	announce(timer->data);
}

void api_sessions_changed(struct api *a)
{
	if (!a->announce_open || uv_is_active((const uv_handle_t *)&a->announce))
		return;
	uint64_t since = uv_now(a->announce.loop) - a->announced_ms;
	uv_timer_start(&a->announce, on_announce, since >= ANNOUNCE_MS ? 0 : ANNOUNCE_MS - since, 0);
}

int api_open(struct api *a, uv_loop_t *loop)
{
	int rc = uv_timer_init(loop, &a->announce);
	if (rc < 0)
		return rc;
	a->announce.data = a;
	uv_unref((uv_handle_t *)&a->announce);
	a->announce_open = true;
	a->version_of_list = 1;
	return 0;
}

void api_close(struct api *a)
{
	uv_close((uv_handle_t *)&a->announce, NULL);
	a->announce_open = false;
}
