/*
 * Structured log lines on standard error, in logfmt:
 *   ts=2026-11-21T05:17:00.000Z level=warn module=auth msg="login refused" peer=127.0.0.1 error="..."
 * One line for each failure. Never log credentials or terminal bytes; texts of commands only with --log-commands. Logging
 * never blocks: lines that cannot be written are dropped and counted, and a later line reports the count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOG_COMMAND_SIZE 201u /* bytes of a command in a line */

/* Severity of a line. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Set the lowest level that is written. The log is the one global of the program. */
void log_set_level(enum log_level level);

/* Never block from now on. Before this call, writes may block. */
void log_open(void);

/* Write waiting lines, as far as standard error accepts them. Called periodically. */
void log_flush(void);

/* Number of lines that were dropped because standard error did not accept them. */
uint64_t log_dropped(void);

/* Set whether log_command() shows the texts of commands. */
void log_set_commands(bool shown);

/*
 * Describe a command for the log: by default its length and a digest with a key made at start, by which two lines of one
 * server can be matched but the text cannot be guessed; or its beginning, see log_set_commands().
 */
void log_command(const char *command, char ret_text[LOG_COMMAND_SIZE]);

/*
 * Write a line. module and message are literals; then pairs of a key and a string value, ended by NULL.
 * Values are quoted where needed; control characters are escaped.
 */
void log_write(enum log_level level, const char *module, const char *message, ...)
	__attribute__((sentinel));
