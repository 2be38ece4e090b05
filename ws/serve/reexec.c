/*
 * The phases of an upgrade; see reexec.h. A timer looks at what is going on. It holds the clients only when no request has
 * been going on for LONG_MS, so that they wait as short as possible, and again after growing gaps if that fails.
 */
#include "ws/serve/reexec.h"

#include "shell/clock.h"
#include "ws/log.h"
#include "ws/net/takeover.h"
#include "ws/serve/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOOK_MS 5u
#define LONG_MS 1000u /* requests and runs that have lasted for this long delay the hold */
#define HOLD_MS 1000u
#define HOLD_GAP_MIN_MS 100u
#define HOLD_GAP_MAX_MS 2000u
#define CLOSING_MS 500u    /* for WebSockets to close and the last answers to be sent */
#define RUNS_GRACE_MS 300u /* of runs that are ended by force */
#define SIGNAL_WAIT_MS 10000u

extern char **environ;

/* What is in the way of an upgrade. */
struct obstacles {
	struct takeover_work work;
	unsigned runs, contexts;
	unsigned sessions; /* whose commands or input the next server would not type */
	unsigned inputs;   /* of POST /api/stdin */
};

static uint64_t now(const struct reexec *e)
{
	return uv_now(e->timer.loop);
}

/* Count what began at least min_age_ms ago. What cannot be dated counts only if that is 0. */
static unsigned count(const struct reexec *e, uint64_t min_age_ms, struct obstacles *ret)
{
	const struct api *a = e->api;
	*ret = (struct obstacles){0};
	takeover_count(e->shutdown->server, min_age_ms, e->request, &ret->work);
	for (struct context *c = NULL; (c = contexts_next(a->contexts, c));)
		ret->contexts++;
	unsigned runs = runs_count(a->runs, min_age_ms);
	ret->runs = runs > ret->contexts ? runs - ret->contexts : 0;
	if (min_age_ms == 0) {
		ret->sessions = sessions_unsettled(a->sessions);
		ret->inputs = api_count_inputs(a);
	}
	return takeover_total(&ret->work) + ret->runs + ret->contexts + ret->sessions + ret->inputs;
}

static json_t *obstacles_json(const struct obstacles *o)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "requests",
		(int)o->work.requests, "uploads", (int)o->work.uploads, "downloads",
		(int)o->work.downloads, "answers", (int)o->work.answers, "previews",
		(int)o->work.previews, "runs", (int)o->runs, "contexts", (int)o->contexts,
		"sessions", (int)o->sessions, "inputs", (int)o->inputs);
}

/* Requests */

static void on_client_gone(void *user);

/* The request, with its reference, that is to be answered; NULL: there is none. */
static struct request *take_request(struct reexec *e)
{
	struct request *r = e->request;
	if (r)
		r->gone = NULL;
	e->request = NULL;
	return r;
}

/* Serve on as before. */
static void stop(struct reexec *e)
{
	if (e->state == REEXEC_HELD)
		takeover_resume(e->shutdown->server);
	e->state = REEXEC_IDLE;
	uv_timer_stop(&e->timer);
}

static void fail(struct reexec *e, const char *code, const char *message, json_t *context)
{
	struct request *r = take_request(e);
	stop(e);
	log_write(LOG_WARN, "upgrade", "not upgraded", "why", message, NULL);
	if (r) {
		reply_error(r, code, message, context);
		request_unref(r);
	} else {
		json_decref(context);
	}
}

/* The client has disconnected, and does not want the upgrade any more. */
static void on_client_gone(void *user)
{
	struct reexec *e = user;
	struct request *r = take_request(e);
	trial_cancel(&e->trial);
	stop(e);
	if (r)
		request_unref(r);
}

/* Phases */

static void fail_busy(struct reexec *e, const struct obstacles *o)
{
	char message[256];
	snprintf(message, sizeof message,
		"Something runs that the next server could not continue: %u requests, %u transfers, %u runs, %u contexts, "
		"%u sessions with waiting input or commands",
		o->work.requests + o->work.answers + o->work.previews,
		o->work.uploads + o->work.downloads + o->inputs, o->runs, o->contexts, o->sessions);
	fail(e, "UPGRADE_BUSY", message, obstacles_json(o));
}

static void begin_hold(struct reexec *e)
{
	e->state = REEXEC_HELD;
	e->state_until_ms = now(e) + HOLD_MS;
	e->held_since_ms = clock_monotonic_ms();
	takeover_hold(e->shutdown->server);
}

/* There is no way back from here. */
static void begin_closing(struct reexec *e)
{
	const struct api *a = e->api;
	struct request *r = take_request(e);
	supervisor_notify_reloading();
	if (r) {
		reply_json(r, 202,
			json_pack("{s:b, s:s, s:s}", "success", 1, "version", a->version,
				"instance", a->instance));
		request_unref(r);
	}
	a->sessions->leaves = true;
	e->state = REEXEC_CLOSING;
	e->sockets_closed = false;
	e->state_until_ms = now(e) + CLOSING_MS;
}

