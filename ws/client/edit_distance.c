#include "ws/client/edit_distance.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned measure(const char *a, size_t m, const char *b, size_t n)
{
	unsigned table[EDIT_DISTANCE_WORD_MAX + 1][EDIT_DISTANCE_WORD_MAX + 1];
	for (unsigned i = 0; i <= m; i++)
		table[i][0] = i;
	for (unsigned j = 0; j <= n; j++)
		table[0][j] = j;
	for (size_t i = 1; i <= m; i++) {
		for (size_t j = 1; j <= n; j++) {
			unsigned changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			unsigned moved = least(table[i - 1][j], table[i][j - 1]) + 1;
			table[i][j] = least(changed, moved);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
		}
	}
	return table[m][n];
}

unsigned edit_distance(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b), shorter = m < n ? m : n;
	if (m > EDIT_DISTANCE_WORD_MAX || n > EDIT_DISTANCE_WORD_MAX)
		return EDIT_DISTANCE_FAR;
	if (m != n && shorter > 1 && strncmp(a, b, shorter) == 0)
		return 1;
	unsigned distance = measure(a, m, b, n);
	/* A distance as long as a word means that nothing of it matches. */
	return distance < EDIT_DISTANCE_FAR && distance < shorter ? distance : EDIT_DISTANCE_FAR;
}
