/*
 * ringside: the command line. The server is a separate program, `ringside-server`, because loading
 * its libraries takes longer than most commands take to run.
 */
#include "ws/client/program.h"
#include "ws/client/server_place.h"
#include "ws/serve/commit.h"
#include "ws/serve/options.h"
#include "ws/serve/standard.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CANNOT_START 1 /* the server's exit status when it cannot start */

/* Find the installed server or the one beside this program. Returns 0 or a negative errno. */
static int find_server(char ret_path[PATH_MAX])
{
	static const struct program_dirs dirs = {RINGSIDE_BINDIR, RINGSIDE_LIBEXECDIR};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	if (server_place_installed(exe, &dirs, ret_path) == 0 && access(ret_path, X_OK) == 0)
		return 0;
	return server_place_beside(exe, ret_path);
}

/* Execute the server. Returns an exit status if that fails. */
static int exec_server(char **argv)
{
	char path[PATH_MAX] = "ringside-server";
	int rc = find_server(path);
	if (rc == 0) {
		execv(path, argv);
		rc = -errno;
	}
	fprintf(stderr, "ringside: %s: %s\n", path, strerror(-rc));
	return CANNOT_START;
}

int main(int argc, char **argv)
{
	/* A build without git has the release as COMMIT. */
	const char *commit = strcmp(COMMIT, RINGSIDE_RELEASE) != 0 ? COMMIT : NULL;
	const struct program_info about = {serve_options_help, commit};
	standard_open();
	int status = program_main(&argc, &argv, &about);
	return status == PROGRAM_SERVE ? exec_server(argv) : status;
}
