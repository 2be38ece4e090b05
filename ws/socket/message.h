/* Control messages of clients of the terminal socket, parsed. Pure. */
#pragma once

#include "shell/input/lease.h"
#include "shell/name.h"

#include <stddef.h>
#include <stdint.h>

#define MESSAGE_MAX 4096u /* bytes of a control message */
/* Bytes of a ping's `t`, with its NUL; a longer one is echoed as null. */
#define MESSAGE_TIME_MAX 256u

/* The type of a message. */
enum message_type {
	MESSAGE_INVALID, /* not a JSON object with a type */
	MESSAGE_UNKNOWN, /* ignored */
	MESSAGE_RESIZE,
	MESSAGE_BAD_SIZE, /* a resize with dimensions out of range */
	MESSAGE_PING,
	MESSAGE_NAME,
	MESSAGE_BAD_NAME,
	MESSAGE_ACK,      /* reports how many bytes of binary frames have come */
	MESSAGE_SNAPSHOT, /* asks for a snapshot */
	MESSAGE_LEASE,    /* shows the lease by which the client may type */
};

/* A parsed message. */
struct message {
	enum message_type type;
	unsigned rows, cols;             /* MESSAGE_RESIZE */
	char time[MESSAGE_TIME_MAX];     /* MESSAGE_PING: JSON of its `t` */
	char name[NAME_BYTES_MAX + 1];   /* MESSAGE_NAME */
	uint64_t bytes;                  /* MESSAGE_ACK; 0 = not given */
	unsigned lines;                  /* MESSAGE_SNAPSHOT: of scrollback */
	char lease[LEASE_ID_LENGTH + 1]; /* MESSAGE_LEASE: its id, "" for none */
};

/* Parse length bytes of text. */
void message_parse(const char *text, size_t length, struct message *ret_message);
