/* The table of methods. Positional arguments become the body that the SDK's HTTP client sends. */
#include "ws/rpc/methods.h"

#include "shell/clock.h"
#include "shell/json_read.h"
#include "shell/name.h"
#include "ws/rpc/wire.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_SIZE 32u /* bytes of a name in method_row.arguments, with its NUL */

/* Results that differ from the answer */

static json_t *result_ping(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return wire_from_json(json_object_get(answer, "status"));
}

static json_t *result_version(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return wire_from_json(json_object_get(answer, "version"));
}

static json_t *result_commands(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return wire_from_json(json_object_get(answer, "availableCommands"));
}

static json_t *result_created(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return json_pack("{s:b, s:O, s:s, s:O, s:n}", "success", 1, "id",
		json_object_get(json_object_get(answer, "data"), "id"), "message", "Session created",
		"timestamp", json_object_get(answer, "timestamp"), "containerPlacementId");
}

static json_t *result_sessions(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return json_pack("{s:o}", "sessions", wire_from_json(json_object_get(answer, "data")));
}

static json_t *result_nothing(const json_t *answer, const json_t *arguments)
{
	(void)answer;
	(void)arguments;
	return wire_undefined();
}

static json_t *result_written(const json_t *answer, const json_t *arguments)
{
	const json_t *content = json_array_get(arguments, 1);
	const json_t *encoding = json_object_get(json_array_get(arguments, 3), "encoding");
	const char *text = json_string_value(content);
	size_t length = json_string_length(content);
	json_t *result = wire_from_json(answer);
	if (text && json_is_string(encoding) && strcmp(json_string_value(encoding), "base64") == 0) {
		while (length > 0 && text[length - 1] == '=')
			length--;
		length = length * 3 / 4;
	}
	if (!json_object_get(result, "bytesWritten"))
		json_object_set_new(result, "bytesWritten", json_integer((json_int_t)length));
	return result;
}

static json_t *result_streamed(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return json_pack("{s:b, s:O, s:O, s:O}", "success", 1, "path",
		json_object_get(answer, "path"), "bytesWritten", json_object_get(answer, "size"),
		"timestamp", json_object_get(answer, "timestamp"));
}

static json_t *result_renamed(const json_t *answer, const json_t *arguments)
{
	json_t *result = wire_from_json(answer);
	json_object_set(result, "oldPath", json_array_get(arguments, 0));
	return result;
}

/* The current time as a Date, because contexts do not have the time of their creation. */
static json_t *date_now(void)
{
	return json_pack("[s, I]", "date", (json_int_t)clock_wall_ms());
}

static json_t *context_of(const json_t *answer, const char *id)
{
	json_t *language = json_object_get(answer, "language"),
	       *cwd = json_object_get(answer, "cwd");
	return json_pack("{s:O, s:O, s:O, s:o, s:o}", "id", json_object_get(answer, id), "language",
		language ? language : json_null(), "cwd", cwd ? cwd : json_null(), "createdAt",
		date_now(), "lastUsed", date_now());
}

static json_t *result_context(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return context_of(answer, "contextId");
}

static json_t *result_contexts(const json_t *answer, const json_t *arguments)
{
	json_t *list = json_array(), *context;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "contexts"), i, context)
		json_array_append_new(list, context_of(context, "id"));
	return json_pack("[o]", list);
}

static bool asks_for_bytes(const json_t *arguments)
{
	const json_t *options = json_array_get(arguments, json_array_size(arguments) - 1);
	const char *encoding = json_string_value(json_object_get(options, "encoding"));
	return encoding && strcmp(encoding, "none") == 0;
}

/* Reading a directory as bytes fails like reading it as text: no such file. */
static const struct method_error errors_no_file[] = {
	{"IS_DIRECTORY", "FILE_NOT_FOUND"},
	{.code = NULL},
};

#define GET METHOD_GET
#define POST METHOD_POST
#define PUT METHOD_PUT
#define DELETE METHOD_DELETE

