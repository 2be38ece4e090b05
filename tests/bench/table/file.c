/* Rows: files, directories and watches over the API, and code; each against the corresponding system calls. */
#include "process.h"
#include "stats.h"
#include "table/rows.h"
#include "table/scene.h"
#include "web.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TIMES 200 /* per round, of each */
#define SMALL 4096u
#define LARGE ((size_t)100 << 20)
#define CHUNK ((size_t)128 << 10)
#define ENTRIES 10000u
#define LISTS 5
#define EVENTS 100u
#define SHARED_MEMORY "/dev/shm"

static void format_path(char ret_path[128], const char *dir, const char *name)
{
	int n = snprintf(ret_path, 128, "%s/%s", dir, name);
	errno = ENAMETOOLONG;
	if (n < 0 || n >= 128)
		die(dir);
}

/* Small files */

/* Like the server: sync the content before the rename, and then the rename. */
static double write_us(const char *dir, const char *content)
{
	char path[128], temporary[128];
	uint64_t start = stats_now_ns();
	format_path(path, dir, "small");
	format_path(temporary, dir, ".small");
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, content, SMALL) != (ssize_t)SMALL || fsync(fd) < 0 ||
		close(fd) < 0 || rename(temporary, path) < 0)
		die(path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		die(dir);
	return stats_us_since(start);
}

static double read_us(const char *dir)
{
	char path[128], content[SMALL];
	uint64_t start = stats_now_ns();
	format_path(path, dir, "small");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, content, SMALL) != (ssize_t)SMALL || close(fd) < 0)
		die(path);
	return stats_us_since(start);
}

static void measure_small(struct scene *s, const char *dir, const char *where)
{
	static double wrote[2][TIMES], has_read[2][TIMES];
	char content[SMALL + 1], path[160], name[2][64];
	struct web w;
	memset(content, 'x', SMALL);
	content[SMALL] = '\0';
	snprintf(path, sizeof path, "/api/file/%s/asked", dir);
	web_open(&w, s->target.port);
	for (unsigned i = 0; i < TIMES; i++) {
		wrote[0][i] = write_us(dir, content);
		wrote[1][i] = web_request_us(&w, "PUT", path, content, "\"success\":true");
		has_read[0][i] = read_us(dir);
		has_read[1][i] = web_request_us(&w, "GET", path, "", content);
	}
	web_close(&w);
	snprintf(name[0], sizeof name[0], "write 4 KB, %s", where);
	snprintf(name[1], sizeof name[1], "read 4 KB, %s", where);
	for (int i = 0; i < 2; i++) {
		enum way way = i == 0 ? WAY_BARE : WAY_RINGSIDE;
		scene_add_times(s, "small", name[0], way, wrote[i], TIMES);
		scene_add_times(s, "small", name[1], way, has_read[i], TIMES);
	}
}

/* Make a directory in memory, if possible. ret_dir: at least 64 bytes. */
static bool make_in_memory(char *ret_dir)
{
	struct statfs fs;
	snprintf(ret_dir, 64, SHARED_MEMORY "/ringside-bench-XXXXXX");
	return statfs(SHARED_MEMORY, &fs) == 0 && fs.f_type == TMPFS_MAGIC && mkdtemp(ret_dir);
}

static void remove_all(const char *dir)
{
	char command[160];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	errno = 0;
	if (system(command) != 0)
		die(command);
}

void row_small(struct scene *s)
{
	char dir[64];
	if (make_in_memory(dir)) {
		measure_small(s, dir, "in memory");
		remove_all(dir);
	}
	measure_small(s, s->target.dir, "on the disk");
}

/* Download of a large file */

static void make_large(const char *path)
{
	static char chunk[CHUNK];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (size_t i = 0; fd >= 0 && i < LARGE / CHUNK; i++) {
		memset(chunk, (int)i, sizeof chunk);
		if (write(fd, chunk, sizeof chunk) != (ssize_t)sizeof chunk)
			die(path);
	}
	if (fd < 0 || close(fd) < 0)
		die(path);
}

/* Copy as cp(1) does, by read(2) and write(2). */
static _Noreturn void copy(const char *path, int to)
{
	static char chunk[CHUNK];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		if (write(to, chunk, (size_t)n) != n)
			_exit(1);
	_exit(n < 0);
}

/* Read and discard left bytes. */
static void read_away(int fd, size_t left)
{
	static char chunk[CHUNK];
	while (left > 0) {
		ssize_t n = read(fd, chunk, left < sizeof chunk ? left : sizeof chunk);
		if (n <= 0)
			die("large file");
		left -= (size_t)n;
	}
}

static double piped_us(const char *path)
{
	int fds[2];
	uint64_t start = stats_now_ns();
	if (pipe(fds) < 0)
		die("pipe");
	pid_t pid = process_fork();
	if (pid == 0)
		copy(path, fds[1]);
	close(fds[1]);
	read_away(fds[0], LARGE);
	double us = stats_us_since(start);
	close(fds[0]);
	process_kill(pid);
	return us;
}

