/* Typing for programs: text, pastes, keys by name, bytes and the mouse. */
#include "shell/input/keys.h"
#include "shell/input/mouse.h"
#include "shell/session/type.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/session/with_screen.h"
#include "ws/api/later/pending.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/api/read/typist.h"
#include "ws/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_COUNT_MAX 4096u /* of one request */
/* Delay of Enter, so that programs do not take text and Enter for a paste. */
#define SUBMIT_MS 150u

/* Input */

struct keystrokes {
	struct request *request;
	struct session *session;
	struct screen_modes modes;
	char *bytes;
	size_t length, capacity;
};

/* Reserve space for more bytes. Returns false after it has answered the request. */
static bool reserve(struct keystrokes *k, size_t length)
{
	if (k->length + length > LINK_INPUT_MAX + TYPING_PASTE_SIZE(0)) {
		refuse_session(k->request, k->session, -ENOBUFS);
		return false;
	}
	if (k->capacity - k->length >= length)
		return true;
	size_t capacity = (k->length + length) * 2;
	char *bytes = realloc(k->bytes, capacity);
	if (!bytes)
		return refuse_memory(k->request);
	k->bytes = bytes;
	k->capacity = capacity;
	return true;
}

static bool append_bytes(struct keystrokes *k, const void *bytes, size_t length)
{
	if (length == 0)
		return true;
	if (!reserve(k, length) || !k->bytes)
		return false;
	memcpy(k->bytes + k->length, bytes, length);
	k->length += length;
	return true;
}

/* Parse an optional string, which may contain NUL. Returns false after it has answered. */
static bool parse_string(struct keystrokes *k, const json_t *body, const char *field,
	const char **ret_text, size_t *ret_length)
{
	const json_t *value = json_object_get(body, field);
	*ret_text = json_string_value(value);
	*ret_length = json_string_length(value);
	return *ret_text || !value || json_is_null(value) ||
		reply_invalid(k->request, field, "Must be a string", "invalid");
}

static bool add_text(struct keystrokes *k, const json_t *body)
{
	const char *text;
	size_t length;
	return parse_string(k, body, "text", &text, &length) && append_bytes(k, text, length);
}

static bool add_paste(struct keystrokes *k, const json_t *body)
{
	const char *text;
	size_t length;
	if (!parse_string(k, body, "paste", &text, &length))
		return false;
	if (!text)
		return true;
	if (!reserve(k, TYPING_PASTE_SIZE(length)))
		return false;
	k->length += typing_paste(text, length, k->modes.bracketed_paste, k->bytes + k->length);
	return true;
}

static size_t encode(const struct session *s, const struct key *key,
	const struct screen_modes *modes, char bytes[KEYS_BYTES_MAX])
{
	struct termios line;
	return keys_encode(key, modes, session_terminal_modes(s, &line) ? &line : NULL, bytes);
}

static bool add_key(struct keystrokes *k, const char *name, size_t length)
{
	struct key key;
	char bytes[KEYS_BYTES_MAX];
	if (keys_parse(name, length, &key))
		return append_bytes(k, bytes, encode(k->session, &key, &k->modes, bytes));
	return reply_invalid(k->request, "keys",
		"Unknown key. Must be: C- M- S- before Enter, Tab, Escape, Space, BSpace, Up, Down, Left, Right, Home, End, PageUp, PageDown, Insert, Delete, F1 to F24, KP0 to KP9, KPEnter, or one character",
		"invalid");
}

/* Names separated by blanks. */
static bool add_names(struct keystrokes *k, const char *text)
{
	unsigned count = 0;
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");
		if (++count > KEYS_COUNT_MAX)
			return reply_invalid(k->request, "keys", "At most 4096 keys", "invalid");
		if (!add_key(k, text, length))
			return false;
		text += length;
	}
	return true;
}

static bool add_keys(struct keystrokes *k, const json_t *body)
{
	const json_t *keys = json_object_get(body, "keys"), *name;
	size_t i;
	if (!keys || json_is_null(keys))
		return true;
	if (json_is_string(keys) && strlen(json_string_value(keys)) == json_string_length(keys))
		return add_names(k, json_string_value(keys));
	if (!json_is_array(keys) || json_array_size(keys) > KEYS_COUNT_MAX)
		return reply_invalid(k->request, "keys",
			"Must be at most 4096 names of keys, in an array or in one string",
			"invalid");
	json_array_foreach (keys, i, name) {
		/* NULL, of a value that is not a string, is not a key. */
		if (!add_key(k, json_string_value(name), json_string_length(name)))
			return false;
	}
	return true;
}

static bool add_base64(struct keystrokes *k, const json_t *body)
{
	const char *text;
	size_t length;
	if (!body_text(k->request, body, "base64", &text))
		return false;
	if (!text)
		return true;
	unsigned char *bytes = base64_decode(text, &length);
	if (!bytes)
		reply_invalid(k->request, "base64", "Must be base64", "invalid");
	bool good = bytes && append_bytes(k, bytes, length);
	free(bytes);
	return good;
}

