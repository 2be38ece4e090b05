/*
 * The main object of the Sandbox's preview. Its processes are ours, its terminals are sessions; a cursor is a place in what
 * one of them has written. A program with its arguments is a command of bash that becomes it at once.
 */
#include "shell/clock.h"
#include "ws/cursor.h"
#include "ws/rpc/methods.h"
#include "ws/rpc/next_mounts.h"
#include "ws/rpc/tunnel_methods.h"
#include "ws/rpc/wire.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTROL_PROTOCOL 1
#define COLS 80
#define ROWS 24

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* The runtime */

static json_t *metadata(const struct method_self *self)
{
	return json_pack("{s:s, s:s, s:i}", "runtimeIncarnationID", self->incarnation,
		"sandboxVersion", self->version, "controlProtocolVersion", CONTROL_PROTOCOL);
}

static json_t *own_metadata(struct method_self *self, const json_t *arguments, json_t **ret_error)
{
	(void)arguments;
	(void)ret_error;
	return metadata(self);
}

static json_t *own_activate(struct method_self *self, const json_t *arguments, json_t **ret_error)
{
	const char *id = json_string_value(json_array_get(arguments, 0));
	if (!id || strcmp(id, self->incarnation) != 0) {
		*ret_error = wire_error("Error", "Runtime incarnation does not match",
			"CONTROL_PROTOCOL_INCOMPATIBLE", NULL);
		return NULL;
	}
	self->active = true;
	return metadata(self);
}

/* Ends */

/* The number of a signal by its name; 0: there is none. */
static int signal_of(const json_t *name)
{
	const char *text = json_string_value(name);
	for (int i = 1; text && i < NSIG; i++) {
		const char *own = sigabbrev_np(i);
		if (own && strcmp(own, text) == 0)
			return i;
	}
	/* One without a name is told by its number. */
	char *end;
	long number = text ? strtol(text, &end, 10) : 0;
	return number > 0 && number < NSIG ? (int)number : 0;
}

/* {code, signal?, timedOut}; NULL: the status is not known. */
static json_t *exit_of(const json_t *code, const json_t *signal, bool timed_out)
{
	int number = signal_of(signal);
	if (!json_is_integer(code) && number == 0)
		return NULL;
	json_t *exit = json_pack("{s:I, s:b}", "code",
		json_is_integer(code) ? json_integer_value(code) : (json_int_t)128 + number,
		"timedOut", timed_out);
	if (number > 0)
		json_object_set_new(exit, "signal", json_integer(number));
	return exit;
}

/* Put {state, exit} into an object, or {state, error}. */
static void put_end(json_t *object, const char *state, json_t *exit, const char *why)
{
	json_object_set_new(object, state, json_string(exit ? "exited" : "error"));
	if (exit)
		json_object_set_new(object, "exit", exit);
	else
		json_object_set_new(object, "error",
			json_pack("{s:s, s:s}", "code", "UNKNOWN_ERROR", "message", why));
}

/* Processes */

/* Read a quoted word, behind its first quote, to word; returns what is behind it, NULL when it is none. */
static const char *read_word(const char *at, char *word, size_t *ret_length)
{
	size_t n = 0;
	for (; *at && (*at != '\'' || strncmp(at, "'\\''", 4) == 0); at++) {
		at += *at == '\'' ? 3 : 0;
		word[n++] = *at;
	}
	*ret_length = n;
	return *at ? at + 1 : NULL;
}

/* The words that a command was made of, where it was made of words. A new reference, an expression. */
static json_t *words_of(const char *command)
{
	static const char start[] = "exec --";
	bool made = strncmp(command, start, sizeof start - 1) == 0;
	const char *at = made ? command + sizeof start - 1 : NULL;
	char *word = made ? malloc(strlen(command) + 1) : NULL;
	json_t *list = json_array();
	size_t length;
	while (word && at && strncmp(at, " '", 2) == 0 && (at = read_word(at + 2, word, &length)))
		json_array_append_new(list, json_stringn_nocheck(word, length));
	free(word);
	if (!at || *at || json_array_size(list) == 0) {
		json_decref(list);
		list = json_pack("[s, s, s]", "bash", "-c", command);
	}
	return json_pack("[o]", list);
}

