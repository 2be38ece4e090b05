#include "ring/screen/charset.h"

#include <stddef.h>
#include <string.h>

struct mapping {
	char ascii;
	uint16_t code;
};

static const struct {
	const char *finals;
	struct mapping map[33]; /* ends with ascii 0 */
} charsets[] = {
	{"0", { /* DEC special graphics */
		{'`', 0x25c6}, {'a', 0x2592}, {'b', 0x2409}, {'c', 0x240c}, {'d', 0x240d}, {'e', 0x240a}, 
		{'f', 0xb0}, {'g', 0xb1}, {'h', 0x2424}, {'i', 0x240b}, {'j', 0x2518}, {'k', 0x2510}, 
		{'l', 0x250c}, {'m', 0x2514}, {'n', 0x253c}, {'o', 0x23ba}, {'p', 0x23bb}, {'q', 0x2500}, 
		{'r', 0x23bc}, {'s', 0x23bd}, {'t', 0x251c}, {'u', 0x2524}, {'v', 0x2534}, {'w', 0x252c}, 
		{'x', 0x2502}, {'y', 0x2264}, {'z', 0x2265}, {'{', 0x3c0}, {'|', 0x2260}, {'}', 0xa3}, 
		{'~', 0xb7},}},
	{"4", { /* Dutch */
		{'#', 0xa3}, {'@', 0xbe}, {'[', 0x69}, {'\\', 0xbd}, {']', 0x7c}, {'{', 0xa8}, 
		{'|', 0x66}, {'}', 0xbc}, {'~', 0xb4},}},
	{"5C", { /* Finnish */
		{'[', 0xc4}, {'\\', 0xd6}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe9}, {'{', 0xe4}, 
		{'|', 0xf6}, {'}', 0xe5}, {'~', 0xfc},}},
	{"6E", { /* Norwegian, Danish */
		{'@', 0xc4}, {'[', 0xc6}, {'\\', 0xd8}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe4}, 
		{'{', 0xe6}, {'|', 0xf8}, {'}', 0xe5}, {'~', 0xfc},}},
	{"7H", { /* Swedish */
		{'@', 0xc9}, {'[', 0xc4}, {'\\', 0xd6}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe9}, 
		{'{', 0xe4}, {'|', 0xf6}, {'}', 0xe5}, {'~', 0xfc},}},
	{"A", { /* British */
		{'#', 0xa3},}},
	{"R", { /* French */
		{'#', 0xa3}, {'@', 0xe0}, {'[', 0xb0}, {'\\', 0xe7}, {']', 0xa7}, {'{', 0xe9}, 
		{'|', 0xf9}, {'}', 0xe8}, {'~', 0xa8},}},
	{"Q", { /* French Canadian */
		{'@', 0xe0}, {'[', 0xe2}, {'\\', 0xe7}, {']', 0xea}, {'^', 0xee}, {'`', 0xf4}, 
		{'{', 0xe9}, {'|', 0xf9}, {'}', 0xe8}, {'~', 0xfb},}},
	{"K", { /* German */
		{'@', 0xa7}, {'[', 0xc4}, {'\\', 0xd6}, {']', 0xdc}, {'{', 0xe4}, {'|', 0xf6}, 
		{'}', 0xfc}, {'~', 0xdf},}},
	{"Y", { /* Italian */
		{'#', 0xa3}, {'@', 0xa7}, {'[', 0xb0}, {'\\', 0xe7}, {']', 0xe9}, {'`', 0xf9}, 
		{'{', 0xe0}, {'|', 0xf2}, {'}', 0xe8}, {'~', 0xec},}},
	{"Z", { /* Spanish */
		{'#', 0xa3}, {'@', 0xa7}, {'[', 0xa1}, {'\\', 0xd1}, {']', 0xbf}, {'{', 0xb0}, 
		{'|', 0xf1}, {'}', 0xe7},}},
	{"=", { /* Swiss */
		{'#', 0xf9}, {'@', 0xe0}, {'[', 0xe9}, {'\\', 0xe7}, {']', 0xea}, {'^', 0xee}, 
		{'_', 0xe8}, {'`', 0xf4}, {'{', 0xe4}, {'|', 0xf6}, {'}', 0xfc}, {'~', 0xfb},}},
};

static const struct mapping *find(uint8_t final)
{
	for (size_t i = 0; final != 0 && i < sizeof charsets / sizeof *charsets; i++)
		if (strchr(charsets[i].finals, final))
			return charsets[i].map;
	return NULL;
}

bool charset_exists(uint8_t final)
{
	return final == 'B' || find(final);
}

uint32_t charset_map(uint8_t final, uint32_t code)
{
	const struct mapping *map = final == 'B' ? NULL : find(final);
	for (; map && map->ascii != 0; map++)
		if ((uint32_t)map->ascii == code)
			return map->code;
	return code;
}

uint32_t charset_unmap(uint8_t final, uint32_t code)
{
	if (code >= 0x7f && final == 'B')
		return code;
	for (uint32_t ascii = ' '; ascii < 0x7f; ascii++)
		if (charset_map(final, ascii) == code)
			return ascii;
	return code < 0x7f ? 0 : code;
}
