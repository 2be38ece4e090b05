/*
 * Events for webhooks, of the same kinds as in the page's inbox (web/src/ui/inbox.ts). They contain nothing that a terminal
 * shows (commands, titles, texts of notifications), because the receiver is outside of the server's control.
 */
#pragma once

#include "shell/name.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK_ID_SIZE 37u            /* of "msg_" and 32 hexadecimal digits */
#define HOOK_LONG_MS 10000u         /* the end of a command that takes longer is an event */
#define HOOK_STATUS_INTERRUPTED 130 /* Ctrl-C: the user knows already, so it is no failure */

/* Kinds, and their names in JSON. */
#define HOOK_KINDS(X)           \
	X(PASSWORD, "password") \
	X(LINE, "line")         \
	X(KEY, "key")           \
	X(FINISHED, "finished") \
	X(FAILED, "failed")     \
	X(BELL, "bell")         \
	X(NOTIFICATION, "notification")

/* Kind of an event. */
enum hook_kind {
#define HOOK_KIND(name, text) HOOK_##name,
	HOOK_KINDS(HOOK_KIND)
#undef HOOK_KIND
};

/* An event: immutable, and shared by all webhooks and threads. */
struct hook_event {
	atomic_uint references;
	enum hook_kind kind;
	char id[HOOK_ID_SIZE];
	char session[NAME_ID_MAX + 1];
	size_t length; /* of the body */
	char body[];   /* JSON */
};

/* The contents of an event. All is borrowed. */
struct hook_contents {
	enum hook_kind kind;
	const char *session; /* its id */
	uint64_t epoch;      /* of it */
	uint64_t at_ms;      /* wall clock */
	const char *author;  /* of the command, see shell/name.h; NULL: unknown or none */
	const char *block;   /* id of the command's block; NULL: none */
	int status;          /* of the command, 0 to 255; -1: unknown or none */
	unsigned clients;    /* attached ones */
	const char *url;     /* the page's address, with "/" at its end; NULL: unknown */
};

/* Create an event with one reference. Returns NULL without memory or random bytes. */
struct hook_event *hook_event_create(const struct hook_contents *matter);

/* Add a reference. Returns e. */
struct hook_event *hook_event_ref(struct hook_event *e);

/* Drop a reference; the last one frees e. NULL is fine. */
void hook_event_unref(struct hook_event *e);

/* A command that has ended. */
struct hook_command {
	bool by_program;               /* run over the API, such as by an agent */
	int status;                    /* 0 to 255; -1: unknown */
	uint64_t started_ms, ended_ms; /* wall clock; 0: unknown */
};

/* Get the kind of event for an ended command. Returns false if it is worth none. Pure. */
bool hook_command_get_kind(const struct hook_command *command, enum hook_kind *ret_kind);
