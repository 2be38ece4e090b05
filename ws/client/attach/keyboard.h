/* What the user's terminal sends: the keys of ours in it, and what must not go to the session. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define KEYBOARD_DETACH \
	'\x1c' /* C-\ : abduco's and dtach's; of all control keys the one that is used least */
#define KEYBOARD_FENCE "\033[5n" /* a question that every terminal answers, with KEYBOARD_FENCED */
#define KEYBOARD_FENCED "\033[0n"

enum keyboard_state { KEYBOARD_TEXT, KEYBOARD_ESCAPE, KEYBOARD_CSI, KEYBOARD_STRING, KEYBOARD_ONE };

/* A key of ours: a control character, or one that a command has. */
enum keyboard_what {
	KEYBOARD_NOTHING,
	KEYBOARD_DETACHED,
	KEYBOARD_COMMAND, /* a key behind the prefix */
};

#define KEYBOARD_UNKNOWN 0 /* a command's key that is no character: an arrow, Alt and something */
#define KEYBOARD_SEQUENCE_MAX 48u

struct keyboard_found {
	enum keyboard_what what;
	int key;     /* of a command */
	size_t rest; /* bytes at the end of those given that have not been looked at */
};

struct keyboard {
	int detach;                           /* a control character; -1 = none */
	int prefix;                           /* likewise; 0 or -1 = none */
	bool prefixed;                        /* it was there: the next key is a command's */
	char sequence[KEYBOARD_SEQUENCE_MAX]; /* of that key, as far as it has come */
	size_t sequence_length;
	bool pasted;        /* in a paste no key is the prefix */
	unsigned bracketed; /* bytes of what begins or ends one */
	bool fenced; /* sequences are dropped until the answer to the fence has come; what is typed is not */
	enum keyboard_state state;
	size_t matched; /* bytes of that answer */
	unsigned asked; /* fences that were put up and have not been answered */
};

/* A control key by its name, such as "C-]" or "^]"; "none" is -1. Returns false when it is no such name. */
bool keyboard_parse(const char *name, int *ret_key);

/* The other way round. */
void keyboard_name(int key, char name[8]);

/*
 * Take what the terminal has sent, up to the first key of ours, and keep in place what is for the session. Answers to a
 * fence never are, not even late ones: programs get theirs from the server. A key is known as a byte, or in the words of
 * one of the keyboard protocols. What follows it is ret_found->rest, to be given again; behind the prefix alone as well, with
 * KEYBOARD_NOTHING. Returns the bytes that are kept.
 */
size_t keyboard_filter(
	struct keyboard *k, char *bytes, size_t length, struct keyboard_found *ret_found);
