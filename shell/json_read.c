/*
 * The scanner gets the text in pieces of at most a kilobyte. Once malloc() has failed it gets no more. Until then it
 * may need twice the text of the longest token, and the values of a kilobyte of JSON.
 */
#include "shell/json_read.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_TREE ((size_t)160 << 10) /* bytes of the values in a piece, at most */
#define SMALL_TEXT ((size_t)16 << 10)  /* bytes of a text for which a static reserve exists */

struct reading {
	const char *text;
	size_t left;
	uint8_t *reserve; /* size bytes, the first `used` of which are in use */
	size_t size, used;
	bool is_short;
};

static _Alignas(max_align_t) uint8_t small_reserve[2 * SMALL_TEXT + PIECE_TREE];
static atomic_flag is_small_in_use = ATOMIC_FLAG_INIT;
static _Thread_local struct reading *reading; /* in progress in this thread */

static void *allocate(size_t size)
{
	struct reading *r = reading;
	void *memory = malloc(size);
	if (memory || !r)
		return memory;
	r->is_short = true;
	if (size > r->size - r->used)
		return NULL;
	memory = r->reserve + r->used;
	size = (size + 15) & ~(size_t)15;
	r->used += size < r->size - r->used ? size : r->size - r->used;
	return memory;
}

/* The reserve is freed as a whole, after the read. */
static void release(void *memory)
{
	const struct reading *r = reading;
	uintptr_t at = (uintptr_t)memory, from = r ? (uintptr_t)r->reserve : 0;
	if (!r || at < from || at >= from + r->size)
		free(memory);
}

void json_read_open(void)
{
	json_set_alloc_funcs(allocate, release);
}

static size_t next_piece(void *buffer, size_t size, void *user)
{
	struct reading *r = user;
	size_t n = r->left < size ? r->left : size;
	if (r->is_short)
		return (size_t)-1;
	memcpy(buffer, r->text, n);
	r->text += n;
	r->left -= n;
	return n;
}

/* Get a reserve for a text of length bytes. */
static bool find_reserve(struct reading *r, size_t length)
{
	r->size = sizeof small_reserve;
	r->reserve = length <= SMALL_TEXT && !atomic_flag_test_and_set(&is_small_in_use)
		? small_reserve
		: NULL;
	if (r->reserve)
		return true;
	r->size = 2 * length + PIECE_TREE;
	r->reserve = malloc(r->size);
	return r->reserve != NULL;
}

static void drop_reserve(const struct reading *r)
{
	if (r->reserve == small_reserve)
		atomic_flag_clear(&is_small_in_use);
	else
		free(r->reserve);
}

json_t *json_read(const char *text, size_t length, size_t flags, bool *ret_short)
{
	struct reading r = {.text = text, .left = length};
	json_t *root = NULL;
	if (find_reserve(&r, length)) {
		reading = &r;
		root = json_load_callback(next_piece, &r, flags, NULL);
		if (r.is_short) {
			json_decref(root);
			root = NULL;
		}
		reading = NULL;
		drop_reserve(&r);
	} else {
		r.is_short = true;
	}
	if (ret_short)
		*ret_short = r.is_short;
	return root;
}
