/* See log_match.h. */
#include "shell/wait/log_match.h"

#include "ring/utf8.h"

#include <string.h>

/* Work for one line, see pattern_find(). A pattern that needs more is not found in it. */
#define WORK_MAX (UINT64_C(8) << 20)
#define KEPT (LOG_MATCH_LINE / 2) /* characters kept of a line that is too long */

void log_match_init(struct log_match *m, struct pattern *pattern, bool whole_lines)
{
	*m = (struct log_match){.pattern = pattern, .whole_lines = whole_lines};
}

/* Decode a character. Returns its bytes. */
static size_t decode(const char *text, uint32_t *ret_code)
{
	size_t size = utf8_decode((const uint8_t *)text, UTF8_MAX, ret_code);
	if (size > 0)
		return size;
	*ret_code = 0xfffd; /* invalid UTF-8 after all */
	return 1;
}

static bool look(struct log_match *m)
{
	uint64_t work = WORK_MAX;
	m->found = m->count > 0 && pattern_find(m->pattern, m->codes, m->count, 0, &work, &m->match);
	return m->found;
}

static bool end_line(struct log_match *m)
{
	if (m->count > 0 && m->codes[m->count - 1] == '\r')
		m->count--;
	if (look(m))
		return true;
	m->count = 0;
	return false;
}

/* If the line is full, drop its beginning. Returns whether the pattern was found before that. */
static bool shorten(struct log_match *m)
{
	if (m->count < LOG_MATCH_LINE)
		return false;
	if (!m->whole_lines && look(m))
		return true;
	memmove(m->codes, m->codes + m->count - KEPT, KEPT * sizeof *m->codes);
	m->count = KEPT;
	return false;
}

bool log_match_feed(struct log_match *m, const char *text, size_t length)
{
	for (size_t at = 0; at < length && !m->found;) {
		uint32_t code;
		size_t size = decode(text + at, &code);
		at += size;
		if (code == '\n') {
			if (end_line(m))
				return true;
			continue;
		}
		if (shorten(m))
			return true;
		m->codes[m->count++] = code;
	}
	return m->found || (!m->whole_lines && look(m));
}

bool log_match_end(struct log_match *m)
{
	return m->found || end_line(m);
}

size_t log_match_text(const struct log_match *m, size_t from, size_t to, char *dst)
{
	size_t n = 0;
	for (; from < to; from++)
		n += utf8_encode(m->codes[from], (uint8_t *)dst + n);
	return n;
}

bool log_match_needs_line_end(const char *regex)
{
	size_t length = strlen(regex), slashes = 0;
	if (length == 0 || regex[length - 1] != '$')
		return false;
	while (slashes + 1 < length && regex[length - 2 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 0;
}