/* The mouse */

static const char *const actions[] = {[MOUSE_PRESS] = "press",
	[MOUSE_RELEASE] = "release",
	[MOUSE_MOVE] = "move",
	[MOUSE_SCROLL_UP] = "scroll_up",
	[MOUSE_SCROLL_DOWN] = "scroll_down"};

static const char *const buttons[] = {
	[MOUSE_LEFT] = "left", [MOUSE_MIDDLE] = "middle", [MOUSE_RIGHT] = "right"};

static bool find_name(const char *const *names, size_t count, const char *name, unsigned *ret_index)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0) {
			*ret_index = i;
			return true;
		}
	return false;
}

static bool parse_modifiers(struct request *r, const json_t *mouse, unsigned *ret_modifiers)
{
	const json_t *list = json_object_get(mouse, "modifiers"), *each;
	size_t i;
	if (list && !json_is_null(list) && !json_is_array(list))
		return reply_invalid(r, "modifiers", "Must be an array of C, M and S", "invalid");
	json_array_foreach (list, i, each) {
		const char *name = json_string_value(each);
		unsigned one = !name             ? 0
			: strcmp(name, "C") == 0 ? KEY_CTRL
			: strcmp(name, "M") == 0 ? KEY_ALT
			: strcmp(name, "S") == 0 ? KEY_SHIFT
						 : 0;
		if (!one)
			return reply_invalid(
				r, "modifiers", "Must be an array of C, M and S", "invalid");
		*ret_modifiers |= one;
	}
	return true;
}

/* The action and the button. ret_click: press and release. */
static bool parse_action(
	struct request *r, const json_t *mouse, struct mouse_event *ret_event, bool *ret_click)
{
	const char *action, *button;
	unsigned which = MOUSE_PRESS, held = MOUSE_LEFT;
	if (!body_text(r, mouse, "action", &action) || !body_text(r, mouse, "button", &button))
		return false;
	*ret_click = action && strcmp(action, "click") == 0;
	if (!action || (!*ret_click && !find_name(actions, MOUSE_SCROLL_DOWN + 1, action, &which)))
		return reply_invalid(r, "action",
			"Must be press, release, click, move, scroll_up or scroll_down",
			action ? "invalid" : "required");
	if (button && !find_name(buttons, MOUSE_RIGHT + 1, button, &held))
		return reply_invalid(r, "button", "Must be left, middle or right", "invalid");
	ret_event->action = (enum mouse_action)which;
	ret_event->button = which == MOUSE_MOVE && !button ? MOUSE_NO_BUTTON
							   : (enum mouse_button)held;
	return true;
}

static bool parse_mouse(
	struct keystrokes *k, const json_t *mouse, struct mouse_event *ret_event, bool *ret_click)
{
	struct request *r = k->request;
	uint64_t row = 0, col = 0;
	if (!json_is_object(mouse))
		return reply_invalid(r, "mouse", "Must be an object", "invalid");
	snprintf(r->within, sizeof r->within, "mouse");
	bool good = parse_action(r, mouse, ret_event, ret_click) &&
		body_number(r, mouse, "row", 1, k->session->pane.rows, &row) &&
		body_number(r, mouse, "column", 1, k->session->pane.cols, &col) &&
		parse_modifiers(r, mouse, &ret_event->modifiers);
	ret_event->row = (unsigned)row;
	ret_event->col = (unsigned)col;
	if (good && (row == 0 || col == 0)) {
		reply_invalid(r, row == 0 ? "row" : "column",
			"row and column are required, from 1 on", "required");
		good = false;
	}
	r->within[0] = '\0';
	return good;
}

static bool add_mouse(struct keystrokes *k, const json_t *body)
{
	const json_t *mouse = json_object_get(body, "mouse");
	struct mouse_event event = {0};
	char bytes[MOUSE_BYTES_MAX];
	bool click = false;
	if (!mouse || json_is_null(mouse))
		return true;
	if (!parse_mouse(k, mouse, &event, &click))
		return false;
	if (!mouse_is_tracked(&k->modes))
		return reply_error(k->request, "MOUSE_OFF",
			k->modes.mouse == MOUSE_NONE
				? "The program does not track the mouse"
				: "The program tracks the mouse in pixels, which is not supported",
			json_pack("{s:s}", "sessionId", session_id(k->session)));
	if (!append_bytes(k, bytes, mouse_encode(&event, &k->modes, bytes)))
		return false;
	event.action = MOUSE_RELEASE;
	return !click || append_bytes(k, bytes, mouse_encode(&event, &k->modes, bytes));
}

/* Typing it */

static struct screen_modes modes_of(const struct session *s)
{
	const struct screen *screen = pane_unlent_screen(&s->pane);
	return screen ? *screen_modes(screen) : (struct screen_modes){0};
}

