/* A turn goes from waiting to begun to over, or directly from waiting to over. A taker exists while it has a turn. */
#include "ws/rota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct shift_link {
	struct shift_link *prev, *next;
	char link[LINK_ID_SIZE];
	struct shift *waiting; /* list */
	bool busy;
};

static struct shift_link *find_taker(const struct rota *t, const char *link)
{
	struct shift_link *taker;
	DL_FOREACH (t->takers, taker)
		if (strcmp(taker->link, link) == 0)
			return taker;
	return NULL;
}

static struct shift_link *add_taker(struct rota *t, const char *link)
{
	struct shift_link *taker = calloc(1, sizeof *taker);
	if (!taker)
		return NULL;
	memcpy(taker->link, link, strnlen(link, sizeof taker->link - 1));
	DL_APPEND(t->takers, taker);
	return taker;
}

static void drop_taker(struct rota *t, struct shift_link *taker)
{
	if (taker->busy || taker->waiting)
		return;
	DL_DELETE(t->takers, taker); /* NOLINT(clang-analyzer-*): it is utlist's */
	free(taker);
}

static bool is_full(const struct rota *t)
{
	return t->most > 0 && t->busy >= t->most;
}

static struct shift *next_shift(const struct rota *t)
{
	struct shift_link *taker;
	if (is_full(t))
		return NULL;
	DL_FOREACH (t->takers, taker)
		if (!taker->busy && taker->waiting)
			return taker->waiting;
	return NULL;
}

static void begin(struct rota *t, struct shift *shift)
{
	struct shift_link *taker = shift->taker;
	shift->begun = taker->busy = true;
	t->busy++;
	/* Move the taker to the end, behind the other links. */
	DL_DELETE(t->takers, taker);
	DL_APPEND(t->takers, taker);
}

static void on_rested(uv_timer_t *timer);

/* Start the timer for the next turn, if one waits. */
static void plan(struct rota *t)
{
	uint64_t now = uv_hrtime();
	uint64_t rest_ms = t->rested_ns > now ? (t->rested_ns - now) / 1000000u : 0;
	if (!t->rest.data || uv_is_active((uv_handle_t *)&t->rest) || !next_shift(t))
		return;
	uv_update_time(t->rest.loop); /* the work has used time */
	uv_timer_start(&t->rest, on_rested, rest_ms, 0);
}

static void on_rested(uv_timer_t *timer)
{
	struct rota *t = timer->data;
	struct shift *shift = next_shift(t);
	if (!shift)
		return;
	if (uv_hrtime() < t->rested_ns) {
		plan(t); /* the pause has become longer meanwhile */
		return;
	}
	DL_DELETE(shift->taker->waiting, shift);
	begin(t, shift);
	shift->begin(shift->user);
	plan(t);
}

void rota_open(struct rota *t, uv_loop_t *loop, unsigned most)
{
	*t = (struct rota){.most = most};
	uv_timer_init(loop, &t->rest);
	uv_unref((uv_handle_t *)&t->rest);
	t->rest.data = t;
}

void rota_close(struct rota *t)
{
	t->rest.data = NULL;
	uv_close((uv_handle_t *)&t->rest, NULL);
}

int shift_request(struct rota *t, const char *link, struct shift *shift)
{
	struct shift_link *taker = find_taker(t, link);
	bool at_once = !taker && !is_full(t) && !next_shift(t) && uv_hrtime() >= t->rested_ns;
	if (!taker && !(taker = add_taker(t, link)))
		return -ENOMEM;
	shift->rota = t;
	shift->taker = taker;
	shift->begun = false;
	if (at_once) {
		begin(t, shift);
		return 1;
	}
	DL_APPEND(taker->waiting, shift);
	plan(t);
	return 0;
}

void shift_end(struct shift *shift, uint64_t worked_ns)
{
	struct rota *t = shift->rota;
	struct shift_link *taker = shift->taker;
	if (!taker)
		return;
	shift->taker = NULL;
	if (shift->begun) {
		taker->busy = false;
		t->busy--;
		/* Links that came meanwhile go first. */
		DL_DELETE(t->takers, taker);
		DL_APPEND(t->takers, taker);
		uint64_t rested_ns = uv_hrtime() + worked_ns;
		t->rested_ns = rested_ns > t->rested_ns ? rested_ns : t->rested_ns;
	} else {
		DL_DELETE(taker->waiting, shift);
	}
	drop_taker(t, taker);
	plan(t);
}
