"""The scenes to record: programs and keys."""
import re
from dataclasses import dataclass, field

ESC, UP, DOWN, RIGHT, LEFT = '\x1b', '\x1bOA', '\x1bOB', '\x1bOC', '\x1bOD'
F = {n: '\x1bO' + 'PQRS'[n - 1] for n in range(1, 5)} | {
    n: f'\x1b[{code}~' for n, code in zip(range(5, 13), (15, 17, 18, 19, 20, 21, 23, 24))}
PAGE_UP, PAGE_DOWN, DELETE = '\x1b[5~', '\x1b[6~', '\x1b[3~'


def ctrl(text):
    """Control characters, one for each letter."""
    return ''.join(chr(ord(c) & 0x1f) for c in text)


@dataclass
class Scene:
    name: str
    program: str  # the command line
    steps: list  # str: keys; (cols, rows): a resize; float: this many seconds; or see until()
    cols: int = 80
    rows: int = 24
    env: dict = field(default_factory=dict)
    most: int = 48 << 10  # bytes; further output is cut off
    quiet: float = 0.15  # seconds without output that end a step
    patience: float = 1.5  # seconds that end it in any case
    answers: bool = False  # to device attributes and cursor position queries
    cursor: str = '1;1'  # the position in replies
    pace: float = 0.0  # seconds between keys, if a program would see a paste otherwise


SCENES = []


def scene(name, program, *steps, size=(80, 24), **options):
    first = [program + '\r'] if program else []
    SCENES.append(Scene(name, program or 'bash', first + list(steps), *size, **options))


TRUECOLOR = {'COLORTERM': 'truecolor'}

# Readline

scene('bash-edit', '', 'echo one two three', ctrl('a'), 'x', DELETE, '\x1bf', '\x1bd', ctrl('e'), '\x1b\x7f',
      ctrl('y'), ctrl('u'), ctrl('y'), '\x1bu', '\x1bt', ctrl('_'), ctrl('t'), '\r', 'cat <<END\r',
      'several\r', 'lines\r', 'END\r', "for i in 1 2 3; do\r", 'echo "$i"\r', 'done\r', UP, UP, LEFT * 4,
      'insert', ctrl('k'), ctrl('c'), ctrl('l'), '\x1b[200~pasted text\nin two lines\x1b[201~', '\r',
      'exit 3\r')
scene('bash-history', '', ctrl('r'), 'ec', 'h', ctrl('r'), ctrl('r'), '\x1b[C', '\r', UP, UP, UP, DOWN,
      ctrl('c'), ctrl('c'), '!!\r', 'history | tail -5\r', ctrl('r'), 'nothing of this kind', ctrl('g'),
      '\x1b.', '\r', 'fc -l -3\r')
scene('bash-complete', '', 'ls tr\t', '\t\t', 'f\t', '\t\t', ctrl('u'), 'cat ~/tree/folder-0/file\t\t',
      '0\t\t', '5\t\r', 'ls /usr/bin/z\t\t', 'y', ' ', 'q', ctrl('u'), "bind 'TAB:menu-complete'\r", 'ls \t',
      '\t', '\t', '\t', '\r', 'echo $HO\t\r')
scene('bash-narrow', '', 'echo this is a command line that is longer than the terminal is wide', ctrl('a'),
      '\x1bf', '\x1bf', 'more ', (30, 12), 'and ', (60, 12), ctrl('e'), (20, 8), ctrl('w'), ctrl('w'), '\r',
      (40, 12), 'echo 日本語の文章は端末では一文字が二桁', ctrl('b') * 5, 'x', ctrl('b') * 9, 'y', DELETE, DELETE, (23, 12),
      ctrl('e'), 'ende\u0301 👩‍💻', '\x7f', '\x7f', '\r', size=(40, 12))
scene('bash-vi', '',
      'set -o vi; bind "set show-mode-in-prompt on" "set vi-ins-mode-string \\1\\e[5 q\\2" "set vi-cmd-mode-string \\1\\e[1 q\\2"\r',
      "bind 'set show-mode-in-prompt on'; bind 'set vi-ins-mode-string \"\\1\\e[5 q\\2+\"'; bind 'set vi-cmd-mode-string \"\\1\\e[1 q\\2:\"'\r",
      'echo some words to edit', ESC, 'b', 'dw', 'bb', 'cwother', ESC, '0', 'f ', 'i-n', ESC, '$', '.', 'u',
      'k', 'j', '\r', size=(40, 12))
