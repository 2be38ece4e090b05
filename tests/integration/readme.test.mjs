// The commands of README.md, literally: as this user, and as another user without XDG_RUNTIME_DIR.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { asUser } from './lib/other_user.mjs';
import { binaries, scenario } from './lib/server.mjs';
import { until, within } from './lib/until.mjs';

const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
const blocks = [...readme.matchAll(/^```\w*\n([^]*?)^```$/mg)].map(([, text]) => text);

/** Blocks that are not run here, by a word of their first line, with the reason. */
const elsewhere = {
	'./run': 'installs packages, builds and runs all tests: what CI does',
	'browsers, agents': 'a picture',
	'npm ci': 'builds, and starts units of the machine: install.test.mjs installs, units.sh looks at the units',
};
/** The expected output of each example. `type` is typed when `shown` appears. */
const examples = {
	'ringside new work --attach': { says: /detached/, shown: /[$#] /, type: '\x1c' },
	'ringside wall': { says: /work - /, shown: /q leaves/, type: 'q' },
	'ringside exec work make check': { says: /^all is well\r?$/m },
	'ringside run': { says: /^a\nb\nc\n$/ },
	'ringside share': { says: /^http:\/\/\S+#\S+$/m },
	curl: { says: /"success":true.*all is well/ },
};
const keyOf = (table, text) => Object.keys(table).find((key) => text.split('\n', 1)[0].includes(key));

test('each block of README.md is run, or listed with the reason why not', () => {
	assert.ok(blocks.length >= 4);
	for (const block of blocks) {
		const lines = block.trimEnd().split('\n');
		assert.ok(keyOf(elsewhere, block) || lines.every((line) => keyOf(examples, line)), `there is no rule for\n${block}`);
	}
	for (const key of Object.keys(elsewhere)) assert.ok(blocks.some((block) => keyOf({ [key]: 1 }, block)), `no block has ${key}`);
	for (const key of Object.keys(examples)) assert.ok(readme.includes(key), `no example has ${key}`);
});

/** Type a line into a new shell, on a terminal if the example types something. */
function run(line, { says, shown, type }, { prefix, env, cwd }) {
	const words = type ? ['script', '-qec', line, '/dev/null'] : ['bash', '-c', line];
	const child = spawn(prefix[0] ?? words[0], [...prefix.slice(1), ...(prefix.length ? words : words.slice(1))], { env: { ...env, SHELL: '/bin/bash' }, cwd });
	let text = '', errors = '';
	child.stdout.setEncoding('utf8').on('data', (more) => {
		text += more;
		if (type && shown.test(text)) {
			child.stdin.write(type);
			type = undefined;
		}
	});
	child.stderr.on('data', (more) => { errors += more; });
	if (!type) child.stdin.end();
	return within(`the end of ${line}`, new Promise((resolve) => {
		child.on('close', (code) => resolve({ code, text }));
	})).then(({ code }) => {
		assert.equal(code, 0, `${line}: ${errors}${text}`);
		assert.match(text, says, `${line}: ${errors}`);
	});
}

/** The server as the README starts it, except for its port; curl replaces the usual port by it. */
async function runExamples(server, { uid, xdg }) {
	const bin = path.join(server.root, 'bin'), prefix = uid ? asUser(uid) : [];
	mkdirSync(bin);
	for (const name of ['ringside', 'ringside-server', 'ringside-holder']) copyFileSync(path.join(binaries, name), path.join(bin, name));
	writeFileSync(path.join(server.cwd, 'Makefile'), 'check:\n\t@echo all is well\n');
	writeFileSync(path.join(server.cwd, 'list'), 'b\na\nc\nb\n');
	if (uid) for (const place of [server.root, server.home, server.cwd]) chownSync(place, uid, uid);
	server.options.binary = path.join(bin, 'ringside');
	server.options.env = xdg ? { XDG_RUNTIME_DIR: xdg } : {};
	server.options.prefix = [...prefix, 'bash', '-c', 'exec "$0" serve --listen 127.0.0.1:0 --allow-host 127.0.0.1:7070'];
	await server.start({ wait: false });
	await until('the address', () => server.urls.length > 0 || server.exit);
	await server.ready();
	assert.equal(server.tokenFile, path.join(server.dir, 'token'), 'the token is in the runtime directory');
	writeFileSync(path.join(server.home, '.curlrc'), `silent\nconnect-to = "127.0.0.1:7070:127.0.0.1:${server.port}"\n`, { mode: 0o644 });
	const env = { PATH: `${bin}:${process.env.PATH}`, HOME: server.home, LANG: 'C.UTF-8', TERM: 'xterm-256color', TOKEN: server.token, ...server.options.env,
		...(process.env.ASAN_OPTIONS ? { ASAN_OPTIONS: process.env.ASAN_OPTIONS } : {}) };
	const lines = blocks.filter((block) => !keyOf(elsewhere, block)).flatMap((block) => block.trimEnd().split('\n'));
	for (const line of lines) await run(line, examples[keyOf(examples, line)], { prefix, env, cwd: server.cwd });
	assert.equal(lines.length, 6);
}

scenario('the examples, as this user', { start: false, timeout: 90_000 }, async (server) => {
	const xdg = path.join(server.root, 'xdg');
	mkdirSync(xdg, { mode: 0o700 });
	server.dir = path.join(xdg, 'ringside');
	await runExamples(server, { xdg });
});

const other = process.getuid() === 0;
for (const [what, spoil] of [['without XDG_RUNTIME_DIR', undefined], ['with that of another', (dir) => chmodSync(dir, 0o755)]])
	scenario(`the examples, as a user ${what}`, { start: false, mayHaveDied: true, timeout: 90_000, skip: !other && 'only root can be another user' }, async (server) => {
		// An unused uid, so that no server runs as that user.
		let uid;
		do uid = 62_000 + Math.floor(Math.random() * 3000); while (existsSync(`/tmp/ringside-${uid}`));
		server.dir = `/tmp/ringside-${uid}`;
		const xdg = spoil && path.join(server.root, 'xdg');
		try {
			if (xdg) {
				mkdirSync(xdg);
				spoil(xdg);
			}
			await runExamples(server, { uid, xdg });
			if (xdg) assert.match(server.stderr, /^ringside: XDG_RUNTIME_DIR: is another user's: ignored$/m);
			await server.api.delete('work');
			await server.kill('SIGTERM');
		} finally {
			if (server.child) await server.kill();
			server.killLeftovers();
			rmSync(server.dir, { recursive: true, force: true });
		}
	});
