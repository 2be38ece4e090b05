/* A view that lists sessions, to choose one. */
#pragma once

#include "ws/client/attach/attachment.h"
#include "ws/client/attach/roll.h"

/*
 * Run between cover_open() and cover_close(). Returns the chosen id, which points into r, or NULL.
 */
const char *chooser_run(struct attachment *a, const struct roll *r);
