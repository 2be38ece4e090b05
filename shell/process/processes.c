/*
 * Starting and removing processes. The order at a start: directory, process.json, files, holder,
 * attach, the supervisor's report that the command runs. At the end: the supervisor's report, the
 * end of the tree, the output file, the end of the holder; later the marker "ending" and the
 * removal of the directory. After a crash at any point the next server goes on.
 */
#include "shell/process/processes.h"

#include "pty/supervise.h"
#include "ring/utf8.h"
#include "shell/bounds.h"
#include "shell/preamble.h"
#include "shell/clock.h"
#include "shell/descriptors.h"
#include "shell/store/directory.h"
#include "shell/environment.h"
#include "shell/held/adoption.h"
#include "shell/held/ending.h"
#include "shell/own_error.h"
#include "shell/store/file.h"
#include "shell/process/internal.h"
#include "shell/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_SIZE ((size_t)4096) /* one page, without checkpoints */
#define END_ALL_GRACE_MS 300u
#define TTL_SLACK_S 600u /* holders wait longer, so that a running server ends them first */
/* Longer commands do not fit an argument (MAX_ARG_STRLEN is 128 KiB). */
#define ARGUMENT_MAX ((size_t)96 << 10)
/* Of the terminal, which has no viewers. */
#define ROWS 24u
#define COLS 80u

/*
 * How bash gets a command that is too long for an argument, or follows the preamble of a session.
 * It leaves no trace in $0, in variables, or in the output of a set -x in the preamble. The
 * preamble is on a line of its own because aliases apply to later lines only.
 */
#define FROM_SUPERVISOR "\"/proc/$PPID/fd/3/"
_Static_assert(SUPERVISE_DIRECTORY_FD == 3, "the scripts below use it");
static const char script_long[] = "IFS= read -r -d '' REPLY <" FROM_SUPERVISOR PROCESS_COMMAND_FILE
				  "\"; "
				  "eval \"unset -v REPLY; $REPLY\"";
static const char script_preamble[] =
	"IFS= read -r -d '' REPLY <" FROM_SUPERVISOR PROCESS_COMMAND_FILE "\"; "
	"eval \"unset -v REPLY; . \\\"/proc/\\$PPID/fd/3/" PROCESS_PREAMBLE_FILE "\\\"\n$REPLY\"";

bool processes_id_is_valid(const char *id)
{
	static const char *const words[] = {"start", "list", "kill-all"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(id, words[i]) == 0)
			return false;
	return name_is_id(id);
}

static struct process *process_or_null(const struct held *h)
{
	return h ? process_of_held(h) : NULL;
}

struct process *processes_find(const struct processes *t, const char *id)
{
	return process_or_null(held_find(&t->held, id));
}

unsigned processes_count(const struct processes *t)
{
	return held_count(&t->held);
}

struct process *process_next(const struct processes *t, const struct process *p)
{
	return process_or_null(held_next(&t->held, p ? &p->held : NULL));
}

bool processes_idle(const struct processes *t)
{
	return held_table_is_idle(&t->held);
}

void process_discard(struct process *p)
{
	p->table->counters.removed++;
	held_remove_directory(&p->table->held, p->held.directory);
	process_release(p);
}

/* Starting */

static int check(const struct processes *t, const struct process_options *o)
{
	const struct process *p = processes_find(t, o->id);
	if (!processes_id_is_valid(o->id) || o->command_length == 0 ||
		(o->session && !name_is_id(o->session)))
		return -EINVAL;
	if (o->command_length > PROCESS_COMMAND_MAX || o->preamble_length > PROCESS_PREAMBLE_MAX)
		return -E2BIG;
	if (memchr(o->command, 0, o->command_length) ||
		(o->preamble && memchr(o->preamble, 0, o->preamble_length)))
		return -EINVAL;
	if (!utf8_is_valid_string(o->command) ||
		!utf8_is_valid_string(o->cwd ? o->cwd : t->config.cwd))
		return -EILSEQ;
	if (p && p->state != PROCESS_ENDED)
		return -EEXIST;
	return o->cwd ? directory_check_cached(&o->found, o->cwd) : directory_check(t->config.cwd);
}

