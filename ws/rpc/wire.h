/*
 * The text of capnweb messages as JSON, and their expressions: plain JSON, except that an array is
 * wrapped in another array. Any other array is a special value; its first element is the type. Pure.
 *
 * https://github.com/cloudflare/capnweb/blob/main/protocol.md
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_NESTING_MAX \
	160u /* nested arrays and objects; the SDK's values have at most 64 levels */
#define WIRE_ELEMENTS_MAX (8u << 10)       /* approximate number of values in a message */
#define WIRE_COST_MAX ((uint64_t)64 << 20) /* of a value, see wire_cost() */

/*
 * Parse a message. Whole numbers that a JavaScript number holds exactly become integers; lone
 * UTF-16 surrogates become U+FFFD. Returns 0, -EINVAL (not JSON), -E2BIG (a limit above is
 * exceeded) or -ENOMEM.
 */
int wire_parse(const char *text, size_t length, json_t **ret_message);

/* The type of a special value, such as "bytes"; NULL for all other expressions. */
const char *wire_head(const json_t *expression);

/* The elements of an array, the inner one of [[...]]; NULL for all other expressions. Borrowed. */
json_t *wire_array(const json_t *expression);

/* Whether a special value is a well-formed constant, such as ["date", 1]. */
bool wire_is_literal(const json_t *expression);

/* Approximate bytes of memory that a value needs if nothing in it is shared. */
uint64_t wire_cost(const json_t *json);

/* Convert JSON to an expression. Returns a new reference, or NULL if memory is short. */
json_t *wire_from_json(const json_t *plain);

/* The expression ["undefined"]. Returns a new reference, or NULL if memory is short. */
json_t *wire_undefined(void);

/*
 * Convert an expression to JSON as JSON.stringify() does: undefined members are left out, undefined
 * elements are null, a date is a string. Returns a new reference; NULL if it contains anything else
 * that JSON lacks, or if memory is short.
 */
json_t *wire_to_json(const json_t *expression);

/* Bytes of ["bytes", base64] or of a string, owned by the caller; NULL for other expressions. */
uint8_t *wire_bytes(const json_t *expression, size_t *ret_length);

/*
 * The padded base64 of ["bytes", base64]. Returns a new reference; NULL for all other expressions.
 */
json_t *wire_base64(const json_t *expression);

/* The expression ["bytes", base64]. Returns a new reference, or NULL if memory is short. */
json_t *wire_from_bytes(const void *bytes, size_t length);

/* ["error", type, message, null, {code, details}]. code: or NULL. details: taken, or NULL. */
json_t *wire_error(const char *type, const char *message, const char *code, json_t *details);
