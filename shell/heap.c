#include "shell/heap.h"

#include <malloc.h>

/* Free bytes that were free before have been given back, until they are used; what is beyond them has not. */
bool heap_look(struct heap *h, size_t free_bytes)
{
	if (free_bytes < h->kept)
		h->kept = free_bytes;
	if (free_bytes - h->kept < HEAP_WORTH)
		return false;
	h->kept = free_bytes;
	return true;
}

#ifdef __GLIBC__
static void on_timer(uv_timer_t *timer)
{
	if (heap_look(timer->data, mallinfo2().fordblks))
		malloc_trim(0);
}
#else
static void on_timer(uv_timer_t *timer)
{
	(void)timer;
}
#endif

void heap_open(struct heap *h, uv_loop_t *loop)
{
	*h = (struct heap){0};
	uv_timer_init(loop, &h->timer); /* cannot fail */
	h->timer.data = h;
	uv_timer_start(&h->timer, on_timer, HEAP_LOOK_MS, HEAP_LOOK_MS);
	uv_unref((uv_handle_t *)&h->timer);
}

void heap_close(struct heap *h)
{
	uv_close((uv_handle_t *)&h->timer, NULL);
}