scene('bash-prompt', '',
      r"PS1='\[\e]133;D;$?\a\e]133;A\a\e]0;\w: shell\a\e]7;file://localhost$PWD\a\]\[\e[1;44;97m\] \w \[\e[0;34m\]\n\[\e[38;2;90;200;90m\]❯\[\e[0m\] \[\e]133;B\a\]'" + '\r',
      r"PS0='\e]133;C\a'" + '\r', 'cd tree\r', 'ls\r', 'false\r',
      r"PS1='\[\e7\e[999C\e[8D\e[2m\A\e[0m\e8\]\u \$ '" + '\r', 'echo right\r', (70, 30), 'seq 50\r',
      (120, 40), ctrl('l'), 'echo end\r', size=(120, 40), env=TRUECOLOR)

# Editors

scene('vim-edit', 'vim words.c', '5G', 'o' + 'int added(void)\r{\rreturn 1;\r}', ESC, 'kdd', 'p', 'P', 'u',
      'u', ctrl('r'), 'J', '>>', '..', '<<', ':%s/unsigned/size_t/g\r', 'G', 'Owhile (', ctrl('n'), ctrl('n'),
      ctrl('n'), ctrl('e'), ESC, 'ggyyp', '~', 'rX', 'R', 'replaced', ESC, ':set list number\r', ':reg\r',
      '\r', ':w other.c\r', ':q\r', most=40 << 10)
scene('vim-splits', 'vim words.c wide.txt', ':sp\r', ':vsp wide.txt\r', ctrl('f'), ctrl('w') + 'w', ctrl('d'),
      ctrl('w') + 'j', 'G', ctrl('w') + '=', (90, 30), ctrl('w') + 'K', ':tabnew long.txt\r', 'jjj',
      ':set nowrap\r', '50l', '20l', 'gt', (120, 40), ctrl('w') + 'o', ':help\r', ':only\r', ':qa!\r',
      size=(120, 40), most=64 << 10)
scene('vim-scroll', 'vim long.txt', *[ctrl(c) for c in 'fffbdddueeeyyy'], 'zt', 'zz', 'zb', '50%', 'G', 'gg',
      '15j', '5' + ctrl('e'), ':set nowrap\r', 'L', 'j', 'j', 'H', 'k', 'k', 'zL', ':set scrolloff=5 wrap\r',
      '30j', ':set relativenumber cursorline\r', 'jjj', 'dd', 'dd', 'ggdG', 'u', ':q!\r', most=64 << 10)
scene('vim-visual', 'vim words.c', '/static\r', 'n', 'N', 'v', 'jjj', 'e', 'y', 'V', '3j', '>', '10G',
      ctrl('v') + '3j', 'I// ', ESC, 'gv', 'd', 'u', ':noh\r', ':%s/int/long/gc\r', 'y', 'n', 'a', '*', '#',
      'vi{', 'o', 'd', 'u', 'ggVGg?', 'u', ':q!\r')
scene('vim-truecolor', 'vim repository/words.c',
      ':set termguicolors cursorline cursorcolumn list colorcolumn=60 number\r', ':colorscheme desert\r',
      ':set spell\r', ':hi SpellBad cterm=undercurl gui=undercurl guisp=red\r', 'jjjwww', 'zfap', 'zo',
      ':set foldmethod=indent\r', 'zR', 'zM', ':colorscheme slate\r', ctrl('f'),
      ':set laststatus=2 statusline=%f%=%l,%c\r', ':q\r', size=(120, 40), env=TRUECOLOR, most=64 << 10)
scene('vim-wide', 'vim wide.txt', 'w' * 12, 'x', 'x', 'i字', ESC, '$', 'X', 'j', '0', 'l' * 9, 'dw', (27, 12),
      'G', (41, 9), 'gg', 'A終わり', ESC, 'j' * 3, 'w' * 8, 'x' * 3, ':set nowrap\r', '20zl', 'zl', 'zl',
      ctrl('l'), (40, 12), ':q!\r', size=(40, 12))
