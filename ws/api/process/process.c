/* Processes: starting, listing, killing, signalling, standard input. */
#include "ws/api/process/process.h"

#include "shell/bounds.h"
#include "shell/clock.h"
#include "shell/id.h"
#include "shell/memory_stream.h"
#include "shell/own_error.h"
#include "shell/program.h"
#include "shell/quote.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/api/inherit.h"
#include "ws/json/process.h"
#include "ws/json/session.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/error.h"
#include "ws/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRACE_MAX_MS 60000u
#define ARGV_MAX 4096u /* a program and its arguments */

/* The process in the path. Returns NULL if r has been answered. */
static struct process *find_process(struct api *a, struct request *r)
{
	struct process *p = processes_find(a->processes, r->match.id);
	if (!p)
		reply_error(r, "PROCESS_NOT_FOUND", "There is no such process",
			json_pack("{s:s}", "processId", r->match.id));
	return p;
}

struct process *api_process_find_output(struct api *a, struct request *r)
{
	struct process *p = find_process(a, r);
	int rc = p ? process_open_output(p) : 0;
	if (rc == 0)
		return p;
	reply_error(r, error_code_of(rc), "The output of the process cannot be read",
		json_pack("{s:s}", "processId", p->held.id));
	return NULL;
}

/* Starting */

/* A request that waits for the start of a process. */
struct start {
	struct process_waiter waiter;
	struct request *request;
	char cwd[BODY_PATH_MAX]; /* for messages */
};

static void reply_start_failure(
	struct request *r, const struct start *s, enum report_stage stage, int error)
{
	char message[256];
	if (stage == REPORT_CHDIR && !error_is_shortage(error)) {
		refuse_directory(r, s->cwd, error);
		return;
	}
	snprintf(message, sizeof message, "The process could not be started: %s", error_text(error));
	const char *code = error_code_of(error);
	reply_error(r, strcmp(code, "INTERNAL_ERROR") == 0 ? "PROCESS_ERROR" : code, message, NULL);
}

static void on_started(void *user, struct process *p, enum report_stage stage, int error)
{
	struct start *s = user;
	struct request *r = s->request;
	char command[LOG_COMMAND_SIZE];
	if (error < 0) {
		reply_start_failure(r, s, stage, error);
	} else {
		log_command(p->command, command);
		log_write(LOG_INFO, "process", "started", "id", p->held.id, "peer", r->peer,
			"principal", typist_author(r), "session", p->session, "command", command,
			"cwd", p->cwd, NULL);
		reply_success(r,
			json_pack("{s:s, s:i, s:s, s:s, s:s, s:o}", "processId", p->held.id, "pid",
				(int)p->pid, "command", p->command, "status", process_status(p),
				"cwd", p->cwd, "startTime", time_json(p->created_ms)));
	}
	request_unref(r);
	free(s);
}

/* Answer with the error of processes_start(). */
static void reply_refusal(
	struct api *a, struct request *r, const struct process_options *o, int error)
{
	char message[256];
	const char *cwd = o->cwd ? o->cwd : a->processes->config.cwd;
	if (refuse_if_directory(r, &o->found, cwd, error))
		return;
	switch (error) {
	case -EEXIST:
		snprintf(message, sizeof message, "A process '%s' is running", o->id);
		reply_error(r, "PROCESS_ALREADY_EXISTS", message,
			json_pack("{s:s}", "processId", o->id));
		break;
	case -ERR_LIMIT:
		reply_error(r, "LIMIT_REACHED", "There are too many processes",
			json_pack("{s:i}", "maxProcesses", (int)a->processes->config.max));
		break;
	case -E2BIG:
		reply_invalid(
			r, "command", "The command or its environment is too long", "too_long");
		break;
	default:
		reply_start_failure(r, NULL, REPORT_SETUP, error);
	}
}

static bool parse_input(struct request *r, const json_t *body, struct process_options *o)
{
	const char *input;
	if (!body_text(r, body, "stdin", &input))
		return false;
	o->input_pipe = input && strcmp(input, "pipe") == 0;
	return !input || o->input_pipe || strcmp(input, "none") == 0 ||
		reply_invalid(r, "stdin", "Must be none or pipe", "invalid");
}

