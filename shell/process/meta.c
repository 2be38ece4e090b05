/* process.json: the facts of a process for the next server. */
#include "shell/clock.h"
#include "shell/process/internal.h"
#include "shell/store/document.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META_MAX (8 * PROCESS_COMMAND_SHOWN)

int process_meta_save(int dir_fd, const struct process *p)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:b, s:s, s:I, s:I, s:I, s:I}", "id", p->held.id,
		"session", p->session, "command", p->command, "commandCut", p->command_cut, "cwd",
		p->cwd, "createdAt", (json_int_t)p->created_ms, "createdBoot",
		(json_int_t)p->created_boot_ms, "timeoutMs", (json_int_t)p->timeout_ms, "pid",
		(json_int_t)p->pid);
	json_t *flags = json_pack("{s:b, s:b, s:b, s:b}", "inputPipe",
		p->input.state != PROCESS_INPUT_NONE, "inputClosed",
		p->input.state == PROCESS_INPUT_CLOSED, "timedOut", p->timed_out, "killAsked",
		p->kill_asked);
	json_t *end = p->ended_ms == 0
		? json_null()
		: json_pack("{s:I, s:I, s:i, s:i, s:I}", "at", (json_int_t)p->ended_ms, "boot",
			  (json_int_t)p->ended_boot_ms, "status", p->wait_status, "error", p->error,
			  "offset", (json_int_t)p->end_offset);
	json_object_set_new(root, "flags", flags);
	json_object_set_new(root, "end", end);
	if (!flags || !end) {
		json_decref(root);
		root = NULL;
	}
	return document_save(dir_fd, PROCESS_META_FILE, root);
}

/*
 * boot: the time of the end since boot, as stored; INT64_MIN: not stored. After a reboot it is in the future or means
 * a later time than that of the end: then the process is kept longer, by at most its time to live.
 */
static int64_t read_boot(json_int_t boot, uint64_t ended_ms)
{
	bool plausible = boot <= (json_int_t)clock_boot_ms() && boot > -(json_int_t)clock_wall_ms();
	return plausible ? boot : clock_boot_of_wall_ms(ended_ms);
}

static int read_end(struct process *p, const json_t *end)
{
	json_int_t at, offset, boot = INT64_MIN;
	if (json_is_null(end))
		return 0;
	if (json_unpack((json_t *)(uintptr_t)end, "{s:I, s?I, s:i, s:i, s:I}", "at", &at, "boot",
		    &boot, "status", &p->wait_status, "error", &p->error, "offset", &offset) < 0 ||
		at <= 0 || offset < 0)
		return -EBADMSG;
	p->ended_ms = (uint64_t)at;
	p->ended_boot_ms = read_boot(boot, p->ended_ms);
	p->end_offset = (uint64_t)offset;
	return 0;
}

static int read_meta(struct process *p, const json_t *root)
{
	const char *id, *session, *command, *cwd;
	json_int_t created, boot, timeout, pid;
	json_t *end;
	int cut, pipe, closed, timed_out, kill_asked;
	if (json_unpack((json_t *)(uintptr_t)root,
		    "{s:s, s:s, s:s, s:b, s:s, s:I, s:I, s:I, s:I, s:{s:b, s:b, s:b, s:b}, s:o}",
		    "id", &id, "session", &session, "command", &command, "commandCut", &cut, "cwd",
		    &cwd, "createdAt", &created, "createdBoot", &boot, "timeoutMs", &timeout, "pid",
		    &pid, "flags", "inputPipe", &pipe, "inputClosed", &closed, "timedOut",
		    &timed_out, "killAsked", &kill_asked, "end", &end) < 0)
		return -EBADMSG;
	if (!processes_id_is_valid(id) || (*session && !name_is_id(session)) || created < 0 ||
		boot < 0 || timeout < 0 || pid < 0 || pid > INT32_MAX)
		return -EBADMSG;
	p->command = strdup(command);
	p->cwd = strdup(cwd);
	if (!p->command || !p->cwd)
		return -ENOMEM;
	snprintf(p->held.id, sizeof p->held.id, "%s", id);
	snprintf(p->session, sizeof p->session, "%s", session);
	p->command_cut = cut;
	p->created_ms = (uint64_t)created;
	p->created_boot_ms = (uint64_t)boot;
	p->timeout_ms = (uint64_t)timeout;
	p->pid = (pid_t)pid;
	p->input.state = !pipe ? PROCESS_INPUT_NONE
		: closed       ? PROCESS_INPUT_CLOSED
			       : PROCESS_INPUT_OPEN;
	p->timed_out = timed_out;
	p->kill_asked = kill_asked;
	return read_end(p, end);
}

int process_meta_load(int dir_fd, struct process *p)
{
	json_t *root;
	int rc = document_load(dir_fd, PROCESS_META_FILE, META_MAX, &root);
	if (rc < 0)
		return rc;
	rc = read_meta(p, root);
	json_decref(root);
	return rc;
}
