/*
 * Structured log lines on standard error, in logfmt:
 *   ts=2026-11-21T05:17:00.000Z level=warn module=auth msg="login refused" peer=127.0.0.1 error="..."
 * One line for each failure. Credentials and terminal bytes never go here.
 */
#pragma once

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below this level are dropped. The one global of the program. */
void log_set_level(enum log_level level);

/*
 * Write a line. module and message are literals; then pairs of a key and a string value, ended by NULL.
 * Values are quoted where needed; control characters are escaped.
 */
void log_write(enum log_level level, const char *module, const char *message, ...)
	__attribute__((sentinel));
