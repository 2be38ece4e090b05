#include "load.h"

#include "process.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES ((size_t)16 << 20)

/* Written as by a program: the terminal inserts CR before LF. */
static void write_file(const char *path, enum stream_kind kind)
{
	uint8_t *bytes = malloc(FILE_BYTES);
	FILE *f = fopen(path, "w");
	if (!bytes || !f)
		die(path);
	size_t length = stream_make(kind, bytes, FILE_BYTES), kept = 0;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\r')
			bytes[kept++] = bytes[i];
	if (fwrite(bytes, 1, kept, f) != kept)
		die(path);
	fclose(f);
	free(bytes);
}

/*
 * The file is first written unmeasured: that touches the pages of the ring, as in any long session. Nothing follows
 * READY, so a reader can count from there.
 */
void load_make(const struct target *t, struct load *l)
{
	char text[4096], file[96];
	snprintf(file, sizeof file, "%s/%s", t->dir, stream_name(l->stream));
	write_file(file, l->stream);
	size_t length = (size_t)snprintf(text, sizeof text,
		"#!/bin/sh\nstty %s -echo\ncat %s\nprintf '\\nREADY'\nread go\nexec cat", l->modes,
		file);
	for (unsigned i = 0; i < l->times; i++)
		length += (size_t)snprintf(text + length, sizeof text - length, " %s", file);
	snprintf(text + length, sizeof text - length, "\n");
	char name[32];
	snprintf(name, sizeof name, "run_%s", l->name);
	target_script(t, name, text, l->script);
}
