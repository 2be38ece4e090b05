/*
 * Keeping the output of a process. When no process of its tree lives any more, the output moves
 * from the ring to a file (output_file.h), and the holder ends once the file has its final name.
 * Until then the ring is authoritative, from then on the file. A server that finds both ends the
 * holder again. If the disk is full, the holder stays and the move is retried.
 */
#include "shell/clock.h"
#include "shell/output/output_file.h"
#include "shell/process/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define RETRY_MS 5000u

/* Reading */

uint64_t process_oldest(const struct process *p)
{
	if (p->output == PROCESS_OUTPUT_FILE)
		return p->oldest;
	uint64_t oldest = p->output == PROCESS_OUTPUT_RING ? stream_oldest(&p->held.link.ring.bytes)
							   : 0;
	if (oldest < p->labels.floor)
		oldest = p->labels.floor;
	return oldest < p->head ? oldest : p->head;
}

int process_open_output(struct process *p)
{
	if (p->output != PROCESS_OUTPUT_FILE || p->file)
		return 0;
	int fd = openat(p->table->held.dir_fd, p->held.directory,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	int rc = output_file_open(&p->file, fd);
	close(fd);
	return rc;
}

void process_close_output(struct process *p)
{
	if (p->output != PROCESS_OUTPUT_FILE || p->viewers)
		return;
	output_file_close(p->file);
	p->file = NULL;
}

struct streams_range process_range(const struct process *p, uint64_t end, unsigned sources)
{
	bool in_file = p->output == PROCESS_OUTPUT_FILE;
	return (struct streams_range){.bytes = &p->held.link.ring.bytes,
		.labels = &p->labels,
		.file = in_file ? p->file : NULL,
		.end = p->output == PROCESS_OUTPUT_RING || (in_file && p->file) ? end : 0,
		.sources = sources};
}

/* Writing */

static void apply_facts(struct process *p, const struct output_file_facts *facts)
{
	p->oldest = facts->oldest;
	p->head = facts->head;
	p->end_offset = facts->end_offset;
	if (p->ended_ms == 0) /* process.json could not be written */
		p->ended_boot_ms = clock_boot_of_wall_ms(facts->ended_ms);
	p->ended_ms = facts->ended_ms;
	p->wait_status = facts->wait_status;
	p->error = facts->error;
	p->timed_out = facts->timed_out;
	p->kill_asked = facts->kill_asked;
	p->output = PROCESS_OUTPUT_FILE;
	process_move_tree(p, PROCESS_TREE_GONE);
}

static int begin(struct process *p)
{
	const struct output_file_facts facts = {.oldest = process_oldest(p),
		.head = p->head,
		.end_offset = p->end_offset,
		.ended_ms = p->ended_ms,
		.wait_status = p->wait_status,
		.error = p->error,
		.timed_out = p->timed_out,
		.kill_asked = p->kill_asked};
	labels_forget(&p->labels, facts.oldest);
	return output_file_begin(&p->file, p->held.link.dir_fd, &facts, &p->labels);
}

/* The file is complete: use it from now on. Viewers keep their offsets. */
static void switch_to_file(struct process *p)
{
	apply_facts(p, &p->file->facts);
	p->table->move_failing = false;
	labels_finish(&p->labels);
	process_close_output(p);
	process_end_holder(p);
}

static void give_up(struct process *p, int error)
{
	struct processes *t = p->table;
	output_file_abandon(p->file, p->held.link.dir_fd);
	p->file = NULL;
	p->move_at_ms = uv_now(held_loop(&p->held)) + RETRY_MS;
	t->counters.keep_failures++;
	if (!t->move_failing)
		t->callbacks->failed(t->user, p->held.id,
			"cannot move the output of ended processes to files", error);
	t->move_failing = true;
}

bool process_move_output(struct process *p)
{
	if (p->state != PROCESS_ENDED || p->tree != PROCESS_TREE_GONE ||
		p->output != PROCESS_OUTPUT_RING || p->held.taken ||
		uv_now(held_loop(&p->held)) < p->move_at_ms)
		return false;
	int rc = p->file ? 0 : begin(p);
	if (rc == 0)
		rc = output_file_write(p->file, &p->held.link.ring.bytes);
	if (rc == 0)
		rc = output_file_commit(p->file, p->held.link.dir_fd);
	else if (rc > 0)
		held_schedule_turn(&p->held);
	if (rc < 0)
		give_up(p, rc);
	else if (rc == 0)
		switch_to_file(p);
	return rc >= 0;
}

int process_load_output(struct process *p, int dir_fd)
{
	struct output_file *f;
	int rc = output_file_open(&f, dir_fd);
	if (rc < 0)
		return rc;
	apply_facts(p, &f->facts);
	output_file_close(f);
	return 0;
}
