/*
 * States of a watch: opening (a thread looks for the root), running, ended (no source; followers read their
 * pending events), closing. The source works on a thread of the crew, a job at a time; in between, the loop
 * polls inotify's descriptor. The loop owns the source only while no job is out. A job on a disk that does not
 * answer may never return.
 *
 * The next step is delayed for a short time while followers have many pending events, so that active readers
 * lose nothing.
 */
#include "shell/watch/watch.h"

#include "shell/clock.h"
#include "shell/own_error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define THREADS 2u    /* without spare ones */
#define RETRY_MS 500u /* after crew_send() failed */
#define BREATH_MS 50u /* time for followers to read pending events before the next step */
#define BREATH_PENDING 200u
#define RECENT_MAX 4096u /* paths whose events can be merged */

/* The last event of a path, for WATCH_MERGE_MS. */
struct recent {
	UT_hash_handle hh;
	struct recent *prev, *next;
	uint64_t until_ms; /* of the loop */
	bool held;         /* event is to be reported then */
	struct watch_event *event;
};

struct watch {
	struct watch *prev, *next;
	struct watches *all;
	struct job job;
	bool out;           /* a thread has the job, and the source */
	uint64_t wanted_ms; /* loop time since which a step is due or out; 0: none is */
	struct source source;
	struct watch_filter filter; /* filter and path: watches with equal ones are shared */
	char *path;
	char id[WATCH_ID_SIZE];
	uint64_t version;
	unsigned unwatched;
	struct watch_follower *followers;
	struct recent *recents, *recents_line; /* table; list, the oldest first */
	uv_poll_t poll;
	uv_timer_t step, merge, keep;
	unsigned handles; /* not closed yet */
	bool opened, polls, ready, breathing, ended, closing, kept;
	int error; /* of opening */
};

struct watches {
	uv_loop_t *loop;
	const char *within;
	struct crew *crew;
	struct watch *list;  /* running */
	struct watch *dying; /* list: ended */
	atomic_uint directories;
	unsigned count, dying_count, followers;
	uint64_t ids;
};

static void step(struct watch *w);

static struct watch *watch_of(struct job *job)
{
	return (struct watch *)(void *)((char *)job - offsetof(struct watch, job));
}

/* Returns as crew_send(). */
static int send_out(
	struct watch *w, void (*work)(struct job *job), void (*done)(struct job *job, int error))
{
	w->job.work = work;
	w->job.done = done;
	int rc = crew_send(w->all->crew, &w->job);
	w->out = rc == 0;
	if (w->wanted_ms == 0)
		w->wanted_ms = uv_now(w->all->loop);
	return rc;
}

/* Events */

static void push(struct watch_follower *f, struct watch_event *e)
{
	if (e->type == WATCH_RESYNC || f->count == WATCH_PENDING_MAX)
		f->lost = true;
	if (f->lost)
		return;
	e->references++;
	f->pending[(f->first + f->count++) % WATCH_PENDING_MAX] = e;
}

static void report_all(struct watch *w, struct watch_event *e)
{
	struct watch_follower *f;
	w->version++;
	DL_FOREACH (w->followers, f)
		push(f, e);
}

static void wake_all(struct watch *w)
{
	struct watch_follower *f, *next;
	DL_FOREACH_SAFE (w->followers, f, next)
		f->more(f->user);
}

static void drop_recent(struct watch *w, struct recent *r)
{
	HASH_DEL(w->recents, r); /* NOLINT(clang-analyzer-*): it is uthash's */
	DL_DELETE(w->recents_line, r);
	watch_event_unref(r->event);
	free(r);
}

static void on_merge_due(uv_timer_t *timer);

static void time_merge(struct watch *w)
{
	uint64_t now = uv_now(w->all->loop);
	const struct recent *r = w->recents_line;
	if (r)
		uv_timer_start(
			&w->merge, on_merge_due, r->until_ms > now ? r->until_ms - now : 0, 0);
}

