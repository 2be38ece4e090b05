#include "ring/search/pattern.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 256u

static struct pattern *compile(const char *text, unsigned flags)
{
	struct pattern *p = NULL;
	const char *problem = NULL;
	int rc = pattern_create(&p, text, strlen(text), flags, &problem);
	cr_assert_eq(rc, 0, "%s: %s", text, problem);
	return p;
}

static size_t widen(const char *text, uint32_t *codes)
{
	size_t n = 0;
	for (const uint8_t *at = (const uint8_t *)text; *at; n++) {
		unsigned size = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
		codes[n] = size == 1 ? *at : *at & (0x7fu >> size);
		for (unsigned i = 1; i < size; i++)
			codes[n] = codes[n] << 6 | (at[i] & 0x3fu);
		at += size;
	}
	return n;
}

/* All matches, as "start-end start-end". */
static const char *find_all(const char *pattern, unsigned flags, const char *text)
{
	static char found[256];
	uint32_t codes[TEXT_MAX];
	uint64_t work = UINT64_MAX;
	struct pattern_match at = {0};
	size_t count = widen(text, codes), length = 0;
	struct pattern *p = compile(pattern, flags);
	found[0] = '\0';
	while (pattern_find(p, codes, count, at.end, &work, &at))
		length += (size_t)snprintf(found + length, sizeof found - length, "%s%zu-%zu",
			length > 0 ? " " : "", at.start, at.end);
	pattern_destroy(p);
	return found;
}

static const struct {
	const char *pattern, *text, *want;
} expressions[] = {
	{"abc", "xabcabcx", "1-4 4-7"},
	{"a", "bbb", ""},
	{".", "aé界", "0-1 1-2 2-3"},
	{"a*", "baac", "1-3"},
	{"a+", "baaac", "1-4"},
	{"ab?c", "ac abc abbc", "0-2 3-6"},
	{"a|ab|abc", "abcd", "0-3"},
	{"(a|ab)(c|bcd)", "abcd", "0-4"},
	{"x*|b", "aab", "2-3"},
	{"(ab)+", "ababa", "0-4"},
	{"a{2}", "aaaaa", "0-2 2-4"},
	{"a{2,}", "a aa aaa", "2-4 5-8"},
	{"a{1,2}b", "aaab", "1-4"},
	{"a{0}b", "ab", "1-2"},
	{"(a{2}){2}", "aaaaa", "0-4"},
	{"^a", "aa", "0-1"},
	{"a$", "aa", "1-2"},
	{"^$", "", ""},
	{"[abc]+", "xxcabyy", "2-5"},
	{"[^abc]+", "cabyyc", "3-5"},
	{"[]x]+", "a]x]", "1-4"},
	{"[^]x]", "]xa", "2-3"},
	{"[a-c0-9-]+", "zb-7z", "1-4"},
	{"[[:digit:]]+", "ab123", "2-5"},
	{"[[:alpha:]_]+", "12über_x 3", "2-8"},
	{"[\\w-]+", "+a_b-c+", "1-6"},
	{"[\\]\\\\]+", "a\\]b", "1-3"},
	{"\\d+\\.\\d+", "v12.34", "1-6"},
	{"\\W", "a_b c", "3-4"},
	{"[^\\W]+", "-a_b-", "1-4"},
	{"\\S+\\s\\D", "ab c", "0-4"},
	{"\\bfoo\\b", "food foo", "5-8"},
	{"\\<f", "of f", "3-4"},
	{"o\\>", "oo", "1-2"},
	{"\\Bo", "of foo", "4-5 5-6"},
	{"\\t", "a\tb", "1-2"},
	{"a{,2}", "a{,2}", "0-5"},
	{"{", "{", "0-1"},
	{"()*a", "a", "0-1"},
	{"(|a)+b", "aab", "0-3"},
	{"(a*)*b", "aab", "0-3"},
	{"\\(\\*\\)", "(*)", "0-3"},
	{"界+", "世界界", "1-3"},
	{"[α-ω]+", "aαβγb", "1-4"},
};

Test(pattern_find, expressions)
{
	for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
		const char *found = find_all(
			expressions[i].pattern, PATTERN_REGEX, expressions[i].text);
		cr_expect_str_eq(found, expressions[i].want, "%s in %s: %s, not %s",
			expressions[i].pattern, expressions[i].text, found, expressions[i].want);
	}
}

Test(pattern_find, plain_text_has_no_special_characters)
{
	cr_expect_str_eq(find_all("a.*(b", 0, "aab a.*(b"), "4-9");
	cr_expect_str_eq(find_all("\\d{2}", 0, "12 \\d{2}"), "3-8");
}

Test(pattern_find, ignores_case)
{
	cr_expect_str_eq(find_all("HeLLo", PATTERN_ANY_CASE, "hello HELLO"), "0-5 6-11");
	cr_expect_str_eq(find_all("straße Ü", PATTERN_ANY_CASE, "STRAßE ü"), "0-8");
	cr_expect_str_eq(find_all("[a-c]x", PATTERN_ANY_CASE | PATTERN_REGEX, "BX"), "0-2");
	cr_expect_str_eq(find_all("[A-C]x", PATTERN_ANY_CASE | PATTERN_REGEX, "bx"), "0-2");
	cr_expect_str_eq(find_all("[^a]", PATTERN_ANY_CASE | PATTERN_REGEX, "Aa"), "");
	cr_expect_str_eq(find_all("hello", 0, "HELLO"), "");
}