/* The next server cannot continue them: end them, as in a shutdown. */
static void end_runs(struct reexec *e)
{
	runs_cancel_all(e->api->runs, RUNS_GRACE_MS);
}

static void look_patient(struct reexec *e)
{
	struct obstacles o;
	bool over = now(e) >= e->patience_until_ms;
	unsigned left = count(e, LONG_MS, &o);
	if (over && left > 0 && !e->force)
		fail_busy(e, &o);
	else if ((left == 0 && now(e) >= e->hold_next_ms) || over)
		begin_hold(e);
}

static void look_held(struct reexec *e)
{
	struct obstacles o;
	unsigned left = count(e, 0, &o);
	bool late = now(e) >= e->state_until_ms;
	bool patient = now(e) < e->patience_until_ms;
	if (left == 0 && (o.work.strangers == 0 || late)) {
		begin_closing(e);
	} else if (late && !patient && e->force) {
		log_write(LOG_WARN, "upgrade", "ending what the next server cannot continue", NULL);
		end_runs(e);
		begin_closing(e);
	} else if (late && !patient) {
		fail_busy(e, &o);
	} else if (late) {
		takeover_resume(e->shutdown->server);
		e->state = REEXEC_PATIENCE;
		e->hold_next_ms = now(e) + e->hold_gap_ms;
		e->hold_gap_ms = e->hold_gap_ms * 2 < HOLD_GAP_MAX_MS ? e->hold_gap_ms * 2
								      : HOLD_GAP_MAX_MS;
	}
}

/* Leave everything to the next program. Returns 0 or a negative errno with nothing changed. */
static int leave(struct reexec *e)
{
	struct sessions *s = e->api->sessions;
	struct inheritance left = {.lock = s->lock,
		.token = (char *)(uintptr_t)e->token,
		.upgrades = e->before->upgrades + 1,
		.held_since_ms = e->held_since_ms,
		.draining = s->draining,
		.drained_ms = e->api->drained_ms};
	int fd = takeover_describe(e->shutdown->server, &left.net) ? inheritance_write(&left)
								   : -ENOMEM;
	if (fd >= 0) {
		reexec_block_signals();
		takeover_leave(e->shutdown->server, &left.net);
		runtime_lock_leave(&s->lock, &left.lock.fd, &left.lock.name_fd);
		e->state_fd = fd;
	}
	takeover_finish(&left.net);
	return fd < 0 ? fd : 0;
}

static void look_closing(struct reexec *e)
{
	struct obstacles o;
	/* Not at once: the answer may go through one of them. */
	if (!e->sockets_closed) {
		e->sockets_closed = true;
		takeover_close_sockets(e->shutdown->server);
		return;
	}
	bool late = now(e) >= e->state_until_ms;
	bool idle = server_is_idle(e->shutdown->server) && count(e, 0, &o) == 0;
	if (!idle && !late)
		return;
	int rc = leave(e);
	if (rc < 0) {
		e->state = REEXEC_HELD;
		e->api->sessions->leaves = false;
		supervisor_notify("READY=1");
		fail(e, "UPGRADE_FAILED", strerror(-rc), NULL);
		return;
	}
	e->state = REEXEC_READY;
	uv_stop(e->timer.loop);
}

static void on_look(uv_timer_t *timer)
{
	struct reexec *e = timer->data;
	if (e->shutdown->begun) {
		fail(e, "UPGRADE_FAILED", "The server is stopping", NULL);
		return;
	}
	if (e->state == REEXEC_CLOSING)
		look_closing(e);
	if (e->state == REEXEC_PATIENCE)
		look_patient(e);
	if (e->state == REEXEC_HELD)
		look_held(e);
}

static void on_tried(void *user, const char *problem)
{
	struct reexec *e = user;
	char message[TRIAL_TEXT_MAX + 128];
	if (problem || e->shutdown->begun) {
		snprintf(message, sizeof message, "The new program does not start: %s",
			problem ? problem : "the server is stopping");
		fail(e, "UPGRADE_FAILED", message, NULL);
		return;
	}
	e->state = REEXEC_PATIENCE;
	e->patience_until_ms = now(e) + e->wait_ms;
	e->hold_next_ms = 0;
	e->hold_gap_ms = HOLD_GAP_MIN_MS;
	uv_timer_start(&e->timer, on_look, 0, LOOK_MS);
}

static bool is_busy(const struct reexec *e)
{
	return e->state != REEXEC_IDLE || e->trial.open_handles > 0;
}

