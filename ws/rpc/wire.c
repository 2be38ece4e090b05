/* Depth and size are measured before parsing: jansson accepts more than a peer may send. */
#include "ws/rpc/wire.h"

#include "shell/clock.h"
#include "shell/json_read.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53: JavaScript holds whole numbers up to it exactly */
#define VALUE_COST 48u               /* bytes of a json_t and of its slot in the parent */

/* Measurements of a text before it is parsed. */
struct survey {
	size_t nesting, deepest, elements;
	bool lone; /* there is a lone UTF-16 surrogate */
};

/* The UTF-16 code unit of an escape \uXXXX at `at`; -1: it is not one. */
static int code_unit(const char *text, size_t length, size_t at)
{
	char digits[5] = "";
	char *end;
	if (at + 6 > length || text[at] != '\\' || text[at + 1] != 'u')
		return -1;
	memcpy(digits, text + at + 2, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	return (int)strtol(digits, &end, 16);
}

/* The length of the escape at `at`. *ret_lone: it is a lone surrogate. */
static size_t escape_length(const char *text, size_t length, size_t at, bool *ret_lone)
{
	int unit = code_unit(text, length, at);
	*ret_lone = false;
	if (unit < 0)
		return 2;
	if (unit < 0xd800 || unit > 0xdfff)
		return 6;
	int next = unit < 0xdc00 ? code_unit(text, length, at + 6) : -1;
	if (next >= 0xdc00 && next <= 0xdfff)
		return 12;
	*ret_lone = true;
	return 6;
}

static const char replacement[6] = {'\\', 'u', 'f', 'f', 'f', 'd'};

/*
 * Scan a string from its first character. Returns the index after its closing quote. mend: the text
 * in which lone surrogates are replaced, or NULL.
 */
static size_t walk_string(const char *text, size_t length, size_t at, struct survey *s, char *mend)
{
	while (at < length && text[at] != '"') {
		bool lone = false;
		size_t n = text[at] == '\\' ? escape_length(text, length, at, &lone) : 1;
		s->lone |= lone;
		if (lone && mend)
			memcpy(mend + at, replacement, sizeof replacement);
		at += n;
	}
	return at + 1;
}

static void survey_text(const char *text, size_t length, struct survey *s, char *mend)
{
	*s = (struct survey){0};
	for (size_t at = 0; at < length;) {
		char c = text[at++];
		if (c == '"') {
			at = walk_string(text, length, at, s, mend);
		} else if (c == '[' || c == '{') {
			s->elements++;
			if (++s->nesting > s->deepest)
				s->deepest = s->nesting;
		} else if (c == ']' || c == '}') {
			s->nesting -= s->nesting > 0;
		} else if (c == ',') {
			s->elements++;
		}
	}
}

/* Convert a real to an integer if it is whole: the handlers require integers. */
static json_t *number_of(json_t *real)
{
	double value = json_real_value(real);
	bool exact = value <= EXACT_MAX && value >= -EXACT_MAX;
	return exact && value == (double)(json_int_t)value ? json_integer((json_int_t)value)
							   : json_incref(real);
}

static void make_whole(json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;
	void *next;
	if (json_is_array(json)) {
		json_array_foreach (json, i, value)
			if (json_is_real(value))
				json_array_set_new(json, i, number_of(value));
			else
				make_whole(value);
	} else if (json_is_object(json)) {
		json_object_foreach_safe (json, next, key, value)
			if (json_is_real(value))
				json_object_set_new_nocheck(json, key, number_of(value));
			else
				make_whole(value);
	}
}

int wire_parse(const char *text, size_t length, json_t **ret_message)
{
	struct survey s;
	char *mended = NULL;
	survey_text(text, length, &s, NULL);
	if (s.deepest > WIRE_NESTING_MAX || s.elements > WIRE_ELEMENTS_MAX)
		return -E2BIG;
	if (s.lone) {
		mended = malloc(length);
		if (!mended)
			return -ENOMEM;
		memcpy(mended, text, length);
		survey_text(text, length, &s, mended);
	}
	json_t *message = json_read(
		mended ? mended : text, length, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
	free(mended);
	if (!message)
		return -EINVAL;
	make_whole(message);
	*ret_message = message;
	return 0;
}

const char *wire_head(const json_t *expression)
{
	return json_string_value(json_array_get(expression, 0));
}

json_t *wire_array(const json_t *expression)
{
	json_t *inner = json_array_size(expression) == 1 ? json_array_get(expression, 0) : NULL;
	return json_is_array(inner) ? inner : NULL;
}

static bool has_head(const json_t *expression, const char *head)
{
	const char *own = wire_head(expression);
	return own && strcmp(own, head) == 0;
}

static bool is_undefined(const json_t *expression)
{
	return !expression ||
		(has_head(expression, "undefined") && json_array_size(expression) == 1);
}

bool wire_is_literal(const json_t *e)
{
	const json_t *value = json_array_get(e, 1);
	if (has_head(e, "bytes") || has_head(e, "bigint"))
		return json_is_string(value);
	if (has_head(e, "date"))
		return json_is_number(value) || json_is_null(value);
	return is_undefined(e) || has_head(e, "inf") || has_head(e, "-inf") || has_head(e, "nan");
}

uint64_t wire_cost(const json_t *json)
{
	uint64_t cost = VALUE_COST;
	const char *key;
	json_t *value;
	size_t i;
	if (json_is_string(json))
		return cost + json_string_length(json);
	if (json_is_array(json))
		json_array_foreach (json, i, value)
			cost += wire_cost(value);
	else if (json_is_object(json))
		json_object_foreach ((json_t *)json, key, value)
			cost += VALUE_COST + strlen(key) + wire_cost(value);
	return cost;
}

json_t *wire_undefined(void)
{
	return json_pack("[s]", "undefined");
}

/* Append value, taken. Returns false if it is NULL or memory is short. */
static bool put(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) == 0;
}

json_t *wire_from_json(const json_t *plain)
{
	const char *key;
	json_t *value, *copy;
	size_t i;
	bool good = true;
	if (json_is_array(plain)) {
		copy = json_array();
		json_array_foreach (plain, i, value)
			good = good && put(copy, wire_from_json(value));
		if (good)
			return json_pack("[o]", copy);
	} else if (json_is_object(plain)) {
		copy = json_object();
		json_object_foreach ((json_t *)plain, key, value)
			good = good &&
				json_object_set_new_nocheck(copy, key, wire_from_json(value)) == 0;
		if (good)
			return copy;
	} else {
		return json_incref((json_t *)plain);
	}
	json_decref(copy);
	return NULL;
}

static json_t *plain_array(const json_t *elements)
{
	json_t *copy = json_array(), *value;
	size_t i;
	json_array_foreach (elements, i, value)
		if (!put(copy, is_undefined(value) ? json_null() : wire_to_json(value))) {
			json_decref(copy);
			return NULL;
		}
	return copy;
}

static json_t *plain_object(const json_t *object)
{
	json_t *copy = json_object(), *value;
	const char *key;
	json_object_foreach ((json_t *)object, key, value)
		if (!is_undefined(value) &&
			json_object_set_new_nocheck(copy, key, wire_to_json(value)) < 0) {
			json_decref(copy);
			return NULL;
		}
	return copy;
}

/* A date as text; null if it is invalid or outside of 1970 to 9999. */
static json_t *plain_date(const json_t *ms)
{
	char text[CLOCK_TEXT_SIZE];
	double value = json_number_value(ms);
	if (!json_is_number(ms) || value < 0 || value > 253402300799999.0)
		return json_null();
	clock_format((uint64_t)value, text);
	return json_string(text);
}

json_t *wire_to_json(const json_t *e)
{
	const json_t *elements = wire_array(e);
	if (json_is_object(e))
		return plain_object(e);
	if (!json_is_array(e))
		return json_incref((json_t *)e);
	if (elements)
		return plain_array(elements);
	if (has_head(e, "date"))
		return plain_date(json_array_get(e, 1));
	if (has_head(e, "inf") || has_head(e, "-inf") || has_head(e, "nan"))
		return json_null();
	return NULL;
}

uint8_t *wire_bytes(const json_t *e, size_t *ret_length)
{
	const json_t *value = has_head(e, "bytes") ? json_array_get(e, 1) : e;
	size_t length = json_string_length(value);
	if (!json_is_string(value))
		return NULL;
	if (value == e) {
		uint8_t *copy = malloc(length + 1);
		if (copy)
			memcpy(copy, json_string_value(value), length + 1);
		*ret_length = length;
		return copy;
	}
	/* The padding may be missing. */
	char *padded = malloc(length + 4);
	if (!padded)
		return NULL;
	memcpy(padded, json_string_value(value), length + 1);
	for (; length % 4 != 0; length++)
		memcpy(padded + length, "=", 2);
	uint8_t *bytes = base64_decode(padded, ret_length);
	free(padded);
	return bytes;
}

json_t *wire_base64(const json_t *e)
{
	static const char padding[] = "==";
	const json_t *value = json_array_get(e, 1);
	size_t length = json_string_length(value);
	if (!has_head(e, "bytes") || !json_is_string(value))
		return NULL;
	size_t missing = (4 - length % 4) % 4;
	if (missing == 0 || missing == 3) /* 3: invalid base64, which the decoder will reject */
		return json_incref((json_t *)value);
	return json_sprintf("%s%.*s", json_string_value(value), (int)missing, padding);
}

/* Without padding, as capnweb writes it. */
json_t *wire_from_bytes(const void *bytes, size_t length)
{
	json_t *text = base64_json(bytes, length);
	size_t padding = (3 - length % 3) % 3;
	if (text && padding > 0) {
		json_t *shorter = json_stringn_nocheck(
			json_string_value(text), json_string_length(text) - padding);
		json_decref(text);
		text = shorter;
	}
	return json_pack("[s, o]", "bytes", text);
}

json_t *wire_error(const char *type, const char *message, const char *code, json_t *details)
{
	json_t *error = json_pack("[s, s, o]", "error", type, text_string_json(message));
	if (code) {
		json_array_append_new(error, json_null());
		json_array_append_new(error,
			json_pack("{s:s, s:o}", "code", code, "details",
				details ? details : json_object()));
	} else {
		json_decref(details);
	}
	return error;
}
