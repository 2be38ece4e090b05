/* Who types, as a request says. */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

#include <stdbool.h>

/* Who types: the fields name, a label, and lease; strings are borrowed from r and body. Otherwise as body_text. */
bool typist_take(struct request *r, const json_t *body, struct typist *ret_typist);

/*
 * Whether who asks may do what is as good as typing into the session, a signal or another size, by the lease that the field
 * lease shows. Otherwise as body_text(), or refused as typing is.
 */
bool typist_is_admitted(struct request *r, const json_t *body, const struct session *s);

/* A field that is a label: one to max bytes of text, none that is more than 64. Otherwise as body_text(). */
bool typist_label(struct request *r, const json_t *body, const char *field, size_t max,
	const char **ret_text);

/* Who asks, as the server knows it (shell/name.h); lives as long as r. */
const char *typist_author(struct request *r);

/* What they are called who do not say: for people, where there is one name. */
const char *typist_default(const struct request *r);
