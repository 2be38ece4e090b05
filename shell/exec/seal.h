/*
 * Seals prove that an end report comes from the shell. Every program of the same user can read the
 * nonce and the command's id from the holder, and forge a mark or a record. So the server makes a
 * secret of two parts for each command and types it behind the private key; it is in no file,
 * argument, environment or shared memory. The shell prints the first part in its end mark and the
 * second in its end record. The server keeps the digests alone, also in the header of the script,
 * for the next server.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_DIGITS 16u /* of a part, each one of 36 */
#define SEAL_DIGEST 16u /* bytes: of SHA-256, the first */
/* Typed behind the key. A comment, should the key be unbound. The init files use the lengths. */
#define SEAL_LEAD " #"
#define SEAL_TYPED (sizeof SEAL_LEAD - 1 + 2 * SEAL_DIGITS)
#define SEAL_TEXT (4 * SEAL_DIGEST) /* characters of the digests as text */

/* The part in the end mark, and the part in the end record. */
enum seal_part { SEAL_MARK, SEAL_RECORD };

/* All zero: no seal. */
struct seal {
	bool made;
	uint8_t digest[2][SEAL_DIGEST]; /* by enum seal_part */
};

/* Make a seal and the text to type for it, with a NUL. Returns 0 or a negative errno. */
int seal_make(struct seal *seal, char ret_typed[SEAL_TYPED + 1]);

/* Whether text is this part of the secret. */
bool seal_matches(const struct seal *seal, enum seal_part part, const char *text);

/* Write the digests as hexadecimal digits; "" without a seal. */
void seal_write(const struct seal *seal, char ret_text[SEAL_TEXT + 1]);

/* Read what seal_write() wrote; no seal if text is malformed. */
void seal_read(struct seal *seal, const char *text);
