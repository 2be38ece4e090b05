// Makes a manual page for each command, from its --help and its entries in ringside.1.
// usage: man.mjs RINGSIDE RINGSIDE.1 OUTPUT-DIR COMMAND…: writes OUTPUT-DIR/ringside-COMMAND.1
// Fails if COMMAND… is not the list of commands that the program has.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const escape = (text) => text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^([.'])/, '\\&$1');

/** The entries of a command in ringside.1: [tag line, lines] of each. */
function entries(manual, command) {
	const found = [];
	let depth = 0, current;
	const lines = manual.split('\n');
	const begin = lines.indexOf('.SH COMMANDS');
	for (let i = begin + 1; i < lines.length && !lines[i].startsWith('.SH'); i += 1) {
		if (lines[i] === '.TP' && depth === 0) {
			const tag = lines[i + 1];
			current = new RegExp(`^\\.B[RI]? "?${command}\\b`).test(tag) ? [tag, []] : undefined;
			if (current) found.push(current);
			i += 1;
			continue;
		}
		if (lines[i] === '.RS') depth += 1;
		if (lines[i] === '.RE') depth -= 1;
		current?.[1].push(lines[i]);
	}
	return found;
}

/** The options of a help, [{names, words}], with their continuation lines. */
function options(help) {
	const list = [];
	for (const line of help.split('\n')) {
		const [, names, words] = /^ {2}(-.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
		const [, more] = /^ {3,}(\S.*)$/.exec(line) ?? [];
		if (names) list.push({ names, words: words ?? '' });
		else if (more && list.length > 0) list.at(-1).words += ` ${more}`;
	}
	return list;
}

function page(help, manual, command) {
	const [usage, , summary] = help.split('\n');
	const found = entries(manual, command);
	if (found.length === 0) throw new Error(`ringside.1 has no entry for ${command}`);
	const name = `ringside\\-${command}`;
	return [
		`.TH RINGSIDE\\-${command.toUpperCase()} 1 "" "Ringside" "User Commands"`,
		'.SH NAME', `${name} \\- ${escape(summary[0].toLowerCase() + summary.slice(1))}`,
		'.SH SYNOPSIS', `.B ${escape(usage.replace(/^Usage: /, ''))}`,
		'.SH DESCRIPTION',
		...found.flatMap(([tag, text]) => found.length > 1 ? ['.TP', tag, ...text] : text),
		'.SH OPTIONS',
		...options(help).flatMap(({ names, words }) => ['.TP', `.B ${escape(names)}`, escape(words.trim()) || '\\&']),
		'.SH SEE ALSO', '.BR ringside (1),', 'which describes the exit statuses, the environment and the files.', '',
	].join('\n');
}

const [program, overview, output, ...commands] = process.argv.slice(2).map((word, i) => i < 3 ? path.resolve(word) : word);
const manual = readFileSync(overview, 'utf8');
const known = execFileSync(program, ['completion', '--commands'], { encoding: 'utf8' }).trim().split('\n');
const wrong = [...known.filter((each) => !commands.includes(each)), ...commands.filter((each) => !known.includes(each))];
if (wrong.length > 0) throw new Error(`ws/client/man/meson.build and the program do not have the same commands: ${wrong}`);
for (const command of commands) {
	const help = execFileSync(program, [command, '--help'], { encoding: 'utf8' });
	writeFileSync(path.join(output, `ringside-${command}.1`), page(help, manual, command));
}
