/* The routes of each file of handlers, each ended by a row without a path. List a new file here and in api.c. */
#pragma once

#include "ws/route.h"

extern const struct route_row api_backup_rows[];
extern const struct route_row api_backup_upload_rows[];
extern const struct route_row api_backup_download_rows[];
extern const struct route_row api_block_rows[];
extern const struct route_row api_block_output_rows[];
extern const struct route_row api_bridge_rows[];
extern const struct route_row api_bridge_archive_rows[];
extern const struct route_row api_bridge_exec_rows[];
extern const struct route_row api_bridge_file_rows[];
extern const struct route_row api_bridge_session_rows[];
extern const struct route_row api_commands_rows[];
extern const struct route_row api_context_rows[];
extern const struct route_row api_context_execute_rows[];
extern const struct route_row api_drain_rows[];
extern const struct route_row api_events_rows[];
extern const struct route_row api_exec_rows[];
extern const struct route_row api_execute_rows[];
extern const struct route_row api_file_change_rows[];
extern const struct route_row api_file_download_rows[];
extern const struct route_row api_file_list_rows[];
extern const struct route_row api_file_read_rows[];
extern const struct route_row api_file_stat_rows[];
extern const struct route_row api_file_stream_rows[];
extern const struct route_row api_file_upload_rows[];
extern const struct route_row api_file_write_rows[];
extern const struct route_row api_git_rows[];
extern const struct route_row api_keys_rows[];
extern const struct route_row api_lease_rows[];
extern const struct route_row api_listening_rows[];
extern const struct route_row api_login_rows[];
extern const struct route_row api_port_rows[];
extern const struct route_row api_ports_rows[];
extern const struct route_row api_process_rows[];
extern const struct route_row api_process_output_rows[];
extern const struct route_row api_process_stream_rows[];
extern const struct route_row api_process_wait_rows[];
extern const struct route_row api_run_rows[];
extern const struct route_row api_screen_rows[];
extern const struct route_row api_server_rows[];
extern const struct route_row api_session_rows[];
extern const struct route_row api_session_create_rows[];
extern const struct route_row api_session_list_rows[];
extern const struct route_row api_share_rows[];
extern const struct route_row api_state_rows[];
extern const struct route_row api_stdin_rows[];
extern const struct route_row api_terminate_rows[];
extern const struct route_row api_nodes_rows[];
extern const struct route_row api_upgrade_rows[];
extern const struct route_row api_wait_rows[];
extern const struct route_row api_watch_rows[];
