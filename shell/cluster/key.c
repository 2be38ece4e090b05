#include "shell/cluster/key.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[OBJECT_KINDS] = {
	[OBJECT_SESSION] = "session",
	[OBJECT_PROCESS] = "process",
};

const char *object_kind_name(enum object_kind kind)
{
	return kind_names[kind];
}

struct object_id object_id_of(enum object_kind kind, const char *id)
{
	struct object_id o;
	memset(&o, 0, sizeof o);
	o.kind = kind;
	memcpy(o.id, id, strnlen(id, NAME_ID_MAX));
	return o;
}

/* Whether a byte stands for itself in a token. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-';
}

bool key_is_node(const char *name)
{
	size_t length = strlen(name);
	if (length == 0 || length > KEY_NODE_MAX || name[0] == '.' || name[0] == '-')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_plain(name[i]) && name[i] != '.')
			return false;
	return true;
}

/* Append a text as it is. */
static void add(char key[BUCKET_KEY_SIZE], const char *text)
{
	size_t used = strlen(key);
	assert(used + strlen(text) < BUCKET_KEY_SIZE);
	snprintf(key + used, BUCKET_KEY_SIZE - used, "%s", text);
}

/* Append a name as one token. */
static void add_token(char key[BUCKET_KEY_SIZE], const char *name)
{
	char escaped[4];
	for (; *name; name++) {
		if (is_plain(*name))
			snprintf(escaped, sizeof escaped, "%c", *name);
		else
			snprintf(escaped, sizeof escaped, "=%02X", (unsigned char)*name);
		add(key, escaped);
	}
}

void key_of_name(const char *name, char ret_key[BUCKET_KEY_SIZE])
{
	ret_key[0] = '\0';
	add_token(ret_key, name);
}

static void add_object(char key[BUCKET_KEY_SIZE], const struct object_id *o)
{
	add(key, kind_names[o->kind]);
	add(key, ".");
	add_token(key, o->id);
}

void key_of_object(const struct object_id *o, char ret_key[BUCKET_KEY_SIZE])
{
	ret_key[0] = '\0';
	add(ret_key, "id.");
	add_object(ret_key, o);
}

void key_of_index_prefix(const char *node, char ret_key[BUCKET_KEY_SIZE])
{
	ret_key[0] = '\0';
	add(ret_key, "at.");
	add_token(ret_key, node);
	add(ret_key, ".");
}

void key_of_index(const char *node, const struct object_id *o, char ret_key[BUCKET_KEY_SIZE])
{
	key_of_index_prefix(node, ret_key);
	add_object(ret_key, o);
}

void key_of_node(const char *node, char ret_key[BUCKET_KEY_SIZE])
{
	ret_key[0] = '\0';
	add(ret_key, KEY_NODE_PREFIX);
	add_token(ret_key, node);
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode a token up to a dot or the end. Returns its end, or NULL if it is invalid or does not fit. */
static const char *parse_token(const char *at, char *ret_name, size_t size)
{
	size_t n = 0;
	for (; *at && *at != '.'; at++) {
		char c = *at;
		if (c == '=') {
			int high = hex_value(at[1]), low = high < 0 ? -1 : hex_value(at[2]);
			c = low < 0 ? '\0' : (char)(high * 16 + low);
			at += 2;
			if (low < 0 || is_plain(c))
				return NULL;
		} else if (!is_plain(c)) {
			return NULL;
		}
		if (c == '\0' || n + 1 >= size)
			return NULL;
		ret_name[n++] = c;
	}
	ret_name[n] = '\0';
	return n > 0 ? at : NULL;
}

bool key_parse_index(const char *key, struct object_id *ret_object)
{
	char node[KEY_NODE_MAX + 1], kind[16];
	struct object_id o = {.kind = OBJECT_KINDS};
	const char *at = strncmp(key, "at.", 3) == 0 ? parse_token(key + 3, node, sizeof node)
						     : NULL;
	if (!at || *at++ != '.')
		return false;
	at = parse_token(at, kind, sizeof kind);
	if (!at || *at++ != '.')
		return false;
	at = parse_token(at, o.id, sizeof o.id);
	for (int i = 0; i < OBJECT_KINDS; i++)
		if (strcmp(kind, kind_names[i]) == 0)
			o.kind = (enum object_kind)i;
	if (!at || *at || o.kind == OBJECT_KINDS || !name_is_id(o.id))
		return false;
	*ret_object = o;
	return true;
}

bool key_parse_name(const char *key, char ret_node[KEY_NODE_MAX + 1])
{
	char node[KEY_NODE_MAX + 1];
	const char *at = parse_token(key, node, sizeof node);
	if (!at || *at || !key_is_node(node))
		return false;
	memcpy(ret_node, node, sizeof node);
	return true;
}

bool key_parse_node(const char *key, char ret_node[KEY_NODE_MAX + 1])
{
	size_t prefix = strlen(KEY_NODE_PREFIX);
	return strncmp(key, KEY_NODE_PREFIX, prefix) == 0 && key_parse_name(key + prefix, ret_node);
}
