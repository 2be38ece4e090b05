#include "shell/recording/retention.h"
#include "shell/recording/segment_reader.h"
#include "shell/recording/tape.h"
#include "tests/lib/folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct folder folder;
static struct segment_codec *codec;
static struct tape t;
static char text[256];

static struct tape tape_of(const char *id)
{
	struct tape opened = {.root_fd = folder.fd, .epoch = 0x123};
	snprintf(opened.id, sizeof opened.id, "%s", id);
	cr_assert_eq(tape_open(&opened), 0);
	return opened;
}

/* Append a record of output. */
static void write_output(struct tape *to, const char *what)
{
	uint8_t bytes[256];
	const struct segment_record r = {.type = SEGMENT_OUTPUT,
		.offset = to->end,
		.time_us = to->time_us + 1,
		.payload = (const uint8_t *)what,
		.length = strlen(what)};
	cr_assert_eq(tape_write(to, codec, bytes, segment_put_record(&r, bytes, sizeof bytes)), 0);
}

/* All output of a segment file must be this. */
static void expect_output(const struct tape *of, const char *file, const char *want)
{
	char path[TAPE_NAME_SIZE + TAPE_FILE_SIZE + 2];
	struct segment_reader *reader;
	struct segment_record r;
	size_t length = 0;
	snprintf(path, sizeof path, "%s/%s", of->name, file);
	cr_assert_eq(segment_reader_open(folder.fd, path, &reader), 0);
	while (segment_reader_next(reader, &r) > 0) {
		memcpy(text + length, r.payload, r.length);
		length += r.length;
	}
	text[length] = '\0';
	segment_reader_close(reader);
	cr_assert_str_eq(text, want);
}

static int file_of(const char *file, int flags)
{
	char path[TAPE_NAME_SIZE + TAPE_FILE_SIZE + 2];
	snprintf(path, sizeof path, "%s/%s", t.name, file);
	return openat(folder.fd, path, flags);
}

static void set_up(void)
{
	folder_make(&folder);
	codec = segment_codec_create();
	t = tape_of("s");
	write_output(&t, "one ");
}

static void tear_down(void)
{
	segment_codec_destroy(codec);
	folder_remove(&folder);
}

/* Each test has a tape with the output "one ". */
TestSuite(tape, .init = set_up, .fini = tear_down);
TestSuite(retention, .init = set_up, .fini = tear_down);

Test(tape, names_are_read_as_they_are_written)
{
	char name[TAPE_NAME_SIZE], id[NAME_ID_MAX + 1];
	uint64_t epoch;
	tape_name("a-b", 0xabc, name);
	cr_assert_str_eq(name, "a-b+0000000000000abc");
	cr_assert(tape_parse_name(name, id, &epoch));
	cr_assert_str_eq(id, "a-b");
	cr_assert_eq(epoch, 0xabc);
	static const char *const invalid[] = {"", "a", "a+1", "+0000000000000abc",
		"../x+0000000000000abc", "a+0000000000000ABC", "a+ 000000000000abc",
		".a+0000000000000abc", "a+0000000000000abc0"};
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		cr_assert(!tape_parse_name(invalid[i], id, &epoch), "%s", invalid[i]);
}

Test(tape, file_names_are_parsed)
{
	uint64_t number;
	cr_assert_eq(tape_parse_file("00000012.zst", &number), TAPE_SEALED);
	cr_assert_eq(number, 12);
	cr_assert_eq(tape_parse_file("00000012.open", &number), TAPE_OPEN);
	cr_assert_eq(tape_parse_file("12.zst", &number), TAPE_NONE);
	cr_assert_eq(tape_parse_file("00000000.zst", &number), TAPE_NONE);
	cr_assert_eq(tape_parse_file("100000000.zst", &number), TAPE_NONE);
	cr_assert_eq(tape_parse_file("00000012.zst.new", &number), TAPE_NONE);
}

Test(tape, another_tape_continues_at_the_end)
{
	write_output(&t, "two ");
	struct tape next = tape_of("s");
	cr_assert_eq(next.end, 8);
	cr_assert_eq(next.number, 1);
	cr_assert_eq(next.bytes, t.bytes);
	write_output(&next, "three");
	expect_output(&next, "00000001.open", "one two three");
}

Test(tape, torn_record_is_cut_off)
{
	uint64_t whole = t.size;
	write_output(&t, "two ");
	for (uint64_t cut = t.size - 1; cut >= whole; cut--) {
		int fd = file_of("00000001.open", O_WRONLY);
		cr_assert_eq(ftruncate(fd, (off_t)cut), 0);
		close(fd);
		struct tape next = tape_of("s");
		cr_assert_eq(next.end, 4, "cut at %llu", (unsigned long long)cut);
		cr_assert_eq(next.size, whole);
		write_output(&next, "two ");
		cr_assert_eq(next.size, t.size);
	}
}

Test(tape, garbage_after_the_end_is_cut_off)
{
	memset(text, 0x55, sizeof text);
	int fd = file_of("00000001.open", O_WRONLY | O_APPEND);
	cr_assert_eq(write(fd, text, 100), 100);
	close(fd);
	struct tape next = tape_of("s");
	write_output(&next, "two");
	expect_output(&next, "00000001.open", "one two");
}

