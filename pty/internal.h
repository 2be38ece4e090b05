/* What the files of a link share. */
#pragma once

#include "pty/link.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Send a request; nothing but a proof goes to a holder that is not ours. Returns 0 or a negative errno. */
int link_ask(struct link *l, struct wire_message m);

/*
 * Its holder, or a program that controls it, has made a descriptor block that it shares with us. Its ring is damaged from
 * the next turn of the loop on, of which wake() is told, and nothing that it shares is used any more.
 */
void link_distrust(struct link *l);

/* Begin to attach to who has been connected to: with ATTACH, or with PROVE where there is a key. */
int link_introduce(struct link *l);

/* The answer to PROVE: it is believed, and ATTACH follows, or -EKEYREJECTED, or another negative errno. */
int link_answer_proof(struct link *l, const struct wire_message *m);

/* Who is at the other end of the connection, as the kernel says. Returns false when there is nobody to ask about. */
bool link_peer(const struct link *l, struct ucred *ret);

/* Whether the kernel agrees that who listens has this number where it lives. */
bool link_confirms_number(const struct link *l, pid_t number);
