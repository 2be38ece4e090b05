/* What is known of a holder without asking it. */
#include "pty/link.h"

#include <sys/socket.h>

pid_t link_holder(const struct link *l)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	if (l->info.holder_pid > 0 || l->started > 0)
		return l->info.holder_pid > 0 ? l->info.holder_pid : l->started;
	/* Who listens is known before it answers. */
	return l->socket_fd >= 0 &&
			getsockopt(l->socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
		? peer.pid
		: 0;
}

bool link_is_silent(const struct link *l)
{
	return l->unanswered > 0 && uv_now(l->loop) - l->unanswered_ms > LINK_SILENT_MS;
}
