/*
 * Standard input of a command: a file in the session's directory, or a FIFO that the server writes
 * (shell/output/inlet.h). When that server has died, a shell that opens the FIFO would block for
 * ever. So the next server opens the FIFO once, and the command reads end of file.
 */
#include "shell/exec/internal.h"
#include "shell/output/fifo.h"
#include "shell/store/directory.h"
#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_NAME_SIZE (RECORD_ID_MAX + 24)
#define INPUT_LOOK_MS 100u /* between two tries to open the FIFO of a dead server */

static void name_input(const struct exec *e, char name[INPUT_NAME_SIZE])
{
	snprintf(name, INPUT_NAME_SIZE, DIRECTORY_SHELL "/input.%s", e->id);
}

void exec_remove_input(struct exec *e)
{
	char name[INPUT_NAME_SIZE];
	free(e->input);
	e->input = NULL;
	if (!e->has_input)
		return;
	name_input(e, name);
	/* The directory may be gone; a program that still reads the file keeps it. */
	unlinkat(e->executor->pane->held.link.dir_fd, name, 0);
	e->has_input = false;
}

int exec_store_input(struct exec *e, const struct exec_options *o)
{
	char name[INPUT_NAME_SIZE];
	const struct held *held = &e->executor->pane->held;
	const char *runtime_dir = e->executor->all->runtime_dir;
	if (o->no_input && !o->input && !o->inlet) {
		e->input = strdup("/dev/null");
		return e->input ? 0 : -ENOMEM;
	}
	if (!o->input && !o->inlet)
		return 0;
	name_input(e, name);
	char path[EXEC_PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/sessions/%s/%s", runtime_dir, held->directory, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	e->input = strdup(path);
	if (!e->input)
		return -ENOMEM;
	if (o->inlet) {
		int moved = fifo_move(runtime_dir, o->inlet, held->link.dir_fd, name);
		e->has_input = moved == 0;
		held_share_file(held, name);
		return moved;
	}
	int fd = openat(held->link.dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	e->has_input = true;
	held_share_file(held, name);
	int rc = write_all(fd, o->input, o->input_length);
	close(fd);
	return rc;
}

void exec_adopt_input(struct exec *e)
{
	struct stat st;
	char name[INPUT_NAME_SIZE];
	name_input(e, name);
	if (fstatat(e->executor->pane->held.link.dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	e->has_input = true;
	e->input_due_ms = S_ISFIFO(st.st_mode) ? exec_now(e->executor) : 0;
}

void exec_input_tick(struct exec *e)
{
	char name[INPUT_NAME_SIZE];
	uint64_t now = exec_now(e->executor);
	if (e->input_due_ms == 0 || now < e->input_due_ms)
		return;
	name_input(e, name);
	int fd = openat(e->executor->pane->held.link.dir_fd, name,
		O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	e->input_due_ms = fd < 0 ? now + INPUT_LOOK_MS : 0;
	if (fd >= 0)
		close(fd);
}
