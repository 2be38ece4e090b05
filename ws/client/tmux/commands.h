/* The commands of tmux: what they are called and take, and their functions, which stand in the files do_*.c. */
#pragma once

#include "ws/client/tmux/args.h"
#include "ws/client/tmux/target.h"
#include "ws/client/tmux/tmux.h"

#define COMMANDS_DEPTH_MAX 50u /* of commands that run commands */

/* One that is being carried out. */
struct call {
	struct tmux *t;
	const struct command_row *row;
	struct args args;
};

enum {
	ROW_STARTS = 1,  /* it starts what does not run */
	ROW_NOTHING = 2, /* it needs no server */
};

struct command_row {
	const char *name, *alias; /* alias may be "" */
	const char *letters;      /* of its flags */
	int min, max;             /* arguments; -1: any number */
	unsigned flags;
	int (*run)(struct call *c); /* returns 0 or 1; NULL: it is not done here */
	const char *usage;
};

/* All of them, ended by one without a name. */
const struct command_row *commands_table(void);
/* One by its name, its alias or its beginning. Returns NULL, having complained. */
const struct command_row *commands_find(struct tmux *t, const char *name);

/* Carry out words: a command, and more behind each ";". Returns 0 or 1. */
int commands_run(struct tmux *t, char **words, unsigned count);
/* The same of a text, as of a file. */
int commands_run_text(struct tmux *t, const char *text);

/* Give the lock back while something takes long, and take it again: whatever was found in the model is no more. */
int commands_pause(struct tmux *t);
int commands_resume(struct tmux *t);

/* -t of a command. Returns 0 or 1. */
int commands_target(struct call *c, enum target_type type, struct place *ret_place);
/* -F, or what is usual, printed as a line. */
void commands_print(struct call *c, const struct place *at, const char *usual);
/* A number from least to most. Returns false, having complained: "NAME too small". */
bool commands_number(
	struct call *c, const char *name, const char *text, const int bounds[2], int *ret_number);

int do_new_session(struct call *c);
int do_has_session(struct call *c);
int do_kill_session(struct call *c);
int do_kill_server(struct call *c);
int do_rename_session(struct call *c);
int do_start_server(struct call *c);
int do_attach_session(struct call *c);
int do_no_client(struct call *c);
int do_lock(struct call *c);

int do_new_window(struct call *c);
int do_kill_window(struct call *c);
int do_select_window(struct call *c);
int do_rename_window(struct call *c);
int do_move_window(struct call *c);
int do_swap_window(struct call *c);
int do_unlink_window(struct call *c);
int do_resize_window(struct call *c);

int do_split_window(struct call *c);
int do_kill_pane(struct call *c);
int do_select_pane(struct call *c);
int do_last_pane(struct call *c);
int do_resize_pane(struct call *c);
int do_select_layout(struct call *c);
int do_swap_pane(struct call *c);
int do_rotate_window(struct call *c);
int do_break_pane(struct call *c);
int do_join_pane(struct call *c);
int do_respawn(struct call *c);

int do_list_sessions(struct call *c);
int do_list_windows(struct call *c);
int do_list_panes(struct call *c);
int do_list_clients(struct call *c);
int do_list_commands(struct call *c);
int do_display_message(struct call *c);

int do_send_keys(struct call *c);
int do_capture_pane(struct call *c);
int do_clear_history(struct call *c);
int do_pipe_pane(struct call *c);

int do_set_buffer(struct call *c);
int do_load_buffer(struct call *c);
int do_save_buffer(struct call *c);
int do_delete_buffer(struct call *c);
int do_list_buffers(struct call *c);
int do_paste_buffer(struct call *c);

int do_set_option(struct call *c);
int do_show_options(struct call *c);
int do_set_environment(struct call *c);
int do_show_environment(struct call *c);

int do_wait_for(struct call *c);
int do_run_shell(struct call *c);
int do_if_shell(struct call *c);
int do_source_file(struct call *c);