static json_t *status_of(const json_t *p)
{
	static const char *const live[] = {"starting", "running"};
	const char *command = text_of(p, "command"), *status = text_of(p, "status");
	json_t *id = json_object_get(p, "id"), *cwd = json_object_get(p, "cwd"),
	       *ended = json_object_get(p, "endTime");
	json_t *result = json_pack("{s:O?, s:O?, s:o, s:O?}", "id",
		id ? id : json_object_get(p, "processId"), "pid", json_object_get(p, "pid"),
		"command", words_of(command ? command : ""), "startedAt",
		json_object_get(p, "startTime"));
	if (cwd)
		json_object_set(result, "cwd", cwd);
	if (status && (strcmp(status, live[0]) == 0 || strcmp(status, live[1]) == 0)) {
		json_object_set_new(result, "state", json_string("running"));
		return result;
	}
	json_t *exit = exit_of(json_object_get(p, "exitCode"), json_object_get(p, "signal"),
		json_is_true(json_object_get(p, "timedOut")));
	put_end(result, "state", exit, "How the process has ended is not known");
	json_object_set(result, "endedAt", ended);
	return result;
}

static json_t *result_started(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return status_of(answer);
}

static json_t *result_process(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return status_of(json_object_get(answer, "process"));
}

static json_t *result_processes(const json_t *answer, const json_t *arguments)
{
	json_t *list = json_array(), *each;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "processes"), i, each)
		json_array_append_new(list, status_of(each));
	return json_pack("[o]", list);
}

static json_t *result_any_process(const json_t *answer, const json_t *arguments)
{
	const json_t *each;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "processes"), i, each) {
		const char *status = text_of(each, "status");
		if (status && (strcmp(status, "running") == 0 || strcmp(status, "starting") == 0))
			return json_true();
	}
	return json_false();
}

/* A command of words: `argv`. */
static const char *mend_command(json_t *body)
{
	json_t *command = json_object_get(body, "command");
	if (!json_is_array(command))
		return "command";
	json_object_set(body, "argv", command);
	json_object_del(body, "command");
	return NULL;
}

static const char *mend_start(json_t *body, const json_t *arguments)
{
	json_t *timeout = json_object_get(body, "timeout");
	double ms = json_number_value(timeout);
	(void)arguments;
	json_object_del(body, "processId");
	if (timeout && (!json_is_number(timeout) || ms < 1 || ms > 1e15))
		return "timeout";
	if (timeout)
		json_object_set_new(body, "timeoutMs", json_integer((json_int_t)ms));
	return mend_command(body);
}

static const char *mend_kill(json_t *body, const json_t *arguments)
{
	(void)arguments;
	if (!json_object_get(body, "signal"))
		json_object_set_new(body, "signal", json_integer(SIGTERM));
	json_object_set_new(body, "tree", json_true());
	return NULL;
}

/* Of {since, replay, follow}: where to begin, as the API calls it. Returns NULL, or what is wrong. */
static const char *mend_place(
	json_t *body, const json_t *arguments, const char *from, bool *ret_replay)
{
	const char *id = json_string_value(json_array_get(arguments, 0));
	const json_t *since = json_object_get(body, "since");
	const char *cursor = json_string_value(since);
	bool follow = json_is_true(json_object_get(body, "follow"));
	char number[24];
	uint64_t offset = 0;
	*ret_replay = !json_is_false(json_object_get(body, "replay"));
	if (since &&
		(!cursor || strlen(cursor) != json_string_length(since) || !id ||
			!cursor_parse(cursor, id, &offset)))
		return "cursor";
	json_object_clear(body);
	snprintf(number, sizeof number, "%" PRIu64, offset);
	if (*ret_replay)
		json_object_set_new(body, from, json_string(number));
	json_object_set_new(body, "follow", json_string(follow ? "1" : "0"));
	json_object_set_new(body, "encoding", json_string("base64"));
	return NULL;
}

static const char *mend_logs(json_t *body, const json_t *arguments)
{
	bool replay;
	const char *problem = mend_place(body, arguments, "cursor", &replay);
	if (!problem && !replay)
		json_object_set_new(body, "replay", json_string("0"));
	return problem;
}

static json_t *now(void)
{
	char text[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_ms(), text);
	return json_string(text);
}

static json_t *timestamp_of(const json_t *event)
{
	json_t *own = json_object_get(event, "timestamp");
	return own ? json_incref(own) : now();
}

static json_t *bytes_of(const json_t *base64)
{
	const char *text = json_string_value(base64);
	return json_pack("[s, s#]", "bytes", text ? text : "", text ? (int)strcspn(text, "=") : 0);
}

