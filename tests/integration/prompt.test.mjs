// Prompts: modes that a killed program has left, line editors other than readline, prompts and hooks that users change,
// variables and functions that they unset.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { together } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const ask = (server, session, fields) => server.api.raw('POST', `/api/session/${session}/exec`, fields);
const exec = async (server, session, command, fields = {}) => {
	const { json } = await ask(server, session, { command, queue: true, ...fields });
	assert.ok(json.data, `${command}: ${JSON.stringify(json)}`);
	return json.data;
};
const rc = (server, text) => writeFileSync(path.join(server.home, '.bashrc'), text);
const rows = async (server, session) => (await server.api.call('GET', `/api/session/${session}/screen?format=json`)).lines.map(({ text }) => text);
const state = async (server, session) => (await server.api.call('GET', `/api/session/${session}/state`)).state;
const modes = async (server, session) => (await server.api.call('GET', `/api/session/${session}/screen?format=json`)).modes;

/** fish turns on bracketed paste before it draws its prompt, zsh afterwards. */
const drawn = (server) => until('a drawn prompt', async () => (await state(server, 's')).status === 'prompt' && (await modes(server, 's')).bracketedPaste);

const group = together();
function shared(name, options, body) {
	if (typeof options === 'function') [options, body] = [{}, options];
	group(name, options, (server) => {
		rc(server, "PS1='$ '\nunset HISTFILE\n");
		return body(server);
	});
}