scene('vim-easy', 'vim -y words.c', 'typed in easy mode', DOWN * 3, '\x1b[1;2B\x1b[1;2B', ctrl('c'),
      ctrl('o') + ':set number\r', PAGE_DOWN, ctrl('q'), ctrl('l') + ':q!\r')
scene('vim-diff', 'vim -d repository/words.c words.c', ']c', ']c', 'do', 'zR', (80, 24), ctrl('w') + 'w',
      'dp', ctrl('d'), ':qa!\r', size=(120, 40))
scene('vim-terminal', 'vim words.c', ':terminal\r', 'ls --color=always tree\r', 'seq 30\r', ctrl('w') + 'N',
      'kkk', 'i', (100, 30), 'clear\r', 'exit\r', ':q\r')
scene('vim-vt100', 'vim words.c', ctrl('f'), 'O' + 'new', ESC, 'dd', ctrl('y'), ctrl('e'), '/count\r',
      ':sp\r', ':q\r', ':q!\r', env={'TERM': 'vt100'})
scene('nano', 'nano words.c', DOWN * 5, 'typed', ctrl('k'), ctrl('k'), ctrl('u'), ctrl('w') + 'count\r',
      '\x1bw', ctrl('v'), ctrl('v'), ctrl('y'), '\x1b6', '\x1ba', DOWN, DOWN, ctrl('k'), (60, 16), ctrl('g'),
      ctrl('v'), ctrl('x'), '\x1bx', ctrl('_') + '40\r', (80, 24), ctrl('x'), 'n', answers=True)
scene('emacs', 'emacs -nw words.c', 1.0, ctrl('n') * 5, 'typed ', ctrl('v'), ctrl('v'), '\x1bv',
      ctrl('s') + 'count', ctrl('s'), ctrl('s'), ctrl('g'), ctrl('@') + '\x1bf' * 4, ctrl('w'), ctrl('y'),
      ctrl('x') + '2', ctrl('x') + 'o', '\x1b>', '\x1bxshell\r', 0.5, ctrl('x') + '1', ctrl('x') + 'b\r',
      '\x1bg\x1bg' + '40\r', '\x1bxlist-buffers\r', '\x1b`', ctrl('g'), (100, 30), ctrl('x') + ctrl('c'), 'n',
      'yes\r', answers=True, patience=3.0, most=64 << 10)

# Pagers and file managers

scene('less-text', 'less lines.txt', *' bddujjkkk', 'G', 'g', '100G', '/7\r', 'n', 'n', 'N', '?3\r', '-N\r',
      '&9\r', '&\r', 'h', 'q', (60, 10), 'j', (80, 24), 'F', ctrl('c'), 'q')
scene('less-colour', 'git -C repository log -p --color=always | less -R', *'   bjjj/', 'words\r', 'n', 'n',
      ESC + 'u', '-S\r', RIGHT, RIGHT, LEFT, 'G', 'q')
scene('less-wide', 'less wide.txt', *'jjj', RIGHT, LEFT, (23, 12), 'G', 'g', (40, 12), '-S\r', RIGHT, RIGHT,
      '/の\r', 'n', 'q', size=(40, 12))
scene('man', 'man tput', *'  jjj', '/capname\r', 'n', (60, 20), 'G', 'q')
scene('mc', 'mc -u tree repository', DOWN * 4, '\x1b[2~', '\x1b[2~', '\t', DOWN, '\r', F[9], RIGHT, DOWN,
      ESC + ESC, F[1], F[10], ctrl('o'), ctrl('o'), F[5], ESC + ESC, F[7] + 'new\r', F[2], ESC + ESC,
      (100, 30), '\x1b?', ESC + ESC, (80, 24), F[10], 'q\r', quiet=0.25, most=64 << 10)
scene('mc-view', 'mc -u -v words.c', ' ', ' ', F[4], F[4], F[7] + 'count\r', F[2], F[10],
      'mcedit -u words.c\r', DOWN * 3, 'typed', F[3] + DOWN * 3, F[8], (60, 20), F[9], DOWN, ESC + ESC, F[10],
      RIGHT, '\r', quiet=0.25)
scene('mc-linux', 'mc -u tree', '\x1b[B' * 3, '\x1b[[A', '\x1b[21~', '\x1b[21~', '\r', env={'TERM': 'linux'},
      quiet=0.25)
