/* Hexadecimal digits. */
#pragma once

/* Value of a hexadecimal digit, upper or lower case; -1 if it is not one. */
static inline int hex_value(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}