Test(tape, segment_without_a_head_is_replaced)
{
	int fd = file_of("00000001.open", O_WRONLY);
	cr_assert_eq(ftruncate(fd, 20), 0);
	close(fd);
	struct tape next = tape_of("s");
	cr_assert_eq(next.end, 0);
	cr_assert_eq(next.rows, 0);
	cr_assert_eq(file_of("00000001.open", O_RDONLY), -1);
	write_output(&next, "one ");
	cr_assert_eq(next.number, 2);
}

Test(tape, sealed_segment_has_the_same_records_and_an_index)
{
	uint8_t *index;
	size_t count;
	struct segment_reader *reader;
	write_output(&t, "two ");
	cr_assert_eq(tape_seal(&t, codec), 0);
	cr_assert_eq(t.number, 0);
	expect_output(&t, "00000001.zst", "one two ");
	cr_assert_eq(file_of("00000001.open", O_RDONLY), -1);
	cr_assert_eq(segment_reader_open(folder.fd, "s+0000000000000123/00000001.zst", &reader), 0);
	cr_assert_eq(segment_reader_index(reader, &index, &count), 0);
	cr_assert_eq(count, 1);
	cr_assert_eq(segment_entry(index, 0).kind, SEGMENT_FRAME);
	free(index);
	segment_reader_close(reader);
	struct tape next = tape_of("s");
	cr_assert_eq(next.end, 8);
	write_output(&next, "three");
	cr_assert_eq(next.number, 2);
	expect_output(&next, "00000002.open", "three");
}

Test(tape, open_segment_left_beside_its_sealed_copy_is_removed)
{
	cr_assert_eq(linkat(folder.fd, "s+0000000000000123/00000001.open", folder.fd, "kept", 0), 0);
	cr_assert_eq(tape_seal(&t, codec), 0);
	cr_assert_eq(linkat(folder.fd, "kept", folder.fd, "s+0000000000000123/00000001.open", 0), 0);
	struct tape next = tape_of("s");
	cr_assert_eq(next.end, 4);
	write_output(&next, "two");
	expect_output(&next, "00000002.open", "two");
	cr_assert_eq(file_of("00000001.open", O_RDONLY), -1);
	unlinkat(folder.fd, "kept", 0);
}

Test(tape, segment_of_another_session_is_not_continued)
{
	cr_assert_eq(renameat(folder.fd, t.name, folder.fd, "s+0000000000000999"), 0);
	struct tape other = {.root_fd = folder.fd, .epoch = 0x999, .id = "s"};
	cr_assert_eq(tape_open(&other), 0);
	cr_assert_eq(other.end, 0);
	cr_assert_eq(other.rows, 0);
}

Test(tape, failed_write_keeps_earlier_output)
{
	cr_assert_eq(fchmodat(folder.fd, t.name, 0500, 0), 0);
	struct tape broken = t;
	broken.root_fd = -1;
	uint8_t bytes[64];
	const struct segment_record r = {
		.type = SEGMENT_OUTPUT, .offset = 4, .payload = bytes, .length = 1};
	bytes[0] = 'x';
	cr_assert_lt(
		tape_write(&broken, codec, bytes, segment_put_record(&r, bytes, sizeof bytes)), 0);
	cr_assert_eq(broken.end, 4);
	cr_assert_eq(fchmodat(folder.fd, t.name, 0700, 0), 0);
	write_output(&t, "two");
	expect_output(&t, "00000001.open", "one two");
}

static void age(const char *file, time_t seconds)
{
	const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	cr_assert_eq(utimensat(folder.fd, file, times, 0), 0);
}

Test(retention, oldest_segments_are_removed_first_and_the_open_one_stays)
{
	struct stat st;
	for (int i = 0; i < 3; i++) {
		char file[64];
		write_output(&t, "something");
		snprintf(file, sizeof file, "s+0000000000000123/0000000%d.zst", i + 1);
		cr_assert_eq(tape_seal(&t, codec), 0);
		cr_assert_eq(fstatat(folder.fd, file, &st, 0), 0);
		age(file, 1000 + i);
	}
	write_output(&t, "now");
	age("s+0000000000000123/00000004.open", 1000);
	const struct retention limits = {.bytes = (uint64_t)st.st_size * 2 + t.size};
	cr_assert_eq(retention_enforce(folder.fd, &limits, 1010), 0);
	cr_assert_eq(file_of("00000001.zst", O_RDONLY), -1);
	int second = file_of("00000002.zst", O_RDONLY), open = file_of("00000004.open", O_RDONLY);
	cr_assert(second >= 0 && open >= 0);
	close(second);
	close(open);
	const struct retention young = {.age_s = 5};
	cr_assert_eq(retention_enforce(folder.fd, &young, 1010), 0);
	cr_assert_eq(file_of("00000003.zst", O_RDONLY), -1);
	cr_assert_eq(retention_enforce(folder.fd, &young, 1000 + RETENTION_ORPHAN_S + 10), 0);
	cr_assert_eq(fstatat(folder.fd, t.name, &st, 0), -1);
}
