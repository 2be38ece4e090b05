/* Digits of hexadecimal numbers, as names, colours, addresses and lengths have them. */
#pragma once

/* The value of a digit, of either case; -1: it is none. */
static inline int hex_value(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}