static json_t *cursor_of(const char *id, uint64_t offset)
{
	char text[CURSOR_SIZE];
	cursor_format(id, offset, text);
	return json_string(text);
}

static uint64_t number_of(const json_t *event, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(event, name));
}

static json_t *event_end(const json_t *event, const char *id, uint64_t offset, json_t *exit)
{
	json_t *value = json_pack("{s:s, s:o, s:o}", "type", "terminal", "cursor",
		cursor_of(id, offset), "timestamp", timestamp_of(event));
	put_end(value, "state", exit, "How it has ended is not known");
	return value;
}

static json_t *event_log(const json_t *event, const char *id)
{
	const char *type = text_of(event, "type");
	uint64_t cursor = number_of(event, "cursor");
	if (json_object_get(event, "base64"))
		return json_pack("{s:s, s:o, s:o, s:o}", "type", type, "cursor",
			cursor_of(id, cursor), "timestamp", timestamp_of(event), "data",
			bytes_of(json_object_get(event, "base64")));
	if (type && strcmp(type, "truncated") == 0)
		return json_pack("{s:s, s:o}", "type", type, "timestamp", timestamp_of(event));
	if (!type || strcmp(type, "exit") != 0)
		return NULL;
	return event_end(event, id, cursor,
		exit_of(json_object_get(event, "exitCode"), json_object_get(event, "signal"),
			json_is_true(json_object_get(event, "timedOut"))));
}

/* Terminals */

static const char *mend_create(json_t *body, const json_t *arguments)
{
	static const char *const taken[] = {"argv", "cwd", "env", "cols", "rows"};
	const json_t *buffer = json_object_get(body, "bufferSize");
	const char *problem = mend_command(body), *name;
	json_t *value;
	void *next;
	(void)arguments;
	if (problem)
		return problem;
	if (buffer && (!json_is_integer(buffer) || json_integer_value(buffer) < 1))
		return "bufferSize";
	json_object_foreach_safe (body, next, name, value) {
		bool known = false;
		for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
			known |= strcmp(name, taken[i]) == 0;
		if (!known)
			json_object_del(body, name);
	}
	if (!json_object_get(body, "cols"))
		json_object_set_new(body, "cols", json_integer(COLS));
	if (!json_object_get(body, "rows"))
		json_object_set_new(body, "rows", json_integer(ROWS));
	return NULL;
}

static json_t *snapshot_of(const json_t *session)
{
	const char *state = text_of(session, "state");
	const json_t *exit = json_object_get(session, "exit"),
		     *argv = json_object_get(session, "argv");
	json_t *result = json_pack("{s:O?, s:O?, s:o, s:O?}", "id", json_object_get(session, "id"),
		"pid", json_object_get(session, "pid"), "command",
		argv ? wire_of(argv) : json_pack("[[O?]]", json_object_get(session, "shell")),
		"cwd", json_object_get(session, "cwd"));
	if (!state || strcmp(state, "exited") != 0)
		json_object_set_new(result, "status", json_string("running"));
	else
		put_end(result, "status",
			exit_of(json_object_get(exit, "code"), json_object_get(exit, "signal"),
				false),
			"How the program has ended is not known");
	return result;
}

static json_t *result_terminal(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return snapshot_of(json_object_get(answer, "data"));
}

static json_t *result_terminals(const json_t *answer, const json_t *arguments)
{
	json_t *list = json_array(), *each;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "sessions"), i, each)
		json_array_append_new(list, snapshot_of(each));
	return json_pack("[o]", list);
}

static json_t *result_any_terminal(const json_t *answer, const json_t *arguments)
{
	const json_t *each;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "sessions"), i, each) {
		const char *state = text_of(each, "state");
		if (!state || strcmp(state, "exited") != 0)
			return json_true();
	}
	return json_false();
}

static const char *mend_interrupt(json_t *body, const json_t *arguments)
{
	(void)arguments;
	json_object_set_new(body, "signal", json_string("INT"));
	return NULL;
}

static const char *mend_output(json_t *body, const json_t *arguments)
{
	bool replay;
	const char *problem = mend_place(body, arguments, "from", &replay);
	if (!problem)
		json_object_set_new(body, "types", json_string("output,exit"));
	return problem;
}