scene('ncdu', 'ncdu -x --color dark tree', 'j', '\r', 'j', 'h', 'g', 'g', 'i', 'i', '?', 'q', (60, 15), 'q',
      quiet=0.3)

# Watchers and multiplexers

scene('htop', 'htop', 1.0, DOWN, DOWN, 't', 't', F[6], DOWN, '\r', F[2], RIGHT, RIGHT, DOWN, ' ', F[10],
      '/ba', ESC, 'H', (90, 24), 2.0, (120, 40), F[1], ' ', F[10], size=(120, 40), most=64 << 10)
scene('htop-narrow', 'htop', 1.6, (30, 10), 1.6, (40, 12), 'u', ESC, 'q', size=(40, 12))
scene('top', 'top -d 0.5', 0.8, '1', 'z', 'x', 'm', 't', 'V', 'c', (60, 15), 0.6, 'f', 'q', '?', 'q',
      (100, 30), 0.6, 'A', 'q', most=40 << 10)
scene('watch', "watch -c -d -n 0.5 'date +%N; ls --color=always tree'", 1.7, (60, 12), 0.8, 'q')
TMUX, KEY, TO_TMUX = 'tmux -f /dev/null new', ctrl('b'), {'pace': 0.02, 'quiet': 0.3}
scene('tmux-panes', TMUX, KEY + '%', 'ls --color tree\r', KEY + '"', 'seq 100\r', KEY + 'o', 'cat wide.txt\r',
      KEY + '{', KEY + ' ', KEY + ' ', KEY + 'z', KEY + 'z', KEY + '\x1b[1;5A', KEY + 'q', (100, 30),
      KEY + 'c', 'vim words.c\r', ctrl('d'), KEY + 'p', (120, 40), KEY + 'n', ':q\r', KEY + '!', 'exit\r',
      KEY + 'x', 'y', 'exit\r', 'exit\r', 'exit\r', size=(120, 40), most=64 << 10, **TO_TMUX)
scene('tmux-copy', TMUX, 'seq 200\r', KEY + '[', PAGE_UP, UP * 5, ctrl('@'), DOWN * 3, '\x1bw', KEY + ']',
      ctrl('u'), KEY + '[', ctrl('s') + '42\r', 'n', 'q', 'cat wide.txt\r', KEY + PAGE_UP, 'q', KEY + ':',
      'clear-history\r', 'exit\r', **TO_TMUX)
scene('tmux-resize', TMUX, 'printf "%s long lines and more words of them\\n" {1..40}\r', (40, 12), (100, 30),
      (20, 6), KEY + '%', (60, 20), 'less words.c\r', (50, 10), ' ', (80, 24), 'q', KEY + 't', 'q', 'exit\r',
      'exit\r', **TO_TMUX)
scene('tmux-popup', TMUX, KEY + 'w', 'q', KEY + 's', 'j', 'q', KEY + '?', ' ', 'q', KEY + ':',
      'display-popup -E less words.c\r', ' ', 'q', KEY + '>', 'q', KEY + ':',
      'display-menu -T title one 1 "" two 2 ""\r', 'q', KEY + ',', '-name\r', KEY + ':',
      'set -g status-style bg=#112233,fg=#ffcc00\r', KEY + ':', 'set -g mouse on\r',
      "printf '\\033]8;;https://example.org/\\033\\\\link\\033]8;;\\033\\\\ \\033[4:3;58:2::255:0:0mcurly\\033[0m\\n'\r",
      'exit\r', env=TRUECOLOR, **TO_TMUX)
SCREEN = ctrl('a')
scene('screen', 'screen -c /dev/null -h 100', ' ', SCREEN + ':', 'caption always\r', 'ls --color tree\r',
      SCREEN + 'S', SCREEN + '\t', SCREEN + 'c', 'seq 60\r', SCREEN + ESC, ctrl('b'), ctrl('u'), ESC,
      SCREEN + '|', (100, 30), SCREEN + 'w', 'vim words.c\r', ctrl('d'), ':q\r', SCREEN + 'Q', SCREEN + '?',
      ' ', 'exit\r', 'exit\r', **TO_TMUX)

