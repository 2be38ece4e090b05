/* Rules for the names of sessions, people and links. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_ID_MAX 128u   /* bytes of a session's id */
#define NAME_TEXT_MAX 128u /* characters of a display name */
#define NAME_BYTES_MAX (4 * NAME_TEXT_MAX)

/*
 * Bytes of an author: "owner", or a role and the id of the link, "driver/0123…", as the server has verified it. The
 * name that a client gives itself is only a label.
 */
#define NAME_AUTHOR_MAX 47u

/* Whether text is an id: 1 to NAME_ID_MAX of [A-Za-z0-9._:@-], not starting with a dot. It becomes a directory name. */
bool name_is_id(const char *text);

/* Whether text is a line for people: 1 to `most` characters, as in a display name. */
bool name_is_line(const char *text, size_t most);

/* Whether text is a display name: 1 to NAME_TEXT_MAX characters of valid UTF-8 without control characters. */
bool name_is_text(const char *text);
