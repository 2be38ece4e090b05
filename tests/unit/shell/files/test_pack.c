#include "shell/files/temp_name.h"
#include "shell/files/pack.h"
#include "shell/files/stage.h"
#include "shell/files/unpack.h"
#include "tests/lib/placed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(pack, .init = placed_enter, .fini = placed_leave);
TestSuite(stage, .init = placed_enter, .fini = placed_leave);

static void make(const char *name, const char *text)
{
	int fd = openat(folder.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

struct text {
	char *bytes;
	size_t length, at, piece;
};

static struct text pack_with_losses(
	const char *path, const struct pack_options *options, size_t *ret_losses)
{
	struct text all = {0};
	struct pack *k;
	const char *bytes;
	size_t length;
	bool over = false;
	cr_assert_eq(pack_open(&place, path, options, &k), 0);
	while (!over) {
		cr_assert_eq(pack_next(k, &bytes, &length, &over), 0);
		cr_assert(length < 2 * PACK_PIECE);
		all.bytes = realloc(all.bytes, all.length + length + 1);
		memcpy(all.bytes + all.length, bytes, length);
		all.length += length;
	}
	*ret_losses = pack_losses(k)->count;
	pack_close(k);
	return all;
}

static struct text pack(const char *path, const struct pack_options *options)
{
	size_t losses;
	struct text all = pack_with_losses(path, options, &losses);
	cr_assert_eq(losses, 0);
	return all;
}

/* The archive in pieces of any size. */
static ssize_t next_piece(void *user, const void **ret_bytes)
{
	struct text *t = user;
	size_t left = t->length - t->at, n = left < t->piece ? left : t->piece;
	*ret_bytes = t->bytes + t->at;
	t->at += n;
	return (ssize_t)n;
}

static int put(struct text *archive, const char *path, const struct stage_options *options)
{
	struct stage s;
	struct unpack_result result;
	const struct unpack_options how = {
		.read = next_piece, .user = archive, .bytes_max = 1 << 20};
	char name[STAGE_NAME_MAX];
	int fd, rc = stage_open(&place, path, options, &s);
	if (rc < 0)
		return rc;
	rc = unpack(&s.place, &how, &result);
	if (rc == 0)
		rc = stage_commit(&s, &fd, name);
	if (rc == 0) {
		unpack_apply_directories(fd, &result, true);
		close(fd);
	}
	unpack_finish(&result);
	stage_abort(&s);
	return rc;
}

static bool leaves_out(void *user, const char *name)
{
	return strcmp(name, user) == 0;
}

Test(pack, round_trip_in_pieces_of_any_size)
{
	static const size_t pieces[] = {1, 7, 512, 10000, 1 << 20};
	const struct stage_options options = {.replace = true};
	struct stat st;
	cr_assert_eq(mkdirat(folder.fd, "from", 0750), 0);
	cr_assert_eq(mkdirat(folder.fd, "from/shut", 0700), 0);
	make("from/a", "text");
	make("from/shut/b", "more");
	cr_assert_eq(linkat(folder.fd, "from/a", folder.fd, "from/shut/same", 0), 0);
	cr_assert_eq(fchmodat(folder.fd, "from/shut", 0500, 0), 0);
	struct text archive = pack("from", NULL);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		archive.at = 0;
		archive.piece = pieces[i];
		cr_assert_eq(put(&archive, "to", &options), 0);
		cr_assert_eq(fstatat(folder.fd, "to", &st, 0), 0);
		cr_assert_eq(st.st_mode & 0777, 0750);
		cr_assert_eq(fstatat(folder.fd, "to/shut", &st, 0), 0);
		cr_assert_eq(st.st_mode & 0777, 0500);
		cr_assert_eq(fstatat(folder.fd, "to/shut/same", &st, 0), 0);
		cr_assert_eq(st.st_nlink, 2);
	}
	fchmodat(folder.fd, "from/shut", 0700, 0);
	fchmodat(folder.fd, "to/shut", 0700, 0);
	free(archive.bytes);
}

Test(pack, excluded_directories_are_left_out_with_their_contents)
{
	char excluded[] = "e";
	cr_assert_eq(mkdirat(folder.fd, "d", 0700), 0);
	cr_assert_eq(mkdirat(folder.fd, "d/e", 0700), 0);
	make("d/e/f", "x");
	make("d/.ringside-0123456789abcdef", "x");
	make("d/.ringside-other", "x");
	struct text archive = pack(
		"d", &(struct pack_options){.excludes = leaves_out, .user = excluded});
	cr_assert_null(memmem(archive.bytes, archive.length, "./e", 3));
	cr_assert_null(memmem(archive.bytes, archive.length, "0123456789abcdef", 16));
	cr_assert_not_null(memmem(archive.bytes, archive.length, ".ringside-other", 15));
	free(archive.bytes);
}

/* Drop all capabilities, so that modes apply to root too. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {{0}};
	cr_assert_eq(syscall(SYS_capset, &header, sets), 0);
}

Test(pack, unreadable_file_has_no_links_to_it)
{
	const struct stage_options options = {.replace = true};
	struct stat st;
	size_t losses;
	cr_assert_eq(mkdirat(folder.fd, "from", 0700), 0);
	make("from/a", "text");
	make("from/c", "more");
	cr_assert_eq(linkat(folder.fd, "from/a", folder.fd, "from/b", 0), 0);
	cr_assert_eq(fchmodat(folder.fd, "from/a", 0, 0), 0);
	drop_capabilities();
	struct text archive = pack_with_losses("from", NULL, &losses);
	archive.piece = PACK_PIECE;
	cr_expect_eq(losses, 2);
	cr_assert_eq(put(&archive, "to", &options), 0);
	cr_expect_eq(fstatat(folder.fd, "to/c", &st, 0), 0);
	cr_expect_neq(fstatat(folder.fd, "to/b", &st, 0), 0);
	free(archive.bytes);
}

Test(pack, only_directories_can_be_packed)
{
	struct pack *k;
	make("file", "x");
	cr_assert_eq(pack_open(&place, "file", NULL, &k), -ENOTDIR);
	cr_assert_eq(pack_open(&place, "none", NULL, &k), -ENOENT);
}

/* If a piece reports an error, unpacking fails with it and leaves nothing. */
static ssize_t fail_in_the_middle(void *user, const void **ret_bytes)
{
	struct text *t = user;
	return t->at > 0 ? -ECANCELED : next_piece(t, ret_bytes);
}

Test(stage, failure_leaves_nothing)
{
	struct stage s;
	struct unpack_result result;
	cr_assert_eq(mkdirat(folder.fd, "from", 0700), 0);
	make("from/a", "text");
	struct text archive = pack("from", NULL);
	archive.piece = 1600;
	const struct unpack_options how = {
		.read = fail_in_the_middle, .user = &archive, .bytes_max = 1 << 20};
	cr_assert_eq(stage_open(&place, "to", &(struct stage_options){.replace = false}, &s), 0);
	cr_assert(temp_name_matches(s.entry.name));
	cr_assert_eq(unpack(&s.place, &how, &result), -ECANCELED);
	unpack_finish(&result);
	stage_abort(&s);
	cr_assert_eq(faccessat(folder.fd, "to", F_OK, 0), -1);
	cr_assert_eq(faccessat(folder.fd, s.entry.name, F_OK, 0), -1);
	free(archive.bytes);
}

Test(stage, leftovers_are_removed_unless_in_use)
{
	struct stage a, b;
	char name[NAME_MAX + 1];
	cr_assert_eq(stage_open(&place, "to", &(struct stage_options){.replace = false}, &a), 0);
	memcpy(name, a.entry.name, sizeof name);
	cr_assert_eq(stage_open(&place, "to", &(struct stage_options){.replace = false}, &b), 0);
	cr_assert_str_neq(b.entry.name, name);
	cr_assert_eq(faccessat(folder.fd, name, F_OK, 0), 0);
	stage_abort(&a);
	stage_abort(&b);
	/* As after kill -9: no process holds its lock. */
	cr_assert_eq(mkdirat(folder.fd, name, 0700), 0);
	cr_assert_eq(stage_open(&place, "to", &(struct stage_options){.replace = false}, &a), 0);
	cr_assert_str_eq(a.entry.name, name);
	stage_abort(&a);
	cr_assert_eq(faccessat(folder.fd, name, F_OK, 0), -1);
}

Test(temp_name, names_are_recognised)
{
	cr_assert(temp_name_matches(".ringside-0123456789abcdef"));
	cr_assert(temp_name_matches(".ringside-0123456789abcdef-stage"));
	cr_assert_not(temp_name_matches(".ringside-0123456789abcde"));
	cr_assert_not(temp_name_matches(".ringside-0123456789abcdefg"));
	cr_assert_not(temp_name_matches(".ringside-backups"));
	cr_assert_not(temp_name_matches("ringside"));
}
