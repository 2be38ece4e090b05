/*
 * What a session prints, as the user's own terminal gets it: text, and sequences that draw. None that acts outside of its
 * window (the clipboard, notifications, files, the printer, the size of the window, another program's keys), that makes it
 * answer, or that it could not be brought back from. What asks is hidden by the server already, by the rules of
 * xterm.js; terminals differ in what they make of broken sequences, so that this one gets none: all are whole, in
 * seven bits, in valid UTF-8. Pure; splitting the input anywhere changes nothing but when it comes out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_HELD_MAX 8000u /* of a sequence; one that is longer is left out */

enum guard_state {
	GUARD_GROUND,
	GUARD_ESCAPE,
	GUARD_CSI,
	GUARD_OSC,        /* this and those that follow are strings */
	GUARD_CLIPBOARD,  /* an OSC 52 that passes as it comes */
	GUARD_DCS,        /* left out, as all that are no OSC; */
	GUARD_STRING,     /* it ends at other characters than those of ASCII */
	GUARD_STRING_END, /* ESC inside a string */
};

/* Zeroed: between two sequences. */
struct guard {
	bool clipboard;                 /* programs may set it: OSC 52 with data passes */
	enum guard_state state, string; /* string: in which that ESC came */
	bool refused;                   /* the sequence is left out */
	char held[GUARD_HELD_MAX];      /* of it, behind its introducer */
	size_t length;
	uint8_t character[4]; /* of UTF-8 that is not whole */
	uint8_t have, due;    /* bytes of it that are there, and all */
};

/* What dst has to have room for. */
#define GUARD_ROOM(length) (2 * (size_t)(length) + GUARD_HELD_MAX + 8)

/* Take what the session has printed. Returns the length of what is for the terminal, in dst. */
size_t guard_take(struct guard *g, const char *bytes, size_t length, char *dst);
