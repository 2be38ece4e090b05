/* Buffers are kept in the state as base64. The option buffer-limit limits automatically named ones. */
#include "ws/client/tmux/buffers.h"

#include "ws/base64.h"
#include "ws/client/tmux/settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

json_t *buffers_find(const struct tmux *t, const char *name)
{
	size_t i;
	json_t *b;
	json_array_foreach (t->model.buffers, i, b)
		if (name ? strcmp(answer_text(b, "name"), name) == 0
			 : json_is_true(json_object_get(b, "automatic")))
			return b;
	return NULL;
}

char *buffers_read(struct tmux *t, const json_t *buffer, size_t *ret_length)
{
	const char *text = answer_text(buffer, "base64");
	size_t length = 0;
	unsigned char *decoded = base64_decode(text, &length);
	char *bytes = arena_copy_n(
		&t->arena, decoded ? (const char *)decoded : "", decoded ? length : 0);
	free(decoded);
	*ret_length = length;
	return bytes;
}

static void enforce_limit(struct tmux *t)
{
	size_t i, kept = 0, limit = (size_t)strtoul(settings_get(t, NULL, "buffer-limit"), NULL, 10);
	json_t *b;
	for (i = 0; i < json_array_size(t->model.buffers); i++) {
		b = json_array_get(t->model.buffers, i);
		if (json_is_true(json_object_get(b, "automatic")) && ++kept > limit)
			json_array_remove(t->model.buffers, i--);
	}
}

static size_t count_bytes(const struct tmux *t)
{
	size_t i, n = 0;
	json_t *b;
	json_array_foreach (t->model.buffers, i, b)
		n += json_string_length(json_object_get(b, "base64"));
	return n;
}

int buffers_write(struct tmux *t, const char *name, const char *bytes, size_t length)
{
	if (length > BUFFERS_BYTES_MAX || count_bytes(t) + length > 4 * BUFFERS_BYTES_MAX)
		return tmux_error(t, "buffer too large: %zu bytes", length);
	json_t *old = name ? buffers_find(t, name) : NULL;
	char *own = name ? NULL : arena_print(&t->arena, "buffer%u", t->model.next_buffer++);
	char *text = arena_alloc(&t->arena, BASE64_SIZE(length));
	base64_encode(bytes, length, text);
	json_t *b = json_pack("{s:s, s:s, s:b, s:I}", "name", name ? name : own, "base64", text,
		"automatic", name == NULL, "created", (json_int_t)time(NULL));
	for (size_t i = 0; old && i < json_array_size(t->model.buffers); i++)
		if (json_array_get(t->model.buffers, i) == old)
			json_array_remove(t->model.buffers, i);
	json_array_insert_new(t->model.buffers, 0, b);
	enforce_limit(t);
	return 0;
}
