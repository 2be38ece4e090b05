#include "ws/preview/previews.h"

#include "tests/lib/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct previews all;
static struct folder folder;
static unsigned ended;

static void open_all(void)
{
	all = (struct previews){0};
	cr_assert_eq(previews_open(&all, NULL, NULL, folder.fd), 0);
}

static void set_up(void)
{
	folder_make(&folder);
	open_all();
}

static void tear_down(void)
{
	previews_close(&all);
	folder_remove(&folder);
}

static struct preview *add(unsigned port, const char *token, const char *link)
{
	struct preview terms = {.name.port = port}, *p = NULL;
	snprintf(terms.name.token, sizeof terms.name.token, "%s", token);
	snprintf(terms.link, sizeof terms.link, "%s", link);
	return previews_add(&all, &terms, &p) == 0 ? p : NULL;
}

static void on_ended(void *user)
{
	ended++;
	cr_assert_null(((struct preview_user *)user)->previews);
}

TestSuite(previews, .init = set_up, .fini = tear_down, .timeout = 20);

Test(previews, all_parts_of_the_name_must_match)
{
	struct preview *p = add(5173, "", "");
	struct preview_name name = p->name;
	cr_assert_eq(strlen(name.token), PREVIEW_TOKEN_MAX);
	cr_assert_eq(previews_find(&all, &name), p);
	name.port++;
	cr_assert_null(previews_find(&all, &name));
	name = p->name;
	name.token[3] ^= 1;
	cr_assert_null(previews_find(&all, &name));
	name = p->name;
	strcpy(name.id, "x");
	cr_assert_null(previews_find(&all, &name));
	cr_assert_not_null(add(5173, "", ""));
	cr_assert_not_null(add(5173, "chosen_1", ""));
	cr_assert_null(add(5174, "chosen_1", ""), "a token belongs to one preview");
}

Test(previews, end_closes_their_connections)
{
	struct preview *p = add(5173, "", ""), *other = add(5174, "", "");
	struct preview_user users[3];
	for (size_t i = 0; i < 3; i++)
		users[i] = (struct preview_user){.ended = on_ended, .user = &users[i]};
	cr_assert(preview_attach(&all, p, &users[0]));
	cr_assert(preview_attach(&all, other, &users[1]));
	cr_assert(preview_attach(&all, NULL, &users[2]));
	cr_assert_eq(all.users_count, 3);
	preview_revoke(p);
	cr_assert_eq(ended, 1);
	cr_assert_eq(all.users_count, 2);
	preview_detach(&users[0]);
	preview_detach(&users[1]);
	preview_detach(&users[2]);
	preview_detach(&users[2]);
	cr_assert_eq(all.users_count, 0);
	preview_revoke(other);
	cr_assert_eq(ended, 1);
}

Test(previews, number_is_limited)
{
	static struct preview_user users[PREVIEWS_USERS_MAX + 1];
	struct preview *p = add(5173, "", "");
	for (size_t i = 0; i < PREVIEW_USERS_MAX; i++)
		cr_assert(preview_attach(&all, p, &users[i]));
	cr_assert_not(preview_attach(&all, p, &users[PREVIEW_USERS_MAX]));
	for (size_t i = PREVIEW_USERS_MAX; i < PREVIEWS_USERS_MAX; i++)
		cr_assert(preview_attach(&all, NULL, &users[i]));
	cr_assert_not(preview_attach(&all, NULL, &users[PREVIEWS_USERS_MAX]));
	for (size_t i = 0; i < PREVIEWS_USERS_MAX; i++)
		preview_detach(&users[i]);
	for (unsigned i = 0; i < PREVIEWS_OF_LINK; i++)
		cr_assert_not_null(add(2000 + i, "", "a"));
	cr_assert_null(add(2999, "", "a"));
	cr_assert_not_null(add(2999, "", "b"));
	while (all.count < PREVIEWS_MAX)
		cr_assert_not_null(add(3000, "", ""));
	cr_assert_null(add(3000, "", ""));
}

Test(previews, previews_of_owners_are_stored)
{
	struct preview_name kept = add(5173, "", "")->name, lost = add(5174, "", "link")->name;
	previews_store(&all, NULL, NULL);
	previews_close(&all);
	open_all();
	cr_assert_eq(all.count, 1);
	cr_assert_not_null(previews_find(&all, &kept));
	cr_assert_null(previews_find(&all, &lost));
	preview_revoke(previews_find(&all, &kept));
	previews_close(&all);
	open_all();
	cr_assert_eq(all.count, 0, "a revoked one has come back");
}

Test(previews, invalid_file_gives_no_preview)
{
	static const char *const texts[] = {"", "{", "{}", "[1, {}, null]",
		"[{\"port\": 80, \"id\": \"s\", \"token\": \"aaaaaaaa\", \"session\": \"\", \"epoch\": 0, \"title\": \"\", \"author\": \"\", \"created\": 0}]",
		"[{\"port\": 5173, \"id\": \"s\", \"token\": \"\", \"session\": \"\", \"epoch\": 0, \"title\": \"\", \"author\": \"\", \"created\": 0}]"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		folder_put(&folder, "previews.json", texts[i]);
		previews_close(&all);
		open_all();
		cr_assert_eq(all.count, 0, "%s", texts[i]);
	}
}

Test(previews, own_ports_are_recognised)
{
	cr_assert_not(previews_is_own(&all, 7070));
	previews_add_own(&all, 7070);
	cr_assert(previews_is_own(&all, 7070));
}
