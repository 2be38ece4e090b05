/*
 * The open segment's file is opened for each write, which saves a descriptor per session. If the file was
 * removed meanwhile, a new segment is begun.
 */
#include "shell/recording/tape.h"

#include "shell/dir.h"
#include "shell/recording/sealing.h"
#include "shell/recording/segment_reader.h"
#include "shell/write_all.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names */

void tape_name(const char *id, uint64_t epoch, char ret_name[TAPE_NAME_SIZE])
{
	snprintf(ret_name, TAPE_NAME_SIZE, "%s+%016" PRIx64, id, epoch);
}

bool tape_parse_name(const char *name, char ret_id[NAME_ID_MAX + 1], uint64_t *ret_epoch)
{
	char again[TAPE_NAME_SIZE];
	const char *plus = strrchr(name, '+');
	if (!plus || plus - name > (ptrdiff_t)NAME_ID_MAX || strlen(plus) != 17)
		return false;
	memcpy(ret_id, name, (size_t)(plus - name));
	ret_id[plus - name] = '\0';
	*ret_epoch = strtoull(plus + 1, NULL, 16);
	tape_name(ret_id, *ret_epoch, again);
	return name_is_id(ret_id) && strcmp(again, name) == 0;
}

static void put_file_name(uint64_t number, enum tape_file kind, char ret_name[TAPE_FILE_SIZE])
{
	static const char *const suffixes[] = {"", "open", "zst", "new"};
	snprintf(ret_name, TAPE_FILE_SIZE, "%08" PRIu64 ".%s", number, suffixes[kind]);
}

enum tape_file tape_parse_file(const char *name, uint64_t *ret_number)
{
	char again[TAPE_FILE_SIZE];
	if (name[0] < '0' || name[0] > '9')
		return TAPE_NONE;
	*ret_number = strtoull(name, NULL, 10);
	if (*ret_number < 1 || *ret_number > TAPE_SEGMENTS_MAX)
		return TAPE_NONE;
	for (enum tape_file kind = TAPE_OPEN; kind <= TAPE_NEW; kind++) {
		put_file_name(*ret_number, kind, again);
		if (strcmp(again, name) == 0)
			return kind;
	}
	return TAPE_NONE;
}

