/* See executors.h. The timer stops with the first tick that finds no busy executor. */
#include "shell/exec/executors.h"

#include "shell/exec/executor.h"

#include <utlist.h>

void executors_open(struct executors *all, uv_loop_t *loop, const char *runtime_dir,
	const char *holder, const struct executor_callbacks *callbacks)
{
	*all = (struct executors){.loop = loop,
		.callbacks = callbacks,
		.runtime_dir = runtime_dir,
		.peek = {.holder = holder},
		.budget = EXEC_OUTPUT_BUDGET};
	peek_init(&all->peek);
	uv_timer_init(loop, &all->ticker);
	all->ticker.data = all;
}

void executors_close(struct executors *all)
{
	peek_finish(&all->peek);
	uv_close((uv_handle_t *)&all->ticker, NULL);
}

static void on_ticker(uv_timer_t *timer)
{
	struct executors *all = timer->data;
	struct executor *x, *next;
	DL_FOREACH_SAFE (all->busy, x, next)
		exec_tick(x);
	if (!all->busy)
		uv_timer_stop(&all->ticker);
}

void executors_add_busy(struct executor *x)
{
	struct executors *all = x->all;
	if (x->prev)
		return;
	DL_APPEND(all->busy, x);
	if (!uv_is_active((uv_handle_t *)&all->ticker))
		uv_timer_start(&all->ticker, on_ticker, EXEC_TICK_MS, EXEC_TICK_MS);
}

void executors_remove_busy(struct executor *x)
{
	if (!x->prev)
		return;
	DL_DELETE(x->all->busy, x);
	x->prev = NULL;
}
