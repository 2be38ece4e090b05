/*
 * What a session is made of comes together here: its pane, and above that, each knowing those below it only, its blocks,
 * its executor and those who wait. What one of them has to tell those above comes through here as well.
 */
#include "shell/session/internal.h"

void session_init_commands(struct session *s, struct sessions *table)
{
	s->table = table;
	s->pane.counters = &table->counters.panes;
	s->blocks = (struct blocks){.pane = &s->pane,
		.nonce = s->executor.nonce,
		.typed = &s->typing.typed,
		.not_kept = &table->counters.blocks_not_kept,
		.find_exec = exec_find_facts,
		.user = &s->executor};
}

void session_open_commands(struct session *s)
{
	journal_open(&s->pane.journal, s->pane.history.scan.offset);
	exec_open(&s->executor, s, s->pane.held.adopted);
}
