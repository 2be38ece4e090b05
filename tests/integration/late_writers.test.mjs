// Children of a command may write after its end, as process substitutions do: the server waits for them for a quarter of a
// second. Output that may come later, or is redirected, is reported as not exact.
import assert from 'node:assert/strict';
import { shared } from './lib/together.mjs';
import { times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

const run = (server, command, fields = {}) => server.api.call('POST', '/api/run', { command, ...fields });
const exec = async (server, id, command, fields = {}) => (await server.api.call('POST', `/api/session/${id}/exec`, { command, queue: true, ...fields })).data;

/**
 * Run a command repeatedly: each result is exact, or says that late output is possible, as happens on a machine that is too
 * busy to start the children in time.
 */
async function assertExactOrReported(what, times, ask, expected) {
	let late = 0;
	for (let i = 0; i < times; i += 1) {
		const [output, exact, inexact, status] = await ask();
		late += inexact === 'late_writers' ? 1 : 0;
		assert.deepEqual(inexact === 'late_writers' ? [exact, status] : [output, exact, inexact, status],
			inexact === 'late_writers' ? [false, 0] : [expected, true, undefined, 0], what);
	}
	assert.ok(late <= times / 2, `${what}: ${late} times late`);
}

/** Commands with the output that comes in time. */
const timely = [
	['echo hi > >(cat)', 'hi\n'],
	['seq 3 > >(sleep 0.1; cat)', '1\n2\n3\n'],
	['{ echo out; echo err >&2; } > >(sort) 2>/dev/null', 'out\n'],
	['cat <<<hi > >(cat > >(cat))', 'hi\n'],
];

shared('runs: output of process substitutions is complete, every time', { timeout: 90_000 }, async (server) => {
	for (const streams of ['pipes', 'terminals']) {
		for (const [command, stdout] of [...timely, ['exec > >(tee -a f) 2>&1; echo hi', 'hi\n'], ['(sleep 0.1; echo late) & echo hi', 'hi\nlate\n']])
			await assertExactOrReported(`${streams}: ${command}`, /sleep/.test(command) ? 2 : times(4, 50), async () => {
				const answer = await run(server, command, { streams });
				return [answer.stdout, answer.outputExact, answer.inexact, answer.exitCode];
			}, stdout);
	}
});

shared('runs: children that keep their output open longer are left alone and reported', async (server) => {
	for (const streams of ['pipes', 'terminals']) {
		const answer = await run(server, 'sleep 50 & echo $!', { streams });
		assert.deepEqual([answer.outputExact, answer.inexact, answer.exitCode], [false, 'late_writers', 0], streams);
		assert.ok(answer.durationMs < 250, 'the command itself was fast');
		process.kill(Number(answer.stdout), 'SIGKILL');
		// Redirected children do not count.
		const quiet = await run(server, 'sleep 50 >/dev/null 2>&1 & echo $!', { streams });
		assert.equal(quiet.outputExact, true);
		process.kill(Number(quiet.stdout), 'SIGKILL');
		const events = (await server.api.raw('POST', '/api/run', { command: 'echo hi > >(sleep 0.1; cat)', streams, stream: true })).text
			.split('\n').filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice(6)));
		assert.deepEqual(events.map(({ type, data }) => data ?? type), ['start', 'hi\n', 'complete']);
		assert.equal(events.at(-1).outputExact, true);
	}
});

for (const shell of ['bash', 'zsh'])
	shared(`sessions, ${shell}: output of process substitutions is complete at the end`, { timeout: 90_000 }, async (server) => {
		await server.session({ id: 's', shell });
		for (const more of [{}, { streams: 'pipes' }, { isolate: true }, { isolate: true, streams: 'pipes' }])
			for (const [command, output] of timely)
				await assertExactOrReported(`${JSON.stringify(more)}: ${command}`, /sleep/.test(command) ? 2 : times(2, 20), async () => {
					const e = await exec(server, 's', command, more);
					return [e.output ?? e.stdout, e.outputExact, e.inexact, e.exitCode];
				}, output);
		const status = await exec(server, 's', 'echo hi > >(cat); exit 3', { isolate: true });
		assert.deepEqual([status.output, status.outputExact, status.exitCode], ['hi\n', true, 3]);
	});

for (const shell of ['bash', 'zsh'])
	shared(`sessions, ${shell}: redirected output is never exact`, { timeout: 60_000 }, async (server) => {
		await server.session({ id: 's', shell });
		const block = async () => (await server.api.call('GET', '/api/session/s/blocks?limit=1')).blocks[0];
		const runExpecting = async (command, expected) => {
			const e = await exec(server, 's', command);
			assert.deepEqual([e.outputExact, e.inexact], expected, command);
			const { outputExact } = await until('the end of its block', async () => {
				const last = await block();
				return last.state === 'done' && last;
			});
			assert.equal(outputExact, expected[0], command);
			return e.output;
		};
		await runExpecting('echo before', [true, undefined]);
		await runExpecting('exec > >(tee -a f) 2>&1; echo hi', [false, 'redirected']);
		await runExpecting('echo hi > >(sleep 0.5; cat)', [false, 'redirected']);
		await runExpecting('echo again', [false, 'redirected']);
		await server.api.call('POST', '/api/session/s/input', { data: 'echo typed\r' });
		const typed = await until('the end of a typed line', async () => {
			const last = await block();
			return last.command === 'echo typed' && last.state === 'done' ? last : undefined;
		});
		assert.equal(typed.outputExact, false);
		// Earlier input of tee may be printed while this runs.
		await runExpecting('exec >/dev/tty 2>&1; echo back', [false, 'redirected']);
		assert.equal(await runExpecting('echo good', [true, undefined]), 'good\n');
		// The same if the user restores it.
		await runExpecting('exec > >(cat) 2>&1; echo hi', [false, 'redirected']);
		await server.api.call('POST', '/api/session/s/input', { data: 'exec >/dev/tty 2>&1\r' });
		await until('a prompt', async () => (await server.api.call('GET', '/api/session/s/state')).state.status === 'prompt');
		await runExpecting('echo perhaps', [false, 'redirected']);
		assert.equal(await runExpecting('echo good', [true, undefined]), 'good\n');
	});
