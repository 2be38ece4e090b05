// A scripted agent works in one shell, over MCP: it types, waits for states, reads the screen, runs commands, and gets past a
// password with a person's help.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { scenario } from './lib/server.mjs';

const id = 'work';

/** What an agent does, with MCP tools. */
class Agent {
	constructor(server) {
		this.client = new Client({ name: 'agent', version: '1' });
		this.transport = new StreamableHTTPClientTransport(new URL('/mcp', server.base),
			{ requestInit: { headers: { Authorization: `Bearer ${server.token}` } } });
		this.cwd = server.cwd;
	}

	async call(name, fields = {}) {
		const result = await this.client.callTool({ name, arguments: fields });
		assert.ok(!result.isError, `${name} ${JSON.stringify(fields)}: ${result.content[0].text}`);
		return result.structuredContent;
	}

	async open() {
		await this.client.connect(this.transport);
		await this.call('session_create', { session_id: id, cwd: this.cwd });
	}

	async close() {
		await this.client.close();
	}

	static result = ({ exec_id, state, exit_code, output }) => ({ id: exec_id, state, exitCode: exit_code, output });

	async exec(command, { yieldMs } = {}) {
		return Agent.result(await this.call('exec', { session_id: id, command, queue: true, yield_ms: yieldMs }));
	}

	async ended(exec) {
		return Agent.result(await this.call('exec_read', { exec_id: exec.id, wait_ms: 20_000 }));
	}

	async cancel(exec) {
		return Agent.result(await this.call('exec_signal', { exec_id: exec.id }));
	}

	async keys(fields) {
		return (await this.call('send_keys', { session_id: id, ...fields })).terminal;
	}

	async wait(...until) {
		const answer = await this.call('wait', { session_id: id, until, timeout_ms: 20_000 });
		assert.notEqual(answer.type, 'timeout', JSON.stringify([until, answer]));
		return { ...answer.terminal, humanUrl: answer.terminal.human_url };
	}

	async screen() {
		return (await this.call('snapshot', { session_id: id, whole: true })).text;
	}
}

const match = (pattern) => ({ type: 'match', pattern, on: 'screen' });
const prompt = { type: 'prompt' };
const git = (server, ...args) => execFileSync('git', ['-C', server.cwd, ...args], { encoding: 'utf8' });