# Tests of terminals. vttest has menus, and tests of several pages, each followed by Return.

def until(text, keys, most):
    """Type keys repeatedly, at most `most` times, until a step's output matches."""
    def take(last):
        for _ in range(most):
            if re.search(text, last()):
                return
            yield keys
    return take


def vttest(name, choices, pages=25, **options):
    steps = [0.7]
    for choice in choices.split():
        steps += [choice + '\r', until(b"Enter choice number|That's all", '\r', pages)]
    scene('vttest-' + name, 'vttest', *steps, answers=True, **options)


vttest('cursor', '1 0')
vttest('screen', '2 0', most=64 << 10)
vttest('charsets', '3 8 9 10 11 3 4 5 5 9 9 10 0 0')
vttest('double', '4 0')
vttest('reports', '6 1 2 3 4 0 7 0')
vttest('vt102', '8 0', most=64 << 10)
vttest('bugs', '9 1 2 3 4 5 6 7 8 9 0 0')
vttest('reset', '10 1 2 0', quiet=6.0, patience=8.0)
vttest('vt220', '11 1 2 1 2 3 0 6 0 0 0')
vttest('vt420', '11 3 2 2 3 4 5 6 7 8 9 0 3 2 3 4 5 0 6 2 3 4 5 6 0', most=64 << 10)
vttest('iso6429', '11 5 1 2 3 4 5 6 7 8 9 0 7 1 1 2 3 0 2 3 4 5 6 0 0', most=64 << 10)
vttest('colours', '11 6 2 3 4 5 9 0', most=64 << 10)
vttest('bce', '11 6 6 1 2 0 7 2 3 0', most=64 << 10)
vttest('xterm', '11 8 3 7 1 2 3 4 0 8 0')

# Drawing with curses, dialogs, games

scene('dialog', 'dialog --menu "Choose one" 15 40 6 1 one 2 two 3 three 4 vier', DOWN, DOWN, UP, '\t', '\r',
      'dialog --checklist "Several" 0 0 0 a apple on b pear off\r', ' ', DOWN, ' ', '\r',
      'dialog --gauge "Progress" 8 50 < <(for i in 0 25 50 75 100; do echo $i; sleep 0.1; done)\r', 0.7,
      'dialog --calendar Day 0 0 14 11 2023\r', RIGHT, DOWN, '\t', (60, 20), '\r',
      'dialog --inputbox Text 8 40\r', 'typed', '\x7f', '\r', 'dialog --textbox words.c 0 0\r', PAGE_DOWN,
      '/count\r', '\r', quiet=0.25)
scene('whiptail', 'whiptail --menu "Choose one" 15 40 6 1 one 2 two 3 three', DOWN, '\t', '\r',
      'whiptail --radiolist Which 12 40 3 a apple on b pear off\r', DOWN, ' ', '\r',
      'whiptail --yesno "日本語?" 8 40\r', '\t', (60, 16), '\r',
      'whiptail --gauge Wait 6 40 0 < <(for i in 10 60 100; do echo $i; sleep 0.1; done)\r', 0.5, quiet=0.25)
QUIT = [ESC, ctrl('c'), ctrl('u')]
scene('curses-lines', 'insdelln', *'jjjiiddi', *'wjjid', *'llii', *QUIT, 'lrtest\r', (60, 20), *QUIT,
      quiet=0.3)
scene('curses-menu', 'ncurses', 'b\r', 'n', 'f', 'f', ESC, 'c\r', 'n', 'w', ESC, 'd\r', 'w', ESC, 'e\r', 'l',
      ESC, 'f\r', 'n', ESC, 'g\r', ' ', ' ', ESC, 'o\r', 's', 's', ESC, 'p\r', ' ', ESC, 's\r', ' ', ' ', ' ',
      ESC, 'q\r', quiet=0.4, patience=2.0)
scene('curses-wide', 'ins_wide', '日本', LEFT, 'abc', LEFT * 2, 'é', *QUIT, 'combine\r', ' ', *QUIT,
      'test_add_wchstr -f wide.txt\r', ' ', 'n', *QUIT, quiet=0.3)
