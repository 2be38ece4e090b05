/*
 * Seals: by which a shell proves that it is it who tells that a command is over. What its marks and records are known by
 * otherwise, the nonce and the command's id, every program of its user can read in the holder. So each command has
 * a secret of two parts, which is typed behind the private key: it is in no file, no argument, no environment, and in no
 * memory that is shared. The shell tells the one part with its mark, the other with its record; until then nobody but
 * the shell has them, and the server but their digests, which the next server finds in front of the script.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_DIGITS 16u /* of a part, each one of 36 */
#define SEAL_DIGEST 16u /* bytes: of SHA-256, the first */
/*
 * What is typed: where the key is not known the rest is a comment. init.bash counts on these lengths.
 */
#define SEAL_LEAD " #"
#define SEAL_TYPED (sizeof SEAL_LEAD - 1 + 2 * SEAL_DIGITS)
#define SEAL_TEXT (4 * SEAL_DIGEST) /* characters of the digests as text */

enum seal_part { SEAL_MARK, SEAL_RECORD };

/* All zero: there is none. */
struct seal {
	bool made;
	uint8_t digest[2][SEAL_DIGEST]; /* of the parts */
};

/* A new one, and what is to be typed for it, with a NUL. Returns 0 or a negative errno. */
int seal_make(struct seal *seal, char ret_typed[SEAL_TYPED + 1]);

/* Whether text is that part of it. */
bool seal_fits(const struct seal *seal, enum seal_part part, const char *text);

/* Its digests as hexadecimal digits, and back; without them there is none. */
void seal_write(const struct seal *seal, char ret_text[SEAL_TEXT + 1]);
void seal_read(struct seal *seal, const char *text);