const works = {
	'rebases interactively in an editor': async (agent, server) => {
		await agent.exec('git init -q . && git config user.email a@b && git config user.name a && for i in 1 2 3; do echo $i >f$i; git add .; git commit -qm "commit $i"; done');
		// Without the line that names the file: vim waits for a key if the line is longer than a row.
		const exec = await agent.exec("GIT_EDITOR='vim.tiny -u NONE --cmd \"set shortmess+=F\"' git rebase -i HEAD~2", { yieldMs: 100 });
		await agent.wait(match('^pick .* commit 3'));
		await agent.keys({ text: 'jcwsquash' });
		await agent.keys({ keys: ['Escape'] });
		await agent.wait(match('^squash .* commit 3'));
		await agent.keys({ text: ':wq', submit: true });
		await agent.wait(match('This is a combination of 2 commits'));
		await agent.keys({ text: ':wq', submit: true });
		const ended = await agent.ended(exec);
		assert.equal(ended.exitCode, 0, ended.output);
		assert.equal(git(server, 'rev-list', '--count', 'HEAD').trim(), '2');
	},
	'answers questions': async (agent, server) => {
		writeFileSync(path.join(server.cwd, 'old'), '');
		const exec = await agent.exec('rm -i old; select what in build test; do echo "chose $what"; break; done; read -rp "Do you want to continue? [Y/n] " x; echo "said $x"', { yieldMs: 100 });
		const asked = await agent.wait({ type: 'input', kind: 'line' });
		assert.equal(asked.foreground.name, 'rm');
		await agent.keys({ text: 'y', submit: true });
		await agent.wait(match('2\\) test'));
		await agent.keys({ text: '2', submit: true });
		await agent.wait(match('\\[Y/n\\]'));
		await agent.keys({ keys: ['Y', 'Enter'] });
		const { exitCode, output } = await agent.ended(exec);
		assert.equal(exitCode, 0);
		assert.match(output, /chose test\n[^]*said Y\n$/);
		assert.ok(!existsSync(path.join(server.cwd, 'old')));
	},
	'uses a program with its own prompt': async (agent, server) => {
		writeFileSync(path.join(server.cwd, 'shell.py'), `import cmd, readline, sqlite3
db = sqlite3.connect(':memory:')
class Shell(cmd.Cmd):
    prompt = 'db=# '
    def default(self, line): print([*db.execute(line)])
    def do_quit(self, line): return True
Shell().cmdloop()
`);
		const exec = await agent.exec('python3 shell.py', { yieldMs: 100 });
		await agent.wait(match('db=#'));
		await agent.keys({ text: 'create table t (n); insert', keys: ['C-a', 'C-k'] });
		await agent.keys({ paste: 'select 6 * 7', submit: true });
		await agent.wait(match('^\\[\\(42,\\)\\]'));
		await agent.keys({ text: 'quit', submit: true });
		assert.equal((await agent.ended(exec)).exitCode, 0);
	},
	'drives a pager and a monitor': async (agent) => {
		const pager = await agent.exec('seq 1000 | less', { yieldMs: 100 });
		await agent.wait(match('^24$|^23$'));
		await agent.keys({ keys: ['PgDn', 'Down', 'G'] });
		await agent.wait(match('^1000$'));
		await agent.keys({ text: 'q' });
		assert.equal((await agent.ended(pager)).exitCode, 0);
		const monitor = await agent.exec('top', { yieldMs: 100 });
		await agent.wait(match('load average'));
		const state = await agent.wait({ type: 'input', kind: 'raw' });
		assert.equal(state.foreground.name, 'top');
		await agent.keys({ text: 'q' });
		assert.equal((await agent.ended(monitor)).exitCode, 0);
	},
	'builds, and fixes a failing test': async (agent, server) => {
		writeFileSync(path.join(server.cwd, 'sum.c'), '#include <stdio.h>\nint main(void)\n{\n\tint sum = 2 - 2;\n\tprintf("sum %s\\n", sum == 4 ? "ok" : "FAILED");\n\treturn sum != 4;\n}\n');
		const failed = await agent.exec('cc -o sum sum.c && ./sum');
		assert.deepEqual([failed.exitCode, failed.output], [1, 'sum FAILED\n']);
		const mended = await agent.exec("sed -i 's/2 - 2/2 + 2/' sum.c && cc -o sum sum.c && ./sum");
		assert.deepEqual([mended.exitCode, mended.output], [0, 'sum ok\n']);
	},
	'interrupts a program that hangs': async (agent) => {
		const hung = await agent.exec('sleep 1000; echo never', { yieldMs: 200 });
		assert.equal(hung.state, 'running');
		assert.equal((await agent.cancel(hung)).state, 'done');
		assert.deepEqual((({ exitCode, output }) => [exitCode, output.includes('never')])(await agent.ended(hung)), [130, false]);
		assert.equal((await agent.exec('echo alive')).output, 'alive\n');
	},
	'gets past a password with the help of a person': async (agent, server) => {
		const exec = await agent.exec("python3 -c 'import getpass; print(len(getpass.getpass()))'", { yieldMs: 100 });
		const asked = await agent.wait({ type: 'input', kind: 'password' });
		const person = server.client({ sessionId: id, token: asked.humanUrl.split('#link=')[1] });
		await person.connect();
		person.type('correct horse\r');
		const { exitCode, output } = await agent.ended(exec);
		assert.deepEqual([exitCode, output.trim().endsWith('13'), output.includes('horse')], [0, true, false]);
		assert.doesNotMatch(await agent.screen(), /horse/);
		assert.equal((await person.untilClosed()).code, 4401);
	},
};

scenario("an agent's day", { timeout: 150_000 }, async (server, t) => {
	const agent = new Agent(server);
	await agent.open();
	for (const [what, work] of Object.entries(works)) {
		const before = Date.now();
		await agent.wait(prompt);
		await work(agent, server);
		t.diagnostic(`${what}: ${Date.now() - before} ms`);
	}
	const { blocks } = await server.api.call('GET', `/api/session/${id}/blocks?state=running`);
	assert.deepEqual(blocks, []);
	await agent.close();
});