static double downloaded_us(const struct scene *s, const char *path)
{
	char request[256];
	struct web w;
	size_t body;
	snprintf(request, sizeof request, "/api/file/%s", path);
	web_open(&w, s->target.port);
	uint64_t start = stats_now_ns();
	web_send(&w, "GET", request, "", "");
	size_t length = web_head(&w, &body);
	errno = 0;
	if (length != LARGE)
		die("the download has another size");
	read_away(w.fd, LARGE - body);
	double us = stats_us_since(start);
	web_close(&w);
	return us;
}

void row_download(struct scene *s)
{
	char path[128];
	struct figure *f = figures_at(
		&s->figures, "download", "download of 100 MiB", "MB/s", BETTER_MORE);
	format_path(path, s->target.dir, "large");
	make_large(path);
	figure_add(f, WAY_BARE, (double)LARGE / piped_us(path));
	figure_add(f, WAY_RINGSIDE, (double)LARGE / downloaded_us(s, path));
	unlink(path);
}

/* Upload of a large file: the baseline does what the server does with the bytes, see write_us() */

static void send_large(int to)
{
	static char chunk[CHUNK];
	memset(chunk, 'x', sizeof chunk);
	for (size_t left = LARGE; left > 0;) {
		ssize_t n = write(to, chunk, left < sizeof chunk ? left : sizeof chunk);
		if (n <= 0)
			die("large file");
		left -= (size_t)n;
	}
}