static void on_merge_due(uv_timer_t *timer)
{
	struct watch *w = timer->data;
	uint64_t now = uv_now(timer->loop);
	bool any = false;
	while (w->recents_line && w->recents_line->until_ms <= now) {
		struct recent *r = w->recents_line;
		if (!r->held) {
			drop_recent(w, r);
			continue;
		}
		report_all(w, r->event);
		any = true;
		r->held = false;
		r->until_ms = now + WATCH_MERGE_MS;
		DL_DELETE(w->recents_line, r);
		DL_APPEND(w->recents_line, r);
	}
	time_merge(w);
	if (any)
		wake_all(w);
}

/* Whether a second event of a path is news. A repeated create, delete or move_from is not. */
static bool is_news_again(const struct watch_event *e)
{
	return e->type == WATCH_MODIFY || e->type == WATCH_ATTRIB || e->type == WATCH_MOVE_TO;
}

/* Merge an event with an equal last one of its path. Returns false if it must be reported now. */
static bool merge(struct watch *w, struct watch_event *e)
{
	struct recent *r;
	HASH_FIND(hh, w->recents, e->path, e->length, r);
	if (r && r->event->type == e->type && r->event->is_directory == e->is_directory) {
		if (is_news_again(e)) {
			e->references++;
			watch_event_unref(r->event);
			r->event = e;
			r->held = true;
			r->hh.key = e->path; /* the same text */
		}
		return true;
	}
	if (r && r->held)
		report_all(w, r->event);
	if (r)
		drop_recent(w, r);
	if (HASH_COUNT(w->recents) >= RECENT_MAX || !(r = calloc(1, sizeof *r)))
		return false;
	r->event = e;
	r->until_ms = uv_now(w->all->loop) + WATCH_MERGE_MS;
	HASH_ADD_KEYPTR(hh, w->recents, e->path, e->length, r);
	if (!r->hh.tbl) {
		free(r);
		return false;
	}
	e->references++;
	DL_APPEND(w->recents_line, r);
	return false;
}

/* Report the events of a step. */
static void report_events(struct watch *w)
{
	struct source *s = &w->source;
	bool none = !w->recents_line;
	uv_update_time(w->all->loop);
	for (unsigned i = 0; i < s->events_count; i++) {
		struct watch_event *e = s->events[i];
		if (e->type == WATCH_RESYNC || !merge(w, e))
			report_all(w, e);
		watch_event_unref(e);
	}
	s->events_count = 0;
	w->unwatched = s->unwatched;
	w->ready |= s->ready;
	if (none)
		time_merge(w);
}

/* Its end */

static void free_watch(struct watch *w)
{
	while (w->recents_line)
		drop_recent(w, w->recents_line);
	source_finish(&w->source);
	free(w->path);
	free(w);
}

static void on_finished(struct job *job, int error)
{
	struct watch *w = watch_of(job);
	(void)error; /* free_watch() finishes the source if the job did not run */
	w->out = false;
	DL_DELETE(w->all->dying, w);
	w->all->dying_count--;
	free_watch(w);
}

/* Closing an inotify descriptor with many watches takes time. */
static void finish_source(struct job *job)
{
	struct watch *w = watch_of(job);
	source_finish(&w->source);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct watch *w = handle->data;
	if (--w->handles > 0)
		return;
	if (!w->all) {
		/* A stuck thread still uses it: leak it. */
		if (!w->out)
			free_watch(w);
		return;
	}
	w->job.work = finish_source;
	w->job.done = on_finished;
	w->job.owner[0] = '\0'; /* no owner, so no limits */
	w->out = true;
	crew_send_required(w->all->crew, &w->job);
}

static void close_handles(struct watch *w)
{
	w->handles = w->polls ? 4 : 3;
	if (w->polls)
		uv_close((uv_handle_t *)&w->poll, on_handle_closed);
	uv_close((uv_handle_t *)&w->step, on_handle_closed);
	uv_close((uv_handle_t *)&w->merge, on_handle_closed);
	uv_close((uv_handle_t *)&w->keep, on_handle_closed);
}

