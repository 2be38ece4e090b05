/*
 * Killing a tree: TERM to all of it, after the grace KILL until none is left. The supervisor gets
 * no signal: it reports how the command has ended, and exits after the last process.
 */
#include "shell/process/internal.h"
#include "pty/proc/proc.h"
#include "shell/proc/tree.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

#include "shell/clock.h"

#define KILL_INTERVAL_MS 50u
#define GIVE_UP_MS 3000u /* after the first KILL */
#define OVERDUE_MS 100u  /* for what the holder has written to be read */
#define QUIET_MS 2000u   /* for the holder to report that none is left */

void process_move_tree(struct process *p, enum process_tree tree)
{
	static const bool allowed[PROCESS_TREE_STATES][PROCESS_TREE_STATES] = {
		[PROCESS_TREE_LIVES] = {[PROCESS_TREE_OVERDUE] = true,
			[PROCESS_TREE_KILLING] = true,
			[PROCESS_TREE_GONE] = true},
		[PROCESS_TREE_OVERDUE] = {[PROCESS_TREE_KILLING] = true, [PROCESS_TREE_GONE] = true},
		[PROCESS_TREE_KILLING] = {[PROCESS_TREE_LIVES] = true,
			[PROCESS_TREE_KILLING] = true, /* sooner */
			[PROCESS_TREE_GONE] = true},
		[PROCESS_TREE_GONE] = {[PROCESS_TREE_GONE] = true},
	};
	assert(allowed[p->tree][tree]);
	p->tree = tree;
}

/* The holder's pid; 0: none. It is known before the link is attached. */
static pid_t holder_of(const struct process *p)
{
	return p->tree == PROCESS_TREE_GONE || p->held.holder_lost ? 0
								   : link_holder_pid(&p->held.link);
}

/* The pid above the tree: the supervisor or, if that has died, the holder. 0: none. */
static pid_t root_of(const struct process *p)
{
	struct proc_status s;
	pid_t holder = holder_of(p), supervisor = p->held.link.info.shell_pid;
	bool lives = holder > 0 && supervisor > 0 && proc_status(supervisor, &s) &&
		proc_is_alive(&s);
	return lives ? supervisor : holder;
}

static int signal_tree(const struct process *p, int signo)
{
	pid_t root = root_of(p);
	return root > 0 ? tree_signal_below(root, 0, signo) : 0;
}

/* KILL, also to processes that fork meanwhile. Returns how many are left, or a negative errno. */
static int kill_tree(const struct process *p)
{
	pid_t root = root_of(p);
	return root > 0 ? tree_kill_below(root, 0) : 0;
}

int process_count_members(const struct process *p)
{
	return signal_tree(p, 0);
}

int process_signal(struct process *p, int signo, bool tree)
{
	if (holder_of(p) == 0)
		return -ESRCH;
	if (tree) {
		int rc = signal_tree(p, signo);
		return rc == 0 ? -ESRCH : rc < 0 ? rc : 0;
	}
	return p->state == PROCESS_RUNNING
		? tree_signal_child(p->pid, p->held.link.info.shell_pid, signo)
		: -ESRCH;
}

void process_kill_done(struct process *p, int left)
{
	if (p->tree == PROCESS_TREE_KILLING)
		process_move_tree(p, PROCESS_TREE_LIVES);
	p->held.survivors = left > 0 ? (unsigned)left : 0;
	uv_timer_stop(&p->timer);
	held_answer_waiters(&p->kill_waiters, &p->held, REPORT_READY, left > 0 ? -EBUSY : left);
	if (p->state == PROCESS_REMOVING && (!p->end_asked || p->output == PROCESS_OUTPUT_FILE))
		process_end_holder(p);
}

static void kill_step(struct process *p)
{
	uint64_t now = uv_now(held_loop(&p->held));
	int left = now >= p->kill_at_ms ? kill_tree(p) : signal_tree(p, 0);
	/* The holder may be unable to report it. */
	bool quiet = left == 0 && now >= p->kill_at_ms + QUIET_MS && !p->held.removal.table;
	if (quiet || now >= p->give_up_at_ms)
		process_kill_done(p, left);
	else
		uv_timer_start(&p->timer, process_on_timer, KILL_INTERVAL_MS, 0);
}

void process_kill(struct process *p, unsigned grace_ms, struct process_waiter *waiter)
{
	uint64_t now = uv_now(held_loop(&p->held));
	if (waiter)
		held_add_waiter(&p->kill_waiters, process_held_waiter(waiter));
	if (p->tree == PROCESS_TREE_GONE || (!p->held.holder_lost && holder_of(p) == 0)) {
		process_kill_done(p, 0);
		return;
	}
	removal_continue(holder_of(p));
	if (p->state == PROCESS_RUNNING && !p->kill_asked) {
		p->kill_asked = true;
		p->table->counters.killed++;
		process_save(p);
	}
	if (p->tree == PROCESS_TREE_KILLING && now + grace_ms >= p->kill_at_ms)
		return; /* an earlier request kills it sooner */
	process_move_tree(p, PROCESS_TREE_KILLING);
	p->kill_at_ms = now + grace_ms;
	p->give_up_at_ms = p->kill_at_ms + GIVE_UP_MS;
	if (grace_ms > 0) {
		signal_tree(p, SIGTERM);
		signal_tree(p, SIGCONT);
		uv_timer_start(&p->timer, process_on_timer, grace_ms, 0);
	} else {
		kill_step(p);
	}
}

/* The time limit */

void process_start_time_limit(struct process *p)
{
	uint64_t now = clock_boot_ms(), at = p->created_boot_ms + p->timeout_ms;
	if (p->timeout_ms > 0 && p->tree != PROCESS_TREE_KILLING)
		uv_timer_start(&p->timer, process_on_timer, at > now ? at - now : 0, 0);
}

/* Whether unread events may show that it ended in time; the server may have been stopped. */
static bool may_have_ended(const struct process *p)
{
	const struct ring *ring = &p->held.link.ring;
	return p->tree == PROCESS_TREE_LIVES && p->output == PROCESS_OUTPUT_RING &&
		(stream_head(&ring->events) > p->events_offset ||
			stream_head(&ring->bytes) > p->head || ring_is_blocked(ring));
}

void process_on_timer(uv_timer_t *timer)
{
	struct process *p = timer->data;
	if (p->tree == PROCESS_TREE_KILLING) {
		kill_step(p);
	} else if (p->state == PROCESS_RUNNING && may_have_ended(p)) {
		process_move_tree(p, PROCESS_TREE_OVERDUE);
		uv_timer_start(&p->timer, process_on_timer, OVERDUE_MS, 0);
	} else if (p->state == PROCESS_RUNNING) {
		p->timed_out = true;
		p->table->counters.timed_out++;
		process_kill(p, PROCESSES_GRACE_MS, NULL);
	}
}
