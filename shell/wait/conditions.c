/*
 * Whether conditions are true. Each check starts afresh, and says when time alone could make the
 * condition true. A state that cannot be seen is guessed, and the guess counts after some silence.
 */
#include "shell/exec/shell_state.h"
#include "shell/wait/internal.h"

#define PROMPT_RETRY_MAX_MS 50u

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void wait_end(struct wait *w, int fired, enum wait_type type)
{
	w->over = true;
	w->result = (struct wait_result){
		.fired = fired, .type = type, .offset = w->waits->pane->history.scan.offset};
}

/* Looking */

void wait_look_later(struct waits *h, uint64_t at)
{
	if (at < h->due)
		h->due = at;
}

static bool has_happened(const struct wait *w)
{
	return !w->has_after || wait_head(w->waits) > w->after;
}

static bool has_ended(const struct waits *h)
{
	return h->pane->life.exited;
}

/* Since when there has been neither output nor input. */
static uint64_t quiet_since(const struct waits *h)
{
	return later_of(h->pane->output_ms, h->pane->typed_ms);
}

static const struct pane_state *sample(struct waits *h)
{
	if (!h->sampled)
		pane_state(h->pane, h->executor, &h->state);
	h->sampled = true;
	return &h->state;
}

/* Sample the state, the less often the longer it is quiet. NULL: it is too early. */
static const struct pane_state *sample_quiet(struct waits *h)
{
	uint64_t since = quiet_since(h), quiet = h->now > since ? h->now - since : 0;
	if (h->quiet_since_ms != since) {
		h->quiet_since_ms = since;
		h->sample_next_ms = 0;
	}
	if (quiet < WAIT_QUIET_MS) {
		wait_look_later(h, since + WAIT_QUIET_MS);
		return NULL;
	}
	if (!h->sampled && h->now < h->sample_next_ms) {
		wait_look_later(h, h->sample_next_ms);
		return NULL;
	}
	uint64_t pause = quiet / 4;
	pause = pause < WAIT_QUIET_MS ? WAIT_QUIET_MS : pause;
	h->sample_next_ms = h->now + (pause < WAIT_SAMPLE_MAX_MS ? pause : WAIT_SAMPLE_MAX_MS);
	wait_look_later(h, h->sample_next_ms);
	return sample(h);
}

static bool is_sure(const struct waits *h, const struct pane_state *t)
{
	uint64_t needed = t->input == STATE_INPUT_PASSWORD ? WAIT_PASSWORD_MS : WAIT_UNSURE_MS;
	return t->certain || h->now >= quiet_since(h) + needed;
}

/* A program that polls a canonical terminal among other descriptors may be busy with those. */
static bool is_certain(const struct pane_state *t)
{
	const struct foreground *f = &t->foreground;
	if (t->input == STATE_INPUT_PASSWORD)
		return true;
	return t->certain && !(t->input == STATE_INPUT_LINE && f->waits == BLOCKED_EVENT);
}

static bool wants_input(struct waits *h, const struct wait_condition *c)
{
	if (has_ended(h))
		return false;
	const struct pane_state *t = sample_quiet(h);
	if (!t || t->coming || t->input == STATE_INPUT_NONE || (c->kind && t->input != c->kind))
		return false;
	return (!c->certain || is_certain(t)) && is_sure(h, t);
}

/* Whether the shell, which has printed its prompt's mark, reads its line by now. */
static bool reads_at_mark(struct waits *h)
{
	const struct executor *x = h->executor;
	/* An entered line may not have been read yet. */
	uint64_t settled = x->entered > 0 ? later_of(x->entered_ms, x->prompt_ms) + EXEC_SETTLE_MS
					  : 0;
	if (h->now < settled) {
		wait_look_later(h, settled);
		return false;
	}
	if (h->prompt_offset != x->prompt_offset)
		h->prompt_tries = 0;
	h->prompt_offset = x->prompt_offset;
	if (sample(h)->status == STATE_PROMPT)
		return true;
	uint64_t pause = h->prompt_tries < 6 ? UINT64_C(1) << h->prompt_tries : PROMPT_RETRY_MAX_MS;
	uint64_t slow = (h->now - later_of(x->prompt_ms, 1)) / 4;
	h->prompt_tries++;
	pause = later_of(pause, slow);
	wait_look_later(h, h->now + (pause < WAIT_SAMPLE_MAX_MS ? pause : WAIT_SAMPLE_MAX_MS));
	return false;
}

static bool is_at_prompt(struct waits *h, const struct wait *w)
{
	const struct executor *x = h->executor;
	bool marked = exec_shell_has_marks(x);
	if (has_ended(h))
		return false;
	if (marked && x->prompt == EXEC_PROMPT_READY)
		return !x->current && (!w->has_after || x->prompt_offset > w->after) &&
			reads_at_mark(h);
	if (marked && x->prompt != EXEC_PROMPT_LEFT)
		return false;
	const struct pane_state *t = has_happened(w) ? sample_quiet(h) : NULL;
	return t && t->status == STATE_PROMPT && is_sure(h, t);
}

