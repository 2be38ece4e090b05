/* The typist of a request. */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

#include <stdbool.h>

/*
 * Parse the fields name (a label) and lease; texts are borrowed from r and body. Returns false if r has been answered.
 */
bool typist_parse(struct request *r, const json_t *body, struct typist *ret_typist);

/*
 * Check that the lease of the session, if any, allows r to type into it, or to do something equivalent, such as a
 * signal. The field lease names the lease of r. Returns false if r has been answered.
 */
bool typist_check_lease(struct request *r, const json_t *body, const struct session *s);

/* Parse a field that is a label; NULL if absent. Returns false if r has been answered. */
bool typist_label(struct request *r, const json_t *body, const char *field, const char **ret_text);

/* The author of r, from its principal (shell/name.h); lives as long as r. */
const char *typist_author(struct request *r);

/* The name shown to people for a typist without a label. */
const char *typist_default_label(const struct request *r);
