/* Accessors of a pane, and writing to its terminal. No state of its own. */
#include "shell/pane/pane.h"

#include "shell/clock.h"
#include "shell/own_error.h"

#include <uv.h>

#define COLS_DEFAULT 80u

uint64_t pane_now(const struct pane *p)
{
	return uv_now(p->held.link.loop);
}

uint64_t pane_head(const struct pane *p)
{
	return p->history_open ? stream_head(&p->held.link.ring.bytes) : 0;
}

unsigned pane_cols(const struct pane *p)
{
	return p->cols ? p->cols : COLS_DEFAULT;
}

int pane_check_responsive(const struct pane *p)
{
	if (!p->life.runs)
		return -ERR_NOT_RUNNING;
	return held_is_responsive(&p->held) ? 0 : -ERR_UNRESPONSIVE;
}

void pane_set_theme(struct pane *p, const struct theme *theme)
{
	if (p->history_open && !theme_equals(&p->live.theme, theme))
		live_set_theme(&p->live, theme);
}

void pane_note_active(struct pane *p)
{
	p->activity_ms = clock_wall_ms();
	p->active_ms = pane_now(p);
	if (p->held.link.control.page)
		control_note_active(&p->held.link.control, p->activity_ms);
}

void pane_note_typed(struct pane *p)
{
	pane_note_active(p);
	p->typed_ms = pane_now(p);
}

int pane_write(struct pane *p, const void *bytes, size_t length)
{
	int rc = error_of_holder(link_write(&p->held.link, bytes, length));
	if (rc < 0) {
		p->counters->input_refused++;
		return rc;
	}
	p->counters->bytes_in += length;
	pane_note_typed(p);
	return 0;
}
