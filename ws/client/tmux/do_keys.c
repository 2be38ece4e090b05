/*
 * send-keys: arguments are names of keys, or else text. Text and keys go in as few requests as possible,
 * because other input may arrive between two requests.
 */
#include "ws/base64.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/key_name.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/backend.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define REPEAT_MAX 10000
#define KEYS_MAX 4000u /* in one request; the server accepts 4096 */

/* Builds requests. One request types text, and then keys. */
struct typing {
	struct arena *arena;
	json_t *requests; /* array of bodies; owned */
	struct text text; /* of the next request */
	json_t *keys;     /* of the next request; owned; NULL: none */
};

static void finish_request(struct typing *y)
{
	json_t *body = json_object();
	if (y->text.length > 0)
		json_object_set_new(body, "text", json_string(text_get(&y->text)));
	if (y->keys)
		json_object_set_new(body, "keys", y->keys);
	if (json_object_size(body) > 0)
		json_array_append_new(y->requests, body);
	else
		json_decref(body);
	y->text = (struct text){.arena = y->arena};
	y->keys = NULL;
}

static void add_text(struct typing *y, const char *text, size_t length)
{
	if (y->keys)
		finish_request(y);
	text_add(&y->text, text, length);
}

static void add_key(struct typing *y, const char *name)
{
	if (json_array_size(y->keys) >= KEYS_MAX)
		finish_request(y);
	if (!y->keys)
		y->keys = json_array();
	json_array_append_new(y->keys, json_string(name));
}

/* Type any byte. */
static void add_byte(struct typing *y, unsigned byte)
{
	char text = (char)byte;
	if (byte > 0 && byte < 0x80) {
		add_text(y, &text, 1);
		return;
	}
	finish_request(y);
	json_array_append_new(y->requests, json_pack("{s:o}", "base64", base64_json(&text, 1)));
}

static void add_word(struct call *c, struct typing *y, const char *word)
{
	char *end;
	if (args_has(&c->args, 'H')) {
		unsigned long n = strtoul(word, &end, 16);
		if (end != word && !*end && n <= 0xff)
			add_byte(y, (unsigned)n);
		return; /* tmux ignores invalid numbers */
	}
	char *key = args_has(&c->args, 'l') ? NULL : key_name_find(y->arena, word);
	if (key)
		add_key(y, key);
	else
		add_text(y, word, strlen(word));
}

static int type(struct call *c, struct pane *p, const json_t *requests)
{
	size_t i;
	json_t *body;
	struct answer a;
	json_array_foreach (requests, i, body) {
		if (p->dead || !p->info || p->input_off)
			return 0;
		int rc = backend_request(
			c->t, "POST", call_path(p->session, "/keys"), json_incref(body), &a);
		if (rc != 0)
			return rc;
		answer_finish(&a);
	}
	return 0;
}

static int refuse_unsupported(struct call *c)
{
	static const char letters[] = "MX";
	for (const char *o = letters; *o; o++)
		if (args_has(&c->args, *o))
			return tmux_error(c->t, "send-keys -%c: not available here%s", *o,
				*o == 'X' ? ": there is no copy mode" : "");
	return 0;
}

/* -R: reset the terminal, by writing RIS to it as a program would. This needs permission to open the device. */
static int reset(struct call *c, const struct place *at)
{
	const char *path = format_at(c->t, at, "#{pane_tty}");
	int fd = *path ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
	bool done = fd >= 0 && write(fd, "\033c", 2) == 2;
	if (fd >= 0)
		close(fd);
	return done ? 0
		    : tmux_error(c->t, "send-keys -R: cannot write to the terminal of pane %%%u",
			      at->pane->id);
}

int do_send_keys(struct call *c)
{
	struct pane *p;
	int repeat = 1;
	const char *count = args_value(&c->args, 'N');
	int rc = refuse_unsupported(c);
	if (rc != 0)
		return rc;
	if (count &&
		!commands_number(c, "repeat count", count, (const int[]){1, REPEAT_MAX}, &repeat))
		return 1;
	struct typing y = {
		.arena = &c->t->arena, .requests = json_array(), .text = {.arena = &c->t->arena}};
	for (int n = 0; n < repeat; n++)
		for (unsigned i = 0; i < c->args.count; i++)
			add_word(c, &y,
				args_has(&c->args, 'F') ? format_at(c->t, &c->at, c->args.items[i])
							: c->args.items[i]);
	finish_request(&y);
	bool all = strcmp(settings_of_pane(c->t, c->at.pane, "synchronize-panes"), "on") == 0;
	DL_FOREACH (c->at.window->panes, p)
		if (p == c->at.pane || all)
			rc |= type(c, p, y.requests);
	json_decref(y.requests);
	if (rc == 0 && args_has(&c->args, 'R'))
		rc = reset(c, &c->at);
	return rc;
}
