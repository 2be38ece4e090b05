/* `ringside` up to its command: options before it, the overview, unknown commands. */
#pragma once

#include <stdio.h>

#define PROGRAM_SERVE (-1) /* the command is `serve` */

/* What main() provides. */
struct program_info {
	void (*serve_help)(FILE *out); /* prints `ringside serve --help` */
	const char *commit;            /* it was built from; NULL: unknown */
};

/*
 * Run a command line. Its words are reordered, and options of the config file are inserted. Returns
 * the exit status, or PROGRAM_SERVE if argv[1] is "serve" now.
 */
int program_main(int *argc, char ***argv, const struct program_info *about);
