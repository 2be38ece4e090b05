/*
 * What a server leaves to the program that its process executes next, `ringside upgrade`: JSON, NUL and the bytes of connections in a sealed memory file, whose
 * descriptor is in an environment variable. It may contain the owner's token, so it is neither in the environment nor on a
 * disk, and wiped when it has been read.
 */
#pragma once

#include "ws/net/takeover.h"
#include "shell/store/runtime_lock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define INHERITANCE_VARIABLE "RINGSIDE_INHERITANCE"

/* The contents. */
struct inheritance {
	struct takeover net;      /* of takeover_describe(); owned by the reader */
	struct runtime_lock lock; /* of runtime_lock_leave() */
	char *token;       /* the owner's if it came from the environment; owned by the reader */
	uint64_t upgrades; /* counter */
	uint64_t held_since_ms; /* since when clients wait, by clock_monotonic_ms() */
	bool draining;
	uint64_t drained_ms; /* see struct api */
};

/* Write it. Returns a descriptor with FD_CLOEXEC, or a negative errno. */
int inheritance_write(const struct inheritance *from);

/*
 * Read what the variable of the environment refers to; both are removed. Returns 1, 0 if there is none, or -EINVAL if it was
 * not written by inheritance_write().
 */
int inheritance_read(char **environment, struct inheritance *ret);
