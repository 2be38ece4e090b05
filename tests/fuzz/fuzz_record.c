/*
 * Records of a session's shell among other bytes in the FIFO. Input: a byte that determines the pieces, then the bytes,
 * folded. Pieces must not matter, and each record must match its fields.
 */
#include "shell/output/record.h"
#include "tests/fuzz/pieces.h"

#define NONCE "n"
#define INPUT_MAX ((size_t)24 << 10)
#define FIELDS_MAX 7u

struct seen {
	uint64_t hash;
	uint64_t count;
};

static void on_record(void *user, const struct record *record)
{
	struct seen *s = user;
	FUZZ_CHECK(record->kind <= RECORD_STATE);
	FUZZ_CHECK(record->status >= 0 && record->status <= 255);
	FUZZ_CHECK(memchr(record->id, '\0', sizeof record->id));
	FUZZ_CHECK(record->statuses_count <= RECORD_STATUSES_MAX);
	s->hash = pieces_hash_number(s->hash, record->kind);
	s->hash = pieces_hash_number(s->hash, (uint64_t)record->status);
	s->hash = pieces_hash_number(s->hash, record->half_typed);
	s->hash = hash_bytes(s->hash, record->id, strlen(record->id) + 1);
	s->hash = hash_bytes(s->hash, record->cwd, strlen(record->cwd) + 1);
	s->hash = pieces_hash_number(s->hash, record->statuses_count);
	for (size_t i = 0; i < record->statuses_count; i++) {
		FUZZ_CHECK(record->statuses[i] >= 0 && record->statuses[i] <= 255);
		s->hash = pieces_hash_number(s->hash, (uint64_t)record->statuses[i]);
	}
	s->count++;
}

static void feed(const uint8_t *bytes, size_t length, struct random *r, size_t most,
	struct record_reader *ret_reader, struct seen *ret_seen)
{
	*ret_reader = (struct record_reader){0};
	*ret_seen = (struct seen){.hash = HASH_START};
	for (size_t at = 0, n; at < length; at += n) {
		n = pieces_next(r, most, length - at);
		record_feed(ret_reader, NONCE, bytes + at, n, on_record, ret_seen);
	}
}

/* The text of one record, split into fields. */
struct fields {
	char text[INPUT_MAX + 1];
	char *at[FIELDS_MAX];
	size_t count;
	unsigned found;
};

static void on_only_record(void *user, const struct record *record)
{
	/* Positions of the fields after the letter; fewest: records of older servers have fewer. */
	static const struct {
		char letter;
		size_t fewest, fields, id, number, cwd;
	} kinds[] = {[RECORD_PROMPT] = {'P', 5, 7, 3, 2, 4},
		[RECORD_START] = {'C', 4, 4, 2, 3, 0},
		[RECORD_STATE] = {'S', 4, 4, 2, 0, 0},
		[RECORD_END] = {'D', 6, 6, 2, 3, 5}};
	struct fields *f = user;
	size_t number = kinds[record->kind].number, cwd = kinds[record->kind].cwd;
	f->found++;
	FUZZ_CHECK(f->count >= kinds[record->kind].fewest && f->count <= kinds[record->kind].fields);
	FUZZ_CHECK(f->at[0][0] == kinds[record->kind].letter && f->at[0][1] == '\0');
	FUZZ_CHECK(strcmp(f->at[1], NONCE) == 0);
	FUZZ_CHECK(strcmp(f->at[kinds[record->kind].id], record->id) == 0);
	if (record->kind == RECORD_START)
		FUZZ_CHECK(strtoull(f->at[number], NULL, 10) == record->half_typed);
	else if (number > 0)
		FUZZ_CHECK(strtoll(f->at[number], NULL, 10) == record->status);
	FUZZ_CHECK(strcmp(cwd > 0 ? f->at[cwd] : "", record->cwd) == 0);
}

/* Feed each record alone: the result must match its fields. */
static void check_one_by_one(const uint8_t *bytes, size_t length, uint64_t expected)
{
	static struct fields f;
	static struct record_reader reader;
	uint64_t found = 0;
	const uint8_t *end;
	for (; length > 0 && (end = memchr(bytes, 0x1e, length)); bytes = end) {
		size_t size = (size_t)(end - bytes);
		memcpy(f.text, bytes, size);
		f.text[size] = '\0';
		f.count = f.found = 0;
		for (char *rest = f.text; rest && f.count < FIELDS_MAX;)
			f.at[f.count++] = strsep(&rest, "\x1f");
		end++;
		reader = (struct record_reader){0};
		record_feed(&reader, NONCE, bytes, size + 1, on_only_record, &f);
		FUZZ_CHECK(f.found + reader.invalid_records == 1 && reader.length == 0);
		/* A NUL would end a field. */
		FUZZ_CHECK(f.found == 0 || (size <= RECORD_MAX && !memchr(bytes, '\0', size)));
		found += f.found;
		length -= size + 1;
	}
	FUZZ_CHECK(found == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[INPUT_MAX];
	static struct record_reader whole, cut;
	struct seen seen, again;
	struct fuzz_input in = {data, size};
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + fuzz_byte(&in)};
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	const size_t most[] = {1, 16, RECORD_MAX};
	whole = (struct record_reader){0};
	seen = (struct seen){.hash = HASH_START};
	record_feed(&whole, NONCE, bytes, length, on_record, &seen);
	for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
		feed(bytes, length, &r, most[i], &cut, &again);
		FUZZ_CHECK(again.hash == seen.hash && again.count == seen.count);
		FUZZ_CHECK(cut.invalid_records == whole.invalid_records &&
			cut.overflow == whole.overflow);
		FUZZ_CHECK(cut.length == whole.length);
		FUZZ_CHECK(memcmp(cut.text, whole.text, whole.length) == 0);
	}
	check_one_by_one(bytes, length, seen.count);
	return 0;
}
