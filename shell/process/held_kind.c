/* Processes as objects with a holder, see shell/held/held.h: loading, adopting, files. */
#include "pty/supervise.h"
#include "shell/held/ending.h"
#include "shell/held/table.h"
#include "shell/output/output_file.h"
#include "shell/process/internal.h"

#include <errno.h>

static struct processes *processes_of(const struct held_table *t)
{
	return t->user;
}

static void report_error(struct held_table *t, const char *id, const char *what, int error)
{
	const struct processes *all = processes_of(t);
	all->callbacks->failed(all->user, id, what, error);
}

static void on_sweep(struct held_table *t)
{
	processes_sweep(processes_of(t));
}

static void on_regained(struct held *h)
{
	processes_of(h->table)->counters.holders_regained++;
}

static int load(struct held_table *t, const char *directory, int dir_fd, struct held **ret_held)
{
	struct process *p;
	int rc = process_create(processes_of(t), directory, dir_fd, &p);
	if (rc < 0)
		return rc;
	rc = process_meta_load(p->held.link.dir_fd, p);
	if (rc < 0) {
		process_release(p);
		return rc;
	}
	*ret_held = &p->held;
	return 0;
}

static void on_found(struct held *h)
{
	struct process *p = process_of_held(h);
	struct processes *t = p->table;
	bool ending = h->place == HELD_ENDING;
	int rc = ending ? -ENOENT : process_load_output(p, h->link.dir_fd);
	if (rc < 0 && rc != -ENOENT)
		t->callbacks->failed(t->user, h->directory, "cannot read its output", rc);
	p->state = ending         ? PROCESS_REMOVING
		: p->ended_ms > 0 ? PROCESS_ENDED
		: p->pid > 0      ? PROCESS_RUNNING
				  : PROCESS_STARTING;
	t->counters.adopted += p->output == PROCESS_OUTPUT_FILE;
	t->running += !ending && p->state != PROCESS_ENDED;
}

/* Once the output is in a file, the holder is not needed any more: end it. */
static bool is_only_ending(struct held *h, int error)
{
	struct process *p = process_of_held(h);
	if (p->output != PROCESS_OUTPUT_FILE)
		return false;
	h->holder_lost = error == -ECONNREFUSED || error == -ENOENT;
	if (error == 0)
		process_await_attach(p, 0);
	else
		process_end_holder(p);
	return true;
}

static void continue_end(struct held *h)
{
	process_await_attach(process_of_held(h), 0);
}

static bool is_awaited(const struct held *h)
{
	const struct process *p = process_of_held(h);
	return p->output == PROCESS_OUTPUT_NONE && !h->holder_lost;
}

static void on_holder_died(struct held *h)
{
	struct process *p = process_of_held(h);
	process_move_tree(p, PROCESS_TREE_GONE);
	processes_remove(p, 0, NULL);
}

static int compare(const struct held *a, const struct held *b)
{
	uint64_t first = process_of_held(a)->created_ms, second = process_of_held(b)->created_ms;
	return (first > second) - (first < second);
}

static void on_ended(struct held *h)
{
	struct process *p = process_of_held(h);
	process_move_tree(p, PROCESS_TREE_GONE);
	process_discard(p);
}

static void on_release(struct held *h)
{
	process_release(process_of_held(h));
}

/* In the order of removal: the output first, as the rest is worthless without it. */
static const char *const files[] = {OUTPUT_FILE, OUTPUT_FILE_NEW, WIRE_SOCKET,
	HELD_ENDING_SHELL_FILE, SUPERVISE_STDIN, PROCESS_COMMAND_FILE, PROCESS_COMMAND_NEW,
	PROCESS_PREAMBLE_FILE, PROCESS_PREAMBLE_NEW, PROCESS_META_FILE, PROCESS_META_NEW,
	HELD_ENDING_FILE, NULL};

static const char *const shared[] = {
	PROCESS_COMMAND_FILE, PROCESS_PREAMBLE_FILE, SUPERVISE_STDIN, NULL};

const struct held_kind process_kind = {
	.shared = shared,
	.group = "process-",
	.folder = "processes",
	.files = files,
	.cannot_adopt = "cannot adopt a process",
	.cannot_remove = "cannot remove a process's directory",
	.report_error = report_error,
	.sweep = on_sweep,
	.take_turn = process_take_turn,
	.attached = process_on_attached,
	.failed = process_on_failed,
	.lost = process_on_lost,
	.regained = on_regained,
	.closed = process_on_closed,
	.load = load,
	.found = on_found,
	.is_only_ending = is_only_ending,
	.continue_end = continue_end,
	.is_awaited = is_awaited,
	.holder_died = on_holder_died,
	.compare = compare,
	.ended = on_ended,
	.release = on_release,
};
