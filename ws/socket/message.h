/* Control messages of the terminal socket, as clients send them. Pure. */
#pragma once

#include "shell/input/lease.h"
#include "shell/name.h"

#include <stddef.h>
#include <stdint.h>

/* Longest control message. */
#define MESSAGE_MAX 4096u
/* Longest `t` of a ping, with its NUL; a longer one is echoed as null. */
#define MESSAGE_TIME_MAX 256u

enum message_type {
	MESSAGE_INVALID, /* not JSON, or no object with a type */
	MESSAGE_UNKNOWN, /* to be ignored */
	MESSAGE_RESIZE,
	MESSAGE_BAD_SIZE, /* a resize whose dimensions are out of range */
	MESSAGE_PING,
	MESSAGE_NAME,
	MESSAGE_BAD_NAME,
	MESSAGE_ACK,      /* so many bytes of binary frames have come */
	MESSAGE_SNAPSHOT, /* a new snapshot is wanted */
	MESSAGE_LEASE,    /* the lease that it has, so that it may type */
};

struct message {
	enum message_type type;
	unsigned rows, cols;             /* MESSAGE_RESIZE */
	char time[MESSAGE_TIME_MAX];     /* MESSAGE_PING: the JSON of its `t`, to be echoed */
	char name[NAME_BYTES_MAX + 1];   /* MESSAGE_NAME */
	uint64_t bytes;                  /* MESSAGE_ACK; 0: it does not say */
	unsigned lines;                  /* MESSAGE_SNAPSHOT: of scrollback */
	char lease[LEASE_ID_LENGTH + 1]; /* MESSAGE_LEASE: its id, "" for none */
};

/* Parse length bytes of text. */
void message_parse(const char *text, size_t length, struct message *ret_message);
