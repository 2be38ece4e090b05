// The cost of a day's work for an agent that uses MCP with its published client: calls, tokens and seconds for each task.
//
// node tests/bench/agent_day.mjs BUILD [BUILD...]      (directories with `ringside` and `ringside-holder`)
//
// A token counts as four characters. The agent acts as models do: it checks whether an answer has the expected text, asks for
// the rest if not, and has no idea how long something takes.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const LOOKS_MAX = 40; // per task
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const git = 'git -c user.name=a -c user.email=a@b';

/** Start the server of a build in a directory of its own. Returns {base, token, dir, stop}. */
async function serve(build) {
	const root = mkdtempSync(path.join(os.tmpdir(), 'rs-day-'));
	for (const name of ['home', 'work']) mkdirSync(path.join(root, name));
	writeFileSync(path.join(root, 'home', '.bashrc'), "PS1='\\$ '\n");
	const child = spawn(path.join(build, 'ringside'), ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', path.join(root, 'run')], {
		cwd: path.join(root, 'work'), stdio: ['ignore', 'pipe', 'ignore'],
		env: { PATH: process.env.PATH, HOME: path.join(root, 'home'), LANG: 'C.UTF-8', RINGSIDE_TOKEN: 'a'.repeat(32) },
	});
	const ended = new Promise((resolve) => { child.on('exit', resolve); });
	const base = await new Promise((resolve, reject) => {
		let text = '';
		child.stdout.setEncoding('utf8').on('data', (data) => {
			text += data;
			const found = /^Ringside is at (http:[^\s#]+)/m.exec(text);
			if (found) resolve(found[1]);
		});
		ended.then(() => reject(new Error(`${build} did not start`)));
	});
	return {
		base: new URL(base).origin, token: 'a'.repeat(32), dir: path.join(root, 'work'),
		stop: async () => { child.kill('SIGTERM'); await ended; rmSync(root, { recursive: true, force: true, maxRetries: 5 }); },
	};
}

class Agent {
	constructor(server) {
		this.server = server;
		this.client = new Client({ name: 'day', version: '1' });
		this.spent = { calls: 0, text: 0, structured: 0, late: 0 };
	}

	async connect() {
		await this.client.connect(new StreamableHTTPClientTransport(new URL('/mcp', this.server.base), {
			requestInit: { headers: { Authorization: `Bearer ${this.server.token}` } },
		}));
		this.tools = JSON.stringify((await this.client.listTools()).tools).length / 4;
		await this.client.callTool({ name: 'session_create', arguments: { session_id: 'day', cwd: this.server.dir, cols: 120, rows: 24 } });
	}

	async call(name, args = {}) {
		const began = Date.now();
		const waits = args.wait_ms ?? args.yield_ms ?? (name === 'exec' ? 10_000 : args.timeout_ms);
		const more = name === 'exec' && this.queues ? { queue: true } : {};
		const result = await this.client.callTool({ name, arguments: { ...(/^exec_/.test(name) ? {} : { session_id: 'day' }), ...more, ...args } });
		const said = result.content.map(({ text }) => text).join('\n');
		assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${said}`);
		this.spent.calls += 1;
		this.spent.text += said.length / 4;
		this.spent.structured += JSON.stringify(result.structuredContent ?? said).length / 4;
		if (waits > 0 && Date.now() - began >= waits) this.spent.late += 1;
		return { ...result.structuredContent, said };
	}

	/** Ask again until the answer has the text, waiting each time as long as models do. */
	async until(has, answer, again) {
		for (let looks = 0; !has(answer); looks += 1) {
			assert.ok(looks < LOOKS_MAX, answer.said);
			answer = await again(answer);
		}
		return answer;
	}

	/** Run a command to its end. */
	async run(command, more = {}) {
		return this.until(({ state }) => state === 'done', await this.call('exec', { command, ...more }),
			({ exec_id }) => this.call('exec_read', { exec_id, wait_ms: 10_000 }));
	}

	/** Type keys and read the screen until it shows the text. */
	async type(keys, shows) {
		return this.until(({ said }) => shows.test(said), await this.call('send_keys', keys), () => this.call('snapshot'));
	}

	/** Wait for the end of the command that was typed. */
	end(exec) {
		return this.until(({ state }) => state === 'done', exec, ({ exec_id }) => this.call('exec_read', { exec_id, wait_ms: 10_000 }));
	}
}

const tasks = {
	'clone and log': async (a) => {
		await a.run(`git init -q up && cd up && for i in 1 2 3 4; do echo $i > f$i; git add .; ${git} commit -qm "change $i"; done; cd ..`);
		await a.run('git clone -q up down && cd down');
		assert.match((await a.run('git --no-pager log --oneline')).output, /change 4/);
	},
	'failing test': async (a) => {
		await a.run("printf 'def add(a, b):\\n    return a - b\\n' > add.py");
		assert.notEqual((await a.run("python3 -B -c 'import add; assert add.add(1, 2) == 3'")).exit_code, 0);
	},
	'fix by heredoc': async (a) => {
		await a.run("cat > add.py <<'EOF'\ndef add(a, b):\n    return a + b\nEOF");
		assert.equal((await a.run("python3 -B -c 'import add; assert add.add(1, 2) == 3'")).exit_code, 0);
	},
	...(has('vi') ? {
		'vim edit': async (a) => {
			await a.run("printf 'red\\ngreen\\n' > poem");
			const vi = await a.call('exec', { command: 'vi -u NONE poem' });
			await a.until(({ said }) => /green/.test(said), vi, () => a.call('snapshot'));
			await a.type({ keys: ['G', 'c', 'w'], text: '' }, /red/);
			await a.type({ text: 'blue' }, /blue/);
			await a.call('send_keys', { keys: ['Escape'] });
			await a.call('send_keys', { text: ':wq', submit: true });
			await a.end(await a.call('exec_read', { exec_id: vi.exec_id, wait_ms: 10_000 }));
			assert.match(readFileSync(path.join(a.server.dir, 'down/poem'), 'utf8'), /blue/);
		},
		'rebase -i': async (a) => {
			const rebase = await a.call('exec', { command: `GIT_EDITOR='vi -u NONE' ${git} rebase -i HEAD~2` });
			await a.until(({ said }) => /pick/.test(said), rebase, () => a.call('snapshot'));
			await a.type({ keys: ['j'], text: '' }, /pick/);
			await a.type({ text: 'cwfixup' }, /fixup/);
			await a.call('send_keys', { keys: 'Escape' });
			await a.call('send_keys', { text: ':wq', submit: true });
			await a.end(await a.call('exec_read', { exec_id: rebase.exec_id, wait_ms: 10_000 }));
		},
	} : {}),
	REPL: async (a) => {
		const repl = await a.call('exec', { command: 'python3 -q' });
		await a.until(({ said }) => />>>/.test(said), repl, () => a.call('snapshot'));
		for (const i of [6, 7, 8]) await a.type({ text: `print(${i} * 7)`, submit: true }, new RegExp(`^${i * 7}$`, 'm'));
		await a.call('send_keys', { keys: ['C-d'] });
		await a.end(await a.call('exec_read', { exec_id: repl.exec_id, wait_ms: 10_000 }));
	},
	...(has('less') ? {
		pager: async (a) => {
			const pager = await a.call('exec', { command: 'seq 500 | less' });
			await a.until(({ said }) => /\b22\b/.test(said), pager, () => a.call('snapshot'));
			await a.type({ keys: ['G'] }, /\b500\b/);
			await a.call('send_keys', { keys: ['q'] });
			await a.end(await a.call('exec_read', { exec_id: pager.exec_id, wait_ms: 10_000 }));
		},
	} : {}),
	'Y/n': async (a) => {
		const asks = await a.call('exec', { command: 'read -p "Go on? [Y/n] " x; echo "got $x"' });
		await a.until(({ said }) => /Go on/.test(said), asks, ({ exec_id }) => a.call('exec_read', { exec_id, wait_ms: 10_000 }));
		await a.type({ text: 'y', submit: true }, /got y/);
	},
	password: async (a) => {
		const asks = await a.call('exec', { command: 'read -s -p "Password: " x; echo; echo "length ${#x}"' });
		assert.equal(asks.terminal.input, 'password', asks.said);
		// The person types here.
		await fetch(`${a.server.base}/api/session/day/input`, {
			method: 'POST', headers: { Authorization: `Bearer ${a.server.token}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ data: 'secret\r' }),
		});
		assert.match((await a.end(await a.call('exec_read', { exec_id: asks.exec_id, wait_ms: 10_000 }))).output, /length 6/);
	},
	'hung command': async (a) => {
		const hangs = await a.call('exec', { command: 'cat' });
		const { state } = await a.call('exec_signal', { exec_id: hangs.exec_id });
		assert.equal(state, 'done');
	},
	'build with yields': async (a) => {
		const build = await a.call('exec', { command: 'for i in 1 2 3 4 5 6; do echo "[$i/6] cc"; sleep 0.5; done', yield_ms: 1000 });
		await a.end(build);
	},
	'server and port': async (a) => {
		const port = 20_000 + (process.pid % 20_000);
		const server = await a.call('exec', { command: `python3 -u -m http.server ${port} --bind 127.0.0.1`, yield_ms: 500 });
		if (!/Serving/.test(server.output ?? '')) await a.call('wait', { until: [{ type: 'match', pattern: 'Serving', on: 'screen' }], timeout_ms: 20_000 });
		await a.call('exec_signal', { exec_id: server.exec_id });
	},
	'two million lines': async (a) => {
		const { output } = await a.run('seq 2000000', { max_output_tokens: 500 });
		assert.match(output, /2000000\n$/);
	},
	'twenty times true': async (a) => {
		for (let i = 0; i < 20; i += 1) assert.equal((await a.call('exec', { command: 'true' })).exit_code, 0);
	},
};