/* Finding segments */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static long sort_once(uint64_t *numbers, long count)
{
	long kept = 0;
	if (count > 0)
		qsort(numbers, (size_t)count, sizeof *numbers, compare);
	for (long i = 0; i < count; i++)
		if (kept == 0 || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

#define LIST_MAX 65536 /* segments of a tape: half a TiB */

static long list(DIR *dir, uint64_t **ret_numbers)
{
	uint64_t *numbers = NULL;
	long count = 0, capacity = 0;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		uint64_t number;
		enum tape_file kind = tape_parse_file(entry->d_name, &number);
		if (kind != TAPE_OPEN && kind != TAPE_SEALED)
			continue;
		if (count == capacity) {
			capacity = capacity ? capacity * 2 : 16;
			uint64_t *more = count < 2L * LIST_MAX
				? realloc(numbers, (size_t)capacity * sizeof *more)
				: NULL;
			if (!more) {
				free(numbers);
				return count < 2L * LIST_MAX ? -ENOMEM : -EFBIG;
			}
			numbers = more;
		}
		numbers[count++] = number;
	}
	*ret_numbers = numbers;
	return sort_once(numbers, count);
}

static int open_directory(const struct tape *t)
{
	int fd = openat(t->root_fd, t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/*
 * List the numbers of all segments, ascending and unique. *ret_numbers: owned by the caller; NULL if there are
 * none. Returns their count, -ENOENT (no such tape), -EFBIG (too many), or another negative errno.
 */
static long list_segments(int root_fd, const char *name, uint64_t **ret_numbers)
{
	DIR *dir = dir_open(root_fd, name);
	*ret_numbers = NULL;
	if (!dir)
		return -errno;
	long count = list(dir, ret_numbers);
	closedir(dir);
	return count;
}

/* Find the file of a segment, sealed or open. Returns false if there is none. */
static bool find_file(int dir_fd, uint64_t number, char ret_name[TAPE_FILE_SIZE])
{
	put_file_name(number, TAPE_SEALED, ret_name);
	if (faccessat(dir_fd, ret_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	put_file_name(number, TAPE_OPEN, ret_name);
	return faccessat(dir_fd, ret_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The tape's state, updated by records */

static void note_record(struct tape *t, const struct segment_record *r)
{
	uint64_t start;
	int status;
	bool known;
	t->time_us = r->time_us > t->time_us ? r->time_us : t->time_us;
	if (r->type == SEGMENT_OUTPUT)
		t->end = r->offset + r->length;
	else if (r->type == SEGMENT_GAP)
		t->end = r->offset;
	else if (r->type == SEGMENT_SIZE)
		(void)segment_parse_size(r, &t->rows, &t->cols); /* an invalid size is ignored */
	else if (r->type == SEGMENT_BLOCK_BEGIN)
		t->begun = r->offset + 1;
	else if (r->type == SEGMENT_BLOCK_END && segment_parse_block_end(r, &start, &status))
		t->ended = start + 1;
	else if (r->type == SEGMENT_EXIT)
		t->exited = segment_parse_exit(r, &status, &known);
}

static void note_records(struct tape *t, const uint8_t *records, size_t length)
{
	struct segment_record r;
	for (size_t at = 0; segment_get_record(records, length, &at, &r) > 0;)
		note_record(t, &r);
	t->bytes += length;
}

/* Opening */

/* Read a segment into the tape's state. *ret_whole: bytes of its complete parts. Returns 0 or a negative errno. */
static int read_state(struct tape *t, int dir_fd, const char *file, uint64_t *ret_whole)
{
	struct segment_reader *reader;
	struct segment_record r;
	int rc = segment_reader_open(dir_fd, file, &reader);
	if (rc < 0)
		return rc;
	const struct segment_head *head = segment_reader_head(reader);
	if (head->epoch != t->epoch) {
		segment_reader_close(reader);
		return -EBADMSG;
	}
	t->end = head->offset;
	t->time_us = t->started_us = head->time_us;
	t->begun = head->begun;
	t->ended = head->ended;
	t->rows = head->rows;
	t->cols = head->cols;
	t->bytes = 0;
	t->exited = false;
	while (rc == 0 && (rc = segment_reader_next(reader, &r)) > 0) {
		note_record(t, &r);
		t->bytes += SEGMENT_RECORD_HEAD + r.length;
		rc = 0;
	}
	*ret_whole = segment_reader_whole(reader);
	segment_reader_close(reader);
	return rc == -EBADMSG ? 0 : rc; /* the segment ends there */
}

/* Continue an open segment, and truncate an incomplete frame. */
static int continue_open(struct tape *t, int dir_fd, uint64_t number, const char *file)
{
	struct stat st;
	uint64_t whole;
	int rc = read_state(t, dir_fd, file, &whole);
	if (rc < 0)
		return rc;
	int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || ((uint64_t)st.st_size > whole && ftruncate(fd, (off_t)whole) < 0))
		rc = -errno;
	close(fd);
	t->number = number;
	t->size = whole;
	return rc;
}

/* Continue after the last valid segment. */
static int continue_tape(struct tape *t, int dir_fd, const uint64_t *numbers, long count)
{
	char file[TAPE_FILE_SIZE], other[TAPE_FILE_SIZE];
	uint64_t whole;
	t->next = numbers[count - 1] + 1;
	for (long i = count - 1; i >= 0; i--) {
		if (!find_file(dir_fd, numbers[i], file))
			continue;
		put_file_name(numbers[i], TAPE_OPEN, other);
		bool sealed = strcmp(file, other) != 0;
		/* The server was killed after sealing, before it removed the open one. */
		if (sealed)
			(void)unlinkat(dir_fd, other, 0);
		int rc = sealed ? read_state(t, dir_fd, file, &whole)
				: continue_open(t, dir_fd, numbers[i], file);
		if (rc == 0)
			return 0;
		if (rc != -EBADMSG)
			return rc;
		/* Its head is incomplete: nothing else was written. */
		if (!sealed)
			(void)unlinkat(dir_fd, file, 0);
	}
	t->rows = t->cols = 0;
	t->end = t->begun = t->ended = 0;
	return 0;
}

int tape_open(struct tape *t)
{
	uint64_t *numbers;
	tape_name(t->id, t->epoch, t->name);
	t->number = t->size = t->bytes = t->end = t->begun = t->ended = 0;
	t->next = 1;
	t->rows = t->cols = 0;
	t->exited = false;
	long count = list_segments(t->root_fd, t->name, &numbers);
	if (count < 0 && count != -ENOENT)
		return (int)count;
	if (count <= 0 || !numbers) {
		free(numbers);
		return 0;
	}
	int fd = open_directory(t), rc = fd;
	if (fd >= 0) {
		rc = continue_tape(t, fd, numbers, count);
		close(fd);
	}
	free(numbers);
	return rc;
}

/* Writing */

/* Create a segment. first: the record that will be written first. Returns its descriptor or a negative errno. */
static int begin(struct tape *t, int dir_fd, const struct segment_record *first)
{
	uint8_t bytes[SEGMENT_HEAD_MAX];
	char file[TAPE_FILE_SIZE];
	struct segment_head head = {.epoch = t->epoch,
		.number = t->next,
		.offset = first->offset,
		.time_us = first->time_us,
		.begun = t->begun,
		.ended = t->ended,
		.rows = t->rows ? t->rows : 24,
		.cols = t->cols ? t->cols : 80};
	if (first->type == SEGMENT_SIZE)
		(void)segment_parse_size(first, &head.rows, &head.cols);
	snprintf(head.id, sizeof head.id, "%s", t->id);
	if (t->next > TAPE_SEGMENTS_MAX)
		return -EFBIG;
	put_file_name(t->next, TAPE_OPEN, file);
	int fd = openat(dir_fd, file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	size_t size = segment_put_head(&head, bytes);
	int rc = write_all(fd, bytes, size);
	if (rc < 0) {
		unlinkat(dir_fd, file, 0);
		close(fd);
		return rc;
	}
	t->number = t->next++;
	t->size = size;
	t->bytes = 0;
	t->started_us = first->time_us;
	return fd;
}

/*
 * Open the open segment, and truncate it to t->size. Returns its descriptor or a negative errno; -ENOENT: it is
 * gone.
 */
static int reopen(const struct tape *t, int dir_fd)
{
	struct stat st;
	char file[TAPE_FILE_SIZE];
	if (t->number == 0)
		return -ENOENT;
	put_file_name(t->number, TAPE_OPEN, file);
	int fd = openat(dir_fd, file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	if (rc == 0 && (uint64_t)st.st_size < t->size)
		rc = -ENOENT; /* another process has truncated it */
	if (rc == 0 && (uint64_t)st.st_size > t->size && ftruncate(fd, (off_t)t->size) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static int make_directory(const struct tape *t)
{
	int fd = open_directory(t);
	if (fd != -ENOENT)
		return fd;
	if (mkdirat(t->root_fd, t->name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_directory(t);
}

/* Open the segment to write to, or create it. */
static int open_segment(struct tape *t, int dir_fd, const struct segment_record *first)
{
	int fd = reopen(t, dir_fd);
	if (fd != -ENOENT)
		return fd;
	t->number = 0;
	return begin(t, dir_fd, first);
}

int tape_write(struct tape *t, struct segment_codec *codec, const uint8_t *records, size_t length)
{
	struct segment_record first;
	size_t at = 0, capacity = segment_frame_bound(length);
	if (segment_get_record(records, length, &at, &first) <= 0)
		return -EINVAL;
	uint8_t *frame = malloc(capacity);
	size_t size = frame ? segment_pack(codec, false, records, length, frame, capacity) : 0;
	int rc = size > 0 ? 0 : -ENOMEM, dir_fd = -1, fd = -1;
	if (rc == 0)
		rc = dir_fd = make_directory(t);
	if (rc >= 0)
		rc = fd = open_segment(t, dir_fd, &first);
	if (rc >= 0) {
		rc = write_all(fd, frame, size);
		/* If this fails too, reopen() truncates it. */
		if (rc < 0 && ftruncate(fd, (off_t)t->size) < 0)
			rc = -errno;
	}
	if (rc == 0) {
		t->size += size;
		note_records(t, records, length);
	}
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	free(frame);
	return rc;
}

/* Sealing */

bool tape_is_full(const struct tape *t, uint64_t now_us)
{
	return t->number > 0 &&
		(t->bytes >= TAPE_SEGMENT_BYTES || now_us > t->started_us + TAPE_SEGMENT_US);
}

int tape_seal(struct tape *t, struct segment_codec *codec)
{
	char file[TAPE_FILE_SIZE], fresh[TAPE_FILE_SIZE], sealed[TAPE_FILE_SIZE];
	if (t->number == 0)
		return 0;
	int dir_fd = open_directory(t), rc = dir_fd;
	if (dir_fd >= 0) {
		put_file_name(t->number, TAPE_OPEN, file);
		put_file_name(t->number, TAPE_NEW, fresh);
		put_file_name(t->number, TAPE_SEALED, sealed);
		rc = sealing_write(dir_fd, file, fresh, codec);
		if (rc == 0 && renameat(dir_fd, fresh, dir_fd, sealed) < 0)
			rc = -errno;
		if (rc < 0)
			unlinkat(dir_fd, fresh, 0);
		else
			unlinkat(dir_fd, file, 0);
		close(dir_fd);
	}
	/* -ENOENT: another process has removed it. */
	if (rc == 0 || rc == -ENOENT) {
		t->number = 0;
		rc = 0;
	}
	return rc;
}
