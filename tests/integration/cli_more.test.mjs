// More of the command line: send --wait, completion by every shell, manual pages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, environment, good } from './lib/cli.mjs';
import { binaries, binary } from './lib/server.mjs';
import { long } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const TIME_OVER = 124;
const missing = (program) => spawnSync(program, ['--version']).error !== undefined && `${program} is not installed`;

shared('send --wait, and wait --from last', async (server) => {
	await server.session({ id: 'box' });
	await good(server, ['send', '--wait', '--text', 'sleep 0.3; echo do""ne', 'box', 'Enter']);
	assert.match(await server.api.text('box', 0), /done\r/, 'it waits for the end of the command');
	await good(server, ['send', '--wait', '--text', 'read -p "name? " x; echo "<$x>"', '--enter', 'box']);
	assert.match(await server.api.text('box', 0), /name\? $/, 'or for a prompt of a program');
	await good(server, ['send', '--wait', '--text', 'Ada', '--enter', 'box']);
	assert.match(await server.api.text('box', 0), /<Ada>\r/);
	assert.equal((await cli(server, ['send', '--wait', '-t', '0.3', '--text', 'sleep 1000', '--enter', 'box'])).code, TIME_OVER);
	await good(server, ['send', '--wait', 'box', 'C-c']);

	await server.api.call('POST', '/api/session/box/keys', { text: 'echo ma""rk', submit: true });
	assert.equal(await good(server, ['wait', '--match', 'mark', '--from', 'last', 'box']), 'mark\n');
	assert.equal((await cli(server, ['wait', '-t', '0.2', '--match', 'done', '--from', 'last', 'box'])).code, TIME_OVER);
	await server.api.open({ id: 'untouched' });
	await good(server, ['wait', '--prompt', '--from', 'last', 'untouched']);
});

shared('exec: a busy session, a prompt for input, and Ctrl-\\\\', async (server) => {
	await server.session({ id: 'box' });
	const id = (await good(server, ['exec', '-d', 'box', 'sleep 1000; echo one'])).trim();
	const busy = await cli(server, ['exec', 'box', 'true']);
	assert.equal(busy.code, 125);
	assert.match(busy.stderr, new RegExp(`RESOURCE_BUSY.*\\n.*what runs there is ${id}: sleep 1000; echo one\\n.*--queue`));
	const refused = await cli(server, ['exec', '--json', 'box', 'true']);
	assert.equal(JSON.parse(refused.stderr).context.exec.id, id, 'with --json the error has the running command');
	await server.api.call('POST', `/api/session/box/exec/${id}/cancel`, {});
	await until('the end of the command', async () => (await server.api.call('GET', `/api/session/box/exec/${id}`)).data.state === 'done');
	await server.untilPrompt('box');
	const answer = (text) => server.api.call('POST', '/api/session/box/keys', { text, submit: true });

	const asked = await cli(server, ['exec', 'box', 'read -p "name? " x; echo "<$x>"'], {
		started: (child) => {
			let text = '';
			child.stderr.on('data', (more) => {
				text += more;
				if (/to answer: ringside send --text TEXT --enter box/.test(text) && !child.answered)
					child.answered = answer('Ada');
			});
		},
	});
	assert.equal(asked.code, 0);
	assert.match(asked.stdout, /<Ada>\n$/);
	assert.equal(asked.stderr.split('\n').length, 2, 'the hint is printed once');

	// Input that another command waits for, while this one is queued, gives no hint.
	const { data: other } = await server.api.call('POST', '/api/session/box/exec', { command: 'read -t 2 x; echo "[$x]"', yieldMs: 0 });
	const next = await cli(server, ['exec', '--queue', 'box', 'read -p "name? " x; echo "<$x>"'], {
		started: (child) => {
			child.stderr.on('data', () => {
				child.answered ??= answer('Bob');
			});
		},
	});
	assert.match(next.stdout, /<Bob>\n$/);
	assert.equal(next.stderr.split('\n').length, 2, next.stderr);
	assert.match((await server.api.call('GET', `/api/session/box/exec/${other.id}`)).data.output, /\[\]/);

	const marker = path.join(server.root, 'runs');
	const left = await cli(server, ['exec', 'box', `echo > ${marker}; read x; exit_with() { return $x; }; exit_with`], {
		started: (child) => { until('the command', () => existsSync(marker)).then(() => child.kill('SIGQUIT')); },
	});
	assert.equal(left.code, 131);
	const [, name] = /the command runs on, as (exec_\w+); to wait for its end: ringside wait --exec/.exec(left.stderr);
	await answer('3');
	await good(server, ['wait', '--exec', name, 'box']);
	const quiet = await cli(server, ['exec', 'box', 'sleep 1; echo over']);
	assert.deepEqual([quiet.stdout, quiet.stderr], ['over\n', '']);
});

