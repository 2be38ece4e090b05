/*
 * The texts of /proc/PID/status and stat. Any text must be parsed or refused; texts of the kernel for a process with
 * the input as its name must be parsed correctly.
 */
#include "pty/proc/proc.h"
#include "tests/fuzz/fuzz.h"

static void check_any(const char *text)
{
	struct proc_status s;
	uint64_t ticks = 1;
	memset(&s, 0x55, sizeof s);
	if (proc_parse_status(text, &s))
		FUZZ_CHECK(s.pid > 0 && s.parent >= 0 && strlen(s.name) < PROC_NAME && s.state);
	if (!proc_parse_start_time(text, &ticks))
		FUZZ_CHECK(ticks == 1);
}

/* Escape as the kernel's string_escape_str() does in "status". The caller frees it. */
static char *escape(const char *name)
{
	char *text = malloc(2 * strlen(name) + 1), *to = text;
	FUZZ_CHECK(text);
	for (; *name; name++) {
		if (*name == '\n' || *name == '\\')
			*to++ = '\\';
		*to++ = (char)(*name == '\n' ? 'n' : *name);
	}
	*to = '\0';
	return text;
}

/* Check the texts that fs/proc/array.c prints. */
static void check_name(const char *name, uint8_t seed)
{
	char *status = NULL, *stat = NULL, *escaped = escape(name);
	const char state = "RSDZTtXxKWPI"[seed % 12];
	const int pid = 1 + seed * 16384, parent = seed * 99;
	const unsigned long long start = UINT64_MAX / 256 * seed;
	struct proc_status s;
	uint64_t ticks;
	int n = asprintf(&status,
		"Name:\t%s\nUmask:\t0022\nState:\t%c (x)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\n"
		"TracerPid:\t0\nUid:\t0\t%u\t0\t0\nGid:\t0\t0\t0\t0\nThreads:\t%d\n",
		escaped, state, pid, pid, parent, seed * 7u, seed + 1);
	FUZZ_CHECK(n > 0 && proc_parse_status(status, &s));
	FUZZ_CHECK(s.pid == pid && s.parent == parent && s.state == state);
	FUZZ_CHECK(s.owner == seed * 7u && s.threads == seed + 1u);
	FUZZ_CHECK(strncmp(s.name, name, PROC_NAME - 1) == 0);
	n = asprintf(&stat,
		"%d (%s) %c %d %d %d %d %d %u %lu %lu %lu %lu %lu %lu %ld %ld %ld %ld %d %d %llu %lu %ld %lu 1 1 0 0\n",
		pid, name, state, parent, 1, 1, 34816, -1, 4194304u, 1ul, 2ul, 3ul, 4ul, 5ul, 6ul,
		7l, 8l, 20l, 0l, 1, 0, start, 9ul, 10l, ~0ul);
	FUZZ_CHECK(n > 0 && proc_parse_start_time(stat, &ticks) && ticks == start);
	free(status);
	free(stat);
	free(escaped);
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
