/*
 * Structured log lines on standard error, in logfmt:
 *   ts=2026-11-21T05:17:00.000Z level=warn module=auth msg="login refused" peer=127.0.0.1 error="..."
 * One line for each failure. Credentials and terminal bytes never go here, nor do the texts of commands unless that
 * is asked for. Nobody waits for whoever reads the log: what cannot be written is dropped, counted, and said later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOG_COMMAND_SIZE 201u /* bytes of a command in a line */

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below this level are not written. The log is the one global of the program. */
void log_set_level(enum log_level level);

/* From now on never block; before that, lines are written as they come. */
void log_open(void);

/* Write what waits, as far as standard error takes it; called now and then. */
void log_flush(void);

/* Lines that were dropped because nobody read them. */
uint64_t log_dropped(void);

/* Whether the texts of commands may be in the log. */
void log_set_commands(bool shown);

/*
 * What the log says of a command: its length and a digest, by which two lines of one server can be told to be about the
 * same command (keyed at start: nobody can guess the text from it); or its beginning, if that was asked for.
 */
void log_command(const char *command, char ret_text[LOG_COMMAND_SIZE]);

/*
 * Write a line. module and message are literals; then pairs of a key and a string value, ended by NULL.
 * Values are quoted where needed; control characters are escaped.
 */
void log_write(enum log_level level, const char *module, const char *message, ...)
	__attribute__((sentinel));
