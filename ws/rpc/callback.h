/*
 * Events of a code run as calls of the SDK's callback functions (interpreter.runCodeStream). Pure.
 */
#pragma once

#include <jansson.h>

/*
 * The name of the callback function for an event (JSON text), and its arguments as an expression, a
 * new reference. Returns NULL if no function receives this event.
 */
const char *callback_of(const char *event, json_t **ret_arguments);
