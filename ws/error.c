/* The tables of codes: their status, and the errors that they stand for. */
#include "ws/error.h"

#include "shell/own_error.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *code;
	int status;
} codes[] = {
	{"VALIDATION_FAILED", 400},
	{"INVALID_COMMAND", 400},
	{"INVALID_BACKUP_CONFIG", 400},
	{"INVALID_GIT_URL", 400},
	{"PARSE_ERROR", 400},
	{"INVALID_REQUEST", 400},
	{"INVALID_PORT", 400},
	{"IS_DIRECTORY", 400},
	{"NOT_DIRECTORY", 400},
	{"TLS_REQUIRED", 400},
	{"UNAUTHENTICATED", 401},
	{"ACCESS_ENDED", 401},
	{"GIT_AUTH_FAILED", 401},
	{"PERMISSION_DENIED", 403},
	{"READ_ONLY", 403},
	{"HOST_NOT_ALLOWED", 403},
	{"ORIGIN_NOT_ALLOWED", 403},
	{"PEER_NOT_ALLOWED", 403},
	{"FILE_NOT_FOUND", 404},
	{"GIT_REPOSITORY_NOT_FOUND", 404},
	{"GIT_BRANCH_NOT_FOUND", 404},
	{"SESSION_NOT_FOUND", 404},
	{"LINK_NOT_FOUND", 404},
	{"INVALID_TOKEN", 404},
	{"LOGIN_NOT_FOUND", 404},
	{"PROCESS_NOT_FOUND", 404},
	{"COMMAND_NOT_FOUND", 404},
	{"EXEC_NOT_FOUND", 404},
	{"BLOCK_NOT_FOUND", 404},
	{"CONTEXT_NOT_FOUND", 404},
	{"NODE_NOT_FOUND", 404},
	{"UNKNOWN_ERROR", 404},
	{"METHOD_NOT_ALLOWED", 405},
	{"PROCESS_READY_TIMEOUT", 408},
	{"REQUEST_TIMEOUT", 408},
	{"SESSION_ALREADY_EXISTS", 409},
	{"PROCESS_ALREADY_EXISTS", 409},
	{"INPUT_CLOSED", 409},
	{"RESOURCE_BUSY", 409},
	{"OPERATION_INTERRUPTED", 409},
	{"SESSION_UNRESPONSIVE", 409},
	{"STALE_PREVIEW_URL", 410},
	{"SIZE_POLICY", 409},
	{"SHELL_EXIT_POLICY", 409},
	{"KEY_IN_USE", 409},
	{"LEASED", 409},
	{"LINE_TOO_LONG", 409},
	{"MOUSE_OFF", 409},
	{"EXEC_UNSUPPORTED", 409},
	{"UPGRADE_BUSY", 409},
	{"SESSION_DESTROYED", 410},
	{"SESSION_TERMINATED", 410},
	{"PRECONDITION_FAILED", 412},
	{"REQUEST_TOO_LARGE", 413},
	{"FILE_TOO_LARGE", 413},
	{"UNSUPPORTED_MEDIA_TYPE", 415},
	{"RANGE_GONE", 416},
	{"EXPECTATION_FAILED", 417},
	{"MISDIRECTED", 421},
	{"UPGRADE_REQUIRED", 426},
	{"LIMIT_REACHED", 429},
	{"FILES_STUCK", 429},
	{"QUOTA_REACHED", 429},
	{"TOO_MANY_ATTEMPTS", 429},
	{"WATCH_START_ERROR", 500},
	{"BACKUP_CREATE_FAILED", 500},
	{"BACKUP_RESTORE_FAILED", 500},
	{"GIT_CLONE_FAILED", 500},
	{"GIT_OPERATION_FAILED", 500},
	{"FILESYSTEM_ERROR", 500},
	{"PROCESS_ERROR", 500},
	{"PROCESS_SPAWN_FAILED", 500},
	{"PROCESS_EXITED_BEFORE_READY", 500},
	{"NOT_ENDED", 500},
	{"NO_SPACE", 500},
	{"TOO_MANY_FILES", 500},
	{"TOO_MANY_PROCESSES", 500},
	{"TOO_MANY_TERMINALS", 500},
	{"OUT_OF_MEMORY", 500},
	{"INTERNAL_ERROR", 500},
	{"COMMAND_EXECUTION_ERROR", 500},
	{"CODE_EXECUTION_ERROR", 500},
	{"STREAM_ERROR", 500},
	{"UPGRADE_FAILED", 500},
	{"NOT_IMPLEMENTED", 501},
	{"PYTHON_NOT_AVAILABLE", 501},
	{"JAVASCRIPT_NOT_AVAILABLE", 501},
	{"GIT_NETWORK_ERROR", 502},
	{"NODE_LOST", 502},
	{"PORT_NOT_LISTENING", 502},
	{"PORT_ANSWER_INVALID", 502},
	{"PORT_TIMEOUT", 504},
	{"SERVER_BUSY", 503},
	{"SERVER_DRAINING", 503},
	{"NODE_UNREACHABLE", 503},
	{"REGISTRY_UNREACHABLE", 503},
	{"INTERPRETER_NOT_READY", 503},
	{"LOOP_DETECTED", 508},
};

int error_status(const char *code)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].code, code) == 0)
			return codes[i].status;
	return 500;
}

static const struct known_error {
	int error;
	bool shortage;
	const char *code;
} known_errors[] = {
	{-ENOSPC, true, "NO_SPACE"},
	{-EDQUOT, true, "NO_SPACE"},
	{-EMFILE, true, "TOO_MANY_FILES"},
	{-ENFILE, true, "TOO_MANY_FILES"},
	{-EAGAIN, true, "TOO_MANY_PROCESSES"},
	{-ERR_NO_TERMINAL, true, "TOO_MANY_TERMINALS"},
	{-ENOMEM, true, "OUT_OF_MEMORY"},
	{-ERR_UNRESPONSIVE, false, "SESSION_UNRESPONSIVE"},
	{-ERR_FILES_STUCK, false, "FILES_STUCK"},
	{-ERR_DRAINING, false, "SERVER_DRAINING"},
	{-ECANCELED, false, "OPERATION_INTERRUPTED"},
};

static const struct known_error *find_error(int error)
{
	static const struct known_error other = {.code = "INTERNAL_ERROR"};
	for (size_t i = 0; i < sizeof known_errors / sizeof *known_errors; i++)
		if (known_errors[i].error == error)
			return &known_errors[i];
	return &other;
}

bool error_is_shortage(int error)
{
	return find_error(error)->shortage;
}

const char *error_code_of(int error)
{
	return find_error(error)->code;
}