static const struct method_row rows[] = {
	{"commands", "execute", METHOD_JSON, POST, "/api/execute", "command sessionId *"},
	{"commands", "executeStream", METHOD_EVENTS, POST, "/api/execute/stream",
		"command sessionId *", .named = true},
	{"files", "readFile", METHOD_BYTES, GET, "/api/file/{path}", "- sessionId",
		.only = asks_for_bytes, .errors = errors_no_file},
	{"files", "readFile", METHOD_JSON, POST, "/api/read", "path sessionId *"},
	{"files", "readFileStream", METHOD_EVENTS, POST, "/api/read/stream", "path sessionId"},
	{"files", "writeFile", METHOD_JSON, POST, "/api/write", "path content sessionId *",
		result_written},
	{"files", "writeFileStream", METHOD_JSON, PUT, "/api/file/{path}", "- - sessionId",
		result_streamed, .query = "parents=1", .stream = 2},
	{"files", "deleteFile", METHOD_JSON, POST, "/api/delete", "path sessionId"},
	{"files", "renameFile", METHOD_JSON, POST, "/api/rename", "oldPath newPath sessionId",
		result_renamed},
	{"files", "moveFile", METHOD_JSON, POST, "/api/move", "sourcePath destinationPath sessionId"},
	{"files", "mkdir", METHOD_JSON, POST, "/api/mkdir", "path sessionId *"},
	{"files", "listFiles", METHOD_JSON, POST, "/api/list-files", "path sessionId options{"},
	{"files", "exists", METHOD_JSON, POST, "/api/exists", "path sessionId"},
	{"processes", "startProcess", METHOD_JSON, POST, "/api/process/start", "command sessionId *"},
	{"processes", "listProcesses", METHOD_JSON, GET, "/api/process/list", ""},
	{"processes", "getProcess", METHOD_JSON, GET, "/api/process/{}", ""},
	{"processes", "killProcess", METHOD_JSON, DELETE, "/api/process/{}", ""},
	{"processes", "killAllProcesses", METHOD_JSON, DELETE, "/api/process/kill-all", ""},
	{"processes", "getProcessLogs", METHOD_JSON, GET, "/api/process/{}/logs", ""},
	{"processes", "streamProcessLogs", METHOD_EVENTS, GET, "/api/process/{}/stream", "",
		.skipped = "process_info"},
	{"ports", "watchPort", METHOD_EVENTS, POST, "/api/port-watch", "*"},
	{"ports", "exposePort", METHOD_JSON, POST, "/api/expose-port", "port sessionId name"},
	{"ports", "unexposePort", METHOD_JSON, DELETE, "/api/exposed-ports/{}", ""},
	{"ports", "getExposedPorts", METHOD_JSON, GET, "/api/exposed-ports", ""},
	{"git", "checkout", METHOD_JSON, POST, "/api/git/checkout", "repoUrl sessionId *"},
	{"interpreter", "createCodeContext", METHOD_JSON, POST, "/api/contexts", "*", result_context},
	{"interpreter", "listCodeContexts", METHOD_JSON, GET, "/api/contexts", "", result_contexts},
	{"interpreter", "deleteCodeContext", METHOD_JSON, DELETE, "/api/contexts/{}", "",
		result_nothing},
	{"interpreter", "streamCode", METHOD_EVENTS, POST, "/api/execute/code",
		"context_id code language"},
	{"interpreter", "runCodeStream", METHOD_CALLBACK, POST, "/api/execute/code",
		"context_id code language - timeout_ms"},
	{"utils", "ping", METHOD_JSON, GET, "/api/ping", "", result_ping},
	{"utils", "getVersion", METHOD_JSON, GET, "/api/version", "", result_version},
	{"utils", "getCommands", METHOD_JSON, GET, "/api/commands", "", result_commands},
	{"utils", "createSession", METHOD_JSON, POST, "/api/session/create", "*", result_created},
	{"utils", "deleteSession", METHOD_JSON, POST, "/api/session/delete", "sessionId"},
	{"utils", "listSessions", METHOD_JSON, GET, "/api/session/list", "", result_sessions},
	{"backup", "createArchive", METHOD_JSON, POST, "/api/backup/create",
		"dir archivePath sessionId *"},
	{"backup", "restoreArchive", METHOD_JSON, POST, "/api/backup/restore",
		"dir archivePath sessionId"},
	{"backup", "uploadParts", METHOD_JSON, POST, "/api/backup/upload-parts", "*"},
	{"watch", "watch", METHOD_EVENTS, POST, "/api/watch", "*"},
	{"watch", "checkChanges", METHOD_JSON, POST, "/api/watch/check", "*"},
	{"tunnels", "runQuickTunnel", METHOD_NONE},
	{"tunnels", "runNamedTunnel", METHOD_NONE},
	{"tunnels", "destroyTunnel", METHOD_NONE},
	{"tunnels", "listTunnels", METHOD_NONE},
	{"tunnels", "ensureTunnelRun", METHOD_NONE},
	{"tunnels", "stopTunnelRun", METHOD_NONE},
};

