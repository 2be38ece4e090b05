/*
 * An allocator that fails on demand, for programs that are started with it (LD_PRELOAD) and whose file has the
 * name $STARVE_PROGRAM. STARVE_STATE is a file of numbers shared with the test: the calls until one fails (0: none fails),
 * how many after that fail too, and the number of calls so far.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TO_GO, MORE, CALLS, NUMBERS };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static _Atomic int64_t *state;

__attribute__((constructor)) static void open_state(void)
{
	const char *path = getenv("STARVE_STATE"), *program = getenv("STARVE_PROGRAM");
	char file[4096] = "";
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0 || !program || readlink("/proc/self/exe", file, sizeof file - 1) < 0)
		return;
	void *shared = mmap(
		NULL, NUMBERS * sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared != MAP_FAILED && strcmp(strrchr(file, '/') + 1, program) == 0)
		state = shared;
}

static int is_refused(void)
{
	if (!state)
		return 0;
	state[CALLS]++;
	if (state[TO_GO] <= 0 || --state[TO_GO] > 0)
		return 0;
	if (state[MORE] > 0) {
		state[MORE]--;
		state[TO_GO] = 1;
	}
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return is_refused() ? NULL : __libc_realloc(memory, size);
}
