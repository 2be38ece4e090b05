"""The home directory of scenes: small files of all kinds, made anew for each scene."""
import os
import shutil
import subprocess

SOURCE = '''/* Words of a text, counted: a program to look at. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024 /* a power of two */

struct word {
	struct word *next;
	unsigned count;
	char text[];
};

static struct word *table[BUCKETS];

static unsigned hash(const char *s)
{
	unsigned h = 5381;
	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h & (BUCKETS - 1);
}

/* Count one more, and make an entry for a word that is new. */
static int add(const char *s)
{
	struct word **place = &table[hash(s)];
	for (struct word *w = *place; w; w = w->next) {
		if (strcmp(w->text, s) == 0) {
			w->count++;
			return 0;
		}
	}
	struct word *w = malloc(sizeof *w + strlen(s) + 1);
	if (!w)
		return -1;
	strcpy(w->text, s);
	w->count = 1;
	w->next = *place;
	*place = w;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct word *const *x = a, *const *y = b;
	if ((*x)->count != (*y)->count)
		return (*x)->count < (*y)->count ? 1 : -1;
	return strcmp((*x)->text, (*y)->text);
}

static void print_all(FILE *out, unsigned limit)
{
	size_t n = 0;
	struct word **all = NULL;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct word *w = table[i]; w; w = w->next) {
			all = realloc(all, (n + 1) * sizeof *all);
			all[n++] = w;
		}
	}
	qsort(all, n, sizeof *all, compare);
	for (size_t i = 0; i < n && i < limit; i++)
		fprintf(out, "%8u  %s\\n", all[i]->count, all[i]->text);
	free(all);
}

int main(int argc, char **argv)
{
	char word[64];
	size_t length = 0;
	int c;
	unsigned limit = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	while ((c = getchar()) != EOF) {
		if (isalpha(c) && length < sizeof word - 1) {
			word[length++] = (char)tolower(c);
		} else if (length > 0) {
			word[length] = '\\0';
			if (add(word) < 0)
				return EXIT_FAILURE;
			length = 0;
		}
	}
	print_all(stdout, limit);
	return EXIT_SUCCESS;
}
'''

BROKEN = '''#include <stdio.h>

struct point { int x, y; };
static const char *name = 'abc';

int main(void)
{
	struct point p = { .x = 1, .z = 2 };
	int unused, i;
	for (i = 0; i < 10; i++);
		printf("%s %d\\n", i, p.w);
	if (i = 3)
		retrun 1;
	undeclared(p)
	return "zero";
}
'''

# Wide, combining, joined, invisible and right-to-left characters, and lines that end at every column.
WIDE = '''日本語の文章は、端末では一文字が二桁を占めます。折り返しの位置に半分だけ残ることがあります。
한국어 문장도 두 칸씩 차지합니다. 줄바꿈이 어디서 일어나는지 보세요. 中文也是一樣的，全角標點符號。
Combining: e\u0301 a\u0308 o\u0302\u0323 n\u0303 Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e A\u030a \u0915\u094d\u0937 \u0e01\u0e33 \u1112\u1161\u11ab
Emoji: 😀 🎉 🚀 ❤️ ☺️ ✔️ 1️⃣ #️⃣ 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵🇺🇸 🦾 🫠 🥷 ⚡ ⌚ ⏰ ☎ ✈ ⚠️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f
Invisible: zero\u200bwidth, soft\u00adhyphen, joiner\u200djoiner, word\u2060joiner, bom\ufeff, lrm\u200e rlm\u200f
Right to left: שלום עולם, مرحبا بالعالم, and back.
Boxes: ┌─┬─┐ │ │ │ ├─┼─┤ └─┴─┘ ═║╔╗╚╝ ▁▂▃▄▅▆▇█ ░▒▓ ⠁⠃⠇⡇ ◢◣◤◥ ‾ ※ № ™ ½ → ⇒ ∀∂∈ℝ∧∪≡∞
Ambiguous: ° ± × ÷ § ¶ ¡ ¿ α β γ Д ж ё ① ② ★ ☆ ♥ ♪ — “ ” ‘ ’ … €
Halfwidth: ｱｲｳｴｵ ﾊﾟﾋﾟ ﾡﾢﾣ, fullwidth: ＡＢＣ１２３！？
Plane 2: 𠀀𠀁𠮷𡈽 mathematical: 𝐀𝑩𝒞𝔻 musical: 𝄞 private: \ue0b0 \ue0a0 \U000f0001
'''

PAGE = '''<!DOCTYPE html><title>A page</title><h1>Tables, lists and forms</h1>
<p>Some <b>bold</b>, <i>italic</i>, <u>underlined</u> and <a href="two.html">linked</a> text that is long enough
to be wrapped in a terminal of eighty columns, with ä, € and 日本語 in it.</p>
<ul><li>One<li><a href="three.html">Two</a><li>Three</ul>
<table border=1><tr><th>Name<th>Size<th>Colour<tr><td>apple<td>5<td bgcolor=red>red
<tr><td>pear<td>7<td>green<tr><td>plum<td>3<td>blue</table>
<form><input name=q value=text> <input type=checkbox checked> yes <select><option>one<option>two</select>
<input type=submit></form><pre>
%s</pre><hr><p>The end.</p>
'''

