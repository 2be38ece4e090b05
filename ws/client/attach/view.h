/*
 * Views that cover a session: drawing, keys, requests. All functions are used outside of callbacks.
 */
#pragma once

#include "ws/client/attach/attachment.h"
#include "ws/client/connect/call.h"
#include "ws/client/draw/canvas.h"

/* What has happened. */
enum view_event {
	VIEW_KEY,     /* one of enum key */
	VIEW_TEXT,    /* a character */
	VIEW_ESCAPE,  /* Escape by itself */
	VIEW_RESIZED, /* draw again */
	VIEW_OVER,    /* end the view */
};

/* An event with its key or byte. */
struct view_input {
	enum view_event event;
	enum key key;       /* of VIEW_KEY */
	unsigned char byte; /* of VIEW_TEXT */
};

/* Wait for the next event. Runs the loop. */
struct view_input view_read(struct attachment *a);

#define VIEW_WORDS_MAX 200u /* bytes of an error message */

/*
 * Send a request and wait for the answer, until a key is typed that leaves. Takes path and body.
 * Returns 0 or a negative errno. words: the error message, also for answers that are errors; "":
 * none. Call answer_finish() in any case.
 */
int view_ask(struct attachment *a, const char *method, char *path, json_t *body,
	struct answer *ret_answer, char words[VIEW_WORDS_MAX]);

/* Write the canvas to the terminal, and finish it. */
void view_show(struct attachment *a, struct canvas *c);

/* Draw the last row of a window. */
void view_draw_footer(struct canvas *c, unsigned cols, unsigned rows, const char *text);

/* Show lines until a key is pressed. Runs the loop. */
void view_show_lines(struct attachment *a, const char *const *lines, size_t count);

/* Ask a question in the last row of an empty screen. Returns whether y was typed. Runs the loop. */
bool view_confirm(struct attachment *a, const char *question);
