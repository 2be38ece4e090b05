#include "shell/store/document.h"
#include "tests/lib/folder_test.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(document, FOLDER_SUITE);

Test(document, is_read_as_it_was_saved)
{
	json_t *root,
		*wanted = json_pack("{s:s, s:[i, i]}", "name", "gr\xc3\xbc\xc3\x9f", "list", 1, 2);
	cr_assert_eq(document_save(folder.fd, "a.json", json_incref(wanted)), 0);
	cr_assert_eq(document_load(folder.fd, "a.json", 1000, &root), 0);
	cr_expect(json_equal(root, wanted));
	json_decref(root);
	json_decref(wanted);
}

Test(document, failed_save_keeps_the_old_one)
{
	json_t *root;
	cr_assert_eq(document_save(folder.fd, "a.json", json_pack("{s:i}", "a", 1)), 0);
	cr_expect_eq(document_save(folder.fd, "a.json", NULL), -ENOMEM);
	cr_expect_eq(document_save(-1, "a.json", json_object()), -EBADF);
	cr_assert_eq(document_load(folder.fd, "a.json", 1000, &root), 0);
	cr_expect_eq(json_integer_value(json_object_get(root, "a")), 1);
	json_decref(root);
}

Test(document, invalid_text)
{
	static const char *const cases[] = {"", "{", "{\"a\":1} x", "{\"a\":1,\"a\":2}", "\"text\""};
	json_t *root = NULL;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		folder_put(&folder, "b.json", cases[i]);
		cr_expect_eq(
			document_load(folder.fd, "b.json", 1000, &root), -EBADMSG, "%s", cases[i]);
	}
	cr_expect_eq(document_load(folder.fd, "none", 1000, &root), -ENOENT);
	folder_put(&folder, "b.json", "{\"a\":1}");
	cr_expect_eq(document_load(folder.fd, "b.json", 6, &root), -EFBIG);
	cr_expect_null(root);
}
