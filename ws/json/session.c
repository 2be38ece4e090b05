/* Sessions, their exits, times, signals and leases as JSON. */
#include "ws/json/session.h"

#include "shell/clock.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
	const char *name;
	int number;
} signals[] = {{"HUP", SIGHUP}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"KILL", SIGKILL},
	{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"CONT", SIGCONT},
	{"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"WINCH", SIGWINCH}, {"ABRT", SIGABRT},
	{"SEGV", SIGSEGV}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"BUS", SIGBUS}, {"FPE", SIGFPE},
	{"ILL", SIGILL}, {"TRAP", SIGTRAP}, {"SYS", SIGSYS}, {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}};

json_t *time_json(uint64_t wall_ms)
{
	char text[CLOCK_TEXT_SIZE];
	if (wall_ms == 0)
		return json_null();
	clock_format(wall_ms, text);
	return json_string(text);
}

json_t *signal_json(int number)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].number == number)
			return json_string(signals[i].name);
	return json_sprintf("%d", number);
}

json_t *session_exit_json(const struct session *s)
{
	bool known = session_end_is_known(s->end);
	bool signalled = known && WIFSIGNALED(s->exit_status);
	static const char *const reasons[] = {[SESSION_END_EXITED] = "exited",
		[SESSION_END_SIGNAL] = "signal",
		[SESSION_END_HOLDER_DIED] = "holder_died"};
	return json_pack("{s:o, s:o, s:s, s:I}", "code",
		known && !signalled ? json_integer(WEXITSTATUS(s->exit_status)) : json_null(),
		"signal", signalled ? signal_json(WTERMSIG(s->exit_status)) : json_null(), "reason",
		reasons[s->end], "offset", (json_int_t)session_end_offset(s));
}

json_t *lease_json(const struct lease *l)
{
	if (!lease_is_held(l, clock_wall_ms()))
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "owner", l->owner, "author", l->author,
		"mode", l->exclusive ? "exclusive" : "advisory", "expiresAt",
		time_json(l->expires_ms), "sinceAt", time_json(l->since_ms), "heir",
		l->heir.id[0] ? json_string(l->heir.owner) : json_null());
}

json_t *lease_note_json(const struct lease *l)
{
	const struct lease_note *n = &l->note;
	if (!n->text[0])
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:o}", "text", n->text, "by", n->by, "author", n->author,
		"at", time_json(n->at_ms));
}

json_t *session_restart_json(const struct session *s)
{
	int status = s->restart_status;
	return json_pack("{s:b, s:I, s:o, s:o}", "restarted", 1, "restarts", (json_int_t)s->restarts,
		"exitCode", WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(),
		"signal", WIFSIGNALED(status) ? signal_json(WTERMSIG(status)) : json_null());
}

static json_t *argv_json(char *const *argv)
{
	json_t *list = json_array();
	for (; *argv; argv++)
		json_array_append_new(list, json_string(*argv));
	return list;
}

json_t *session_json(const struct session *s)
{
	char epoch[17];
	bool exited = s->state == SESSION_EXITED;
	snprintf(epoch, sizeof epoch, "%016" PRIx64, session_epoch(s));
	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:o, s:o, s:I, s:I, s:I, s:i, s:I, s:s, s:s, s:I, s:o}",
		"id", session_id(s), "name", s->name, "epoch", epoch, "state",
		session_state_name(s), "shell", s->pane.shell, "cwd", s->pane.cwd, "pid",
		session_shell_pid(s), "cols", (int)s->pane.cols, "rows", (int)s->pane.rows,
		"sizePolicy", size_policy_name(session_presence(s)->policy), "createdAt",
		time_json(s->created_ms), "lastActivityAt", time_json(s->pane.activity_ms),
		"offset", (json_int_t)session_head(s), "oldest", (json_int_t)session_oldest(s),
		"ringSize", (json_int_t)session_bytes(s)->size, "clients",
		(int)session_presence(s)->count, "idleTimeoutMs", (json_int_t)s->idle_timeout_ms,
		"unicode", screen_unicode_name(s->pane.unicode), "onShellExit",
		shell_exit_name(s->on_shell_exit), "shellRestarts", (json_int_t)s->restarts, "exit",
		exited ? session_exit_json(s) : json_null());
	if (json)
		json_object_set_new(json, "history", json_boolean(s->executor.history));
	if (json && s->argv)
		json_object_set_new(json, "argv", argv_json(s->argv));
	if (json && s->shell_arguments)
		json_object_set_new(json, "shellArgs", argv_json(s->shell_arguments));
	return json;
}

int signal_number(const json_t *signal)
{
	const char *name = json_string_value(signal);
	json_int_t number = json_integer_value(signal);
	if (name && strlen(name) == json_string_length(signal))
		return signal_parse(name);
	return json_is_integer(signal) && number >= 1 && number < NSIG ? (int)number : -1;
}

int signal_parse(const char *name)
{
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].number;
	return -1;
}
