/* Between the files of the parser: its strings. */
#pragma once

#include "ring/screen/parser.h"

/* Begin an empty string. */
void parser_string_begin(struct parser *p);

/* One more character of it. */
void parser_string_put(struct parser *p, uint32_t code);

/* Printable ASCII, of which strings mostly are. */
void parser_string_append(struct parser *p, const uint8_t *ascii, size_t length);

/* Give back what an unusually long string took. */
void parser_string_release(struct parser *p);

/* Give back all of it. */
void parser_string_drop(struct parser *p);

/* Report it as an OSC, "N;data", or "N" alone; or as a DCS. */
void parser_end_osc(struct parser *p);
void parser_end_dcs(struct parser *p);