static void begin(struct reexec *e)
{
	char message[PATH_MAX + 128];
	e->state = REEXEC_TRIAL;
	log_write(LOG_INFO, "upgrade", "upgrading", "program", e->program, "peer",
		e->request ? e->request->peer : "signal", NULL);
	int rc = e->program[0]
		? trial_begin(&e->trial, e->timer.loop, e->program, e->argv, on_tried, e)
		: -ENOENT;
	if (rc == 0)
		return;
	snprintf(message, sizeof message, "The new program does not start: %s: %s", e->program,
		strerror(-rc));
	fail(e, "UPGRADE_FAILED", message, NULL);
}

static void on_request(void *user, struct request *r, uint64_t wait_ms, bool force)
{
	struct reexec *e = user;
	if (is_busy(e)) {
		reply_error(r, "UPGRADE_BUSY", "An upgrade is under way", NULL);
		return;
	}
	if (e->shutdown->begun || !e->shutdown->server) {
		reply_error(r, "UPGRADE_FAILED", "The server is stopping", NULL);
		return;
	}
	e->request = request_ref(r);
	e->wait_ms = wait_ms;
	e->force = force;
	r->gone = on_client_gone;
	r->gone_user = e;
	begin(e);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct reexec *e = handle->data;
	(void)signo;
	if (is_busy(e) || e->shutdown->begun || !e->shutdown->server)
		return;
	e->wait_ms = SIGNAL_WAIT_MS;
	e->force = true;
	begin(e);
}

/* Opening, closing and executing */

/*
 * The path is found now: later, when another file is there, the kernel's link tells that this one was deleted. So it does
 * if a new program could not be executed.
 */
static void find_program(struct reexec *e)
{
	static const char deleted[] = " (deleted)";
	ssize_t n = readlink("/proc/self/exe", e->program, sizeof e->program - 1);
	size_t length = n > 0 ? (size_t)n : 0, suffix = sizeof deleted - 1;
	if (length > suffix && memcmp(e->program + length - suffix, deleted, suffix) == 0)
		length -= suffix;
	e->program[length] = '\0';
}

void reexec_open(struct reexec *e, uv_loop_t *loop)
{
	find_program(e);
	uv_signal_init(loop, &e->signal);
	uv_timer_init(loop, &e->timer);
	e->signal.data = e->timer.data = e;
	uv_signal_start(&e->signal, on_signal, SIGUSR2);
	e->upgrade = (struct api_upgrade){.begin = on_request, .user = e};
	e->api->upgrade = &e->upgrade;
}

void reexec_continue(struct reexec *e, const char *version)
{
	char text[24];
	struct inheritance *before = e->before;
	struct metrics *m = e->api->metrics;
	m->upgrades = before->upgrades;
	e->api->sessions->draining = e->api->processes->draining = before->draining;
	e->api->drained_ms = before->drained_ms;
	takeover_begin(e->shutdown->server, &before->net);
	takeover_finish(&before->net);
	m->upgrade_held_ms = clock_monotonic_ms() - before->held_since_ms;
	snprintf(text, sizeof text, "%" PRIu64, m->upgrade_held_ms);
	log_write(LOG_INFO, "upgrade", "upgraded", "version", version, "held_ms", text, NULL);
}

void reexec_close(struct reexec *e)
{
	trial_cancel(&e->trial);
	e->api->upgrade = NULL;
	uv_close((uv_handle_t *)&e->signal, NULL);
	uv_close((uv_handle_t *)&e->timer, NULL);
}

static void list_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR2);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

void reexec_block_signals(void)
{
	sigset_t set;
	list_signals(&set);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void reexec_unblock_signals(void)
{
	sigset_t set;
	list_signals(&set);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Shells inherit the soft limit that the next program finds. */
static void restore_descriptors(long nofile)
{
	struct rlimit limit;
	if (nofile <= 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = (rlim_t)nofile;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

void reexec_execute(const struct reexec *e)
{
	char fd[16];
	snprintf(fd, sizeof fd, "%d", e->state_fd);
	restore_descriptors(e->nofile);
	/* It came after everything was left to the next program, which gets it now, as it is blocked. */
	if (e->shutdown->begun)
		kill(getpid(), SIGTERM);
	if (setenv(INHERITANCE_VARIABLE, fd, 1) == 0 && fcntl(e->state_fd, F_SETFD, 0) == 0)
		execv(e->program, e->argv);
	/* Still the file that this process was started from. */
	log_write(LOG_ERROR, "upgrade",
		"cannot execute the new program, going on with the present one", "error",
		strerror(errno), NULL);
	log_flush();
	execv("/proc/self/exe", e->argv);
	log_write(LOG_ERROR, "upgrade", "cannot execute the present program", "error",
		strerror(errno), NULL);
	log_flush();
}
