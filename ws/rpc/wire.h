/*
 * The text of capnweb's messages as JSON, and what its expressions say: JSON in which an array is wrapped in another and
 * any other array says by its first element what it stands for. Pure.
 *
 * https://github.com/cloudflare/capnweb/blob/main/protocol.md
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_NESTING_MAX 160u /* arrays and objects in each other: values are 64 deep at most */
#define WIRE_ELEMENTS_MAX (8u << 10)       /* values in a message, about */
#define WIRE_COST_MAX ((uint64_t)64 << 20) /* of a value, see wire_cost() */

/*
 * Parse a message. Whole numbers that JavaScript holds exactly are integers; halves of UTF-16 pairs, which it may send
 * alone, become U+FFFD. Returns 0, -EINVAL (no JSON), -E2BIG (beyond the limits above) or -ENOMEM.
 */
int wire_parse(const char *text, size_t length, json_t **ret_message);

/* The head of a special value: "bytes" ...; NULL for anything else, also for an array. */
const char *wire_head(const json_t *expression);

/* The elements of an array, of [[...]]; NULL when it is none. Borrowed. */
json_t *wire_array(const json_t *expression);

/* Whether a special value stands for itself, as ["date", 1] does, and is well-formed. */
bool wire_is_literal(const json_t *expression);

/* What memory it takes, about, if nothing in it is shared. */
uint64_t wire_cost(const json_t *json);

/* JSON as an expression, and ["undefined"]. Return a new reference, NULL when memory is short. */
json_t *wire_of(const json_t *plain);
json_t *wire_undefined(void);

/*
 * An expression as JSON.stringify() has it: what is undefined is left out, or null in an array; a date is text. Returns
 * a new reference; NULL when something in it is no JSON, or memory is short.
 */
json_t *wire_plain(const json_t *expression);

/* The bytes of ["bytes", base64], or of a string, owned by the caller; NULL when it is neither. */
uint8_t *wire_bytes(const json_t *expression, size_t *ret_length);

/* The base64 of ["bytes", base64], with its padding. Returns a new reference; NULL when it is none. */
json_t *wire_base64(const json_t *expression);

/* ["bytes", base64]. Returns a new reference, NULL when memory is short. */
json_t *wire_of_bytes(const void *bytes, size_t length);

/* ["error", type, message, null, {code, details}]. code: may be NULL. details: taken, may be NULL. */
json_t *wire_error(const char *type, const char *message, const char *code, json_t *details);
