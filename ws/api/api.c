/* The routes of the API, gathered. */
#include "ws/api/api.h"

#include "ws/api/rows.h"

void api_register(struct api *a, struct routes *all)
{
	static const struct route_row *const files[] = {api_block_rows, api_commands_rows,
		api_events_rows, api_exec_rows, api_execute_rows, api_keys_rows, api_port_rows,
		api_process_rows, api_process_output_rows, api_process_wait_rows,
		api_reference_rows, api_run_rows, api_screen_rows, api_server_rows,
		api_session_rows, api_share_rows, api_state_rows, api_stdin_rows, api_wait_rows};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		routes_add(all, files[i], a);
}
