/*
 * Paths of requests, as texts and as files. Input: a directory, LF and a path, with long runs in a short form, see
 * fuzz_unfold().
 *
 * A joined path must equal that of a model, and joining it again must not change it. A path must never find, open or
 * make anything outside of its place, whatever links it contains.
 */
#include "shell/files/place.h"
#include "tests/fuzz/fuzz_folder.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/read/workspace.h"

#include <dirent.h>

#define TEXT_MAX ((size_t)3 * BODY_PATH_MAX)
#define MADE_MAX ((size_t)2 * COPY_DEPTH_MAX) /* bytes, so that it can be removed */
#define NAMES_MAX ((size_t)TEXT_MAX / 2 + 1)

/* Texts */

/* Append the names of a path to count names. Returns the new count. */
static size_t split(char *text, char *names[NAMES_MAX], size_t count)
{
	char *state = NULL;
	for (char *name = strtok_r(text, "/", &state); name; name = strtok_r(NULL, "/", &state)) {
		if (strcmp(name, "..") == 0)
			count -= count > 0;
		else if (strcmp(name, ".") != 0)
			names[count++] = name;
	}
	return count;
}

/* Join base and path as a model does. */
static void model_join(const char *base, const char *path, char *ret)
{
	static char *names[2 * NAMES_MAX];
	char *texts[2] = {strdup(base), strdup(path)};
	FUZZ_CHECK(texts[0] && texts[1]);
	size_t count = path[0] == '/' ? 0 : split(texts[0], names, 0);
	count = split(texts[1], names, count);
	char *at = ret;
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "/%s", names[i]);
	if (count == 0)
		memcpy(ret, "/", 2);
	free(texts[0]);
	free(texts[1]);
}

/* Whether an absolute path has no names that a join would remove. */
static bool is_joined(const char *path)
{
	size_t length = strlen(path);
	return path[0] == '/' && length < BODY_PATH_MAX && !strstr(path, "//") &&
		!strstr(path, "/./") && !strstr(path, "/../") &&
		(length < 2 || path[length - 1] != '/') &&
		(length < 2 || strcmp(path + length - 2, "/.") != 0) &&
		(length < 3 || strcmp(path + length - 3, "/..") != 0);
}

/* Returns whether the joined path fits. */
static bool check_join(const char *base, const char *path, char joined[BODY_PATH_MAX])
{
	static char model[2 * TEXT_MAX];
	char again[BODY_PATH_MAX];
	if (!workspace_join(base, path, joined)) {
		FUZZ_CHECK(strlen(base) + strlen(path) + 2 >= BODY_PATH_MAX);
		return false;
	}
	model_join(base, path, model);
	FUZZ_CHECK(is_joined(joined) && strcmp(joined, model) == 0);
	FUZZ_CHECK(workspace_join("/", joined, again) && strcmp(joined, again) == 0);
	FUZZ_CHECK(workspace_contains("/", joined) && workspace_contains(joined, joined));
	return true;
}

/* root: joined. */
static void check_place(const char *root, const char *path)
{
	char place[BODY_PATH_MAX], joined[BODY_PATH_MAX];
	bool dots = false;
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		dots |= at[3] == '/' || !at[3];
	if (!workspace_resolve_strict(root, path, place))
		return;
	FUZZ_CHECK(path[0] == '/' && !dots && is_joined(place));
	for (const char *at = path; *at; at++)
		FUZZ_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
	FUZZ_CHECK(workspace_join("/", path, joined));
	bool stands_for = workspace_contains(WORKSPACE_ALIAS, joined);
	FUZZ_CHECK(strcmp(place, joined) == 0 || (stands_for && workspace_contains(root, place)));
}

static bool check_sandbox(const char *path, char below[PLACE_PATH_MAX])
{
	char whole[BODY_PATH_MAX], joined[BODY_PATH_MAX];
	bool fits = workspace_join(WORKSPACE_ALIAS, path, whole);
	bool inside = fits &&
		(strcmp(whole, WORKSPACE_ALIAS) == 0 ||
			strncmp(whole, WORKSPACE_ALIAS "/", sizeof WORKSPACE_ALIAS) == 0);
	FUZZ_CHECK(sandbox_path(path, below) == inside);
	if (!inside)
		return false;
	FUZZ_CHECK(below[0] && below[0] != '/' && strcmp(below, "..") != 0);
	FUZZ_CHECK(workspace_join(WORKSPACE_ALIAS, below, joined) && strcmp(joined, whole) == 0);
	return true;
}

