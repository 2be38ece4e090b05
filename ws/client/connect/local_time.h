/* Times of the server as clocks here show them. */
#pragma once

#define LOCAL_TIME_SIZE 17u

/*
 * "2026-01-31 12:30" of an ISO 8601 time in UTC; what is none stays what it is, as far as it fits. Returns text.
 */
const char *local_time(const char *iso, char text[LOCAL_TIME_SIZE]);
