// OpenAI's published Agents SDK, with its Cloudflare client connected to the bridge.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Manifest } from '@openai/agents-core/sandbox';
import { CloudflareSandboxClient } from '@openai/agents-extensions/sandbox/cloudflare';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const client = (server) => new CloudflareSandboxClient({ workerUrl: server.base, apiKey: server.token });
const directory = (server, session) => path.join(server.cwd, '.sandboxes', session.state.sandboxId);
const running = (output) => Number(/Process running with session ID (\d+)/.exec(output)?.[1]);
const exited = (output) => Number(/Process exited with code (\d+)/.exec(output)?.[1]);

shared('files and commands of an agent', async (server) => {
	const session = await client(server).create({ manifest: new Manifest({ root: '/workspace', entries: { 'deep/hello.txt': { type: 'file', content: 'hello\n' } } }) });
	const dir = directory(server, session);
	assert.equal(readFileSync(path.join(dir, 'deep/hello.txt'), 'utf8'), 'hello\n');
	assert.equal(await session.running(), true);
	const answer = await session.execCommand({ cmd: 'cat hello.txt; pwd; printf "äöü"; exit 3', workdir: 'deep' });
	assert.equal(exited(answer), 3, answer);
	assert.match(answer, /\nhello\n.*\/deep\näöü$/);
	// No piece of the pipe ends at the end of a character.
	const { output } = await session.execShell('yes € | tr -d "\\n" | head -c 900000');
	assert.equal(output, '€'.repeat(300_000));
	assert.equal(Buffer.from(await session.readFile({ path: 'deep/hello.txt' })).toString(), 'hello\n');
	assert.deepEqual([await session.pathExists('deep/hello.txt'), await session.pathExists('none'), await session.directoryExists('deep')], [true, false, true]);
	const editor = session.createEditor();
	await editor.createFile({ type: 'create_file', path: 'made/a b.txt', diff: '+one\n+two' });
	assert.equal(readFileSync(path.join(dir, 'made/a b.txt'), 'utf8').trimEnd(), 'one\ntwo');
	await editor.updateFile({ type: 'update_file', path: 'made/a b.txt', diff: ' one\n-two\n+three' });
	assert.equal(readFileSync(path.join(dir, 'made/a b.txt'), 'utf8').trimEnd(), 'one\nthree');
	await editor.deleteFile({ type: 'delete_file', path: 'made/a b.txt' });
	assert.equal(existsSync(path.join(dir, 'made/a b.txt')), false);
	// All files in another sandbox.
	const archive = await session.persistWorkspace();
	const other = await client(server).create({ manifest: new Manifest({ root: '/workspace' }) });
	await other.hydrateWorkspace(archive);
	assert.equal((await other.execShell('cat deep/hello.txt')).output, 'hello');
	await other.close();
	assert.deepEqual([existsSync(directory(server, other)), await other.running()], [false, false]);
	// It continues after a restart of the server.
	await server.restart();
	assert.equal(await session.running(), true);
	assert.equal((await session.execShell('cat deep/hello.txt')).output, 'hello');
	await session.close();
	assert.equal(existsSync(dir), false);
});

shared('a terminal of an agent', async (server) => {
	const session = await client(server).create({ manifest: new Manifest({ root: '/workspace' }) });
	const begun = await session.execCommand({ cmd: 'read -r line; echo "got <$line>"', tty: true, yieldTimeMs: 1000 });
	const sessionId = running(begun);
	assert.ok(sessionId >= 0, begun);
	let text = begun;
	assert.doesNotMatch(text, /"type"/, 'only terminal output');
	// A line that looks like a server message is output.
	text += await session.writeStdin({ sessionId, chars: 'some words\nPS1= PS2=; bind "set enable-bracketed-paste off"; stty -echo\n', yieldTimeMs: 1000 });
	for (const line of ['{"type":"exit","code":9}', '{"type":"error","message":"x"}}', '\ufeff{"type":"error","message":"y"}']) {
		text += await session.writeStdin({ sessionId, chars: `sleep 0.1; echo '${line}'\n`, yieldTimeMs: 1000 });
		assert.ok(text.includes(line.replace('\ufeff', '')), text);
		assert.ok(running(text) >= 0 && !(exited(text) >= 0), text);
	}
	text += await session.writeStdin({ sessionId, chars: 'exit 4\n', yieldTimeMs: 1000 });
	await until(() => `the end of the output: ${text}`, async () => {
		if (exited(text) >= 0) return true;
		text += await session.writeStdin({ sessionId, chars: '', yieldTimeMs: 200 });
		return false;
	});
	assert.match(text, /got <some words>/);
	assert.equal(exited(text), 4);
	await session.close();
});
