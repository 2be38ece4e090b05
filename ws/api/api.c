/*
 * Opening and closing the API, its table of routes, and notifying the followers of the list of sessions: at once, and
 * then at most every ANNOUNCE_MS.
 */
#include "ws/api/api.h"

#include "shell/bounds.h"
#include "shell/output/inlet.h"
#include "shell/watch/watch.h"
#include "ws/api/listening.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/hook/hooks.h"
#include "ws/preview/previews.h"

#include <utlist.h>

#define ANNOUNCE_MS 200u

void api_register(struct api *a, struct routes *all)
{
	static const struct route_row *const files[] = {api_backup_download_rows, api_backup_rows,
		api_backup_upload_rows, api_block_output_rows, api_block_rows,
		api_bridge_archive_rows, api_bridge_exec_rows, api_bridge_file_rows, api_bridge_rows,
		api_bridge_session_rows, api_commands_rows, api_context_execute_rows,
		api_context_rows, api_drain_rows, api_events_rows, api_exec_rows, api_execute_rows,
		api_file_change_rows, api_file_download_rows, api_file_list_rows, api_file_read_rows,
		api_file_stat_rows, api_file_stream_rows, api_file_upload_rows, api_file_write_rows,
		api_git_rows, api_keys_rows, api_lease_rows, api_listening_rows, api_login_rows,
		api_port_rows, api_ports_rows, api_process_output_rows, api_process_rows,
		api_process_stream_rows, api_process_wait_rows, api_run_rows, api_screen_rows,
		api_server_rows, api_session_create_rows, api_session_list_rows, api_session_rows,
		api_share_rows, api_state_rows, api_stdin_rows, api_terminate_rows, api_nodes_rows,
		api_upgrade_rows, api_wait_rows, api_watch_rows};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		routes_add(all, files[i], a);
}

static void announce(struct api *a)
{
	struct list_stream *l, *next;
	a->announced_ms = uv_now(a->announce.loop);
	if (a->previews)
		previews_prune(a->previews);
	a->list_version++;
	activities_sync(a->activities);
	if (a->fleet)
		a->fleet->changed(a->fleet->user);
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

static void on_activity(void *user)
{
	api_notify_activity(user);
}

static void on_moved(void *user, const struct activity *a)
{
	struct api *api = user;
	hooks_report_state(api->hooks, a);
}

static void on_happened(void *user, const struct activity *a, const struct journal_entry *entry)
{
	struct api *api = user;
	hooks_report_entry(api->hooks, a, entry);
}

unsigned api_share(const struct request *r, unsigned most)
{
	return r->principal.session[0] ? most - most / 4 : most;
}

int api_open(struct api *a, uv_loop_t *loop)
{
	static const struct activities_callbacks callbacks = {
		.changed = on_activity, .moved = on_moved, .happened = on_happened};
	a->alias = workspace_alias(a->workspace);
	a->code_cwd = workspace_alias_exists() && !a->workspace_chosen ? WORKSPACE_ALIAS
								       : a->sessions->config.cwd;
	int rc = uv_timer_init(loop, &a->announce);
	if (rc < 0)
		return rc;
	const struct bounds *bounds = a->sessions->config.bounds;
	rc = watches_open(loop, a->workspace, bounds->user, bounds->isolation != NULL, &a->watches);
	if (rc < 0)
		goto err_announce;
	rc = inlets_open(loop, a->sessions->config.runtime_dir, INLET_WRITER_MS, &a->inlets);
	if (rc < 0)
		goto err_watches;
	rc = listening_open(a, loop);
	if (rc < 0)
		goto err_inlets;
	rc = activities_open(loop, a->sessions, &callbacks, a, &a->activities);
	if (rc < 0)
		goto err_listening;
	rota_open(&a->rota, loop, 0);
	rota_open(&a->drawing_rota, loop, 1);
	a->announce.data = a;
	uv_unref((uv_handle_t *)&a->announce);
	a->announce_open = true;
	a->list_version = 1;
	return 0;
err_listening:
	listening_close(a);
err_inlets:
	inlets_close(a->inlets);
err_watches:
	watches_close(a->watches);
err_announce:
	uv_close((uv_handle_t *)&a->announce, NULL);
	return rc;
}

void api_close(struct api *a)
{
	watches_close(a->watches);
	a->watches = NULL;
	inlets_close(a->inlets);
	a->inlets = NULL;
	listening_close(a);
	activities_close(a->activities);
	a->activities = NULL;
	rota_close(&a->rota);
	rota_close(&a->drawing_rota);
	uv_close((uv_handle_t *)&a->announce, NULL);
	a->announce_open = false;
}
