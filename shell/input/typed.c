/* See typed.h. A list, bounded in entries and in memory. */
#include "shell/input/typed.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static size_t size_of(const struct typed_entry *e)
{
	return sizeof *e + strlen(e->author) + strlen(e->label) + 2 + (e->text ? e->bytes : 0);
}

static void drop_entry(struct typed *t, struct typed_entry *e)
{
	DL_DELETE(t->entries, e);
	t->count--;
	t->size -= size_of(e);
	free(e->text);
	free(e);
}

static bool ends_line(const struct typed_entry *e)
{
	char last = e->text ? e->text[e->bytes - 1] : '\0';
	return last == '\r' || last == '\n';
}

/* Whether the input continues an entry: same author, shortly after, on the same line. */
static bool continues_entry(const struct typed_entry *e, const struct typed_note *n)
{
	return e->client == n->client && strcmp(e->author, n->author) == 0 &&
		strcmp(e->label, n->label) == 0 && (e->text != NULL) == n->shown &&
		n->at_ms - e->at_ms <= TYPED_JOIN_MS && e->bytes + n->length <= TYPED_JOIN_BYTES &&
		!ends_line(e);
}

static bool join_entry(struct typed *t, struct typed_entry *e, const struct typed_note *n)
{
	if (n->shown) {
		char *text = realloc(e->text, e->bytes + n->length);
		if (!text)
			return false;
		memcpy(text + e->bytes, n->bytes, n->length);
		e->text = text;
		t->size += n->length;
	}
	e->bytes += n->length;
	return true;
}

static struct typed_entry *create_entry(const struct typed_note *n)
{
	size_t author = strlen(n->author) + 1, label = strlen(n->label) + 1;
	struct typed_entry *e = calloc(1, sizeof *e + author + label);
	char *text = e && n->shown ? malloc(n->length) : NULL;
	if (!e || (n->shown && !text)) {
		free(e);
		return NULL;
	}
	if (n->shown)
		memcpy(text, n->bytes, n->length);
	e->author = memcpy(e->names, n->author, author);
	e->label = memcpy(e->names + author, n->label, label);
	e->offset = n->offset;
	e->at_ms = n->at_ms;
	e->client = n->client;
	e->bytes = n->length;
	e->text = text;
	return e;
}

void typed_add(struct typed *t, const struct typed_note *n)
{
	if (n->length == 0 || (n->shown && n->length > TYPED_BYTES_MAX))
		return;
	if (!t->entries || !continues_entry(t->entries->prev, n) ||
		!join_entry(t, t->entries->prev, n)) {
		struct typed_entry *e = create_entry(n);
		if (!e)
			return;
		DL_APPEND(t->entries, e);
		t->count++;
		t->size += size_of(e);
	}
	while (t->count > 1 && (t->count > TYPED_ENTRIES_MAX || t->size > TYPED_BYTES_MAX))
		drop_entry(t, t->entries);
}

void typed_finish(struct typed *t)
{
	while (t->entries)
		drop_entry(t, t->entries);
}
