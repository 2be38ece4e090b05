/* The server's times in the local time zone. */
#pragma once

#define LOCAL_TIME_SIZE 17u

/*
 * Write an ISO 8601 time in UTC as local time, "2026-01-31 12:30". Other texts are copied, as far
 * as they fit. Returns text.
 */
const char *local_time(const char *iso, char text[LOCAL_TIME_SIZE]);
