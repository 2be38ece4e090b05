/*
 * Noticing that whoever waits for an answer has gone. While an HTTP/1.1 answer is under way libwebsockets
 * does not read, so it neither sees the end of what the peer sends nor stops to be woken by it: it would
 * spin. Whatever wakes the loop leads here, so those connections are looked at, but not all the time.
 */
#include "ws/net/exchange.h"

#include <poll.h>
#include <utlist.h>

#define LOOK_MS 20u
#define BATCH 64u

/* Look at some, beginning with x; kill whose peers have gone. Returns the first that was not looked at. */
static struct exchange *look(struct exchange *x)
{
	struct pollfd polled[BATCH];
	struct exchange *asked[BATCH];
	nfds_t count = 0;
	for (; x && count < BATCH; x = x->next) {
		if (x->answered || x->wants_body || exchange_is_mux(x))
			continue;
		asked[count] = x;
		polled[count++] = (struct pollfd){
			.fd = lws_get_socket_fd(x->wsi), .events = POLLRDHUP};
	}
	if (count == 0 || poll(polled, count, 0) <= 0)
		return x;
	for (nfds_t i = 0; i < count; i++)
		if (polled[i].revents & (POLLRDHUP | POLLHUP | POLLERR))
			server_kill(asked[i]->wsi);
	return x;
}

static void on_check(uv_check_t *check)
{
	struct server *s = check->data;
	uint64_t now = uv_now(s->options.loop);
	if (!s->exchanges || now - s->looked_ms < LOOK_MS)
		return;
	s->looked_ms = now;
	for (struct exchange *x = s->exchanges; x;)
		x = look(x);
}

void hangup_open(struct server *s)
{
	uv_check_init(s->options.loop, &s->hangup);
	s->hangup.data = s;
	uv_check_start(&s->hangup, on_check);
	uv_unref((uv_handle_t *)&s->hangup);
}
