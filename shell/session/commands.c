/*
 * Connects the parts of a session: its pane, and on top of that its blocks, its executor and its waits. Events that one
 * part reports to those above pass through here too.
 */
#include "shell/own_error.h"
#include "shell/session/internal.h"
#include "shell/wait/wait.h"

/* Events of the executor */

static void on_executed(void *user, const struct exec *e)
{
	struct session *s = user;
	const struct sessions *table = s->table;
	if (table->callbacks->executed)
		table->callbacks->executed(table->user, s, e);
	session_update_lease(s);
	waits_check_soon(s->waits);
}

static void on_restarted(void *user, int wait_status, bool by_holder)
{
	session_shell_restarted(user, wait_status, by_holder);
}

static void on_failed(void *user, const char *what, int error)
{
	const struct session *s = user;
	s->table->callbacks->failed(s->table->user, s->pane.held.id, what, error);
}

const struct executor_callbacks session_executor_callbacks = {
	.executed = on_executed, .restarted = on_restarted, .failed = on_failed};

/* Life */

void session_init_commands(struct session *s, struct sessions *table)
{
	s->table = table;
	s->pane.counters = &table->counters.panes;
	s->pane.screening.workers = table->workers;
	budget_join(&table->screens, &s->pane);
	s->blocks = (struct blocks){.pane = &s->pane,
		.nonce = s->executor.nonce,
		.typed = &s->typing.typed,
		.not_kept = &table->counters.blocks_not_kept,
		.find_exec = exec_find_facts,
		.user = &s->executor};
	s->executor.pane = &s->pane;
	s->executor.blocks = &s->blocks;
	s->executor.typing = &s->typing;
	s->executor.all = &table->executors;
	s->executor.user = s;
}

void session_open_commands(struct session *s)
{
	journal_open(&s->pane.journal, s->pane.history.scan.offset);
	exec_open(&s->executor, s->pane.held.adopted);
}

struct session *session_of_exec(const struct exec *e)
{
	return e->executor->user;
}

void session_state(struct session *s, struct pane_state *ret_state)
{
	pane_state(&s->pane, &s->executor, ret_state);
}

/* Waiting */

static void on_look_soon(void *user)
{
	session_schedule_turn(user);
}

int session_wait(struct session *s, const struct wait_options *options, struct wait_waiter *waiter)
{
	if (!s->pane.history_open)
		return -ERR_NOT_RUNNING;
	const struct waits_options o = {.pane = &s->pane,
		.executor = &s->executor,
		.shared = &s->table->waits,
		.look_soon = on_look_soon,
		.user = s};
	int rc = s->waits ? 0 : waits_create(&o, &s->waits);
	return rc < 0 ? rc : wait_start(s->waits, options, waiter);
}

void session_close_commands(struct session *s)
{
	waits_close(s->waits);
	s->waits = NULL;
	exec_close(&s->executor);
	typed_finish(&s->typing.typed);
	blocks_close(&s->blocks);
	journal_close(&s->pane.journal);
}
