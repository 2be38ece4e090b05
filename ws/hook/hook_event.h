/*
 * What webhooks tell: that somebody is needed, or wants to know, in the words of the page's inbox (web/src/ui/inbox.ts). Nothing that
 * a terminal shows is in there, neither commands nor titles nor the texts of notifications: who reads it may be anybody.
 */
#pragma once

#include "shell/name.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK_ID_SIZE 37u            /* of "msg_" and 32 hexadecimal digits */
#define HOOK_LONG_MS 10000u         /* a command that takes longer is not sat out */
#define HOOK_STATUS_INTERRUPTED 130 /* somebody pressed Ctrl-C, and knows */

#define HOOK_KINDS(X)           \
	X(PASSWORD, "password") \
	X(LINE, "line")         \
	X(KEY, "key")           \
	X(FINISHED, "finished") \
	X(FAILED, "failed")     \
	X(BELL, "bell")         \
	X(NOTIFICATION, "notification")

enum hook_kind {
#define HOOK_KIND(name, text) HOOK_##name,
	HOOK_KINDS(HOOK_KIND)
#undef HOOK_KIND
};

/* One of them, for all who are told: shared, also between threads, and never changed. */
struct hook_event {
	atomic_uint references;
	enum hook_kind kind;
	char id[HOOK_ID_SIZE];
	char session[NAME_ID_MAX + 1];
	size_t length; /* of the body */
	char body[];   /* JSON */
};

/* What is to be told. All is borrowed. */
struct hook_matter {
	enum hook_kind kind;
	const char *session; /* its id */
	uint64_t epoch;      /* of it */
	uint64_t at_ms;      /* wall clock */
	const char *author; /* of the command, see shell/name.h; NULL: not known, or there is none */
	const char *block;  /* its id; NULL: there is none */
	int status;         /* of the command, 0 to 255; -1: not known, or there is none */
	unsigned clients;   /* that are attached: somebody may have seen it */
	const char *url;    /* where people find the server, with "/" at its end; NULL: not known */
};

/* Returns owned, with one reference, or NULL: there is no memory, or there are no random numbers. */
struct hook_event *hook_event_create(const struct hook_matter *matter);
struct hook_event *hook_event_ref(struct hook_event *e);
void hook_event_unref(struct hook_event *e);

/* Its name in JSON. */
const char *hook_kind_name(enum hook_kind kind);

/* What a command that is over is to somebody. by_program: an agent's, say. Returns whether it is anything. Pure. */
struct hook_command {
	bool by_program;
	int status;                    /* 0 to 255; -1: not known */
	uint64_t started_ms, ended_ms; /* wall clock; 0: not known */
};
bool hook_judge_command(const struct hook_command *command, enum hook_kind *ret_kind);
