/* What cloudflared says in its log (--output json): lines, each an object or none. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CLOUDFLARED_URL_SIZE 256u /* bytes, with the NUL */

/* The address of a quick tunnel that a line tells of. Returns whether there is one. */
bool cloudflared_url(const char *line, char ret_url[CLOUDFLARED_URL_SIZE]);

/* The port of its metrics, which also tell whether it is connected; 0: the line tells none. */
unsigned cloudflared_metrics(const char *line);

/* What a line says has gone wrong, for people: ret_text, of size bytes, with the NUL. Returns whether it says so. */
bool cloudflared_error(const char *line, char *ret_text, size_t size);