static bool is_done(const struct waits *h, const char *id)
{
	const struct exec *e = exec_find(h->executor, id);
	return !e || e->state == EXEC_DONE;
}

static bool has_passed(struct waits *h, const struct wait *w, uint64_t since, uint64_t ms)
{
	if (!has_happened(w))
		return false;
	if (h->now >= since + ms)
		return true;
	wait_look_later(h, since + ms);
	return false;
}

/* Whether the program waits for input or is stopped, or that cannot be seen. */
static bool looks_ready(const struct waits *h, const struct pane_state *t)
{
	const struct foreground *f = &t->foreground;
	/* A program that has just ended is not found either, but is not hidden. */
	bool secret = f->hidden || f->truncated || f->group <= 0;
	if (t->status == STATE_PROMPT)
		return is_sure(h, t); /* it may be the next prompt, whose mark is unread */
	return secret || f->waits != BLOCKED_NO || t->status == STATE_STOPPED;
}

/*
 * Whether the program in the foreground has answered what was typed: it looks_ready(), and what it
 * wrote before has had time to arrive and has been read.
 */
static bool is_ready(struct waits *h)
{
	if (has_ended(h))
		return true;
	if (h->ready_ms == 0 || h->ready_quiet_ms != quiet_since(h)) {
		const struct pane_state *t = sample_quiet(h);
		h->ready_ms = t && looks_ready(h, t) ? h->now : 0;
		h->ready_quiet_ms = quiet_since(h);
		if (h->ready_ms == 0)
			return false;
	}
	if (h->now < h->ready_ms + WAIT_TRANSIT_MS) {
		wait_look_later(h, h->ready_ms + WAIT_TRANSIT_MS);
		return false;
	}
	bool unread = h->pane->life.runs && state_has_unread(h->pane);
	if (!unread && stream_head(&h->pane->held.link.ring.bytes) == wait_head(h))
		return true;
	h->look_soon(h->user);
	wait_look_later(h, h->now + WAIT_UNREAD_MS);
	return false;
}

static bool is_stable(struct waits *h, const struct wait *w, const struct wait_condition *c)
{
	const struct pane *p = h->pane;
	uint64_t since = later_of(h->rows_ms, p->typed_ms) + c->ms;
	const struct screen *screen = pane_unlent_screen(p);
	if (!screen && !wait_is_by_link(w))
		pane_hurry_screen(h->pane);
	if (!screen || screen_offset(screen) != wait_head(h))
		return false;
	if (!has_happened(w) && !c->ready)
		return false;
	since += has_happened(w) ? 0 : WAIT_SILENT_MS;
	uint64_t early = c->ready && since > WAIT_TRANSIT_MS ? since - WAIT_TRANSIT_MS : since;
	if (h->now < early) {
		wait_look_later(h, early);
		return false;
	}
	bool ready = !c->ready || is_ready(h);
	if (h->now < since)
		wait_look_later(h, since);
	return ready && h->now >= since;
}

bool wait_check(struct waits *h, struct wait *w, unsigned i)
{
	const struct wait_condition *c = &w->conditions[i].is;
	bool is = false;
	switch (c->type) {
	case WAIT_EXEC:
		is = is_done(h, c->exec);
		break;
	case WAIT_PROMPT:
		is = is_at_prompt(h, w);
		break;
	case WAIT_INPUT:
		is = (!c->certain || has_happened(w)) && wants_input(h, c);
		break;
	case WAIT_MATCH:
		return wait_check_match(h, w, i);
	case WAIT_STABLE:
		is = is_stable(h, w, c);
		break;
	case WAIT_IDLE:
		is = has_passed(h, w, quiet_since(h), c->ms);
		break;
	case WAIT_BYTES:
		is = wait_head(h) >= w->from && wait_head(h) - w->from >= c->count;
		break;
	case WAIT_EXIT:
		is = has_ended(h);
		break;
	case WAIT_PORT:
		is = w->conditions[i].port && w->conditions[i].port->found;
		break;
	case WAIT_LEASE:
		is = typing_is_allowed(h->executor->typing, NULL);
		break;
	case WAIT_TYPES:
		break;
	}
	if (is)
		wait_end(w, (int)i, c->type);
	return is;
}

bool wait_can_become_true(const struct waits *h, const struct wait *w, const struct awaited *c)
{
	if (c->finder || c->queued)
		return c->queued || wait_is_behind(h, c);
	return (c->is.type == WAIT_IDLE || c->is.type == WAIT_STABLE) && has_happened(w) &&
		pane_has_screen(h->pane);
}

void wait_note_rows(struct waits *h)
{
	const struct screen *screen = pane_unlent_screen(h->pane);
	uint64_t newest = 0;
	if (!screen)
		return;
	for (unsigned row = 0; row < screen_rows(screen); row++)
		newest = later_of(newest, screen_row_version(screen, row));
	if (newest == h->rows_version)
		return;
	/* The first look dates earlier changes to the last output. */
	h->rows_ms = h->rows_version == 0 ? h->pane->output_ms : h->now;
	h->rows_version = newest;
}
