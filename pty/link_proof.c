/*
 * Who is attached to: whoever listens in the session's place, if it knows the session's key. Nothing is told to it
 * before, and what it shows it can have from nobody else: the kernel says who listens, and the holder's code is for that
 * number.
 */
#include "pty/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

void link_set_key(struct link *l, const struct proof_key *key)
{
	l->key = *key;
	l->keyed = true;
}

int link_introduce(struct link *l)
{
	struct wire_message m = {.type = WIRE_PROVE};
	l->proved = !l->keyed;
	if (l->proved)
		return link_ask(l, (struct wire_message){.type = WIRE_ATTACH});
	if (getrandom(l->nonce, sizeof l->nonce, 0) != sizeof l->nonce)
		return -EIO;
	memcpy(m.u.proof.nonce, l->nonce, sizeof l->nonce);
	return link_ask(l, m);
}

int link_answer_proof(struct link *l, const struct wire_message *m)
{
	struct wire_message attach = {.type = WIRE_ATTACH};
	struct proof_exchange x = {.holder_pid = m->a};
	if (l->proved)
		return -EPROTO; /* it has not been asked, or has answered */
	memcpy(x.server, l->nonce, sizeof x.server);
	memcpy(x.holder, m->u.proof.nonce, sizeof x.holder);
	if (m->status < 0 || !proof_holds(&l->key, PROOF_OF_HOLDER, &x, m->u.proof.code) ||
		!link_confirms_number(l, (pid_t)m->a))
		return -EKEYREJECTED;
	l->proved = true;
	l->hangups = 0;
	proof_make(&l->key, PROOF_OF_SERVER, &x, attach.u.proof.code);
	return link_ask(l, attach);
}
