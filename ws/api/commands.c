/* GET /api/commands: the executables in the server's PATH, searched on a thread because disks may be slow. */
#include "ws/api/api.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMANDS_MAX ((size_t)16384)
#define DIRECTORIES_MAX 64u

struct search {
	uv_work_t work;
	struct request *request;
	char *path;   /* PATH; owned, cut up by the search */
	char **names; /* owned */
	size_t count, capacity;
};

static void add_name(struct search *s, const char *name)
{
	if (s->count == s->capacity) {
		size_t capacity = s->capacity ? s->capacity * 2 : 1024;
		char **names = realloc(s->names, capacity * sizeof *names);
		if (!names)
			return;
		s->names = names;
		s->capacity = capacity;
	}
	s->names[s->count] = strdup(name);
	s->count += s->names[s->count] != NULL;
}

static void search_directory(struct search *s, const char *directory)
{
	DIR *dir = opendir(directory);
	struct stat st;
	if (!dir)
		return;
	int fd = dirfd(dir);
	for (const struct dirent *e; s->count < COMMANDS_MAX && (e = readdir(dir));)
		if (fstatat(fd, e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
			faccessat(fd, e->d_name, X_OK, AT_EACCESS) == 0)
			add_name(s, e->d_name);
	closedir(dir);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Runs on a thread: touches only s. */
static void on_search(uv_work_t *work)
{
	struct search *s = work->data;
	char *rest = s->path;
	for (unsigned i = 0; rest && i < DIRECTORIES_MAX; i++) {
		const char *directory = strsep(&rest, ":");
		if (directory[0] == '/')
			search_directory(s, directory);
	}
	if (s->count > 0)
		qsort(s->names, s->count, sizeof *s->names, compare);
}

static void on_searched(uv_work_t *work, int status)
{
	struct search *s = work->data;
	json_t *names = json_array();
	(void)status;
	for (size_t i = 0; i < s->count; i++) {
		/* json_string() fails for names that are not UTF-8: they are left out. */
		if (i == 0 || strcmp(s->names[i], s->names[i - 1]) != 0)
			json_array_append_new(names, json_string(s->names[i]));
	}
	json_int_t count = (json_int_t)json_array_size(names);
	reply_success(
		s->request, json_pack("{s:o, s:I}", "availableCommands", names, "count", count));
	request_unref(s->request);
	for (size_t i = 0; i < s->count; i++)
		free(s->names[i]);
	free(s->names);
	free(s->path);
	free(s);
}

static void list_commands(struct request *r)
{
	struct api *a = api_of(r);
	const char *path = getenv("PATH");
	struct search *s = calloc(1, sizeof *s);
	if (s)
		s->path = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	if (!s || !s->path) {
		free(s);
		refuse_memory(r);
		return;
	}
	s->work.data = s;
	s->request = request_ref(r);
	uv_queue_work(a->announce.loop, &s->work, on_search, on_searched);
}

const struct route_row api_commands_rows[] = {
	{METHOD_GET, "/api/commands", ROUTE_VIEWER, .plain = list_commands},
	{.path = NULL},
};
