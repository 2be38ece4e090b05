/* Parameters reach the scripts by variables and standard input only, never as part of their text. */
#include "shell/backup/backup.h"

#include "shell/backup/script_text.h"
#include "shell/memory_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_SIZE 24u
#define VARIABLES_MAX 10u

const char *const backup_roots[] = {"/workspace", "/home", "/tmp", "/var/tmp", "/app", NULL};
const char *const backup_shared_directories[] = {"/", "/home", "/tmp", "/var/tmp", NULL};

struct variables {
	const char *names[VARIABLES_MAX], *values[VARIABLES_MAX];
	size_t count;
	char *roots, *shared; /* owned */
};

static void add(struct variables *v, const char *name, const char *value)
{
	v->names[v->count] = name;
	v->values[v->count++] = value;
}

/* Join paths, one per line. Returns owned text, or NULL if out of memory. */
static char *join_lines(const char *first, const char *const *more)
{
	char *text;
	size_t length;
	FILE *out = memory_stream(&text, &length);
	if (!out)
		return NULL;
	fputs(first, out);
	for (; *more; more++)
		fprintf(out, "\n%s", *more);
	fclose(out);
	return text;
}

/* Returns 0 or -ENOMEM. Call free_lists() even on error. */
static int add_paths(struct variables *v, const struct backup_options *o)
{
	v->roots = join_lines(o->workspace, backup_roots);
	v->shared = join_lines(backup_shared_directories[0], backup_shared_directories + 1);
	if (!v->roots || !v->shared)
		return -ENOMEM;
	add(v, "RINGSIDE_BACKUP_ROOTS", v->roots);
	add(v, "RINGSIDE_BACKUP_SHARED", v->shared);
	add(v, "RINGSIDE_BACKUP_DIR", o->dir);
	add(v, "RINGSIDE_BACKUP_ARCHIVE", o->archive ? o->archive : "");
	add(v, "RINGSIDE_BACKUP_KEEP", o->keep);
	return 0;
}

static void free_lists(struct variables *v)
{
	free(v->roots);
	free(v->shared);
}

static struct run_options run_of(const struct variables *v, const struct backup_options *o)
{
	return (struct run_options){.cwd = o->cwd,
		.env_names = v->names,
		.env_values = v->values,
		.env_count = v->count,
		.timeout_ms = BACKUP_TIMEOUT_MS,
		.output_max = BACKUP_TEXT_MAX};
}

int backup_create(struct runs *all, const struct backup_options *o,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run)
{
	char threads[NUMBER_SIZE];
	struct variables v = {.count = 0};
	int rc = add_paths(&v, o);
	snprintf(threads, sizeof threads, "%u", o->threads);
	add(&v, "RINGSIDE_BACKUP_FORMAT", o->format);
	add(&v, "RINGSIDE_BACKUP_THREADS", threads);
	add(&v, "RINGSIDE_BACKUP_GITIGNORE", o->gitignore ? "1" : "0");
	struct run_options run = run_of(&v, o);
	run.command = backup_create_script;
	run.command_length = backup_create_script_length;
	run.input = o->excluded_length > 0 ? o->excluded : NULL;
	run.input_length = o->excluded_length;
	if (rc == 0)
		rc = run_start(all, &run, callbacks, user, ret_run);
	free_lists(&v);
	return rc;
}

int backup_restore(struct runs *all, const struct backup_options *o,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run)
{
	char bytes[NUMBER_SIZE], entries[NUMBER_SIZE], memory[NUMBER_SIZE];
	struct variables v = {.count = 0};
	int rc = add_paths(&v, o);
	snprintf(bytes, sizeof bytes, "%" PRIu64, BACKUP_BYTES_MAX);
	snprintf(entries, sizeof entries, "%u", BACKUP_ENTRIES_MAX);
	snprintf(memory, sizeof memory, "%" PRIu64, BACKUP_MEMORY_MAX_KIB);
	add(&v, "RINGSIDE_BACKUP_BYTES", bytes);
	add(&v, "RINGSIDE_BACKUP_ENTRIES", entries);
	add(&v, "RINGSIDE_BACKUP_MEMORY_KIB", memory);
	add(&v, "RINGSIDE_BACKUP_MOUNT", o->mount ? "1" : "0");
	struct run_options run = run_of(&v, o);
	run.spares = true; /* its mounts, and the process that replaces them, are not killed with the run */
	run.command = backup_restore_script;
	run.command_length = backup_restore_script_length;
	if (rc == 0)
		rc = run_start(all, &run, callbacks, user, ret_run);
	free_lists(&v);
	return rc;
}