static bool has_name(const struct method_row *row, const char *space, const char *name)
{
	return strcmp(row->space, space) == 0 && (!name || strcmp(row->name, name) == 0);
}

const struct method_row *methods_find(const char *space, const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (has_name(&rows[i], space, name))
			return &rows[i];
	return NULL;
}

const struct method_row *methods_choose(const char *space, const char *name, const json_t *arguments)
{
	const struct method_row *row = methods_find(space, name);
	assert(row); /* the engine has found it: see find_member() in socket.c */
	while (row->only && !row->only(arguments))
		row++; /* a row without a condition follows */
	return row;
}

json_t *methods_file(const json_t *arguments, uint64_t size, const char *type)
{
	char now[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_ms(), now);
	return json_pack("{s:b, s:O, s:I, s:s, s:s}", "success", 1, "path",
		json_array_get(arguments, 0), "size", (json_int_t)size, "mimeType", type,
		"timestamp", now);
}

/* Events as calls of the SDK's callback functions, with the arguments of its HTTP client */

/* An event's member, or else fallback, which is taken. Returns a new reference. */
static json_t *member(const json_t *event, const char *name, json_t *fallback)
{
	json_t *value = json_object_get(event, name);
	if (!value)
		return fallback;
	json_decref(fallback);
	return wire_from_json(value);
}

static json_t *output_of(const json_t *event)
{
	return json_pack("{s:o, s:o}", "text", member(event, "text", json_string("")), "timestamp",
		member(event, "timestamp", json_integer((json_int_t)clock_wall_ms())));
}

static json_t *error_of(const json_t *event)
{
	json_t *message = member(event, "message", json_string("Unknown error"));
	return json_pack("{s:o, s:o, s:o}", "name", member(event, "ename", json_string("Error")),
		"message", member(event, "evalue", message), "traceback",
		member(event, "traceback", json_pack("[[]]")));
}

static json_t *result_of(const json_t *event)
{
	json_t *result = wire_from_json(event);
	json_object_del(result, "type");
	return result;
}

const char *methods_callback(const char *event, json_t **ret_arguments)
{
	static const struct {
		const char *type, *function;
		json_t *(*argument)(const json_t *event);
	} functions[] = {
		{"stdout", "onStdout", output_of},
		{"stderr", "onStderr", output_of},
		{"result", "onResult", result_of},
		{"error", "onError", error_of},
	};
	const char *function = NULL;
	json_t *json = json_read(event, strlen(event), JSON_ALLOW_NUL, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));
	for (size_t i = 0; i < sizeof functions / sizeof *functions && type; i++) {
		if (strcmp(functions[i].type, type) != 0)
			continue;
		function = functions[i].function;
		*ret_arguments = json_pack("[[o]]", functions[i].argument(json));
	}
	json_decref(json);
	return function;
}

/* Requests */

/* Set a member of the body unless it is set. Null is left out: absent arguments arrive as null. */
static void put(json_t *body, const char *name, const json_t *value)
{
	/* The SDK's name for a field that the API calls differently. */
	if (strcmp(name, "envVars") == 0)
		name = "env_vars";
	if (value && !json_is_null(value) && !json_object_get(body, name))
		json_object_set(body, name, (json_t *)value);
}

static void put_all(json_t *body, const json_t *object)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)object, name, value)
		put(body, name, value);
}

/*
 * Add an argument to the body as its name in the table says. Returns NULL, or the invalid argument.
 */
static const char *put_argument(json_t *body, const char *name, size_t length, const json_t *value)
{
	char key[ARGUMENT_SIZE];
	bool object = name[length - 1] == '{';
	snprintf(key, sizeof key, "%.*s", (int)(object ? length - 1 : length), name);
	if (strcmp(key, "-") == 0)
		return NULL;
	if (strcmp(key, "*") != 0) {
		put(body, key, value);
		return NULL;
	}
	if (value && !json_is_object(value) && !json_is_null(value))
		return "options";
	/* Members that have been set by position stay. */
	put_all(body, value);
	return NULL;
}

static const char *make_body(const char *spec, const json_t *arguments, json_t *body)
{
	const char *problem = NULL;
	for (size_t i = 0; *spec && !problem; i++) {
		size_t length = strcspn(spec, " ");
		problem = put_argument(body, spec, length, json_array_get(arguments, i));
		spec += length;
		spec += *spec == ' ';
	}
	return problem;
}

