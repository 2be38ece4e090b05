/* `ringside`, up to its command: options that stand before it, what it says of itself, commands that are mistyped. */
#pragma once

#include <stdio.h>

#define PROGRAM_SERVE (-1)

/* What who wires it knows. */
struct program_about {
	void (*serve_help)(FILE *out); /* prints what there is to say of `ringside serve` */
	const char *commit;            /* that it was built from; NULL: not known */
};

/*
 * Carry out a command line, argv[0] being the program's name; its words are put into another order, and those
 * of the config file between them. Returns the status to
 * end with, or PROGRAM_SERVE where it is for the server, for which "serve" is its second word then.
 */
int program_main(int *argc, char ***argv, const struct program_about *about);
