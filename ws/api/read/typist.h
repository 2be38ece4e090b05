/* Who types, as a request says. */
#pragma once

#include "shell/input/typing.h"
#include "ws/request.h"

#include <stdbool.h>

/* Who types, by the fields name and lease; strings are borrowed from r and body. Otherwise as body_text. */
bool typist_take(struct request *r, const json_t *body, struct typist *ret_typist);

/* A field that is a label: one to max bytes of text, none that is more than 64. Otherwise as body_text(). */
bool typist_label(struct request *r, const json_t *body, const char *field, size_t max,
	const char **ret_text);

/* What they are called who do not say. */
const char *typist_default(const struct request *r);
