/* Control messages of clients of the terminal socket, parsed. Pure. */
#pragma once

#include "ring/theme.h"
#include "shell/input/lease.h"
#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_MAX 4096u                      /* bytes of a control message */
#define MESSAGE_PASTE_MAX ((uint64_t)16 << 20) /* bytes of a paste */
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
	MESSAGE_THEME,    /* the colours that the client draws with */
	MESSAGE_BAD_THEME,
	MESSAGE_LEASE,     /* shows the lease by which the client may type */
	MESSAGE_PASTE,     /* the next bytes of binary frames are a paste */
	MESSAGE_BAD_PASTE, /* a paste without an id, or with a wrong size */
	MESSAGE_PASTE_END, /* the rest of the paste does not come */
};

/* A parsed message. */
struct message {
	enum message_type type;
	unsigned rows, cols;             /* MESSAGE_RESIZE */
	char time[MESSAGE_TIME_MAX];     /* MESSAGE_PING: JSON of its `t` */
	char name[NAME_BYTES_MAX + 1];   /* MESSAGE_NAME */
	uint64_t bytes;                  /* MESSAGE_ACK, 0 = not given; MESSAGE_PASTE */
	uint64_t paste;                  /* MESSAGE_PASTE, MESSAGE_PASTE_END: its id, from 1 on */
	uint64_t lines, longest;         /* MESSAGE_PASTE: lines; bytes of the longest one */
	bool confirmed;                  /* MESSAGE_PASTE: the user has confirmed several lines */
	unsigned scrollback;             /* MESSAGE_SNAPSHOT: lines */
	struct theme theme;              /* MESSAGE_THEME */
	char lease[LEASE_ID_LENGTH + 1]; /* MESSAGE_LEASE: its id, "" for none */
};

/* Parse length bytes of text. */
void message_parse(const char *text, size_t length, struct message *ret_message);