/* Make the path, with its argument if it has one. Returns NULL, or the invalid argument. */
static const char *make_path(
	const struct method_row *row, const json_t *argument, char path[METHODS_PATH_SIZE])
{
	size_t before = strcspn(row->path, "{");
	const char *place = row->path + before, *text = json_string_value(argument);
	bool file = strncmp(place, "{path}", 6) == 0;
	char number[24];
	if (!*place) {
		snprintf(path, METHODS_PATH_SIZE, "%s", row->path);
		return NULL;
	}
	if (json_is_integer(argument)) { /* a port */
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
			json_integer_value(argument));
		text = number;
	} else if (!text || strlen(text) != json_string_length(argument)) {
		return file ? "path" : "id";
	}
	if (file && (!*text || strlen(text) >= METHODS_PATH_MAX))
		return "path";
	if (!file && !name_is_id(text))
		return "id";
	snprintf(path, METHODS_PATH_SIZE, "%.*s%s%s", (int)before, row->path, text,
		place + (file ? 6 : 2));
	return NULL;
}

const char *methods_request(const struct method_row *row, const json_t *arguments,
	char ret_path[METHODS_PATH_SIZE], json_t **ret_body)
{
	const char *problem = make_path(row, json_array_get(arguments, 0), ret_path);
	*ret_body = NULL;
	if (problem)
		return problem;
	json_t *body = json_object();
	problem = make_body(row->arguments, arguments, body);
	if (problem)
		json_decref(body);
	else
		*ret_body = body;
	return problem;
}

/* Whether the SDK has an error class for the code. Otherwise it parses the error's text as JSON. */
static bool is_sdk_code(const char *code)
{
	static const char *const own[] = {"UNAUTHENTICATED", "ACCESS_ENDED", "HOST_NOT_ALLOWED",
		"ORIGIN_NOT_ALLOWED", "SESSION_NOT_FOUND", "EXEC_NOT_FOUND", "METHOD_NOT_ALLOWED",
		"INPUT_CLOSED", "KEY_IN_USE", "LEASED", "LINE_TOO_LONG", "EXEC_UNSUPPORTED",
		"SHELL_EXIT_POLICY", "SESSION_UNRESPONSIVE", "REQUEST_TOO_LARGE", "LIMIT_REACHED",
		"QUOTA_REACHED", "NOT_ENDED", "TOO_MANY_PROCESSES", "TOO_MANY_TERMINALS",
		"OUT_OF_MEMORY", "STREAM_ERROR", "NOT_IMPLEMENTED", "PROCESS_ALREADY_EXISTS"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (strcmp(own[i], code) == 0)
			return false;
	return true;
}

json_t *methods_error(const json_t *body, int status)
{
	const char *code = json_string_value(json_object_get(body, "code"));
	const char *message = json_string_value(json_object_get(body, "message"));
	json_t *context = json_object_get(body, "context");
	char fallback[48];
	if (!message)
		message = json_string_value(json_object_get(body, "error"));
	if (!context)
		context = json_object_get(body, "details");
	snprintf(fallback, sizeof fallback, "The request was answered with %d", status);
	message = message ? message : fallback;
	code = code ? code : "INTERNAL_ERROR";
	json_t *details = json_is_object(context) ? wire_from_json(context) : json_object();
	if (is_sdk_code(code))
		return wire_error("Error", message, code, details);
	json_t *whole = json_pack("{s:s, s:s, s:o}", "code", code, "message", message, "context",
		json_is_object(context) ? json_incref(context) : json_object());
	char *text = json_dumps(whole, JSON_COMPACT);
	json_t *error = wire_error("Error", text ? text : message, code, details);
	free(text);
	json_decref(whole);
	return error;
}

json_t *methods_row_error(const struct method_row *row, const json_t *body, int status)
{
	const char *code = json_string_value(json_object_get(body, "code"));
	const struct method_error *e = code ? row->errors : NULL;
	while (e && e->code && strcmp(e->code, code) != 0)
		e++;
	if (!e || !e->code)
		return methods_error(body, status);
	json_t *copy = json_copy((json_t *)body);
	json_object_set_new(copy, "code", json_string(e->becomes));
	json_t *error = methods_error(copy, status);
	json_decref(copy);
	return error;
}
