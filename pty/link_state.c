/* What is known of a holder without asking it. */
#include "pty/internal.h"
#include "pty/theirs.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool link_peer(const struct link *l, struct ucred *ret)
{
	socklen_t length = sizeof *ret;
	return l->socket_fd >= 0 &&
		getsockopt(l->socket_fd, SOL_SOCKET, SO_PEERCRED, ret, &length) == 0;
}

bool link_confirms_number(const struct link *l, pid_t number)
{
	struct ucred peer;
	return link_peer(l, &peer) && peer.pid == number;
}

pid_t link_holder(const struct link *l)
{
	struct ucred peer;
	if (l->info.holder_pid > 0)
		return l->info.holder_pid;
	/* Who listens is known before it answers. */
	return link_peer(l, &peer) ? peer.pid : 0;
}

uid_t link_owner(const struct link *l)
{
	return l->state == LINK_ATTACHED ? l->info.owner : geteuid();
}

bool link_is_silent(const struct link *l)
{
	return l->unanswered > 0 && uv_now(l->loop) - l->unanswered_ms > LINK_SILENT_MS;
}

bool link_meets_holder(const struct link *l)
{
	struct stat ours;
	pid_t holder = link_holder(l);
	if (holder <= 0 || fstat(l->dir_fd, &ours) < 0)
		return true;
	int rc = theirs_is(holder, SPAWN_DIR_FD, &ours);
	return rc < 0 ? rc != -ENOENT || kill(holder, 0) < 0 : rc > 0;
}