scene('curses-shows', 'firework', 1.0, 'q', *QUIT, 'xmas\r', 1.0, *QUIT, 'rain\r', 0.7, *QUIT, 'dots -s0\r',
      0.4, *QUIT, 'tclock\r', 1.2, *QUIT, 'gdc 2\r', 2.2, *QUIT, most=64 << 10, patience=0.5, quiet=0.1)
scene('curses-direct', 'newdemo', *' ' * 9, *QUIT, 'extended_color\r', *QUIT, 'color_set\r', *QUIT,
      'ncurses\r', 'c\r', 'n', 'q', 'q\r', env={'TERM': 'xterm-direct'}, patience=0.7)
scene('curses-vt220', 'test_sgr', 1.0, 'ncurses\r', 'b\r', 'n', ESC, 'f\r', 'n', ESC, 'q\r',
      env={'TERM': 'vt220'}, quiet=0.3)
scene('cmatrix', 'cmatrix -b', 1.5, (60, 20), 1.0, 'q', patience=0.3, most=40 << 10)
scene('sl', 'sl', 6.0, most=40 << 10)
scene('nethack', 'nethack', ' ', 'n', ' ', ' ', *'hjklyubn', 's', 'i', ESC, '10s', *'llllkkkk', '@', ':', '?',
      ESC, '\x18', ' ', '#quit\r', 'y', 'n', 'n', 'n', 'n', 'n', ' ', 'q', quiet=0.25)

# Browsers, finders, interpreters

scene('w3m', 'w3m page.html', '\t', '\t', '\r', 'B', ' ', 'b', '/colour\r', 'G', 'g', '\t' * 3, '\r',
      ctrl('u') + 'x\r', (60, 20), 'j' * 5, 'q', 'y', quiet=0.3)
scene('links-browser', 'links page.html', DOWN, DOWN, '\r', LEFT, ' ', 'b', ESC, RIGHT, DOWN, ESC, ESC, '/end\r',
      (60, 20), 'q', '\r', quiet=0.3)
scene('fzf', 'find tree | sort | fzf --preview "head -5 {}"', 'file', '\x7f\x7f', DOWN, ctrl('k'), '1', '\t',
      ctrl('u'), 'größ', (100, 30), '\r', 'seq 1000 | fzf --multi --height 10 --border\r', '9', ctrl('k'),
      '\t', '\t', '\r', 'seq 500 | fzf --layout=reverse --height 40% --color=16\r', '4', ESC, answers=True,
      cursor='5;1', quiet=0.3)
scene('python', 'python3 -q', 'import sys; sys.ps1 = "\\033[1;34m>>>\\033[0m "\r', 'for i in range(3):\r',
      '    print("x" * 30 * i)\r', '\r', '1/0\r', UP, UP, ctrl('a'), '"', ctrl('c'), 'sys.st\t\t', '\x15',
      'help(len)\r', 'q', '"日本語".enc\t()\r', 'exit()\r')
scene('node', 'node', 'const a = [1, 2, {b: "text", c: null}]\r', 'a', '\r', 'a.ma\t', 'p(x => x)\r',
      '[...Array(120).keys()]\r', 'func', 'tion f() {\r', 'return `x\r', '`}\r', UP, UP, ctrl('c'), ctrl('r'),
      'const', ctrl('c'), '.help\r', (50, 20), 'process.vers', ctrl('u'), '.exit\r', quiet=0.3, answers=True)
scene('gdb-tui', 'gcc -g -o words words.c && gdb -q -tui -iex "set debuginfod enabled off" ./words', 1.0,
      'break main\r', 'run </dev/null\r', 0.7, 'next\r', 'next\r', 'layout split\r', ctrl('x') + 'a',
      ctrl('x') + 'a', UP, PAGE_DOWN, (100, 30), 'info registers rip\r', 'kill\r', 'quit\r', 'y\r', quiet=0.4,
      patience=3.0)

# Output

scene('ls', 'ls -la --color=always --hyperlink=always tree', 'ls --color=always -C /usr/games\r',
      'ls -R --color tree | head -60\r', (50, 20), 'ls -C --color tree\r',
      "eval $(dircolors); ls -F --color tree\r", size=(120, 40))
