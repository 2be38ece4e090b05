/* set-, load-, save-, show-, delete-, list- and paste-buffer. */
#include "ws/base64.h"
#include "ws/client/tmux/buffers.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/script.h"
#include "ws/client/tmux/backend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_WIDTH 200u
#define SAMPLE_BYTES ((size_t)1000)
#define PIECE ((size_t)60000) /* bytes in one request */

static json_t *find(struct call *c)
{
	const char *name = args_value(&c->args, 'b');
	json_t *b = buffers_find(c->t, name);
	if (!b && name)
		tmux_error(c->t, "no buffer %s", name);
	else if (!b)
		tmux_error(c->t, "no buffers");
	return b;
}

int do_set_buffer(struct call *c)
{
	const char *name = args_value(&c->args, 'b'), *renamed = args_value(&c->args, 'n');
	struct text bytes = {.arena = &c->t->arena};
	if (renamed) {
		json_t *b = find(c);
		if (!b)
			return 1;
		json_object_set_new(b, "name", json_string(renamed));
		json_object_set_new(b, "automatic", json_false());
		return 0;
	}
	if (c->args.count == 0)
		return tmux_error(c->t, "no data specified");
	json_t *old = args_has(&c->args, 'a') ? buffers_find(c->t, name) : NULL;
	if (!*c->args.items[0])
		return 0;
	if (old) {
		size_t length;
		const char *before = buffers_read(c->t, old, &length);
		text_add(&bytes, before, length);
		name = json_is_true(json_object_get(old, "automatic")) ? NULL : name;
	}
	text_puts(&bytes, c->args.items[0]);
	if (old && !name)
		name = arena_copy(&c->t->arena, answer_text(old, "name"));
	return buffers_write(c->t, name, text_get(&bytes), bytes.length);
}

int do_load_buffer(struct call *c)
{
	const char *path = c->args.items[0];
	struct text bytes = {.arena = &c->t->arena};
	bool waits = !script_cannot_block(path);
	if (waits && commands_pause(c->t) != 0)
		return 1;
	int error = script_read_file(path, BUFFERS_BYTES_MAX, &bytes);
	if (waits && commands_resume(c->t) != 0)
		return 1;
	if (error != 0)
		return tmux_error(c->t, "%s: %s", path, strerror(error));
	if (!c->t->model.sessions)
		return tmux_error(c->t, "server exited");
	if (bytes.length == 0)
		return 0;
	return buffers_write(c->t, args_value(&c->args, 'b'), bytes.bytes, bytes.length);
}

/* Returns 0 or an errno. */
static int write_file(const char *path, const char *how, const char *bytes, size_t length)
{
	FILE *f = fopen(path, how);
	if (!f)
		return errno;
	int error = fwrite(bytes, 1, length, f) == length ? 0 : errno;
	return fclose(f) == 0 || error != 0 ? error : errno;
}

int do_save_buffer(struct call *c)
{
	size_t length;
	const json_t *b = find(c);
	const char *path = c->args.count > 0 ? c->args.items[0] : "-";
	if (!b)
		return 1;
	const char *bytes = buffers_read(c->t, b, &length);
	if (strcmp(path, "-") == 0) {
		tmux_say_bytes(c->t, bytes, length);
		return 0;
	}
	bool waits = !script_cannot_block(path);
	if (waits && commands_pause(c->t) != 0)
		return 1;
	int error = write_file(path, args_has(&c->args, 'a') ? "ae" : "we", bytes, length);
	if (waits && commands_resume(c->t) != 0)
		return 1;
	return error == 0 ? 0 : tmux_error(c->t, "%s: %s", path, strerror(error));
}

int do_delete_buffer(struct call *c)
{
	const char *name = args_value(&c->args, 'b');
	const json_t *b = buffers_find(c->t, name);
	if (!b)
		return name ? tmux_error(c->t, "unknown buffer: %s", name)
			    : tmux_error(c->t, "no buffer");
	for (size_t i = 0; i < json_array_size(c->t->model.buffers); i++) {
		if (json_array_get(c->t->model.buffers, i) == b) {
			json_array_remove(c->t->model.buffers, i);
			break;
		}
	}
	return 0;
}