Test(pattern_create, syntax_errors_are_reported)
{
	static const char *const wrong[] = {"(", ")", "a)", "(a", "[", "[a", "[]", "[^]",
		"[[:nope:]]", "[[:alpha", "*", "+a", "a|*", "(?:a)", "\\", "\\1", "(a)\\1", "\\q",
		"[\\q]", "a{2,1}", "a{256}", "a{1", "a{1,", "a{99999999999}", "[b-a]", "[a-\\d]",
		"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct pattern *p = NULL;
		const char *problem = NULL;
		int rc = pattern_create(&p, wrong[i], strlen(wrong[i]), PATTERN_REGEX, &problem);
		cr_expect_eq(rc, -EINVAL, "%s: %d", wrong[i], rc);
		cr_expect(problem != NULL && p == NULL, "%s", wrong[i]);
		pattern_destroy(p);
	}
}

Test(pattern_create, too_large_patterns_are_refused)
{
	static const char *const large[] = {
		"(((a{255}){255}){255}){255}", "a{255}b{255}c{255}", "((a|b){100}){6}"};
	char text[PATTERN_BYTES_MAX + 2];
	struct pattern *p = NULL;
	const char *problem;
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		cr_expect_eq(pattern_create(&p, large[i], strlen(large[i]), PATTERN_REGEX, &problem),
			-EINVAL, "%s", large[i]);
	memset(text, 'x', sizeof text);
	cr_assert_eq(pattern_create(&p, text, PATTERN_BYTES_MAX + 1, 0, &problem), -EINVAL);
	cr_assert_eq(pattern_create(&p, text, 0, 0, &problem), -EINVAL);
	cr_assert_eq(pattern_create(&p, text, PATTERN_BYTES_MAX - 1, 0, &problem), 0);
	pattern_destroy(p);
	memset(text, '(', sizeof text);
	cr_assert_eq(pattern_create(&p, text, 200, PATTERN_REGEX, &problem), -EINVAL);
	memset(text, '|', sizeof text);
	cr_assert_eq(pattern_create(&p, text, 200, PATTERN_REGEX, &problem), 0);
	pattern_destroy(p);
}

/* The work is at most the text's length times the pattern's, for any pattern. */
Test(pattern_find, no_pattern_is_catastrophic, .timeout = 30)
{
	static const char *const evil[] = {"(a*)*b", "(a+)+$b", "(a|aa)+b", "(a|a)*b",
		"(.*)(.*)(.*)(.*)(.*)x", "(a?){100}a{100}b", "((a*)*)*b", "(x+x+)+y",
		"a*a*a*a*a*a*b", "(a|b)*a(a|b){50}c", "^(([a-z])+.)+[A-Z]([a-z])+$",
		"([a-d]|[a-f]|[a-h]){60}q", "(|a)+(|a)+(|a)+b"};
	enum { COUNT = 4096 };
	static uint32_t codes[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		codes[i] = 'a';
	for (size_t i = 0; i < sizeof evil / sizeof *evil; i++) {
		const uint64_t most = (uint64_t)COUNT * PATTERN_STATES_MAX * 3;
		uint64_t work = UINT64_MAX;
		struct pattern_match at;
		struct pattern *p = compile(evil[i], PATTERN_REGEX);
		cr_expect_not(pattern_find(p, codes, COUNT, 0, &work, &at), "%s", evil[i]);
		cr_expect_leq(UINT64_MAX - work, most, "%s", evil[i]);
		pattern_destroy(p);
	}
}

static void write_random(struct random *r, char *to, unsigned depth)
{
	static const char *const pieces[] = {
		"a", "b", "a*", "b+", "ab?", ".", "[ab]", "[^a]", "a{2}", "b{1,2}", "c", "(a|b)*"};
	unsigned count = 1 + (unsigned)random_below(r, 3);
	for (unsigned i = 0; i < count; i++) {
		if (depth > 0 && random_below(r, 3) == 0) {
			static const char *const ends[] = {")", ")*", ")+", ")?", ")|b", ")|"};
			strcat(to, "(");
			write_random(r, to, depth - 1);
			strcat(to, ends[random_below(r, 6)]);
		} else {
			strcat(to, pieces[random_below(r, sizeof pieces / sizeof *pieces)]);
		}
	}
}

/* Results equal those of libc's regexec(), except for empty matches. */
Test(pattern_find, same_matches_as_regexec, .timeout = 60)
{
	struct random r = {.state = 7};
	unsigned compared = 0;
	for (unsigned round = 0; round < 3000; round++) {
		char text[512] = "", subject[16];
		regex_t libc;
		write_random(&r, text, 3);
		cr_assert_eq(regcomp(&libc, text, REG_EXTENDED), 0, "%s", text);
		struct pattern *p = compile(text, PATTERN_REGEX);
		for (unsigned k = 0; k < 20; k++) {
			struct pattern_match at = {0};
			size_t length = random_below(&r, 12);
			uint32_t codes[16];
			uint64_t work = UINT64_MAX;
			regmatch_t want;
			for (size_t i = 0; i < length; i++)
				subject[i] = (char)('a' + random_below(&r, 3));
			subject[length] = '\0';
			bool found = pattern_find(p, codes, widen(subject, codes), 0, &work, &at);
			bool matched = regexec(&libc, subject, 1, &want, 0) == 0;
			cr_assert(matched || !found, "%s in %s", text, subject);
			if (!matched || want.rm_so == want.rm_eo)
				continue;
			compared++;
			cr_assert(found && at.start == (size_t)want.rm_so &&
					at.end == (size_t)want.rm_eo,
				"%s in %s: %d %zu-%zu, not %d-%d", text, subject, found, at.start,
				at.end, (int)want.rm_so, (int)want.rm_eo);
		}
		pattern_destroy(p);
		regfree(&libc);
	}
	cr_assert_gt(compared, 10000);
}
