/* Something of ours on the terminal, in place of a session: lines, and what is typed at them. Turns the loop. */
#pragma once

#include "ws/client/attach/attachment.h"
#include "ws/client/connect/call.h"
#include "ws/client/draw/canvas.h"

enum view_event {
	VIEW_KEY,    /* one of enum key */
	VIEW_TEXT,   /* a character that is typed */
	VIEW_ESCAPE, /* Escape by itself */
	VIEW_RESIZED,
	VIEW_OVER, /* the view is to end, whatever it is at */
};

struct view_input {
	enum view_event event;
	enum key key;
	unsigned char byte;
};

/* What is typed next. */
struct view_input view_read(struct attachment *a);

/*
 * Ask the server, for as long as nobody wants to leave. path and body are taken. Returns 0 with an answer, or a negative errno;
 * words: of an error, or of an answer that is one.
 */
#define VIEW_WORDS_MAX 200u
int view_ask(struct attachment *a, const char *method, char *path, json_t *body,
	struct answer *ret_answer, char words[VIEW_WORDS_MAX]);

/* Draw, and forget what was drawn. */
void view_show(struct attachment *a, struct canvas *c);

/* A line at the bottom of a window of that size. */
void view_foot(struct canvas *c, unsigned cols, unsigned rows, const char *text);

/* Lines of ours, or of others, from the top, until a key is pressed. */
void view_tell(struct attachment *a, const char *const *lines, size_t count);

/* A question in the last line, on an empty screen. Returns whether y was typed. */
bool view_confirm(struct attachment *a, const char *question);
