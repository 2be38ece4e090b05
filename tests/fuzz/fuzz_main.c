/*
 * Runs a target without libFuzzer: on files, on the files of directories, with --corpus on those of an archive, or on
 * stdin (afl-fuzz). Fails if there are no files, so that a corpus cannot be lost unnoticed.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>

#define INPUT_MAX ((size_t)1 << 20)

static uint8_t bytes[INPUT_MAX];

/* Run the target on the first size bytes. */
static void run_bytes(size_t size)
{
	uint8_t *copy = fuzz_alloc(size);
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static bool run_stream(FILE *f)
{
	size_t size = fread(bytes, 1, sizeof bytes, f);
	if (ferror(f))
		return false;
	run_bytes(size);
	return true;
}

/* Print the name first, because a target that finds something does not return. */
static void announce(const char *path, const char *name)
{
	printf("%s%s%s\n", path, name[0] ? ": " : "", name);
	fflush(stdout);
}

static bool run_file(const char *path)
{
	announce(path, "");
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

/* A header of the archives that corpus.sh packs, see ustar in pax(1). */
struct entry {
	char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], type;
	char rest[355];
};

/* Read a file's content and the padding of its last block. Returns whether it is complete. */
static bool read_content(FILE *f, size_t size)
{
	size_t padded = (size + sizeof(struct entry) - 1) / sizeof(struct entry) *
		sizeof(struct entry);
	return padded <= sizeof bytes && fread(bytes, 1, padded, f) == padded;
}

/* Returns the number of files run, or -1. */
static int run_entries(const char *path, FILE *f)
{
	struct entry e;
	int count = 0;
	while (fread(&e, sizeof e, 1, f) == 1) {
		char name[sizeof e.name + 1] = "", size[sizeof e.size + 1] = "";
		if (e.name[0] == '\0')
			return count; /* the end, a block of zeros */
		memcpy(name, e.name, sizeof e.name);
		memcpy(size, e.size, sizeof e.size);
		size_t length = strtoul(size, NULL, 8);
		if (e.type != '0' || !read_content(f, length)) {
			fprintf(stderr, "%s: %s is not a file, too large, or truncated\n", path,
				name);
			return -1;
		}
		announce(path, name);
		run_bytes(length);
		count++;
	}
	fprintf(stderr, "%s: truncated\n", path);
	return -1;
}

static int run_archive(const char *path)
{
	FILE *f = fopen(path, "rb");
	int count = f ? run_entries(path, f) : -1;
	if (f)
		fclose(f);
	return count;
}

static int run_path(const char *path)
{
	DIR *folder = opendir(path);
	int count = folder ? run_folder(path, folder) : run_file(path) ? 1 : -1;
	if (folder)
		closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	bool archives = argc > 1 && strcmp(argv[1], "--corpus") == 0;
	if (argc < 2)
		return run_stream(stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
	for (int i = archives ? 2 : 1; i < argc; i++) {
		int count = archives ? run_archive(argv[i]) : run_path(argv[i]);
		if (count <= 0) {
			fprintf(stderr, "%s: nothing to run\n", argv[i]);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