// 1049 comes last: the kitty flags belong to the main screen.
const all = String.raw`\e[31m\e[?1003h\e[?1006h\e[?1004h\e[?25l\e[?1h\e=\e[>1u\e[4h\e[2;5r\e[?6h\e(0`;
for (const shell of ['bash', 'zsh', 'fish'])
	for (const [about, left] of [['on the main screen', all], ['on the alternate screen', `${all}\\e[?1049h\\e[2;4r\\e[>5u`]])
		shared(`modes that a killed program has left are reset: ${shell}, ${about}`, async (server) => {
			await server.session({ id: 's', shell, cols: 80, rows: 24 });
			await exec(server, 's', shell === 'fish' ? "function fish_prompt; echo -n '$ '; end" : "PS1='$ '");
			await drawn(server);
			const before = await modes(server, 's');
			const text = await rows(server, 's');
			const kill = `printf '${left}'; kill -9 $$`;
			await server.api.input('s', `bash -c "${kill.replace(/[$"]/g, '\\$&')}"\r`);
			await server.outputMatches('s', /\x1b\[\?25h|\x1b\[\?7;25h/);
			let now;
			await until(() => `the prompt's modes, ${JSON.stringify([before, now])}`, async () => JSON.stringify(now = await modes(server, 's')) === JSON.stringify(before));
			// An agent's command leaves none either, and the next one is in the row of its prompt.
			await exec(server, 's', `bash -c "${kill.replace(/[$"]/g, '\\$&')}"`);
			assert.equal((await exec(server, 's', 'echo first')).output, 'first\n');
			await drawn(server);
			assert.deepEqual(await modes(server, 's'), before);
			const lines = await until('the next prompt', async () => {
				const shown = await rows(server, 's');
				return shown.findLast((line) => line) === '$' && shown;
			});
			assert.deepEqual(lines.slice(lines.findLastIndex((line) => line) - 2).filter((line) => line), ['$ echo first', 'first', '$'], JSON.stringify([text, lines]));
			// Keys have their usual form.
			await server.api.call('POST', '/api/session/s/keys', { keys: ['Up'] });
			await server.outputMatches('s', /echo first/);
		});

shared('modes that the user has set stay, and a program that got input leaves none', async (server) => {
	rc(server, "PS1='$ '\nprintf '\\e[?1h\\e='\n");
	await server.session({ id: 's' });
	assert.equal((await modes(server, 's')).applicationCursor, true);
	// Input for the program, which the shell never reads, and a Ctrl-C that ends it.
	await server.api.input('s', 'sh -c \'printf "\\033[?1003h\\033[31mready"; read a; read b; sleep 60\'\r');
	await server.outputMatches('s', /ready/);
	await server.api.input('s', 'one\r');
	await server.api.input('s', 'two\r');
	await until('sleep', async () => (await state(server, 's')).input === undefined);
	await server.api.input('s', '\x03');
	await until('the modes of the prompt', async () => (await modes(server, 's')).mouse === 'none');
	assert.equal((await modes(server, 's')).applicationCursor, true);
});

shared('a half-typed line stays when modes are reset', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', String.raw`(sleep 0.3; printf '\e[?1003h\e[?25l')` + '\recho half');
	await server.outputMatches('s', /\x1b\[\?7;25h/);
	await server.api.input('s', '-typed\r');
	await server.outputMatches('s', /half-typed\r\n/);
});

shared('nothing is typed into a program of the startup files', { timeout: 60_000 }, async (server) => {
	rc(server, "python3 -q\nPS1='$ '\n");
	await server.api.create({ id: 's' });
	await server.outputMatches('s', />>> /);
	await until('a program that runs longer than a terminal query', async () => (await state(server, 's')).foreground.startedAt < Date.now() - 300);
	const refused = await ask(server, 's', { command: 'echo no' });
	assert.deepEqual([refused.status, refused.json.code, /run python3/.test(refused.json.message)], [409, 'RESOURCE_BUSY', true], refused.text);
	const waiting = exec(server, 's', 'echo later');
	await server.api.input('s', 'print(6 * 7)\r');
	await server.outputMatches('s', /\n42\r\n/);
	assert.doesNotMatch(await server.api.text('s'), /7399;|17~|__rs/);
	await server.api.input('s', 'exit()\r');
	assert.equal((await waiting).output, 'later\n');
	// A later server types nothing there either.
	await server.api.create({ id: 't' });
	await server.outputMatches('t', />>> /);
	await server.kill();
	await server.start();
	await ask(server, 't', { command: 'echo no', queue: true, queueMs: 700 });
	assert.doesNotMatch(await server.api.text('t'), /7399;|17~|__rs/);
});

shared('nothing is typed into a line editor other than readline', async (server) => {
	rc(server, "PS1='$ '\nBLE_VERSION=0.4.0 BLE_ATTACHED=1\n");
	await server.session({ id: 's' });
	const refused = await ask(server, 's', { command: 'echo no' });
	assert.deepEqual([refused.status, refused.json.code, /ble\.sh/.test(refused.json.message)], [409, 'EXEC_UNSUPPORTED', true], refused.text);
	await server.api.input('s', 'echo by""hand\r');
	await server.outputMatches('s', /byhand\r\n/);
	assert.doesNotMatch(await server.api.text('s'), /7399;|17~|__rs/);
	// A changed key binding is detected at the prompt after the next.
	rc(server, "PS1='$ '\nPROMPT_COMMAND='bind -m emacs -r \"\\e[57399;17~\"'\n");
	await server.session({ id: 't' });
	for (let i = 0; i < 2; i++) await server.api.input('t', '\r');
	await until('the refusal', async () => (await ask(server, 't', { command: 'echo no' })).json.code === 'EXEC_UNSUPPORTED');
});

for (const [about, set] of [['text before it', 'PS1="(venv) $PS1"'], ['text after it', 'PS1="$PS1> "'], ['two empty lines', "PS1=$'\\n\\n'$PS1"], ['its mode', "bind 'set show-mode-in-prompt on'"]])
	for (const how of ['exec', 'typed'])
		shared(`commands are shown behind a changed prompt: ${about}, ${how}`, async (server) => {
			await server.session({ id: 's', cols: 80, rows: 24 });
			if (how === 'exec') await exec(server, 's', set);
			else await server.api.input('s', `${set}\r`);
			await exec(server, 's', 'clear');
			await exec(server, 's', 'echo first');
			await exec(server, 's', 'printf second');
			await exec(server, 's', 'echo third');
			const text = async () => (await rows(server, 's')).join('\n').trimEnd();
			const prompt = { 'text before it': '(venv) $ ', 'text after it': '$ > ', 'two empty lines': '\n\n$ ', 'its mode': '@$ ' }[about];
			await until('the last prompt', async () => (await state(server, 's')).status === 'prompt' && (await text()).endsWith(prompt.trim()));
			assert.equal(await text(), `${prompt}echo first\nfirst\n${prompt}printf second\n${about === 'two empty lines' ? 'second' : ''}${prompt}echo third\nthird\n${prompt}`.trimEnd());
		});

shared('typed lines are recorded although a hook of the prompt runs after ours', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', `PROMPT_COMMAND+=('PS1="\\w> "')\r`);
	await server.outputMatches('s', /\/start> /);
	for (const command of ['echo one', 'echo two', 'echo three']) {
		await server.api.input('s', `${command}\r`);
		await server.outputMatches('s', new RegExp(`\\x07${command.slice(5)}\r\n`));
	}
	await until('all blocks', async () => (await server.api.call('GET', '/api/session/s/blocks')).blocks.filter(({ endedAt }) => endedAt).length >= 4);
	const { blocks } = await server.api.call('GET', '/api/session/s/blocks');
	assert.deepEqual(blocks.map(({ command }) => command).filter((each) => /^echo (one|two|three)/.test(each)), ['echo two', 'echo three']);
	assert.equal((await exec(server, 's', 'echo four')).output, 'four\n');
});

for (const [about, command, status] of [['variables', 'unset ${!__*}', 1], ['all variables', 'for v in $(compgen -v); do unset -v "$v" 2>/dev/null; done', 1], ['functions', 'unset -f $(compgen -A function)', 1],
	['variables, under nounset,', 'set -u; unset ${!__*}', 1], ['hooks', 'unset PROMPT_COMMAND PS1', 0]])
	shared(`${about} that are unset cost no command`, async (server) => {
		await server.session({ id: 's' });
		const got = await exec(server, 's', `${command} 2>/dev/null; false | true | (exit ${status})`, { timeoutMs: 10_000 });
		assert.deepEqual([got.endedBy, got.exitCode, got.pipeStatus, got.suspect], ['command', status, [1, 0, status], false], JSON.stringify(got));
		const cwd = await exec(server, 's', `pwd; ${command} 2>/dev/null`, { cwd: '/tmp', env: { Y: '1' } });
		assert.deepEqual([cwd.endedBy, cwd.output], ['command', '/tmp\n']);
		for (const [line, output] of [['echo "$PWD" ${Y-none}', `${server.cwd} none\n`], ['echo two', 'two\n'], ['f() { echo three; }; f', 'three\n']]) {
			const next = await exec(server, 's', line);
			assert.deepEqual([next.endedBy, next.output, next.exitCode, next.outputExact], ['command', output, 0, true], JSON.stringify(next));
		}
		// It is interrupted, and its end is then detected by the prompt.
		const cut = await exec(server, 's', `${command} 2>/dev/null; /bin/sleep 60`, { timeoutMs: 300 });
		const proven = ['hooks', 'all variables'].includes(about) ? ['unknown', null] : ['prompt', 130];
		assert.deepEqual([cut.endedBy, cut.exitCode, cut.timedOut], [...proven, true], JSON.stringify(cut));
		await server.api.input('s', `${command} 2>/dev/null\r`);
		assert.equal((await exec(server, 's', 'echo four')).output, 'four\n');
		const { blocks } = await server.api.call('GET', '/api/session/s/blocks');
		assert.ok(blocks.length > 5);
	});
