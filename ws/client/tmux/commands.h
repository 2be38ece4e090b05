/* The commands of tmux: names, flags, and functions, which are in the files do_*.c. */
#pragma once

#include "ws/client/tmux/args.h"
#include "ws/client/tmux/target.h"
#include "ws/client/tmux/tmux.h"

#define COMMANDS_DEPTH_MAX 50u /* nesting of commands that run commands */

/* A command that is being run. */
struct call {
	struct tmux *t;
	const struct command_row *row;
	struct args args;
	struct place at; /* the target, with ROW_SESSION, ROW_WINDOW or ROW_PANE */
};

/* Flags of a row. */
enum {
	ROW_STARTS_SERVER = 1,   /* starts a tmux server if none is running */
	ROW_NEEDS_NO_SERVER = 2, /* needs no tmux server */
	/* The type of the target -t, which is resolved before the command runs. */
	ROW_SESSION = 4,
	ROW_WINDOW = 8,
	ROW_PANE = 16,
};

/* A command in the table. */
struct command_row {
	const char *name, *alias; /* alias may be "" */
	const char *letters;      /* flags, as for getopt(3) */
	int min, max;             /* number of arguments; max -1: any */
	unsigned flags;
	int (*run)(struct call *c); /* returns 0 or 1; NULL: not available in Ringside */
	const char *usage;
};

/* All commands; the last row has no name. */
const struct command_row *commands_table(void);

/* Run the commands in words, which are separated by ";". Returns 0, or 1 with an error. */
int commands_run(struct tmux *t, char **words, unsigned count);
/* Parse and run commands. Returns 0, or 1 with an error. */
int commands_run_text(struct tmux *t, const char *text);

/*
 * Write the state, release the lock and flush the output, before something that may take long. Pointers
 * into the model become invalid. Returns 0, or a status to exit with.
 */
int commands_pause(struct tmux *t);
/* Acquire the lock and read the state again. Returns 0, or a status to exit with. */
int commands_resume(struct tmux *t);

/* Resolve -t. Returns 0, or 1 with an error. */
int commands_target(struct call *c, enum target_type type, struct place *ret_place);
/* Print a line with the format of -F; usual is the default format. */
void commands_print(struct call *c, const struct place *at, const char *usual);
/*
 * Parse a number between bounds[0] and bounds[1]. Returns false with an error, such as "NAME too small".
 */
bool commands_number(
	struct call *c, const char *name, const char *text, const int bounds[2], int *ret_number);
/*
 * Parse the size of a new pane: -l (cells, or a percentage of all) or -p (a percentage). *ret_size is -1 if
 * neither is given. Returns false with an error.
 */
bool commands_pane_size(struct call *c, int all, int *ret_size);
/* Compare strings of an array, for qsort(3). */
int commands_compare_names(const void *a, const void *b);

/* The functions below implement one or several commands of tmux(1). Each returns 0, or 1 with an error. */

/* new-session. */
int do_new_session(struct call *c);
/* kill-session. */
int do_kill_session(struct call *c);
/* kill-server. */
int do_kill_server(struct call *c);
/* rename-session. */
int do_rename_session(struct call *c);
/* start-server. */
int do_start_server(struct call *c);
/* attach-session: run `ringside attach` on the active pane. */
int do_attach_session(struct call *c);
/* Commands that need an attached client: fail. */
int do_no_client(struct call *c);
/* has-session, which only resolves -t; lock-server, lock-session: there are no clients to lock. */
int do_nothing(struct call *c);

/* new-window. */
int do_new_window(struct call *c);
/* kill-window. */
int do_kill_window(struct call *c);
/* select-window, next-window, previous-window, last-window. */
int do_select_window(struct call *c);
/* rename-window. */
int do_rename_window(struct call *c);
/* move-window, link-window. */
int do_move_window(struct call *c);
/* swap-window. */
int do_swap_window(struct call *c);
/* unlink-window. */
int do_unlink_window(struct call *c);
/* resize-window. */
int do_resize_window(struct call *c);

/* split-window. */
int do_split_window(struct call *c);
/* kill-pane. */
int do_kill_pane(struct call *c);
/* select-pane. */
int do_select_pane(struct call *c);
/* last-pane. */
int do_last_pane(struct call *c);
/* resize-pane. */
int do_resize_pane(struct call *c);
/* select-layout, next-layout, previous-layout. */
int do_select_layout(struct call *c);
/* swap-pane. */
int do_swap_pane(struct call *c);
/* rotate-window. */
int do_rotate_window(struct call *c);
/* break-pane. */
int do_break_pane(struct call *c);
/* join-pane, move-pane. */
int do_join_pane(struct call *c);
/* respawn-pane, respawn-window. */
int do_respawn(struct call *c);

/* list-sessions. */
int do_list_sessions(struct call *c);
/* list-windows. */
int do_list_windows(struct call *c);
/* list-panes. */
int do_list_panes(struct call *c);
/* list-clients. */
int do_list_clients(struct call *c);
/* list-commands. */
int do_list_commands(struct call *c);
/* display-message. */
int do_display_message(struct call *c);

/* send-keys. */
int do_send_keys(struct call *c);
/* capture-pane. */
int do_capture_pane(struct call *c);
/* clear-history. */
int do_clear_history(struct call *c);
/* pipe-pane. */
int do_pipe_pane(struct call *c);

/* set-buffer. */
int do_set_buffer(struct call *c);
/* load-buffer. */
int do_load_buffer(struct call *c);
/* save-buffer, show-buffer. */
int do_save_buffer(struct call *c);
/* delete-buffer. */
int do_delete_buffer(struct call *c);
/* list-buffers. */
int do_list_buffers(struct call *c);
/* paste-buffer. */
int do_paste_buffer(struct call *c);

/* set-option, set-window-option. */
int do_set_option(struct call *c);
/* show-options, show-window-options. */
int do_show_options(struct call *c);
/* set-environment. */
int do_set_environment(struct call *c);
/* show-environment. */
int do_show_environment(struct call *c);

/* wait-for. */
int do_wait_for(struct call *c);
/* run-shell. */
int do_run_shell(struct call *c);
/* if-shell. */
int do_if_shell(struct call *c);
/* source-file. */
int do_source_file(struct call *c);
