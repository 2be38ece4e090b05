/*
 * Keys of the registry of a fleet. Pure.
 *
 *   id.KIND.ID           the node that has this object
 *   at.NODE.KIND.ID      the same, to be found by the node
 *   node.NODE            a node that has or had objects
 *
 * Ids and names are one token each: every byte that is not a letter, a digit, _ or - is written as =XX, in hexadecimal.
 */
#pragma once

#include "shell/cluster/bucket.h"
#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>

/* Kinds of objects with ids that are unique in a fleet. */
enum object_kind { OBJECT_SESSION, OBJECT_PROCESS, OBJECT_KINDS };

/* An object of a fleet. */
struct object_id {
	enum object_kind kind;
	char id[NAME_ID_MAX + 1];
};

/* An object's id as the key of a hash table: bytes that id does not use are 0. id: cut if it is too long. */
struct object_id object_id_of(enum object_kind kind, const char *id);

#define KEY_NODE_MAX 63u /* characters of a node's name */

#define KEY_NODE_PREFIX "node." /* of the keys of all nodes */

/* The name of a kind, as in keys: "session". */
const char *object_kind_name(enum object_kind kind);

/* Whether a node may have this name: 1 to KEY_NODE_MAX of A-Z a-z 0-9 . _ - that does not begin with a dot or a dash. */
bool key_is_node(const char *name);

/* Write the key of an object. */
void key_of_object(const struct object_id *o, char ret_key[BUCKET_KEY_SIZE]);

/* Write the key of an object in the index of a node. */
void key_of_index(const char *node, const struct object_id *o, char ret_key[BUCKET_KEY_SIZE]);

/* Write the prefix of the index of a node. */
void key_of_index_prefix(const char *node, char ret_key[BUCKET_KEY_SIZE]);

/* Write the key of a node. */
void key_of_node(const char *node, char ret_key[BUCKET_KEY_SIZE]);

/* Write the one token that stands for a name. */
void key_of_name(const char *name, char ret_key[BUCKET_KEY_SIZE]);

/* Parse such a token as the name of a node. Returns false if it is not one. */
bool key_parse_name(const char *key, char ret_node[KEY_NODE_MAX + 1]);

/* Parse the key of an object in the index of a node. Returns false if it is not one. */
bool key_parse_index(const char *key, struct object_id *ret_object);

/* Parse the key of a node. Returns false if it is not one. */
bool key_parse_node(const char *key, char ret_node[KEY_NODE_MAX + 1]);