/* Copy everything into a file, sync it, and rename it. */
static void save(int from, const char *dir)
{
	static char chunk[CHUNK];
	char path[128], temporary[128];
	ssize_t n;
	format_path(path, dir, "large");
	format_path(temporary, dir, ".large");
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	while ((n = read(from, chunk, sizeof chunk)) > 0)
		if (write(fd, chunk, (size_t)n) != n)
			die(temporary);
	if (n < 0 || fd < 0 || fsync(fd) < 0 || close(fd) < 0 || rename(temporary, path) < 0)
		die(path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		die(dir);
}

static double saved_us(const char *dir)
{
	int fds[2];
	uint64_t start = stats_now_ns();
	if (pipe(fds) < 0)
		die("pipe");
	pid_t pid = process_fork();
	if (pid == 0) {
		close(fds[0]);
		send_large(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	save(fds[0], dir);
	double us = stats_us_since(start);
	close(fds[0]);
	process_kill(pid);
	return us;
}

static double uploaded_us(const struct scene *s, const char *dir)
{
	char head[512];
	struct web w;
	int n = snprintf(head, sizeof head,
		"PUT /api/file/%s/large HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
		dir, s->target.port, LARGE);
	web_open(&w, s->target.port);
	uint64_t start = stats_now_ns();
	if (n < 0 || (size_t)n >= sizeof head || write(w.fd, head, (size_t)n) != n)
		die("request");
	send_large(w.fd);
	const char *answer = web_wait(&w);
	double us = stats_us_since(start);
	if (!strstr(answer, "\"success\":true"))
		die(answer);
	web_close(&w);
	return us;
}

static void measure_upload(struct scene *s, const char *dir, const char *where)
{
	char name[64], path[128];
	snprintf(name, sizeof name, "upload of 100 MiB, %s", where);
	format_path(path, dir, "large");
	struct figure *f = figures_at(&s->figures, "upload", name, "MB/s", BETTER_MORE);
	figure_add(f, WAY_BARE, (double)LARGE / saved_us(dir));
	unlink(path);
	figure_add(f, WAY_RINGSIDE, (double)LARGE / uploaded_us(s, dir));
	unlink(path);
}

void row_upload(struct scene *s)
{
	char dir[64];
	if (make_in_memory(dir)) {
		measure_upload(s, dir, "in memory");
		remove_all(dir);
	}
	measure_upload(s, s->target.dir, "on the disk");
}

/* A large directory */

static double listed_us(const char *dir)
{
	struct stat st;
	struct dirent *e;
	unsigned count = 0;
	uint64_t start = stats_now_ns();
	DIR *d = opendir(dir);
	if (!d)
		die(dir);
	while ((e = readdir(d)))
		count += fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	closedir(d);
	double us = stats_us_since(start);
	errno = 0;
	if (count < ENTRIES)
		die("entries are missing");
	return us;
}

void row_list(struct scene *s)
{
	char dir[128], path[160], body[256];
	double us[2][LISTS];
	struct web w;
	format_path(dir, s->target.dir, "many");
	if (mkdir(dir, 0777) < 0)
		die(dir);
	for (unsigned i = 0; i < ENTRIES; i++) {
		snprintf(path, sizeof path, "%s/entry-%u.txt", dir, i);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0 || close(fd) < 0)
			die(path);
	}
	snprintf(body, sizeof body, "{\"path\":\"%s\"}", dir);
	web_open(&w, s->target.port);
	for (unsigned i = 0; i < LISTS; i++) {
		us[0][i] = listed_us(dir);
		us[1][i] = web_ask_us(&w, "/api/list-files", body, "entry-9999.txt");
	}
	web_close(&w);
	struct figure *f = figures_at(
		&s->figures, "list", "list of 10000 entries", "us", BETTER_LESS);
	figure_add(f, WAY_BARE, stats_median(us[0], LISTS));
	figure_add(f, WAY_RINGSIDE, stats_median(us[1], LISTS));
	remove_all(dir);
}

/* Events of files, from before the system call */

static double make_us(const char *dir, unsigned i, char *ret_name, uint64_t *ret_start)
{
	char path[128];
	snprintf(ret_name, 32, "new-%u.txt", i);
	format_path(path, dir, ret_name);
	*ret_start = stats_now_ns();
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || close(fd) < 0)
		die(path);
	return stats_us_since(*ret_start);
}

static void watch_bare(const char *dir, double us[EVENTS])
{
	char name[32], events[4096];
	uint64_t start;
	int fd = inotify_init1(IN_CLOEXEC);
	if (fd < 0 || inotify_add_watch(fd, dir, IN_CREATE) < 0)
		die("inotify");
	for (unsigned i = 0; i < EVENTS; i++) {
		make_us(dir, i, name, &start);
		if (read(fd, events, sizeof events) <= 0)
			die("inotify");
		us[i] = stats_us_since(start);
	}
	close(fd);
}

static void watch_api(const struct scene *s, const char *dir, double us[EVENTS])
{
	char name[32], body[256];
	uint64_t start;
	struct web w;
	snprintf(body, sizeof body, "{\"path\":\"%s\",\"events\":[\"create\"]}", dir);
	web_open(&w, s->target.port);
	web_send(&w, "POST", "/api/watch", "", body);
	web_wait_text(&w, "\"watching\"");
	for (unsigned i = 0; i < EVENTS; i++) {
		make_us(dir, EVENTS + i, name, &start);
		web_wait_text(&w, name);
		us[i] = stats_us_since(start);
	}
	web_close(&w);
}

void row_watch(struct scene *s)
{
	static double us[2][EVENTS];
	char dir[128];
	format_path(dir, s->target.dir, "home/watched");
	if (mkdir(dir, 0777) < 0)
		die(dir);
	watch_bare(dir, us[0]);
	watch_api(s, dir, us[1]);
	scene_add_times(s, "watch", "event of a new file", WAY_BARE, us[0], EVENTS);
	scene_add_times(s, "watch", "event of a new file", WAY_RINGSIDE, us[1], EVENTS);
	remove_all(dir);
}

/* Code in a context that has run code before, against a Python that evaluates lines of its standard input */

#define EVALUATE \
	"import sys\nfor line in sys.stdin:\n print(eval(compile(line, '', 'eval')), flush=True)"

struct python {
	pid_t pid;
	int to, from;
};

static struct python open_python(void)
{
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	pid_t pid = process_fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execlp("python3", "python3", "-c", EVALUATE, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	return (struct python){pid, in[1], out[0]};
}

static double evaluated_us(const struct python *p)
{
	uint64_t start = stats_now_ns();
	if (write(p->to, "1+1\n", 4) != 4)
		die("python3");
	process_expect(p->from, "2\n");
	return stats_us_since(start);
}

static void open_context(struct web *w, char ret_id[64])
{
	web_ask(w, "/api/contexts", "", "{\"language\":\"python\"}");
	const char *answer = web_wait(w), *id = strstr(answer, "\"contextId\":\"");
	errno = 0;
	if (!id || sscanf(id + 13, "%63[^\"]", ret_id) != 1)
		die(answer);
}

static double executed_us(struct web *w, const char *body)
{
	uint64_t start = stats_now_ns();
	web_send(w, "POST", "/api/execute/code", "", body);
	web_wait_text(w, "\r\n0\r\n\r\n");
	double us = stats_us_since(start);
	errno = 0;
	if (!strstr(w->answer, "execution_complete"))
		die(w->answer);
	return us;
}

void row_code(struct scene *s)
{
	static double us[2][TIMES];
	char id[64], body[160], path[96];
	struct web w;
	struct python python = open_python();
	web_open(&w, s->target.port);
	open_context(&w, id);
	snprintf(body, sizeof body, "{\"context_id\":\"%s\",\"code\":\"1+1\"}", id);
	evaluated_us(&python);
	executed_us(&w, body);
	for (unsigned i = 0; i < TIMES; i++) {
		us[0][i] = evaluated_us(&python);
		us[1][i] = executed_us(&w, body);
	}
	scene_add_times(s, "code", "1+1 in a warm Python", WAY_BARE, us[0], TIMES);
	scene_add_times(s, "code", "1+1 in a warm Python", WAY_RINGSIDE, us[1], TIMES);
	snprintf(path, sizeof path, "/api/contexts/%s", id);
	web_send(&w, "DELETE", path, "", "");
	web_wait(&w);
	web_close(&w);
	process_kill(python.pid);
	close(python.to);
	close(python.from);
}
