#include "ws/client/job/output.h"

#include "shell/write_all.h"
#include "ws/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_bytes(struct output *s, int stream, const void *bytes, size_t length)
{
	if (s->error != 0)
		return;
	int rc = write_all(stream == OUTPUT_ERR ? STDERR_FILENO : STDOUT_FILENO, bytes, length);
	/* The pipe may be a socket that was closed with unread bytes. */
	s->error = rc == -ECONNRESET ? -EPIPE : rc;
}

/* Write CR LF as LF. */
static void write_plain(struct output *s, int stream, const char *bytes, size_t length)
{
	while (length > 0) {
		if (s->return_held && *bytes != '\n')
			write_bytes(s, stream, "\r", 1);
		s->return_held = false;
		const char *cr = memchr(bytes, '\r', length);
		size_t n = cr ? (size_t)(cr - bytes) : length;
		write_bytes(s, stream, bytes, n);
		s->return_held = cr != NULL;
		n += cr ? 1 : 0;
		bytes += n;
		length -= n;
	}
}

void output_mark(struct output *s)
{
	memset(s->seen, 0, sizeof s->seen);
	memset(s->written, 0, sizeof s->written);
}

void output_restart(struct output *s)
{
	memset(s->seen, 0, sizeof s->seen);
}

void output_write(struct output *s, int stream, const json_t *base64, bool terminal)
{
	size_t length;
	const char *text = json_string_value(base64);
	unsigned char *bytes = text ? base64_decode(text, &length) : NULL;
	if (!bytes)
		return;
	uint64_t known = s->written[stream] > s->seen[stream] ? s->written[stream] - s->seen[stream]
							      : 0;
	size_t skip = known < length ? (size_t)known : length;
	s->seen[stream] += length;
	if (s->seen[stream] > s->written[stream])
		s->written[stream] = s->seen[stream];
	if (s->sink && s->error == 0)
		s->error = s->sink(s->sink_user, (const char *)bytes + skip, length - skip) ? 0
											    : -EIO;
	else if (terminal && s->plain)
		write_plain(s, stream, (const char *)bytes + skip, length - skip);
	else
		write_bytes(s, stream, bytes + skip, length - skip);
	free(bytes);
}

void output_end(struct output *s)
{
	if (s->return_held)
		write_bytes(s, OUTPUT_OUT, "\r", 1);
	s->return_held = false;
}