scene('gcc', 'gcc -Wall -Wextra -fdiagnostics-color=always -fdiagnostics-urls=always -c broken.c',
      'gcc -Wall -fdiagnostics-color=always -fanalyzer -c words.c\r', (60, 20),
      'gcc -fdiagnostics-color=always -c broken.c 2>&1 | head -40\r', size=(120, 40), patience=8.0, quiet=1.0)
scene('git', 'git -C repository --no-pager log --graph --oneline --decorate --color=always',
      'git -C repository --no-pager diff --color=always --word-diff\r', 'git -C repository status\r',
      'git -C repository diff\r', ' ', ' ', 'q', 'git -C repository --no-pager log --stat --color -3\r',
      'git -C repository add -p\r', 'n', 'q\r')
scene('apt', 'apt-get -o Dpkg::Progress-Fancy=1 -y install --reinstall sl', 1.0,
      'apt-get -s upgrade | head -3; dpkg -l sl | cat\r', quiet=2.0, patience=20.0)
scene('apt-resize', 'apt-get -o Dpkg::Progress-Fancy=1 -y install --reinstall sl cmatrix', (100, 30), 1.0,
      quiet=2.0, patience=20.0)
scene('unicode', 'cat wide.txt', 'head -3 wide.txt | fold -w 39\r', (41, 12), 'cat wide.txt\r', (23, 8),
      'cat wide.txt\r', (80, 24), "for i in {0..9}; do printf '%*s日本語👩‍💻e\\u0301\\n' $((70 + i)) ''; done\r",
      "printf 'abc\\xff\\xfe\\xc3(\\xe2\\x82 \\xf0\\x9f\\x98\\ndone\\n'\r")
scene('unicode-narrow', 'cat wide.txt', (39, 12), (38, 12), (20, 12), (21, 30), (120, 12), ctrl('l'),
      size=(40, 12))
scene('seq', 'seq 500', (40, 12), 'seq -s " " 300\r', (80, 24), 'seq -w 1 100 | column\r', 'clear\r',
      'seq 20\r', (80, 8), (80, 30), most=16 << 10)
scene('long-lines', 'cat long.txt', (100, 30), (33, 12), (80, 24), "head -c 3000 /dev/zero | tr '\\0' x\r",
      '\r', (50, 24), (200, 24), (2, 3), (80, 24), 'cat -A .inputrc\r')
scene('progress', '. ./progress.sh', 1.0, (40, 12), '. ./progress.sh\r', 1.0)
scene('tput-caps', 'python3 caps.py xterm-256color', 'reset\r', 'echo after\r', quiet=0.5, patience=6.0)
scene('tput-terms',
      'python3 caps.py vt100 vt220 vt420 linux screen-256color tmux-256color rxvt-unicode konsole-256color foot xterm-kitty xterm-direct',
      'reset\r', 'echo after\r', quiet=0.5, patience=20.0, most=64 << 10)
scene('tput-init',
      'tput init; tput smcup; tput cup 5 10; tput rev; echo reversed; tput sgr0; tput csr 3 8; tput cup 8 0; seq 10; tput sc; tput cup 0 0; tput el; tput rc; tput rmcup',
      'tput clear; tput ech 5; tput ich 3; tput dch 2; tput il 2; tput dl 1; tput indn 3; tput rin 2\r',
      'tabs 5; printf "a\\tb\\tc\\td\\n"; tput hts; tput tbc; printf "a\\tb\\n"; tabs -8\r',
      'for i in {0..15} {16..255..9}; do tput setab $i; tput setaf $((255 - i)); printf %4d $i; done; tput op; echo\r',
      'tput smacs; echo lqqqk; tput rmacs; tput rmam; seq -s- 60; tput smam; tput civis; tput cvvis; tput cnorm; tput flash; tput bel\r',
      'tput reset\r', 'stty sane\r', 'toe -a | head -50\r', quiet=0.4, patience=3.0)
scene('gradient',
      r"for y in {0..20}; do for x in {0..77}; do printf '\e[48;2;%d;%d;%dm ' $((x * 3)) $((y * 12)) 128; done; printf '\e[0m\n'; done",
      (60, 20), (80, 24),
      r"for n in 1 2 3 4 5; do printf '\e[4:%d;58;5;%dmunderline %d\e[0m ' $n $((n * 40)) $n; done; echo" + '\r',
      env=TRUECOLOR, patience=4.0)