static bool parse_options(struct request *r, const json_t *body, struct process_options *o)
{
	if (!body_text(r, body, "command", &o->command) ||
		!body_text(r, body, "processId", &o->id) || !body_text(r, body, "cwd", &o->cwd) ||
		!body_text(r, body, "sessionId", &o->session) ||
		!body_number(r, body, "timeoutMs", 0, BODY_TIME_MAX_MS, &o->timeout_ms) ||
		!body_flag(r, body, "hold", &o->hold) || !parse_input(r, body, o))
		return false;
	if (!o->command)
		return reply_invalid(r, "command", "command is required", "required");
	if (strspn(o->command, " \t\r\n") == strlen(o->command))
		return reply_error(r, "INVALID_COMMAND", "The command is empty",
			json_pack("{s:s}", "command", o->command));
	if (o->id && !processes_id_is_valid(o->id))
		return reply_invalid(r, "processId",
			"An id is 1 to 128 of A-Z a-z 0-9 . _ : @ -, does not begin with a dot, and is not start, list or kill-all",
			"invalid");
	if (!body_absolute(r, o->cwd))
		return false;
	if (o->session && !name_is_id(o->session))
		return reply_invalid(r, "sessionId", "Must be the id of a session", "invalid");
	o->command_length = strlen(o->command);
	return true;
}

static void start_command(struct api *a, struct request *r, const struct process_options *o)
{
	struct start *s = request_alloc(r, sizeof *s);
	if (!s)
		return;
	s->waiter = (struct process_waiter){.done = on_started, .user = s};
	s->request = request_ref(r);
	snprintf(s->cwd, sizeof s->cwd, "%s", o->cwd ? o->cwd : a->processes->config.cwd);
	int rc = processes_start(a->processes, o, &s->waiter);
	if (rc < 0) {
		reply_refusal(a, r, o, rc);
		request_unref(r);
		free(s);
	}
}

/* A program and its arguments as an `exec` command for bash. Returns owned; NULL: memory is short. */
static char *command_of(const char *const *argv)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_stream(&text, &length);
	if (!f)
		return NULL;
	fputs("exec --", f);
	for (; *argv; argv++) {
		fputc(' ', f);
		quote_put(f, *argv);
	}
	fclose(f);
	return text;
}