/* Save the preamble, followed by the variables of the request. */
static int save_preamble(int dir_fd, const struct process_options *o)
{
	size_t length;
	const struct preamble parts = {.text = o->preamble,
		.length = o->preamble_length,
		.env_names = o->env_names,
		.env_values = o->env_values,
		.env_count = o->env_count};
	char *text = preamble_text(&parts, &length);
	int rc = text ? file_save(dir_fd, PROCESS_PREAMBLE_FILE, text, length) : -ENOMEM;
	free(text);
	return rc;
}

/* Write the files that the command needs. *ret_script: for bash -c. */
static int prepare(struct process *p, const struct process_options *o, const char **ret_script)
{
	int rc = 0, dir_fd = p->held.link.dir_fd;
	bool is_long = o->command_length > ARGUMENT_MAX;
	if (o->preamble || is_long)
		rc = file_save(dir_fd, PROCESS_COMMAND_FILE, o->command, o->command_length);
	if (rc == 0 && o->preamble)
		rc = save_preamble(dir_fd, o);
	if (rc == 0 && o->input_pipe && mkfifoat(dir_fd, SUPERVISE_STDIN, 0600) < 0)
		rc = -errno;
	*ret_script = o->preamble ? script_preamble : is_long ? script_long : o->command;
	return rc == 0 ? process_meta_save(dir_fd, p) : rc;
}

static int spawn(struct process *p, const struct process_options *o)
{
	struct processes *t = p->table;
	const char *script;
	int rc = prepare(p, o, &script);
	if (rc < 0)
		return rc;
	/* The supervisor has no memory limit, as it must report a command that exceeds it. */
	struct bounds_limit_texts numbers;
	const char *argv[3 + BOUNDS_WORDS + 4] = {
		bounds_holder_path(t->config.bounds, t->config.holder), SUPERVISE_OPTION,
		o->input_pipe ? "pipe" : "none"};
	const char **word = argv + 3;
	word += bounds_limit_words(t->config.bounds, &numbers, word);
	*word++ = "bash";
	*word++ = "-c";
	*word++ = script;
	*word = NULL;
	char **environment = bounds_hide_environment(environment_create(
		t->config.environment, o->env_names, o->env_values, o->env_count));
	if (!environment)
		return -ENOMEM;
	struct spawn_options options = {
		.holder = t->config.holder,
		.dir_fd = p->held.link.dir_fd,
		.cwd = p->cwd,
		.argv = (char *const *)(uintptr_t)argv, /* not written to */
		.envp = environment,
		.rows = ROWS,
		.cols = COLS,
		.ring_size = t->config.ring_size,
		.control_size = CONTROL_SIZE,
		.ttl_s = t->config.ttl_s > 0 ? t->config.ttl_s + TTL_SLACK_S : 0,
		.nofile = t->config.nofile,
	};
	rc = held_start(&p->held, &options);
	words_free(environment);
	return rc;
}

/* The beginning of the command that is kept, cut at a character. */
static char *shown_command(const struct process_options *o, bool *ret_cut)
{
	*ret_cut = o->command_length > PROCESS_COMMAND_SHOWN;
	return strndup(o->command, utf8_cut(o->command, o->command_length, PROCESS_COMMAND_SHOWN));
}

static int begin(struct processes *t, const struct process_options *o, struct process **ret_process)
{
	char name[DIRECTORY_NAME_SIZE];
	struct process *p;
	int dir_fd = -1;
	int rc = directory_create(t->held.dir_fd, o->id, name, &dir_fd);
	if (rc < 0)
		return rc;
	rc = process_create(t, name, dir_fd, &p);
	if (rc < 0) {
		held_remove_directory(&t->held, name);
		return rc;
	}
	snprintf(p->held.id, sizeof p->held.id, "%s", o->id);
	snprintf(p->session, sizeof p->session, "%s", o->session ? o->session : "");
	p->created_ms = clock_wall_ms();
	p->created_boot_ms = clock_boot_ms();
	p->timeout_ms = o->timeout_ms;
	p->input.state = o->input_pipe ? PROCESS_INPUT_OPEN : PROCESS_INPUT_NONE;
	p->hold_expected = o->hold;
	p->command = shown_command(o, &p->command_cut);
	p->cwd = strdup(o->cwd ? o->cwd : t->config.cwd);
	rc = p->command && p->cwd ? held_add(&p->held, HELD_LISTED) : -ENOMEM;
	if (rc == 0) {
		t->running++;
		rc = spawn(p, o);
	}
	if (rc < 0) {
		process_discard(p);
		return rc;
	}
	*ret_process = p;
	return 0;
}