/* Move a watch to the list of ended ones, so that no new follower finds it. */
static void retire(struct watch *w)
{
	if (w->ended)
		return;
	w->ended = true;
	DL_DELETE(w->all->list, w);
	DL_APPEND(w->all->dying, w);
	w->all->count--;
	w->all->dying_count++;
}

/* End and close a watch without followers; later, if a job is out. */
static void close_watch(struct watch *w)
{
	retire(w);
	if (w->closing || w->out)
		return;
	w->closing = true;
	close_handles(w);
}

static void close_if_unwanted(struct watch *w)
{
	if (!w->followers && !w->kept)
		close_watch(w);
}

/* Detach a follower. It can still read its pending events, and then the end. */
static void detach(struct watch *w, struct watch_follower *f, enum source_end end, int error)
{
	DL_DELETE(w->followers, f);
	w->all->followers--;
	f->version = w->version;
	f->watch = NULL;
	f->end = end;
	f->error = error;
}

static void end_watch(struct watch *w, enum source_end end, int error)
{
	retire(w);
	w->kept = false;
	while (w->followers) {
		struct watch_follower *f = w->followers;
		bool found = f->reported_found;
		detach(w, f, end, error);
		f->reported_found = true;
		if (found)
			f->more(f->user);
		else
			f->found(f->user, error ? error : -ENOENT, w->source.real);
	}
	close_watch(w);
}

static void on_keep_due(uv_timer_t *timer)
{
	struct watch *w = timer->data;
	w->kept = false;
	close_if_unwanted(w);
}

/* Steps */

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	step(poll->data);
}

static void on_step_due(uv_timer_t *timer)
{
	step(timer->data);
}

static bool is_behind(const struct watch *w)
{
	const struct watch_follower *f;
	DL_FOREACH (w->followers, f)
		if (!f->lost && f->reported_watching && f->count > BREATH_PENDING)
			return true;
	return false;
}

static void schedule_step(struct watch *w)
{
	const struct source *s = &w->source;
	w->breathing = is_behind(w);
	if (w->breathing)
		uv_timer_start(&w->step, on_step_due, BREATH_MS, 0);
	else if (s->more)
		step(w);
	else {
		if (s->wait_ms > 0)
			uv_timer_start(&w->step, on_step_due, s->wait_ms, 0);
		uv_poll_start(&w->poll, UV_READABLE, on_readable);
	}
}

static void end_step(struct watch *w)
{
	report_events(w);
	if (w->ended) {
		close_watch(w);
		return;
	}
	if (w->source.end != SOURCE_RUNNING) {
		end_watch(w, w->source.end, w->source.error);
		return;
	}
	schedule_step(w);
	wake_all(w);
}

static void on_stepped(struct job *job, int error)
{
	struct watch *w = watch_of(job);
	w->out = false;
	/* Other jobs of the owner are stuck, perhaps on another disk. */
	if (error == -ERR_FILES_STUCK && !w->ended) {
		uv_timer_start(&w->step, on_step_due, RETRY_MS, 0);
		return;
	}
	w->wanted_ms = 0;
	if (error < 0 && !w->ended)
		end_watch(w, SOURCE_FAILED, error);
	else
		end_step(w);
}

static void work_step(struct job *job)
{
	struct watch *w = watch_of(job);
	source_step(&w->source);
}

static void step(struct watch *w)
{
	if (w->ended || w->out)
		return;
	uv_timer_stop(&w->step);
	uv_poll_stop(&w->poll);
	w->breathing = false;
	if (send_out(w, work_step, on_stepped) < 0)
		uv_timer_start(&w->step, on_step_due, RETRY_MS, 0);
}

/* Opening */

static void report_found(struct watch *w)
{
	struct watch_follower *f, *next;
	DL_FOREACH_SAFE (w->followers, f, next) {
		if (f->reported_found)
			continue;
		f->reported_found = true;
		f->found(f->user, 0, NULL);
	}
}