/* Whether a program exists. Always true in sandboxes and for another user, because the server cannot check there. */
static bool is_program(const struct api *a, const json_t *body, const char *name)
{
	const struct processes_config *c = &a->processes->config;
	const char *cwd = json_string_value(json_object_get(body, "cwd"));
	const char *list = json_string_value(json_object_get(json_object_get(body, "env"), "PATH"));
	char path[PATH_MAX];
	for (char *const *e = c->environment; !list && *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			list = *e + 5;
	if (c->bounds && (c->bounds->isolation || c->bounds->user))
		return true;
	if (!strchr(name, '/'))
		return program_find(list, name, path);
	int n = snprintf(path, sizeof path, "%s%s%s",
		*name == '/'  ? ""
			: cwd ? cwd
			      : c->cwd,
		*name == '/' ? "" : "/", name);
	return n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0;
}

/* Convert the field argv to command. Returns false if r has been answered. */
static bool convert_argv(struct api *a, struct request *r, json_t *body)
{
	const char **argv;
	char message[256];
	if (!body_argv(r, body, ARGV_MAX, PROCESS_COMMAND_MAX, &argv))
		return false;
	if (!argv)
		return true;
	char *command = command_of(argv);
	bool there = is_program(a, body, argv[0]);
	snprintf(message, sizeof message, "%.200s: there is no such program", argv[0]);
	free(argv);
	if (there && command)
		json_object_set_new(body, "command", json_string(command));
	else if (command)
		reply_error(r, "PROCESS_SPAWN_FAILED", message, NULL);
	else
		refuse_memory(r);
	free(command);
	return there && command;
}

static void start_inheriting(
	struct api *a, struct request *r, json_t *body, const struct inherited *inherited)
{
	struct process_options o = {0};
	struct body_environment env;
	char id[ID_STAMPED_SIZE];
	if (!convert_argv(a, r, body) || !parse_options(r, body, &o) ||
		!body_environment(r, body, "env", &env))
		return;
	if (!o.id) {
		/* The container's format of ids. */
		if (id_stamped(id, "proc", clock_wall_ms(), 6, 36) < 0) {
			reply_error(r, "INTERNAL_ERROR", "There are no random numbers", NULL);
			return;
		}
		o.id = id;
	}
	o.env_names = env.names;
	o.env_values = env.values;
	o.env_count = env.count;
	if (inherited) {
		o.session = inherited->session;
		o.cwd = o.cwd ? o.cwd : inherited->cwd;
		o.preamble = inherited->preamble;
		o.preamble_length = inherited->preamble_length;
	}
	if (o.cwd)
		o.found = r->directory;
	start_command(a, r, &o);
}

void api_process_start_body(struct api *a, struct request *r, json_t *body, const char *session)
{
	struct session *s = session ? sessions_find(a->sessions, session) : NULL;
	if (!s || s->state != SESSION_RUNNING)
		start_inheriting(a, r, body, NULL);
	else if (typist_check_lease(r, body, s))
		inherit_from(a, r, body, s, start_inheriting);
}

static void start_after_check(struct api *a, struct request *r, json_t *body)
{
	const char *session;
	if (body_text(r, body, "sessionId", &session) && (session || request_session(r, &session)))
		api_process_start_body(a, r, body, session);
}

static void start_process(struct request *r)
{
	cwd_check_body(api_of(r), r, start_after_check);
}

/* Listing */

static void list_processes(struct request *r)
{
	struct api *a = api_of(r);
	static const char *const known[] = {
		"starting", "running", "completed", "failed", "killed", "error"};
	const char *status = request_param(r, "status");
	unsigned choice;
	if (!query_choice(r, "status", known, sizeof known / sizeof *known, &choice))
		return;
	json_t *list = json_array();
	for (struct process *p = NULL; (p = process_next(a->processes, p));)
		if (!status || strcmp(process_status(p), status) == 0)
			json_array_append_new(list, process_json(p));
	reply_success(r, json_pack("{s:o}", "processes", list));
}

static void show_process(struct request *r)
{
	struct api *a = api_of(r);
	struct process *p = find_process(a, r);
	if (p)
		reply_success(r, json_pack("{s:o}", "process", process_details_json(p)));
}

/* Killing */

/* A request that waits until a process is dead. */
struct killing {
	struct process_waiter waiter;
	struct request *request;
	char id[NAME_ID_MAX + 1];
};

/* The tree could not be read. Takes context. */
static void refuse_kill(struct request *r, int error, json_t *context)
{
	char message[160];
	const char *code = error_is_shortage(error) ? error_code_of(error) : "PROCESS_ERROR";
	snprintf(message, sizeof message, "The processes could not be found: %s", error_text(error));
	reply_error(r, code, message, context);
}

static void on_killed(void *user, struct process *p, enum report_stage stage, int error)
{
	struct killing *e = user;
	(void)stage;
	if (error == -ECANCELED)
		reply_error(e->request, "OPERATION_INTERRUPTED", "The server is stopping", NULL);
	else if (error == -EBUSY)
		reply_error(e->request, "PROCESS_ERROR",
			"Some processes of the tree could not be killed",
			json_pack("{s:s, s:i}", "processId", e->id, "survivors",
				(int)p->held.survivors));
	else if (error < 0)
		refuse_kill(e->request, error, json_pack("{s:s}", "processId", e->id));
	else
		reply_success(e->request, json_pack("{s:s}", "processId", e->id));
	request_unref(e->request);
	free(e);
}

/* Whether a parameter is "1" or "true"; other values are false, as in the container. */
static bool is_set(const struct request *r, const char *name)
{
	const char *text = request_param(r, name);
	return text && (strcmp(text, "1") == 0 || strcmp(text, "true") == 0);
}

static void reply_not_running(struct request *r, const struct process *p)
{
	reply_error(r, "COMMAND_NOT_FOUND", "The process has ended already",
		json_pack("{s:s, s:s, s:o}", "processId", p->held.id, "command", p->command,
			"exitCode", process_exit_json(p)));
}

static void kill_process(struct request *r)
{
	struct api *a = api_of(r);
	uint64_t grace = PROCESSES_GRACE_MS;
	struct process *p = find_process(a, r);
	bool removing = is_set(r, "remove");
	if (!p)
		return;
	if (!query_number_or(r, "graceMs", GRACE_MAX_MS,
		    "Must be a number of milliseconds up to 60000", &grace))
		return;
	if (p->state == PROCESS_STARTING) {
		reply_error(r, "RESOURCE_BUSY", "The process is being started",
			json_pack("{s:s}", "processId", p->held.id));
		return;
	}
	/* Processes that an ended command has left behind can still be killed. */
	if (!removing && p->state == PROCESS_ENDED && process_count_members(p) == 0) {
		reply_not_running(r, p);
		return;
	}
	struct killing *e = request_alloc(r, sizeof *e);
	if (!e)
		return;
	e->waiter = (struct process_waiter){.done = on_killed, .user = e};
	e->request = request_ref(r);
	snprintf(e->id, sizeof e->id, "%s", p->held.id);
	log_write(LOG_INFO, "process", removing ? "removing" : "killing", "id", p->held.id, "peer",
		r->peer, NULL);
	if (removing)
		processes_remove(p, (unsigned)grace, &e->waiter);
	else
		process_kill(p, (unsigned)grace, &e->waiter);
}

/* A request that waits until all processes are dead. */
struct killing_all {
	struct request *request;
	unsigned left, cleaned, survivors;
	bool interrupted; /* the server is stopping: the other processes live on */
	int error;        /* of a tree that could not be read */
	struct process_waiter waiters[];
};

static void maybe_all_killed(struct killing_all *e)
{
	if (e->left > 0)
		return;
	if (e->interrupted)
		reply_error(e->request, "OPERATION_INTERRUPTED", "The server is stopping",
			json_pack("{s:i}", "cleanedCount", (int)e->cleaned));
	else if (e->survivors > 0)
		reply_error(e->request, "PROCESS_ERROR", "Some processes could not be killed",
			json_pack("{s:i, s:i}", "cleanedCount", (int)e->cleaned, "survivors",
				(int)e->survivors));
	else if (e->error < 0)
		refuse_kill(
			e->request, e->error, json_pack("{s:i}", "cleanedCount", (int)e->cleaned));
	else
		reply_success(e->request, json_pack("{s:i}", "cleanedCount", (int)e->cleaned));
	request_unref(e->request);
	free(e);
}

static void on_one_killed(void *user, struct process *p, enum report_stage stage, int error)
{
	struct killing_all *e = user;
	(void)stage;
	e->left--;
	if (error == -ECANCELED)
		e->interrupted = true;
	else if (error == -EBUSY)
		e->survivors += p->held.survivors;
	else if (error < 0)
		e->error = error;
	else
		e->cleaned++;
	maybe_all_killed(e);
}

static void kill_all_processes(struct request *r)
{
	struct api *a = api_of(r);
	struct process *p, *next = process_next(a->processes, NULL);
	unsigned count = a->processes->running, used = 0;
	struct killing_all *e = request_alloc(r, sizeof *e + count * sizeof *e->waiters);
	if (!e)
		return;
	e->request = request_ref(r);
	e->left = 1; /* held until all kills are started */
	log_write(LOG_INFO, "process", "killing all", "peer", r->peer, NULL);
	while ((p = next)) {
		next = process_next(a->processes, p);
		if (p->state != PROCESS_RUNNING || used == count)
			continue;
		e->waiters[used] = (struct process_waiter){.done = on_one_killed, .user = e};
		e->left++;
		process_kill(p, PROCESSES_GRACE_MS, &e->waiters[used++]);
	}
	e->left--;
	maybe_all_killed(e);
}

static void signal_process(struct request *r)
{
	struct api *a = api_of(r);
	struct process *p = find_process(a, r);
	json_t *body = p ? body_read(r) : NULL;
	if (!body)
		return;
	const json_t *tree = json_object_get(body, "tree"),
		     *signal = json_object_get(body, "signal");
	if (signal_number(signal) < 0) {
		reply_invalid(r, "signal",
			"Must be the name of a signal, such as INT, or its number",
			signal ? "invalid" : "required");
	} else if (tree && !json_is_boolean(tree)) {
		reply_invalid(r, "tree", "Must be true or false", "invalid");
	} else {
		int rc = process_signal(p, signal_number(signal), json_is_true(tree));
		if (rc == -ESRCH)
			reply_not_running(r, p);
		else if (rc < 0)
			reply_error(r, "PROCESS_ERROR", error_text(rc),
				json_pack("{s:s}", "processId", p->held.id));
		else
			reply_success(r, json_pack("{s:s}", "processId", p->held.id));
	}
}

/* Standard input */

static void reply_input(struct request *r, const struct process *p, int rc, size_t length)
{
	if (rc == 0)
		reply_success(r,
			json_pack("{s:s, s:I, s:I}", "processId", p->held.id, "bytes",
				(json_int_t)length, "queued", (json_int_t)process_input_queued(p)));
	else if (rc == -ERR_NO_INPUT)
		reply_error(r, "INPUT_CLOSED", "The process was started without \"stdin\": \"pipe\"",
			json_pack("{s:s}", "processId", p->held.id));
	else if (rc == -EPIPE && p->state == PROCESS_ENDED)
		reply_not_running(r, p);
	else if (rc == -EPIPE)
		reply_error(r, "INPUT_CLOSED", "The standard input of the process is closed",
			json_pack("{s:s}", "processId", p->held.id));
	else if (rc == -ENOBUFS)
		reply_error(r, "LIMIT_REACHED", "Too much input waits for the process to read it",
			json_pack("{s:s, s:I}", "processId", p->held.id, "queued",
				(json_int_t)process_input_queued(p)));
	else
		reply_error(r, error_code_of(rc), error_text(rc),
			json_pack("{s:s}", "processId", p->held.id));
}

static void write_process_input(struct request *r)
{
	struct api *a = api_of(r);
	const char *base64;
	unsigned char *decoded = NULL;
	struct process *p = find_process(a, r);
	json_t *body = p ? body_read(r) : NULL;
	if (!body || !body_text(r, body, "base64", &base64))
		goto out;
	const json_t *text = json_object_get(body, "data"), *eof = json_object_get(body, "eof");
	const void *bytes = json_string_value(text);
	size_t length = bytes ? json_string_length(text) : 0;
	if (base64)
		bytes = decoded = base64_decode(base64, &length);
	if ((base64 || text) && !bytes) {
		reply_invalid(r, base64 ? "base64" : "data",
			base64 ? "Must be base64" : "Must be a string", "invalid");
		goto out;
	}
	if ((eof && !json_is_boolean(eof)) || (!bytes && !json_is_true(eof))) {
		reply_invalid(r, bytes ? "eof" : "data", "data, base64 or eof: true is required",
			bytes ? "invalid" : "required");
		goto out;
	}
	int rc = bytes ? process_write(p, bytes, length) : 0;
	if (rc == 0 && json_is_true(eof))
		rc = process_end_input(p);
	reply_input(r, p, rc, length);
out:
	free(decoded);
}

const struct route_row api_process_rows[] = {
	{METHOD_POST, "/api/process/start", ROUTE_OWNER, .plain = start_process,
		.place = PLACE_NEW_PROCESS},
	{METHOD_GET, "/api/process/list", ROUTE_OWNER, .plain = list_processes, .place = PLACE_ALL},
	{METHOD_DELETE, "/api/process/kill-all", ROUTE_OWNER, .plain = kill_all_processes},
	{METHOD_GET, "/api/process/{}", ROUTE_OWNER, .plain = show_process, .place = PLACE_PROCESS},
	{METHOD_DELETE, "/api/process/{}", ROUTE_OWNER, .plain = kill_process,
		.place = PLACE_PROCESS},
	{METHOD_POST, "/api/process/{}/input", ROUTE_OWNER, .plain = write_process_input,
		.place = PLACE_PROCESS},
	{METHOD_POST, "/api/process/{}/signal", ROUTE_OWNER, .plain = signal_process,
		.place = PLACE_PROCESS},
	{.path = NULL},
};