static void reply_typed(
	struct api *a, struct request *r, struct session *s, const struct typing_result *typed)
{
	struct pane_state state;
	session_state(s, &state);
	reply_success(r,
		json_pack("{s:I, s:I, s:I, s:o}", "written", (json_int_t)typed->written, "queued",
			(json_int_t)typed->queued, "offset", (json_int_t)typed->offset, "state",
			api_state_json(a, r, s, &state)));
}

/* An Enter that follows after SUBMIT_MS. */
struct submit {
	struct pending pending;
	struct look look; /* for the terminal modes */
	struct api *api;
	json_t *body; /* the typist borrows from it */
	struct typist by;
	char session[NAME_ID_MAX + 1];
	uint64_t epoch;
	struct typing_result typed; /* so far */
};

static int type_enter(struct session *s, const struct typist *by, struct typing_result *typed)
{
	struct screen_modes modes = modes_of(s);
	struct key enter;
	struct typing_result result;
	char bytes[KEYS_BYTES_MAX];
	(void)keys_parse("Enter", strlen("Enter"), &enter);
	int rc = session_type_as(s, by, bytes, encode(s, &enter, &modes, bytes), &result);
	if (rc < 0)
		return rc;
	typed->written += result.written;
	typed->queued = result.queued;
	return 0;
}

static void end_submit(struct submit *p)
{
	json_decref(p->body);
	pending_end(&p->pending);
}

static void on_session_gone(void *user)
{
	struct submit *p = user;
	reply_error(p->pending.request, "SESSION_DESTROYED", "The session has been deleted", NULL);
	end_submit(p);
}

static void on_modes_seen(void *user)
{
	struct submit *p = user;
	struct request *r = p->pending.request;
	struct session *s = sessions_find(p->api->sessions, p->session);
	/* The access may have been revoked since. A disconnect does not matter. */
	bool may = access_is_current(p->api->access, &r->principal);
	int rc = may ? type_enter(s, &p->by, &p->typed) : 0;
	if (!may)
		reply_error(r, "ACCESS_ENDED", "The text was typed, but not submitted with Enter",
			NULL);
	else if (rc < 0)
		refuse_session(r, s, rc);
	else
		reply_typed(p->api, r, s, &p->typed);
	end_submit(p);
}

static void on_submit_due(void *user)
{
	struct submit *p = user;
	struct session *s = sessions_find(p->api->sessions, p->session);
	p->look = (struct look){.seen = on_modes_seen, .gone = on_session_gone, .user = p};
	if (!s || !session_is_readable(s) || session_epoch(s) != p->epoch)
		on_session_gone(p);
	else if (pane_look(&s->pane, &p->look))
		on_modes_seen(p);
}

static void submit_later(struct api *a, struct request *r, struct session *s, json_t *body,
	const struct submit *what)
{
	struct submit *p = malloc(sizeof *p);
	if (!p) {
		reply_error(r, "OUT_OF_MEMORY",
			"Out of memory: the text was typed, but not submitted with Enter", NULL);
		return;
	}
	*p = *what;
	p->api = a;
	p->body = json_incref(body);
	snprintf(p->session, sizeof p->session, "%s", session_id(s));
	p->epoch = session_epoch(s);
	pending_open(&p->pending, a->sessions->loop, r, p, NULL);
	pending_after(&p->pending, SUBMIT_MS, on_submit_due);
}

static bool has_input(const json_t *body, bool submit)
{
	static const char *const fields[] = {"text", "paste", "keys", "base64", "mouse"};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (json_object_get(body, fields[i]))
			return true;
	return submit;
}

static void type(struct api *a, struct keystrokes *k, json_t *body, bool submit)
{
	struct submit typed = {0};
	struct request *r = k->request;
	struct session *s = k->session;
	if (!typist_parse(r, body, &typed.by))
		return;
	int rc = session_type_as(s, &typed.by, k->length ? k->bytes : "", k->length, &typed.typed);
	if (rc == 0 && submit && k->length > 0) {
		submit_later(a, r, s, body, &typed);
		return;
	}
	if (rc == 0 && submit)
		rc = type_enter(s, &typed.by, &typed.typed);
	if (rc < 0)
		refuse_session(r, s, rc);
	else
		reply_typed(a, r, s, &typed.typed);
}

static void press_keys(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	bool submit = false;
	struct keystrokes k = {.request = r, .session = s, .modes = modes_of(s)};
	json_t *body = body_read(r);
	if (!body || !body_flag(r, body, "submit", &submit))
		goto out;
	if (!has_input(body, submit))
		reply_invalid(r, "text",
			"One of text, paste, keys, base64, mouse and submit is required",
			"required");
	else if (add_text(&k, body) && add_paste(&k, body) && add_keys(&k, body) &&
		add_base64(&k, body) && add_mouse(&k, body))
		type(a, &k, body, submit);
out:
	free(k.bytes);
}

/* The encoding of keys depends on the current modes. */
static void look_and_press(struct request *r, struct session *s)
{
	with_screen(r, s, press_keys);
}

const struct route_row api_keys_rows[] = {
	{METHOD_POST, "/api/session/{}/keys", ROUTE_DRIVER, .session = look_and_press},
	{.path = NULL},
};