shared('fish completes', { skip: missing('fish') }, async (server) => {
	await server.api.open({ id: 'alpha' });
	const script = path.join(server.root, 'ringside.fish');
	writeFileSync(script, await good(server, ['completion', 'fish']));
	const complete = (line) => spawnSync('fish', ['--no-config', '-c', `source ${script}; complete -C "${line}"`], {
		env: { ...environment(server), PATH: `${binaries}:${process.env.PATH}` }, encoding: 'utf8',
	}).stdout.split('\n').filter(Boolean).map((each) => each.split('\t')[0]);
	assert.deepEqual(complete('ringside atta'), ['attach']);
	assert.deepEqual(complete('ringside attach '), ['alpha']);
	assert.deepEqual(complete('ringside screen --ht'), ['--html']);
});

shared('zsh completes', { skip: missing('zsh') }, async (server) => {
	await server.api.open({ id: 'alpha' });
	writeFileSync(path.join(server.root, '_ringside'), await good(server, ['completion', 'zsh']));
	// Print the candidates instead of offering them: zsh gets them by _describe.
	const complete = (...words) => spawnSync('zsh', ['-f', '-c', `
		compdef() { :; }
		_describe() { print -l -- "\${(@P)3}"; }
		_files() { print -l files "$@"; }
		source ${path.join(server.root, '_ringside')}
		words=(${binary} ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=$#words; _ringside`], {
		env: environment(server), encoding: 'utf8',
	}).stdout.split('\n').filter(Boolean);
	assert.match(complete('atta').join(), /^attach:Show a session/);
	assert.match(complete('attach', '').join(), /^alpha:/);
	assert.deepEqual(complete('run', '--cwd', ''), ['files', '-/']);
});

shared('each command has a well-formed manual page', async (server) => {
	const pages = path.join(binaries, 'ws/client/man');
	if (!existsSync(pages)) return; // only the programs were built
	const commands = (await good(server, ['completion', '--commands'])).trim().split('\n');
	const files = ['ringside.1', ...commands.map((name) => `ringside-${name}.1`)];
	assert.deepEqual(readdirSync(pages).filter((name) => name.endsWith('.1')).sort(), files.slice(1).sort());
	// They are made from the texts of the help; see also unit/ws/client/test_program.
	for (const command of long ? commands : ['exec', 'attach']) {
		const text = readFileSync(path.join(pages, `ringside-${command}.1`), 'utf8').replaceAll('\\-', '-');
		for (const [, option] of (await good(server, [command, '--help'])).matchAll(/(--[a-z-]{2,})/g))
			assert.ok(text.includes(option), `${command} ${option}`);
	}
	const overview = fileURLToPath(new URL('../../ws/client/ringside.1', import.meta.url));
	const checked = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', overview, ...files.slice(1).map((name) => path.join(pages, name))], { encoding: 'utf8' });
	if (!checked.error) assert.equal(checked.stderr, '');
});