CAPABILITIES = '''import curses, os, re, subprocess, sys
for name in sys.argv[1:]:
    curses.setupterm(name)
    source = subprocess.run(['infocmp', '-1x', name], capture_output=True, text=True).stdout
    for cap in re.findall(r'^\\t(\w+)=', source, re.MULTILINE):
        value = curses.tigetstr(cap)
        if cap[0] == 'k' or not value:
            continue
        os.write(1, b'%s %s: ' % (name.encode(), cap.encode()))
        try:
            os.write(1, curses.tparm(value, 3, 5, 1, 0, 2, 1, 0, 0, 1))
        except curses.error:
            pass
        os.write(1, b'text\\r\\n')
        for after in ('sgr0', 'rmacs', 'rmir'):
            os.write(1, curses.tigetstr(after) or b'')
'''

PROGRESS = r'''for i in {1..20}; do
	printf '\r%3d%% [%-20s]' $((i * 5)) "$(printf '#%.0s' $(seq $i))"
	sleep 0.01
done
printf '\n\e[?25l'
printf '%s waiting\n' a b c d
for i in {1..10}; do
	printf '\e[4A'
	for n in a b c d; do
		printf '\e[2K\e[3%dm%s\e[0m %d/10\r\n' $((i % 7 + 1)) $n $i
	done
	sleep 0.01
done
for c in ⠋ ⠙ ⠹ ⠸ ⠼; do
	printf '\r\e[K%s working' $c
	sleep 0.02
done
printf '\r\e[J\e[?25h'
echo done
'''


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def git(folder, *arguments):
    env = {'PATH': os.environ['PATH'], 'HOME': os.path.dirname(folder), 'GIT_CONFIG_NOSYSTEM': '1'}
    for role in ('AUTHOR', 'COMMITTER'):
        env |= {f'GIT_{role}_NAME': 'Ada', f'GIT_{role}_EMAIL': 'ada@example.org',
                f'GIT_{role}_DATE': '2023-11-14T12:00:00Z'}
    subprocess.run(['git', '-C', folder, *arguments], env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_repository(folder):
    os.makedirs(folder)
    git(folder, 'init', '-q', '-b', 'main')
    for n in range(12):
        if n in (4, 8):
            git(folder, 'checkout', '-q', '-b', f'topic-{n}')
        write(f'{folder}/words.c', SOURCE.replace('1024', str(64 << n)).replace('limit', 'limit' + 'x' * n))
        write(f'{folder}/file-{n}.txt', f'file {n}\n' * (n + 1))
        git(folder, 'add', '-A')
        git(folder, 'commit', '-q', '-m', f'words: change {n}, größer\n\nBecause of number {n}.')
        if n in (5, 9):
            git(folder, 'checkout', '-q', 'main')
            write(f'{folder}/main-{n}.txt', 'main\n')
            git(folder, 'add', '-A')
            git(folder, 'commit', '-q', '-m', f'main goes on after {n}')
            git(folder, 'merge', '-q', '--no-edit', f'topic-{n - 1}')
    git(folder, 'tag', 'v1.0')
    write(f'{folder}/words.c', SOURCE.replace('BUCKETS', 'SLOTS').replace('\tunsigned h', '    unsigned h'))


def make_tree(folder):
    for n in range(30):
        write(f'{folder}/folder-{n % 5}/file-{n:02}.txt', f'text {n}\n' * (n * 50))
    for name in ('archive.tar.gz', 'image.png', 'sound.mp3', 'run.sh', 'README.md', 'größe.txt', '日本語.txt',
                 'with space.txt', 'a-very-long-name-that-does-not-fit-into-a-narrow-terminal.c'):
        write(f'{folder}/{name}', 'x' * 1000, 0o755 if name == 'run.sh' else 0o644)
    os.symlink('README.md', f'{folder}/link')
    os.symlink('nowhere', f'{folder}/broken')
    os.mkfifo(f'{folder}/fifo')
    os.makedirs(f'{folder}/sticky')
    os.chmod(f'{folder}/sticky', 0o1777)


def prepare(home):
    shutil.rmtree(home, ignore_errors=True)
    write(f'{home}/words.c', SOURCE)
    write(f'{home}/broken.c', BROKEN)
    write(f'{home}/wide.txt', WIDE)
    write(f'{home}/page.html', PAGE % SOURCE.replace('<', '&lt;'))
    write(f'{home}/two.html', '<title>Two</title><p>The second page. <a href="page.html">Back</a>')
    write(f'{home}/long.txt', ''.join(f'{n}: ' + 'words and more words, ' * (n % 13) + '\n' for n in range(120)))
    write(f'{home}/lines.txt', ''.join(f'line {n}\n' for n in range(1, 301)))
    write(f'{home}/.inputrc', 'set bell-style none\nset colored-stats on\nset completion-query-items 40\n')
    write(f'{home}/.bash_history', 'echo first\nls -l tree\nmake -j2 all\ngit status\necho "second one"\n')
    for name in ('.bashrc', '.bash_profile'):
        write(f'{home}/{name}', "PS1='$ '\n")
    write(f'{home}/caps.py', CAPABILITIES)
    write(f'{home}/progress.sh', PROGRESS)
    write(f'{home}/.vimrc', 'set nocompatible ruler showcmd hlsearch incsearch autoindent mouse=a ttimeoutlen=20\n'
          'syntax on\n')
    write(f'{home}/.gitconfig', '[user]\n\tname = Ada\n\temail = ada@example.org\n[safe]\n\tdirectory = *\n')
    write(f'{home}/.emacs', '(setq inhibit-startup-screen t)\n')
    write(f'{home}/.nethackrc', 'OPTIONS=playmode:explore,name:Ada,role:Valkyrie,race:human,gender:female,align:neutral\n'
          'OPTIONS=!legacy,color,showexp,time,symset:DECgraphics,pettype:cat,!autopickup,!splash_screen\n')
    make_tree(f'{home}/tree')
    make_repository(f'{home}/repository')
