// Random commands whose status and output are the same in every shell that runs them.

/** Pseudo-random numbers from a seed (mulberry32). */
export function randomOf(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

const words = ['a', 'hello', 'two words', 'naïve', '日本', '😀', '$x', '"', "it's", 'back\\slash', '*', '~', '',
	'-n', 'tab\there', '%s', '!!', '#no', '&', ';', '{a,b}'];
const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Make the next command of a random source. */
export function randomCommand(random) {
	const below = (n) => Math.floor(random() * n);
	const pick = (list) => list[below(list.length)];
	const word = () => pick([() => quote(pick(words)), () => `"${pick(['$x', '$?', '${x:-none}', '${#x}', 'q $((1+2))'])}"`,
		() => pick(['plain', 'x$x', '$((3*7))', '$(echo sub)', '`echo tick`', '{1..3}', '${y:-d}'])])();

	const simple = [
		() => `echo ${word()} ${word()}`,
		() => `printf '%s|' ${word()} ${word()}`,
		() => `printf '${pick(['\\0', '\\377\\376', 'no newline', '\\r\\n', '\\303', 'a\\tb\\n', '\\033[1mx'])}'`,
		() => pick(['true', 'false', ':', `(exit ${below(256)})`, 'test -d /', '[[ a == b ]]', '((0))', '((x=5))']),
		() => `x=${word()}`,
		() => `nonexistent_${below(9)} 2>/dev/null`,
		() => `seq ${1 + below(40)}`,
		() => `echo ${word()} >&2`,
		() => `local_${below(3)}() { echo in $1; return ${below(4)}; }; local_${below(3)} ${word()} 2>/dev/null`,
		() => `read -r y <<<${word()}; echo "$y"`,
		() => 'cat',
		() => `cat <<E\n$x ${pick(words).replaceAll('\\', '').replaceAll('`', '')}\nE`,
		() => `cat <<'E'\n$x literal\nE`,
		() => `head -c ${below(100_000)} /dev/zero | tr '\\0' ${pick(['x', '\\n', '\\377'])}`,
		() => `a=(${word()} ${word()}); echo \${#a[@]} "\${a[@]}"`,
		() => `set -- ${word()} ${word()}; echo $# "$2"`,
		() => 'echo $0 $# $-',
		() => 'cd /; pwd',
		() => 'cd /nonexistent 2>/dev/null',
		() => `kill -${pick(['TERM', 'KILL', 'INT', 'HUP', 'USR1'])} $BASHPID 2>/dev/null & wait $! 2>/dev/null; echo $?`,
		() => 'yes | head -n 2; echo ${PIPESTATUS[*]}',
		() => 'sleep 0.01 & wait; echo done',
		() => 'test -t 0 || test -t 1 || test -t 2; echo $?',
		() => 'umask; ulimit -c',
		() => 'trap "echo trapped" EXIT',
		() => 'set -o pipefail',
	];
	const command = (depth) => {
		if (depth <= 0) return pick(simple)();
		const inner = () => command(depth - 1);
		// A heredoc needs the newline after it.
		return pick([
			() => pick(simple)(),
			() => `${inner()}\n${inner()}`,
			() => `{ ${inner()}\n} ${pick(['&&', '||', ';'])} ${pick(simple)()}`,
			() => `( ${inner()}\n)`,
			() => `if ${pick(simple)()}\nthen ${inner()}\nelse ${inner()}\nfi`,
			() => `for i in 1 2 ${word()}; do ${inner()}\ndone`,
			() => `n${depth}=0; while ((n${depth}++ < 3)); do ${inner()}\n${pick([':', 'continue', 'break'])}\ndone`,
			() => `case ${word()} in a*) ${inner()}\n;; *) ${inner()}\n;; esac`,
			() => `! { ${inner()}\n}`,
			() => `{ ${inner()}\n} 2>&1 | ${pick(['cat', 'tr a-z A-Z', 'sort', 'wc -c', 'cat -v', 'od -c'])}`,
			() => `{ ${inner()}\n} 2>&1`,
			() => `x=$( { ${inner()}\n} 2>/dev/null ); echo "\${#x}"`, // bash warns of NULs, at any time
			() => `eval ${quote(inner())}`,
			() => `f${depth}() { ${inner()}\n}; f${depth}; echo $?`,
			() => `{ time -p : ; } 2>/dev/null; ${inner()}`,
		])();
	};
	const end = pick([
		() => '', () => '', () => '', () => '',
		() => `\nexit ${below(300)}`,
		() => `\nkill -${pick(['TERM', 'KILL', 'HUP', 'USR1', 'ABRT'])} $$`,
		() => `\nexec bash -c 'echo other; exit ${below(9)}'`,
		() => `\nset -e; false; echo never`,
		() => pick(['\necho "open', '\n)', '\nif true', '\necho $(', '\n|| x', '\ncat <<E\nno end']),
		() => ' # a comment', () => ' \\', () => '\n\n',
		() => '\nset -u; echo $unset_variable',
		() => '\nreturn 5',
	])();
	return `${command(below(4))}${end}`;
}
