/*
 * Getters, for callers that need not know the parts of a session. Nothing here changes anything or fails: before the
 * holder is attached, the epoch, pids and offsets are 0.
 */
#include "shell/exec/shell_state.h"
#include "shell/session/session.h"
#include "shell/session/sessions.h"

const char *session_id(const struct session *s)
{
	return s->pane.held.id;
}

bool session_is_readable(const struct session *s)
{
	return s->pane.history_open;
}

uint64_t session_epoch(const struct session *s)
{
	return s->pane.history_open ? s->pane.held.link.info.epoch : 0;
}

ssize_t session_directory(const struct session *s, char *ret_path, size_t size)
{
	*ret_path = '\0';
	return session_shell_pid(s) > 0 ? exec_shell_directory(&s->executor, ret_path, size) : 0;
}

pid_t session_shell_pid(const struct session *s)
{
	return s->pane.history_open ? s->pane.held.link.info.shell_pid : 0;
}

pid_t session_holder_pid(const struct session *s)
{
	return s->pane.history_open ? s->pane.held.link.info.holder_pid : 0;
}

uint64_t session_end_offset(const struct session *s)
{
	return s->pane.history.end_offset;
}

size_t session_queued(const struct session *s)
{
	return link_input_queued(&s->pane.held.link);
}

bool session_is_settled(const struct session *s)
{
	return session_queued(s) == 0 && executor_is_settled(&s->executor);
}

unsigned session_survivors(const struct session *s)
{
	return s->pane.held.survivors;
}

const struct ring *session_ring(const struct session *s)
{
	return &s->pane.held.link.ring;
}

const struct stream *session_bytes(const struct session *s)
{
	return &s->pane.held.link.ring.bytes;
}

struct history *session_history(struct session *s)
{
	return &s->pane.history;
}

const struct presence *session_presence(const struct session *s)
{
	return &s->presence;
}

const struct lease *session_keyboard(const struct session *s)
{
	return &s->typing.lease;
}

const struct typed *session_typed(const struct session *s)
{
	return &s->typing.typed;
}

struct executor *session_executor(struct session *s)
{
	return &s->executor;
}

struct blocks *session_blocks(struct session *s)
{
	return &s->blocks;
}

struct journal *session_journal(struct session *s)
{
	return &s->pane.journal;
}

bool session_log_is_behind(const struct session *s)
{
	return s->executor.log.behind || s->blocks.log.behind;
}