static json_t *event_output(const json_t *event, const char *id)
{
	const char *type = text_of(event, "type");
	const json_t *base64 = json_object_get(event, "base64");
	uint64_t offset = number_of(event, "offset");
	size_t padded = json_string_length(base64);
	json_t *value = NULL;
	if (type && strcmp(type, "output") == 0) {
		size_t n = strcspn(base64 ? json_string_value(base64) : "", "=");
		value = json_pack("{s:s, s:o, s:o, s:o}", "type", "data", "cursor",
			cursor_of(id, offset + padded / 4 * 3 - (padded - n)), "timestamp",
			timestamp_of(event), "data", bytes_of(base64));
	} else if (type && strcmp(type, "gap") == 0 && json_object_get(event, "bytes")) {
		value = json_pack(
			"{s:s, s:o}", "type", "truncated", "timestamp", timestamp_of(event));
	} else if (type && strcmp(type, "exit") == 0) {
		value = event_end(event, id, offset,
			exit_of(json_object_get(event, "code"), json_object_get(event, "signal"),
				false));
	}
	if (value)
		json_object_set_new(value, "terminalId", json_string(id));
	return value;
}

/* Files, ports, watches, mounts */

static json_t *result_wrote(const json_t *answer, const json_t *arguments)
{
	return methods_written(answer, json_array_get(arguments, 1), json_array_get(arguments, 2));
}

static json_t *result_exists(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return wire_of(json_object_get(answer, "exists"));
}

static const char *mend_directory(json_t *body, const json_t *arguments)
{
	(void)arguments;
	json_object_set_new(body, "recursive", json_true());
	return NULL;
}

/* Whoever extracts removes the archive then: nothing may need it. */
static const char *mend_extract(json_t *body, const json_t *arguments)
{
	(void)arguments;
	json_object_set_new(body, "mount", json_false());
	return NULL;
}

static const char *mend_port(json_t *body, const json_t *arguments)
{
	json_t *status = json_object_get(body, "status");
	(void)arguments;
	if (!json_object_get(body, "mode"))
		json_object_set_new(body, "mode", json_string("tcp"));
	if (json_is_integer(status)) {
		json_object_set(body, "statusMin", status);
		json_object_set(body, "statusMax", status);
	} else if (json_is_object(status)) {
		json_object_set(body, "statusMin", json_object_get(status, "min"));
		json_object_set(body, "statusMax", json_object_get(status, "max"));
	}
	return NULL;
}

static json_t *event_as_it_is(const json_t *event, const char *id)
{
	(void)id;
	return wire_of(event);
}

static const struct method_error process_errors[] = {
	{"VALIDATION_FAILED", "cwd", "INVALID_PROCESS_CWD"},
	{"VALIDATION_FAILED", "env", "INVALID_PROCESS_ENVIRONMENT"},
	{"VALIDATION_FAILED", "cursor", "INVALID_PROCESS_CURSOR"},
	{"VALIDATION_FAILED", "id", "PROCESS_NOT_FOUND"},
	{"VALIDATION_FAILED", "signal", "PROCESS_ERROR"},
	{"VALIDATION_FAILED", NULL, "INVALID_COMMAND"},
	{"COMMAND_NOT_FOUND", NULL, METHOD_NOTHING}, /* whoever has ended need not be killed */
	{.code = NULL},
};

static const struct method_error process_lookup[] = {
	{"VALIDATION_FAILED", "id", METHOD_NULL},
	{"PROCESS_NOT_FOUND", NULL, METHOD_NULL},
	{.code = NULL},
};

static const struct method_error create_errors[] = {
	{"VALIDATION_FAILED", "cwd", "INVALID_TERMINAL_CWD"},
	{"VALIDATION_FAILED", "command", "INVALID_COMMAND"},
	{"VALIDATION_FAILED", NULL, "TERMINAL_CONTROL_ERROR"},
	{.code = NULL},
};

static const struct method_error terminal_errors[] = {
	{"VALIDATION_FAILED", "id", "TERMINAL_NOT_FOUND"},
	{"VALIDATION_FAILED", "cursor", "INVALID_TERMINAL_CURSOR"},
	{"VALIDATION_FAILED", "from", "INVALID_TERMINAL_CURSOR"},
	{"VALIDATION_FAILED", NULL, "TERMINAL_CONTROL_ERROR"},
	{"SESSION_NOT_FOUND", NULL, "TERMINAL_NOT_FOUND"},
	{"SESSION_TERMINATED", NULL, "TERMINAL_CONTROL_ERROR"},
	{"SESSION_UNRESPONSIVE", NULL, "TERMINAL_CONTROL_ERROR"},
	{.code = NULL},
};

