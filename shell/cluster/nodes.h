/*
 * The nodes of a fleet. Each node has a key in the registry for as long as objects of it may exist, and reports about itself
 * in a second bucket, where keys expire: a node lives while it reports.
 *
 * A node's name belongs to one runtime directory, which has an instance id: a second node with the same name is refused while
 * the first one lives.
 */
#pragma once

#include "shell/cluster/bucket.h"
#include "shell/cluster/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES_REPORT_MS 1000u /* between two reports */
#define NODES_LIFE_MS 3000u   /* a report expires after this time */
#define NODES_FRESH_MS 1000u  /* a list is used for so long */
#define NODES_RETRY_MS 1000u  /* after a failed call */
#define NODES_GRACE_MS \
	5000u /* after the store could be reached again, for reports that it has lost */
#define NODES_LIST_MS 1000u     /* for a list to come; then the last one is used */
#define NODES_URL_SIZE 256u     /* bytes of a node's URL, with its NUL */
#define NODES_VERSION_SIZE 32u  /* bytes of its version */
#define NODES_INSTANCE_SIZE 40u /* bytes of its instance id */

/* What a node reports. */
struct node_report {
	unsigned sessions, max_sessions; /* that have not ended; limit */
	unsigned processes;              /* that run */
	unsigned load;    /* runnable tasks in hundredths of a processor, over the last minute */
	uint64_t changes; /* another number after each change of its sessions */
	bool draining;    /* it starts nothing new */
};

/* A node. */
struct node {
	char name[KEY_NODE_MAX + 1];
	char url[NODES_URL_SIZE]; /* ends without "/"; "" if it does not live */
	char version[NODES_VERSION_SIZE];
	struct node_report report;
	bool lives;
};

struct nodes;

/* All is borrowed for the life of the nodes. */
struct nodes_options {
	struct bucket *registry, *reports;
	const char *name, *url, *version, *instance;          /* of this node */
	void (*fill)(void *user, struct node_report *report); /* about this node */
	/* This node has joined. error: 0, or -EADDRINUSE: another node with this name lives. Called once. */
	void (*joined)(void *user, int error);
	uint64_t (*now_ms)(void *user); /* monotonic time */
	void *user;
};

/*
 * All nodes, in the order of their names; borrowed for the call. error: 0, or -ENOTCONN: the registry cannot be reached, and
 * nodes are those of the last list, or none.
 */
typedef void nodes_fn(void *user, int error, const struct node *nodes, size_t count);

/* Returns nodes for nodes_close(), or NULL if memory is short. Joining begins with nodes_turn(). */
struct nodes *nodes_open(const struct nodes_options *options);

/* Free all. The buckets have been closed before: no call of them is out. NULL is fine. */
void nodes_close(struct nodes *n);

/* Get the nodes, as they were at most NODES_FRESH_MS ago. fn is called once, perhaps from inside. */
void nodes_list(struct nodes *n, nodes_fn *fn, void *user);

/* Give the last list to requests that have waited for NODES_LIST_MS; nodes_turn() does that too. */
void nodes_answer_late(struct nodes *n);

/* Report now, because something important has changed, such as draining. */
void nodes_report(struct nodes *n);

/* This node ends: remove its report. */
void nodes_leave(struct nodes *n);

/* Do what is due. Returns the time when the next call is due. */
uint64_t nodes_turn(struct nodes *n);

/*
 * Choose a node for a new session: the living one that is not draining with the least load, and of equal ones by chance. avoid:
 * the name of one that is not to be chosen; "": none. Returns NULL if there is none. Pure.
 */
const struct node *nodes_choose(
	const struct node *nodes, size_t count, const char *avoid, unsigned chance);