/* The beginning of a buffer, escaped, on one line. */
static char *format_sample(struct call *c, const char *bytes, size_t length)
{
	struct text out = {.arena = &c->t->arena};
	for (size_t i = 0; i < length && out.length < SAMPLE_BYTES;) {
		const char *part = arena_copy_n(
			&c->t->arena, bytes + i, strnlen(bytes + i, length - i));
		text_puts(&out, quote_visible(&c->t->arena, quote_utf8(&c->t->arena, part), false));
		i += strlen(part);
		if (i < length)
			text_puts(&out,
				i + 1 < length && bytes[i + 1] >= '0' && bytes[i + 1] <= '7'
					? "\\000"
					: "\\0");
		i++;
	}
	return text_get(&out);
}

int do_list_buffers(struct call *c)
{
	size_t i, length;
	json_t *b;
	const char *template = args_value(&c->args, 'F'), *filter = args_value(&c->args, 'f');
	json_array_foreach (c->t->model.buffers, i, b) {
		const char *bytes = buffers_read(c->t, b, &length);
		char *sample = format_sample(c, bytes, length);
		bool longer = quote_width(sample) > SAMPLE_WIDTH;
		sample = quote_trim(&c->t->arena, sample, SAMPLE_WIDTH, false);
		json_t *more = json_pack("{s:s, s:s, s:s, s:s}", "buffer_name",
			answer_text(b, "name"), "buffer_size",
			arena_print(&c->t->arena, "%zu", length), "buffer_sample",
			arena_print(&c->t->arena, "%s%s", sample, longer ? "..." : ""),
			"buffer_created",
			arena_print(&c->t->arena, "%lld",
				(long long)json_integer_value(json_object_get(b, "created"))));
		struct format f = {.t = c->t, .more = more};
		if (!filter || format_is_true(format_expand(&f, filter)))
			tmux_say_line(c->t,
				format_expand(&f,
					template
						? template
						: "#{buffer_name}: #{buffer_size} bytes: \"#{buffer_sample}\""));
		json_decref(more);
	}
	return 0;
}

/* Replace newlines by the separator: -s, or CR, or with -r LF. */
static char *replace_newlines(struct call *c, const char *bytes, size_t length, size_t *ret_length)
{
	struct text out = {.arena = &c->t->arena};
	const char *separator = args_value(&c->args, 's');
	if (!separator)
		separator = args_has(&c->args, 'r') ? "\n" : "\r";
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n')
			text_puts(&out, separator);
		else
			text_add(&out, bytes + i, 1);
	}
	*ret_length = out.length;
	return text_get(&out);
}

/* A string with "?" for each byte that is not UTF-8. The bytes may contain NULs, and end with one. */
static json_t *utf8_json(struct arena *a, const char *bytes, size_t length)
{
	struct text out = {.arena = a};
	for (size_t i = 0; i < length; i++) {
		text_puts(&out, quote_utf8(a, bytes + i));
		i += strlen(bytes + i);
		if (i < length)
			text_add(&out, "", 1);
	}
	return json_stringn(text_get(&out), out.length);
}

static int type(struct call *c, const struct pane *p, json_t *body)
{
	struct answer a;
	int rc = backend_request(c->t, "POST", call_path(p->session, "/keys"), body, &a);
	if (rc == 0)
		answer_finish(&a);
	return rc;
}

static int paste(struct call *c, const struct pane *p, const char *bytes, size_t length)
{
	int rc = 0;
	if (args_has(&c->args, 'p'))
		return type(
			c, p, json_pack("{s:o}", "paste", utf8_json(&c->t->arena, bytes, length)));
	for (size_t done = 0, n; rc == 0 && done < length; done += n) {
		n = length - done < PIECE ? length - done : PIECE;
		rc = type(c, p, json_pack("{s:o}", "base64", base64_json(bytes + done, n)));
	}
	return rc;
}

int do_paste_buffer(struct call *c)
{
	size_t length;
	int rc = 0;
	const char *name = args_value(&c->args, 'b');
	const json_t *b = buffers_find(c->t, name);
	if (!b)
		return name ? tmux_error(c->t, "no buffer %s", name) : 0;
	const char *bytes = buffers_read(c->t, b, &length);
	bytes = replace_newlines(c, bytes, length, &length);
	if (!c->at.pane->dead && !c->at.pane->input_off && length > 0)
		rc = paste(c, c->at.pane, bytes, length);
	return rc == 0 && args_has(&c->args, 'd') ? do_delete_buffer(c) : rc;
}
