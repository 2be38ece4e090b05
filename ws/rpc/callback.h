/* What the events of a code's run are to functions of its caller: interpreter.runCodeStream. Pure. */
#pragma once

#include <jansson.h>

/*
 * The function that an event, JSON, is told to, and its arguments: an expression, a new reference. Returns NULL when it is
 * told to none.
 */
const char *callback_of(const char *event, json_t **ret_arguments);