static const struct method_error interrupt_errors[] = {
	{"VALIDATION_FAILED", "id", "TERMINAL_NOT_FOUND"},
	{"SESSION_NOT_FOUND", NULL, "TERMINAL_NOT_FOUND"},
	{"SESSION_TERMINATED", NULL, METHOD_NOTHING},
	{.code = NULL},
};

static const struct method_error terminal_lookup[] = {
	{"VALIDATION_FAILED", "id", METHOD_NULL},
	{"SESSION_NOT_FOUND", NULL, METHOD_NULL},
	{.code = NULL},
};

static const struct method_error gone_already[] = {
	{"FILE_NOT_FOUND", NULL, METHOD_NOTHING},
	{.code = NULL},
};

#define GET METHOD_GET
#define POST METHOD_POST
#define PUT METHOD_PUT
#define FILES .sessionless = true, .next = true
#define NOTHING methods_result_nothing
#define REFUSED(space, name)                           \
	{                                              \
		space, name, METHOD_NONE, .next = true \
	}

const struct method_row methods_next[] = {
	{"utils", "ping", METHOD_JSON, GET, "/api/ping", "", methods_result_ping},
	{"utils", "getRuntimeMetadata", METHOD_OWN, .own = own_metadata},
	{"utils", "activateControlSession", METHOD_OWN, .own = own_activate},
	{"files", "readFile", METHOD_BYTES, GET, "/api/file/{path}", "",
		.only = methods_asks_for_bytes, .errors = methods_errors_no_file, FILES},
	{"files", "readFile", METHOD_JSON, POST, "/api/read", "path *", FILES},
	{"files", "readFileStream", METHOD_EVENTS, POST, "/api/read/stream", "path", FILES},
	{"files", "writeFile", METHOD_JSON, POST, "/api/write", "path content *", result_wrote,
		FILES},
	{"files", "writeFileStream", METHOD_JSON, PUT, "/api/file/{path}", "",
		methods_result_streamed, .query = "parents=1", .stream = 2, FILES},
	{"files", "deleteFile", METHOD_JSON, POST, "/api/delete", "path", FILES},
	{"files", "renameFile", METHOD_JSON, POST, "/api/rename", "oldPath newPath",
		methods_result_renamed, FILES},
	{"files", "moveFile", METHOD_JSON, POST, "/api/move", "sourcePath destinationPath", FILES},
	{"files", "mkdir", METHOD_JSON, POST, "/api/mkdir", "path *", FILES},
	{"files", "listFiles", METHOD_JSON, POST, "/api/list-files", "path options{", FILES},
	{"files", "exists", METHOD_JSON, POST, "/api/exists", "path", FILES},
	{"processes", "start", METHOD_JSON, POST, "/api/process/start", "command *", result_started,
		.mend = mend_start, .errors = process_errors, .next = true},
	{"processes", "get", METHOD_JSON, GET, "/api/process/{}", "", result_process,
		.errors = process_lookup, .next = true},
	{"processes", "list", METHOD_JSON, GET, "/api/process/list", "", result_processes,
		.next = true},
	{"processes", "hasActive", METHOD_JSON, GET, "/api/process/list", "", result_any_process,
		.next = true},
	{"processes", "kill", METHOD_JSON, POST, "/api/process/{}/signal", "- signal", NOTHING,
		.mend = mend_kill, .errors = process_errors, .next = true},
	{"processes", "openLogs", METHOD_SUBSCRIBE, GET, "/api/process/{}/stream", "- *",
		.mend = mend_logs, .errors = process_errors, .event = event_log, .next = true},
	{"terminals", "create", METHOD_JSON, POST, "/api/session/create", "*", result_terminal,
		.mend = mend_create, .errors = create_errors, .next = true},
	{"terminals", "get", METHOD_JSON, GET, "/api/session/{}", "", result_terminal,
		.errors = terminal_lookup, .next = true},
	{"terminals", "list", METHOD_JSON, GET, "/api/session/list", "", result_terminals,
		.next = true},
	{"terminals", "hasActive", METHOD_JSON, GET, "/api/session/list", "", result_any_terminal,
		.next = true},
	{"terminals", "write", METHOD_JSON, POST, "/api/session/{}/input", "- *", NOTHING,
		.errors = terminal_errors, .next = true},
	{"terminals", "resize", METHOD_JSON, POST, "/api/session/{}/resize", "- cols rows", NOTHING,
		.errors = terminal_errors, .next = true},
	{"terminals", "interrupt", METHOD_JSON, POST, "/api/session/{}/signal", "", NOTHING,
		.mend = mend_interrupt, .errors = interrupt_errors, .next = true},
	{"terminals", "terminate", METHOD_JSON, POST, "/api/session/{}/terminate", "", NOTHING,
		.errors = interrupt_errors, .next = true},
	{"terminals", "output", METHOD_SUBSCRIBE, GET, "/api/session/{}/stream", "- *",
		.mend = mend_output, .errors = terminal_errors, .event = event_output, .next = true},
	{"ports", "openWatch", METHOD_SUBSCRIBE, POST, "/api/port-watch", "port *",
		.mend = mend_port, .event = event_as_it_is, .next = true},
	{"watch", "watch", METHOD_SUBSCRIBE, POST, "/api/watch", "*", .next = true},
	{"watch", "checkChanges", METHOD_JSON, POST, "/api/watch/check", "*", .next = true},
	{"backup", "createArchive", METHOD_JSON, POST, "/api/backup/create", "dir archivePath *",
		.next = true},
	{"backup", "restoreArchive", METHOD_JSON, POST, "/api/backup/restore", "dir archivePath",
		.next = true},
	{"backup", "extractArchive", METHOD_JSON, POST, "/api/backup/restore", "dir archivePath",
		NOTHING, .mend = mend_extract, .next = true},
	{"backup", "cleanupArchive", METHOD_JSON, POST, "/api/delete", "path", NOTHING,
		.errors = gone_already, FILES},
	{"backup", "uploadParts", METHOD_JSON, POST, "/api/backup/upload-parts", "*", .next = true},
	{"backup", "uploadArchive", METHOD_JSON, POST, "/api/backup/upload", "*", NOTHING,
		.next = true},
	{"backup", "prepareRestore", METHOD_JSON, POST, "/api/backup/prepare", "*", .next = true},
	{"backup", "downloadArchive", METHOD_JSON, POST, "/api/backup/download", "*", NOTHING,
		.next = true},
	{"mounts", "pathExists", METHOD_JSON, POST, "/api/exists", "path", result_exists, FILES},
	{"mounts", "ensureDirectory", METHOD_JSON, POST, "/api/mkdir", "path", NOTHING,
		.mend = mend_directory, FILES},
	{"mounts", "deleteFile", METHOD_JSON, POST, "/api/delete", "path", NOTHING,
		.errors = gone_already, FILES},
	{"mounts", "chmodOwnerOnly", METHOD_JSON, POST, "/api/mounts", "path", NOTHING,
		.mend = next_mounts_mend_protect, .next = true},
	{"mounts", "mountS3FS", METHOD_JSON, POST, "/api/mounts", "*",
		.mend = next_mounts_mend_mount, .next = true},
	{"mounts", "mountS3FSAndVerify", METHOD_JSON, POST, "/api/mounts", "*",
		.mend = next_mounts_mend_verified, .next = true},
	{"mounts", "isMountpoint", METHOD_JSON, POST, "/api/mounts", "path",
		next_mounts_result_whether, .mend = next_mounts_mend_check, .next = true},
	{"mounts", "unmountFuse", METHOD_JSON, POST, "/api/mounts", "path",
		.mend = next_mounts_mend_unmount, .next = true},
	{"mounts", "unmountFuseIfMounted", METHOD_JSON, POST, "/api/mounts", "path",
		.mend = next_mounts_mend_unmount_if, .next = true},
	{"mounts", "removeMountDirectory", METHOD_JSON, POST, "/api/mounts", "*",
		.mend = next_mounts_mend_remove, .next = true},
	{"workspace", "createArchive", METHOD_JSON, POST, "/api/workspace/archive", "*",
		.next = true},
	{"workspace", "extractArchive", METHOD_JSON, POST, "/api/workspace/extract", "*", NOTHING,
		.next = true},
	{"workspace", "cleanupArchive", METHOD_JSON, POST, "/api/delete", "path", NOTHING,
		.errors = gone_already, FILES},
	{"tunnels", "ensureTunnelRun", METHOD_JSON, POST, "/api/tunnels", "*",
		.mend = tunnel_methods_mend_run, .next = true},
	{"tunnels", "stopTunnelRun", METHOD_JSON, POST, "/api/tunnels/stop", "*", .next = true},
	REFUSED("extensions", "connect"),
	REFUSED("extensions", "health"),
	REFUSED("extensions", "stop"),
	{.space = NULL},
};