/* Files */

static int base_fd = -1;

/* Make a place with links that lead out of it. */
static void make_place(void)
{
	static const char *const links[][2] = {{"..", "up"}, {"/", "root"}, {"a", "in"},
		{"loop", "loop"}, {"../outside", "out"}, {"../../outside", "a/out"},
		{"/proc/self/root", "proc"}, {".", "here"}};
	FUZZ_CHECK(mkdirat(base_fd, "place", 0700) == 0);
	int fd = openat(base_fd, "place", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && mkdirat(fd, "a", 0700) == 0 && mkdirat(fd, "a/b", 0700) == 0);
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		FUZZ_CHECK(symlinkat(links[i][0], fd, links[i][1]) == 0);
	close(fd);
}

static void begin(void)
{
	if (base_fd >= 0)
		return;
	base_fd = fuzz_folder_make();
	FUZZ_CHECK(mkdirat(base_fd, "outside", 0700) == 0);
	make_place();
}

static void expect_inside(int fd)
{
	char link[32], path[2 * PLACE_PATH_MAX], root[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	FUZZ_CHECK(n > 0);
	path[n] = '\0';
	snprintf(root, sizeof root, "%s/place", fuzz_folder);
	FUZZ_CHECK(workspace_contains(root, path));
}

/* What a path opens must be inside of the place. */
static void check_open(const struct place *p, const char *path)
{
	struct place_entry e;
	int fd = place_open(p, path, O_PATH, 0);
	if (fd >= 0) {
		expect_inside(fd);
		close(fd);
	}
	if (place_find(p, path, &e) != 0)
		return;
	FUZZ_CHECK(e.name[0] && !strchr(e.name, '/') && strcmp(e.name, ".") != 0 &&
		strcmp(e.name, "..") != 0);
	expect_inside(e.dir_fd);
	place_entry_close(&e);
}

/* The files beside the place must be unchanged. */
static void check_outside(void)
{
	const struct dirent *e;
	unsigned count = 0;
	FUZZ_CHECK(unlinkat(base_fd, "outside", AT_REMOVEDIR) == 0);
	FUZZ_CHECK(mkdirat(base_fd, "outside", 0700) == 0);
	DIR *folder = opendir(fuzz_folder);
	FUZZ_CHECK(folder);
	while ((e = readdir(folder)))
		count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(folder);
	FUZZ_CHECK(count == 2);
}

static void enter_place(struct place *p)
{
	struct sandbox s = {0};
	snprintf(s.root, sizeof s.root, "%s/place", fuzz_folder);
	sandbox_place(&s, p);
	FUZZ_CHECK(place_enter(p) == 0);
}

static void check_files(const char *path)
{
	struct place p;
	enter_place(&p);
	check_open(&p, path);
	/* A sandbox: all paths begin at its root, and the current directory is somewhere in it. */
	struct place sandbox = {.root_fd = p.cwd_fd, .cwd_fd = -1, .inside = "/a"};
	check_open(&sandbox, path);
	place_leave(&p);
}

/* Missing parent directories must be made inside, or not at all. */
static void check_parents(const char *path)
{
	struct place p;
	enter_place(&p);
	int rc = place_make_parents(&p, path);
	place_leave(&p);
	FUZZ_CHECK(rc <= 0);
	check_outside();
	/* Some may have been made before one that failed. */
	FUZZ_CHECK(copy_remove_tree(base_fd, "place") == 0);
	make_place();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[TEXT_MAX];
	struct fuzz_input in = {data, size};
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	struct fuzz_input text = {bytes, length};
	char *from = fuzz_text(&text, '\n'), *path = fuzz_text(&text, '\0');
	char root[BODY_PATH_MAX], joined[BODY_PATH_MAX], below[PLACE_PATH_MAX];
	begin();
	if (check_join("/", from, root)) {
		check_join(root, path, joined);
		check_place(root, path);
	}
	if (check_sandbox(path, below)) {
		check_files(below);
		if (strchr(below, '/') && strlen(below) < MADE_MAX)
			check_parents(below);
	}
	if (strlen(path) < PLACE_PATH_MAX)
		check_files(path);
	free(from);
	free(path);
	return 0;
}
