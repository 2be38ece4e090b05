/*
 * Runs a target without libFuzzer: over files and the files of directories, or over stdin (afl-fuzz).
 * Fails when there is none, so that a corpus cannot be lost unnoticed.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>

#define INPUT_MAX ((size_t)1 << 20)

static bool run_stream(FILE *f)
{
	static uint8_t bytes[INPUT_MAX];
	size_t size = fread(bytes, 1, sizeof bytes, f);
	if (ferror(f))
		return false;
	uint8_t *copy = fuzz_alloc(size);
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return true;
}

static bool run_file(const char *path)
{
	/* First, for a target that finds something does not return. */
	printf("%s\n", path);
	fflush(stdout);
	FILE *f = fopen(path, "rb");
	bool ok = f && run_stream(f);
	if (!ok)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
	return ok;
}

/* Returns the number of files run, or -1. */
static int run_folder(const char *path, DIR *folder)
{
	char name[4096];
	const struct dirent *e;
	int count = 0;
	while ((e = readdir(folder))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		if (!run_file(name))
			return -1;
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return run_stream(stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		int count = folder ? run_folder(argv[i], folder) : run_file(argv[i]) ? 1 : -1;
		if (folder)
			closedir(folder);
		if (count <= 0) {
			fprintf(stderr, "%s: nothing to run\n", argv[i]);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