static void on_opened(struct job *job, int error)
{
	struct watch *w = watch_of(job);
	w->out = false;
	w->wanted_ms = 0;
	if (error < 0)
		w->error = error;
	if (w->error == 0 && w->source.end == SOURCE_FAILED)
		w->error = w->source.error;
	if (w->ended) {
		close_watch(w);
		return;
	}
	if (w->error == 0)
		w->error = uv_poll_init(w->all->loop, &w->poll, w->source.fd);
	if (w->error < 0) {
		end_watch(w, SOURCE_FAILED, w->error);
		return;
	}
	/* From now on, only jobs on the same disk share its limits. */
	size_t length = strlen(w->job.owner);
	snprintf(w->job.owner + length, sizeof w->job.owner - length, " %" PRIxMAX,
		(uintmax_t)w->source.device);
	w->polls = true;
	w->poll.data = w;
	uv_unref((uv_handle_t *)&w->poll);
	w->opened = true;
	report_found(w);
	end_step(w);
}

static void work_open(struct job *job)
{
	struct watch *w = watch_of(job);
	w->error = source_open(&w->source);
	if (w->error == 0)
		source_step(&w->source);
}

static void open_timers(struct watch *w)
{
	uv_timer_t *const timers[] = {&w->step, &w->merge, &w->keep};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
		uv_timer_init(w->all->loop, timers[i]);
		timers[i]->data = w;
		uv_unref((uv_handle_t *)timers[i]);
	}
}

/* Returns 0, -ENOMEM, or as crew_send(). */
static int create_watch(struct watches *all, const struct watch_filter *filter,
	const struct watch_place *place, struct watch **ret)
{
	struct watch *w = calloc(1, sizeof *w);
	if (!w)
		return -ENOMEM;
	w->path = strdup(place->path);
	if (!w->path ||
		source_init(&w->source, filter, place->path, place->real, all->within,
			&all->directories) < 0) {
		free(w->path);
		free(w);
		return -ENOMEM;
	}
	w->all = all;
	w->filter = *filter;
	snprintf(w->job.owner, sizeof w->job.owner, "%s", place->owner);
	snprintf(w->id, sizeof w->id, "watch-%" PRIu64 "-%" PRIu64, ++all->ids, clock_wall_ms());
	open_timers(w);
	int rc = send_out(w, work_open, on_opened);
	if (rc < 0) {
		w->all = NULL;
		close_handles(w);
		return rc;
	}
	DL_APPEND(all->list, w);
	all->count++;
	*ret = w;
	return 0;
}

static struct watch *find_watch(
	const struct watches *all, const struct watch_filter *filter, const char *path)
{
	struct watch *w;
	DL_FOREACH (all->list, w)
		if (strcmp(w->path, path) == 0 && watch_filter_equals(&w->filter, filter))
			return w;
	return NULL;
}

/* Close the watch without followers that is kept for the shortest time from now, if there is one. */
static void evict_kept(struct watches *all)
{
	struct watch *w, *oldest = NULL;
	DL_FOREACH (all->list, w)
		if (!w->followers && w->kept &&
			(!oldest ||
				uv_timer_get_due_in(&w->keep) < uv_timer_get_due_in(&oldest->keep)))
			oldest = w;
	if (!oldest)
		return;
	oldest->kept = false;
	uv_timer_stop(&oldest->keep);
	close_watch(oldest);
}

int watches_follow(struct watches *all, const struct watch_filter *filter,
	const struct watch_place *place, struct watch_follower *f)
{
	struct watch *w = find_watch(all, filter, place->path);
	if (!w && all->count >= WATCHES_MAX)
		evict_kept(all);
	if (all->followers >= WATCH_FOLLOWERS_MAX ||
		(!w && (all->count >= WATCHES_MAX || all->dying_count >= WATCHES_MAX)))
		return -ERR_LIMIT;
	f->pending = calloc(WATCH_PENDING_MAX, sizeof *f->pending);
	f->first_of_all = !w;
	int rc = !f->pending ? -ENOMEM : w ? 0 : create_watch(all, filter, place, &w);
	if (rc < 0) {
		free(f->pending);
		f->pending = NULL;
		return rc;
	}
	f->watch = w;
	f->first = f->count = 0;
	DL_APPEND(w->followers, f);
	all->followers++;
	f->reported_found = w->opened;
	return w->opened ? 1 : 0;
}

