/*
 * Who may attach: a process that is none of the session's own, and that shows that it knows the session's key. The key
 * comes with the start, over standard input, which nobody else has; a holder that was started without one (by an
 * older server, or by hand) has none, and asks for none.
 */
#include "pty/holder/holder.h"

#include "pty/parentage.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void admit_read_key(struct holder *h)
{
	struct stat st;
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
		return;
	h->keyed = read(STDIN_FILENO, h->key.bytes, sizeof h->key.bytes) == sizeof h->key.bytes;
}

void admit_forget(struct holder *h, int index)
{
	h->shown[index] = false;
}

int admit_prove(struct holder *h, int index, struct wire_message *m)
{
	struct proof_exchange *x = &h->exchanges[index];
	if (!h->keyed)
		return -EOPNOTSUPP;
	memcpy(x->server, m->u.proof.nonce, sizeof x->server);
	x->holder_pid = (uint32_t)getpid();
	if (getrandom(x->holder, sizeof x->holder, 0) != sizeof x->holder)
		return -EIO;
	h->shown[index] = true;
	m->a = x->holder_pid;
	memcpy(m->u.proof.nonce, x->holder, sizeof x->holder);
	proof_make(&h->key, PROOF_OF_HOLDER, x, m->u.proof.code);
	return 0;
}

static bool is_inside(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return true;
	return parentage_is_below(peer.pid, getpid());
}

int admit_server(struct holder *h, int index, const struct wire_message *m)
{
	bool shown = h->shown[index];
	h->shown[index] = false;
	if (is_inside(h->connections[index]))
		return -EPERM;
	if (!h->keyed)
		return 0;
	return shown && proof_holds(&h->key, PROOF_OF_SERVER, &h->exchanges[index], m->u.proof.code)
		? 0
		: -EACCES;
}
