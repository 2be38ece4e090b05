/* What sessions, people and links may be called. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_ID_MAX 128u   /* bytes of a session's id */
#define NAME_TEXT_MAX 128u /* characters of a display name */
#define NAME_BYTES_MAX (4 * NAME_TEXT_MAX)

/*
 * Who does something, as the server knows it: "owner", or a role and the id of the link, "driver/0123…". What they call
 * themselves stands beside it as a label, which says nothing.
 */
#define NAME_AUTHOR_MAX 47u /* bytes */

/* An id: 1 to NAME_ID_MAX of [A-Za-z0-9._:@-], not beginning with a dot. It names a directory. */
bool name_is_id(const char *text);

/* A line of text for people: 1 to `most` characters, as in a display name. */
bool name_is_line(const char *text, size_t most);

/* A display name: 1 to NAME_TEXT_MAX characters of valid UTF-8 without control characters. */
bool name_is_text(const char *text);
