/* What the user's terminal sends: the detach key in it, and what must not go to the session. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define KEYBOARD_DETACH \
	'\x1c' /* C-\ : abduco's and dtach's; of all control keys the one that is used least */
#define KEYBOARD_FENCE "\033[5n" /* a question that every terminal answers, with KEYBOARD_FENCED */
#define KEYBOARD_FENCED "\033[0n"

struct keyboard {
	int detach; /* a control character; -1 = none */
	bool fenced; /* sequences are dropped until the answer to the fence has come; what is typed is not */
	enum { KEYBOARD_TEXT, KEYBOARD_ESCAPE, KEYBOARD_CSI, KEYBOARD_STRING, KEYBOARD_ONE } state;
	size_t matched; /* bytes of that answer */
	unsigned asked; /* fences that were put up and have not been answered */
};

/* A control key by its name, such as "C-]" or "^]"; "none" is -1. Returns false when it is no such name. */
bool keyboard_parse(const char *name, int *ret_key);

/* The other way round. */
void keyboard_name(int key, char name[8]);

/*
 * Take what the terminal has sent, and keep in place what is for the session. Answers to a fence never are, not
 * even late ones: programs get theirs from the server. *ret_detach: the key was there,
 * as a byte or in the words of one of the keyboard protocols; what follows it is dropped. Returns the bytes
 * that are left.
 */
size_t keyboard_filter(struct keyboard *k, char *bytes, size_t length, bool *ret_detach);
