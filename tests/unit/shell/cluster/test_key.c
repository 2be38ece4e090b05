#include "shell/cluster/key.h"

#include <criterion/criterion.h>
#include <string.h>

Test(key, ids_are_one_token_each)
{
	char key[BUCKET_KEY_SIZE];
	struct object_id o = {OBJECT_SESSION, "a.b:c@d-e_F9"}, back;
	key_of_object(&o, key);
	cr_assert_str_eq(key, "id.session.a=2Eb=3Ac=40d-e_F9");
	key_of_index("node-1.example", &o, key);
	cr_assert_str_eq(key, "at.node-1=2Eexample.session.a=2Eb=3Ac=40d-e_F9");
	cr_assert(key_parse_index(key, &back));
	cr_assert_eq(back.kind, OBJECT_SESSION);
	cr_assert_str_eq(back.id, o.id);
}

Test(key, the_longest_names_fit)
{
	char key[BUCKET_KEY_SIZE], node[KEY_NODE_MAX + 1];
	struct object_id o = {.kind = OBJECT_PROCESS}, back;
	memset(o.id, ':', NAME_ID_MAX);
	memset(node, '.', KEY_NODE_MAX);
	node[0] = 'n';
	node[KEY_NODE_MAX] = '\0';
	key_of_index(node, &o, key);
	cr_assert(key_parse_index(key, &back));
	cr_assert_str_eq(back.id, o.id);
	key_of_node(node, key);
	cr_assert(key_parse_node(key, node));
	cr_assert_eq(strlen(node), KEY_NODE_MAX);
}

Test(key, names_of_nodes)
{
	static const char *const good[] = {"a", "node-1", "A.b_c-9"};
	static const char *const bad[] = {"", ".a", "-a", "a b", "a/b", "a*", "a>", "\xc3\xa4"};
	char longest[KEY_NODE_MAX + 2];
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		cr_assert(key_is_node(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_assert_not(key_is_node(bad[i]), "%s", bad[i]);
	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	cr_assert_not(key_is_node(longest));
}

Test(key, invalid_keys_are_refused)
{
	static const char *const bad[] = {"", "at", "at.", "at.a", "at.a.session", "at.a.session.",
		"at.a.session.x.y", "at.a.other.x", "at..session.x", "id.session.x",
		"at.a.session.=", "at.a.session.=2", "at.a.session.=41", "at.a.session.=2e",
		"at.a.session.=00", "at.a.session.a=2Fb", "at.a.session.=2Ex", "at.a.session.a b"};
	struct object_id o;
	char node[KEY_NODE_MAX + 1];
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_assert_not(key_parse_index(bad[i], &o), "%s", bad[i]);
	cr_assert_not(key_parse_node("node.", node));
	cr_assert_not(key_parse_node("node.a.b", node));
	cr_assert_not(key_parse_node("node.=2Ea", node));
}
