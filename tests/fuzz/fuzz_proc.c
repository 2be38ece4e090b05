/*
 * The text of /proc/PID/stat. Any text must be refused or understood; and what the kernel writes of a process
 * whose name is the input must be understood as it was meant.
 */
#include "pty/proc/proc.h"
#include "tests/fuzz/fuzz.h"

static void check_any(const char *text)
{
	struct proc_stat e;
	memset(&e, 0x55, sizeof e);
	if (!proc_parse(text, &e))
		return;
	const char *close = strrchr(text, ')');
	FUZZ_CHECK(close && close[1] == ' ' && close[2] == e.state);
	FUZZ_CHECK((pid_t)strtol(text, NULL, 10) == e.pid && strlen(e.name) < PROC_NAME);
}

/* As fs/proc/array.c prints it: the name is escaped, which it need not be for us. */
static void check_name(const char *name, uint8_t seed)
{
	char *text = NULL;
	struct proc_stat e,
		meant = {.pid = 1 + seed * 16384,
			.parent = seed * 99,
			.state = "RSDZTtXxKWPI"[seed % 12],
			.start_ticks = UINT64_MAX / 256 * seed};
	int n = asprintf(&text,
		"%d (%s) %c %d %d %d %d %d %u %lu %lu %lu %lu %lu %lu %ld %ld %ld %ld %d %d %llu %lu %ld %lu 1 1 0 0\n",
		meant.pid, name, meant.state, meant.parent, 1, 1, 34816, -1, 4194304u, 1ul, 2ul,
		3ul, 4ul, 5ul, 6ul, 7l, 8l, 20l, 0l, 1, 0, (unsigned long long)meant.start_ticks,
		9ul, 10l, ~0ul);
	FUZZ_CHECK(n > 0 && proc_parse(text, &e));
	FUZZ_CHECK(e.pid == meant.pid && e.parent == meant.parent && e.state == meant.state);
	FUZZ_CHECK(e.start_ticks == meant.start_ticks);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t seed = fuzz_byte(&in);
	char *text = fuzz_text(&in, '\0');
	check_any(text);
	check_name(text, seed);
	free(text);
	return 0;
}
