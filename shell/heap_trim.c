/* A timer for malloc_trim(3) of glibc; elsewhere it does nothing. It cannot fail: at worst memory stays. */
#include "shell/heap_trim.h"

#include <malloc.h>

/* h->kept free bytes have been returned to the system already; more than that has been freed since. */
bool heap_trim_is_due(struct heap_trim *h, size_t free_bytes)
{
	if (free_bytes < h->kept)
		h->kept = free_bytes;
	if (free_bytes - h->kept < HEAP_TRIM_MIN)
		return false;
	h->kept = free_bytes;
	return true;
}

#ifdef __GLIBC__
static void on_timer(uv_timer_t *timer)
{
	if (heap_trim_is_due(timer->data, mallinfo2().fordblks))
		malloc_trim(0);
}
#else
static void on_timer(uv_timer_t *timer)
{
	(void)timer;
}
#endif

void heap_trim_open(struct heap_trim *h, uv_loop_t *loop)
{
	*h = (struct heap_trim){0};
	uv_timer_init(loop, &h->timer); /* cannot fail */
	h->timer.data = h;
	uv_timer_start(&h->timer, on_timer, HEAP_TRIM_INTERVAL_MS, HEAP_TRIM_INTERVAL_MS);
	uv_unref((uv_handle_t *)&h->timer);
}

void heap_trim_close(struct heap_trim *h)
{
	uv_close((uv_handle_t *)&h->timer, NULL);
}