void watch_unfollow(struct watch_follower *f)
{
	struct watch *w = f->watch;
	if (w)
		detach(w, f, SOURCE_RUNNING, 0);
	for (; f->count > 0; f->count--, f->first++)
		watch_event_unref(f->pending[f->first % WATCH_PENDING_MAX]);
	free(f->pending);
	f->pending = NULL;
	if (w)
		close_if_unwanted(w);
}

static enum watch_follower_kind pop_pending(struct watch_follower *f, struct watch_event **ret_event)
{
	*ret_event = f->pending[f->first];
	f->first = (f->first + 1) % WATCH_PENDING_MAX;
	f->count--;
	if (f->watch && f->watch->breathing && !is_behind(f->watch))
		step(f->watch);
	return FOLLOW_EVENT;
}

enum watch_follower_kind watch_follower_next(
	struct watch_follower *f, struct watch_event **ret_event)
{
	if (f->watch && !f->reported_watching) {
		f->reported_watching = f->watch->ready;
		return f->reported_watching ? FOLLOW_WATCHING : FOLLOW_NOTHING;
	}
	if (f->count > 0)
		return pop_pending(f, ret_event);
	if (f->lost) {
		f->lost = false;
		return FOLLOW_RESYNC;
	}
	if (f->watch || f->reported_end)
		return FOLLOW_NOTHING;
	f->reported_end = true;
	return FOLLOW_END;
}

const char *watch_id(const struct watch *w)
{
	return w->id;
}

uint64_t watch_version(const struct watch *w)
{
	return w->version;
}

unsigned watch_unwatched(const struct watch *w)
{
	return w->unwatched;
}

bool watch_is_stuck(const struct watch *w)
{
	return w->wanted_ms > 0 && uv_now(w->all->loop) > w->wanted_ms + CREW_STUCK_MS;
}

bool watch_is_initiator(const struct watch_follower *f)
{
	return f->first_of_all;
}

void watch_keep(struct watch *w, uint64_t ms)
{
	if (w->ended)
		return;
	w->kept = true;
	uv_timer_start(&w->keep, on_keep_due, ms, 0);
}

int watches_open(uv_loop_t *loop, const char *within, const struct user *user, bool bare,
	struct watches **ret_watches)
{
	struct watches *all = calloc(1, sizeof *all);
	if (!all)
		return -ENOMEM;
	all->loop = loop;
	all->within = within;
	all->crew = crew_open(
		loop, &(struct crew_options){.user = user, .bare = bare, .threads = THREADS});
	if (!all->crew) {
		free(all);
		return -ENOMEM;
	}
	*ret_watches = all;
	return 0;
}

/* Close a watch without the crew. Its handles may be closing or closed already. */
static void abandon(struct watches *all, struct watch *w)
{
	bool closed = w->closing && w->handles == 0;
	DL_DELETE(all->dying, w);
	if (!w->closing)
		close_handles(w);
	w->all = NULL;
	if (w->out)
		return;
	source_finish(&w->source); /* uses all->directories */
	if (closed)
		free_watch(w);
}

void watches_close(struct watches *all)
{
	struct watch *w;
	bool left = false;
	if (!all)
		return;
	while (all->list)
		retire(all->list);
	DL_FOREACH (all->dying, w)
		while (w->followers)
			detach(w, w->followers, SOURCE_FAILED, -ECANCELED);
	crew_close(all->crew);
	while (all->dying) {
		left |= all->dying->out;
		abandon(all, all->dying);
	}
	/* A stuck thread still uses all->directories. */
	if (!left)
		free(all);
}