/* The oldest process that may be forgotten. */
static struct process *oldest_ended(const struct processes *t, const struct process *unless)
{
	struct process *oldest = NULL;
	for (struct process *p = NULL; (p = process_next(t, p));)
		if (p != unless && p->state == PROCESS_ENDED && p->tree == PROCESS_TREE_GONE &&
			(!oldest || p->ended_boot_ms < oldest->ended_boot_ms))
			oldest = p;
	return oldest;
}

int processes_start(
	struct processes *t, const struct process_options *o, struct process_waiter *waiter)
{
	int rc = check(t, o);
	if (rc < 0)
		return rc;
	if (t->draining)
		return -ERR_DRAINING;
	struct process *p, *replaced = processes_find(t, o->id);
	if (t->running >= t->config.max)
		return -ERR_LIMIT;
	if (!replaced && processes_count(t) >= PROCESSES_TOTAL_MAX) {
		replaced = oldest_ended(t, NULL);
		if (!replaced)
			return -ERR_LIMIT;
	}
	rc = held_check_runtime_directory(&t->held);
	if (rc == 0)
		rc = descriptors_check(t->held.dir_fd);
	if (rc < 0)
		return rc;
	if (replaced)
		processes_remove(replaced, 0, NULL);
	rc = begin(t, o, &p);
	if (rc < 0) {
		t->counters.start_failures++;
		return rc;
	}
	held_add_waiter(&p->held.start_waiters, process_held_waiter(waiter));
	return 0;
}

/* Removing */

void processes_remove(struct process *p, unsigned grace_ms, struct process_waiter *waiter)
{
	bool attached = p->output != PROCESS_OUTPUT_NONE;
	process_move(p, PROCESS_REMOVING);
	held_begin_end(&p->held, process_held_waiter(waiter));
	if (attached || p->tree == PROCESS_TREE_GONE)
		process_kill(p, grace_ms, NULL);
	else
		process_await_attach(p, grace_ms);
}

void processes_remove_all(struct processes *t)
{
	struct process *p, *next = process_next(t, NULL);
	while ((p = next)) {
		next = process_next(t, p);
		processes_remove(p, END_ALL_GRACE_MS, NULL);
	}
}

void processes_sweep(struct processes *t)
{
	struct process *p, *next = process_next(t, NULL);
	unsigned fresh = 0, old = 0;
	while ((p = next)) {
		next = process_next(t, p);
		if (p->state != PROCESS_ENDED || p->tree != PROCESS_TREE_GONE)
			continue;
		if (p->output != PROCESS_OUTPUT_FILE)
			held_schedule_turn(&p->held); /* try to move its output again */
		uint64_t age = clock_age_ms(p->ended_boot_ms);
		if (t->config.ttl_s > 0 && age > (uint64_t)t->config.ttl_s * 1000)
			processes_remove(p, 0, NULL);
		else if (age < PROCESSES_FRESH_MS)
			fresh++;
		else
			old++;
	}
	for (; old > 0 && fresh + old > t->config.kept; old--)
		processes_remove(oldest_ended(t, NULL), 0, NULL);
}

/* Opening and closing the table */

int processes_open(struct processes *t, uv_loop_t *loop, const struct processes_config *config,
	const struct processes_callbacks *callbacks, void *user)
{
	*t = (struct processes){
		.config = *config, .callbacks = callbacks, .user = user, .loop = loop};
	if (!t->config.bounds)
		t->config.bounds = &bounds_none;
	int runtime_fd = open(config->runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runtime_fd < 0)
		return -errno;
	int rc = held_table_open(&t->held, loop, &process_kind, t, runtime_fd);
	t->held.bounds = t->config.bounds;
	if (rc == 0)
		rc = bounds_allow_traverse(t->config.bounds, t->held.dir_fd);
	if (rc == 0)
		t->held.trust = config->trust;
	close(runtime_fd);
	return rc;
}

void processes_close(struct processes *t)
{
	held_table_close(&t->held);
}

int processes_adopt(struct processes *t)
{
	return held_adopt(&t->held);
}

bool processes_adopting(const struct processes *t)
{
	return held_is_adopting(&t->held);
}
