/* One thread does all file I/O, so that a disk that does not answer blocks neither the loop nor screens. */
#include "shell/recording/recorders.h"

#include "shell/clock.h"
#include "shell/recording/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct recorders {
	struct recorders_options options;
	struct recorder_shared shared;
	struct recorder *table; /* uthash, by epoch */
	uv_timer_t tick;
	struct work_item enforcing;
	uint64_t enforced_ms;          /* loop time */
	int enforced;                  /* result; used by the worker while enforcing is out */
	bool failing, short_of_memory; /* these were reported */
};

int recorders_open_directory(const char *path)
{
	struct stat st;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int rc = fstat(fd, &st) < 0                                 ? -errno
		: st.st_uid != geteuid() || (st.st_mode & 077) != 0 ? -EPERM
		: faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0   ? -errno
								    : 0;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Limits */

static void enforce(struct work_item *work_item)
{
	struct recorders *r = (struct recorders *)((uintptr_t)work_item -
		offsetof(struct recorders, enforcing));
	r->enforced = retention_enforce(
		r->options.root_fd, &r->options.limits, clock_wall_ms() / 1000);
}

static void on_enforced(struct work_item *work_item)
{
	struct recorders *r = (struct recorders *)((uintptr_t)work_item -
		offsetof(struct recorders, enforcing));
	if (r->enforced < 0 && !r->failing)
		r->options.failed(r->options.user, "", "cannot enforce the limits of recordings",
			r->enforced);
	r->failing = r->enforced < 0;
}

static void check_limits(struct recorders *r)
{
	uint64_t now = uv_now(r->options.loop);
	bool due = r->shared.sealed || now - r->enforced_ms >= RECORDERS_ENFORCE_MS;
	if (!due || r->enforcing.state != WORK_IDLE)
		return;
	r->shared.sealed = false;
	r->enforced_ms = now;
	workers_queue(r->shared.workers, &r->enforcing);
}

/* Sessions */

void recorders_sync(struct recorders *r)
{
	bool is_short = false;
	if (!r)
		return;
	for (struct session *s = NULL; (s = session_next(r->options.sessions, s));) {
		struct recorder *recorder = NULL;
		uint64_t epoch = session_epoch(s);
		if (!session_is_readable(s) || s->state == SESSION_ENDING)
			continue;
		HASH_FIND(hh, r->table, &epoch, sizeof epoch, recorder);
		if (recorder)
			continue;
		recorder = recorder_create(&r->shared, s);
		if (recorder)
			HASH_ADD(hh, r->table, epoch, sizeof recorder->epoch, recorder);
		if (recorder && !recorder->hh.tbl) {
			recorder_destroy(recorder);
			recorder = NULL;
		}
		if (!recorder && !r->short_of_memory)
			r->options.failed(r->options.user, session_id(s),
				"cannot start its recording yet", -ENOMEM);
		is_short = is_short || !recorder;
	}
	r->short_of_memory = is_short;
}

static void forget(struct recorders *r, struct recorder *recorder)
{
	HASH_DEL(r->table, recorder);
	recorder_destroy(recorder);
}

static void on_tick(uv_timer_t *timer)
{
	struct recorders *r = timer->data;
	struct recorder *recorder, *next;
	bool gone = r->short_of_memory;
	HASH_ITER (hh, r->table, recorder, next) {
		if (!recorder_tick(recorder)) {
			forget(r, recorder);
			gone = true;
		}
	}
	if (gone)
		recorders_sync(r);
	check_limits(r);
}

/* Opening and closing */

int recorders_open(const struct recorders_options *options, struct recorders **ret_recorders)
{
	struct recorders *r = calloc(1, sizeof *r);
	struct workers *workers = r ? workers_open(options->loop, 1) : NULL;
	struct segment_codec *codec = workers ? segment_codec_create() : NULL;
	if (!codec) {
		workers_close(workers);
		free(r);
		return -ENOMEM;
	}
	r->options = *options;
	r->shared.root_fd = options->root_fd;
	r->shared.workers = workers;
	r->shared.codec = codec;
	r->shared.loop = options->loop;
	r->shared.failed = options->failed;
	r->shared.user = options->user;
	r->enforcing = (struct work_item){.work = enforce, .back = on_enforced};
	r->shared.sealed = true;                /* the limits may have changed */
	uv_timer_init(options->loop, &r->tick); /* cannot fail */
	r->tick.data = r;
	uv_timer_start(&r->tick, on_tick, RECORDERS_TICK_MS, RECORDERS_TICK_MS);
	uv_unref((uv_handle_t *)&r->tick);
	*ret_recorders = r;
	return 0;
}

static void on_closed(uv_handle_t *timer)
{
	free(timer->data);
}

void recorders_close(struct recorders *r)
{
	struct recorder *recorder, *next;
	if (!r)
		return;
	HASH_ITER (hh, r->table, recorder, next)
		forget(r, recorder);
	workers_cancel(r->shared.workers, &r->enforcing);
	workers_close(r->shared.workers);
	segment_codec_destroy(r->shared.codec);
	close(r->options.root_fd);
	uv_close((uv_handle_t *)&r->tick, on_closed);
}