const row = (name, { calls, text, structured, late, seconds }) =>
	`| ${name} | ${calls} | ${Math.round(text)} | ${Math.round(structured)} | ${late} | ${seconds.toFixed(1)} |`;

async function day(build) {
	const server = await serve(build);
	const agent = new Agent(server);
	const sum = { calls: 0, text: 0, structured: 0, late: 0, seconds: 0 };
	try {
		await agent.connect();
		// Older builds queue a command only on request.
		agent.queues = true;
		console.log(`\n${build}: ${Math.round(agent.tools)} tokens of tools\n`);
		console.log('| task | calls | tokens as text | tokens as structured content | calls that waited out their time | s |\n|---|---|---|---|---|---|');
		for (const [name, work] of Object.entries(tasks)) {
			agent.spent = { calls: 0, text: 0, structured: 0, late: 0 };
			const began = Date.now();
			await work(agent);
			const spent = { ...agent.spent, seconds: (Date.now() - began) / 1000 };
			for (const key of Object.keys(sum)) sum[key] += spent[key];
			console.log(row(name, spent));
		}
		console.log(row('all', sum));
	} finally {
		await agent.client.close();
		await fetch(`${server.base}/api/session/delete`, {
			method: 'POST', headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ sessionId: 'day' }),
		}).catch(() => {});
		await server.stop();
	}
}

for (const build of process.argv.slice(2)) await day(path.resolve(build));
