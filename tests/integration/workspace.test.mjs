// /workspace, which clients of the container write into paths, stands for the workspace in every path if the machine has no
// such directory.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { everyTransport } from '../sandbox/local.mjs';
import { eventsOf, joined } from '../sandbox/sdk.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';

const skip = inSandboxes ? 'sandboxes may not contain the workspace' : existsSync('/workspace') ? 'this machine has a /workspace' : false;
const sessionless = '__DISABLE_SESSION__';

for (const [transport, make] of Object.entries(everyTransport))
	shared(`/workspace is the workspace, over ${transport}`, { skip, timeout: 100_000 }, async (server) => {
		const client = make(server), { files, commands, processes, interpreter, git, utils } = client;
		const at = (...names) => path.join(server.cwd, ...names);
		mkdirSync(at('sub'));
		try {
			await utils.createSession({ id: 's', cwd: '/workspace/sub' });
			assert.equal((await commands.execute('pwd', 's')).stdout, at('sub'));
			await files.writeFile('/workspace/new/file', 'one', 's');
			assert.equal(readFileSync(at('new/file'), 'utf8'), 'one');
			const { content, path: named } = await files.readFile('/workspace/new/file', 's');
			assert.deepEqual([content, named], ['one', '/workspace/new/file'], 'the response has the requested path');
			assert.equal(joined(await eventsOf(await files.readFileStream('/workspace/new/file', 's')), 'chunk'), 'one');
			assert.equal((await files.readFile('file', 's').catch((error) => error)).code, 'FILE_NOT_FOUND', 'relative paths start at the shell\'s directory');
			await files.mkdir('/workspace/made/deep', 's', { recursive: true });
			await files.mkdir('/workspace', 's', { recursive: true });
			await files.renameFile('/workspace/new/file', '/workspace/made/file', 's');
			await files.moveFile('/workspace/made/file', '/workspace/made/deep', 's');
			assert.equal(readFileSync(at('made/deep/file'), 'utf8'), 'one');
			const { files: listed } = await files.listFiles('/workspace/made', 's', { recursive: true });
			assert.deepEqual(listed.map(({ absolutePath }) => absolutePath).sort(), ['/workspace/made/deep', '/workspace/made/deep/file']);
			assert.equal((await files.exists('/workspace/made/deep/file', 's')).exists, true);
			assert.equal((await files.exists('/workspace/../workspace/made', 's')).exists, true);
			assert.equal((await files.exists('/workspaces', 's')).exists, false);
			await files.deleteFile('/workspace/made/deep/file', 's');
			assert.equal(existsSync(at('made/deep/file')), false);
			assert.match((await files.deleteFile('/workspace', 's').catch((error) => error)).message, /Cannot delete directory/);

			for (const [cwd, real] of [['/workspace', at()], ['/workspace/made', at('made')]]) {
				assert.equal((await commands.execute('pwd', 's', { cwd })).stdout, real, 'in the session’s shell');
				assert.equal((await commands.execute('pwd', sessionless, { cwd })).stdout.trim(), real, 'without a session');
				const { processId } = await processes.startProcess('pwd', sessionless, { cwd });
				assert.equal(joined(await eventsOf(await processes.streamProcessLogs(processId)), 'stdout').trim(), real);
				const context = await interpreter.createCodeContext({ language: 'python', cwd });
				assert.equal(context.cwd, real);
				await interpreter.deleteCodeContext(context.id);
			}

			execFileSync('bash', ['-ec', `git init -q -b main "$1/from"; cd "$1/from"; git config user.email a@b; git config user.name a
				echo one >file; git add .; git commit -qm one`, 'bash', server.cwd]);
			const cloned = await git.checkout(`file://${server.cwd}/from`, 's', { targetDir: '/workspace/repo' });
			assert.equal(cloned.targetDir, at('repo'));
			assert.equal((await files.readFile('/workspace/repo/file', 's')).content, 'one\n', 'the clone is found');
			assert.equal(existsSync('/workspace'), false, 'no such directory is created');
		} finally {
			client.disconnect();
		}
	});

shared("/workspace in Ringside's own routes", { skip }, async (server) => {
	mkdirSync(path.join(server.cwd, 'sub'));
	await server.session({ id: 's' });
	const { json: run } = await server.api.raw('POST', '/api/run', { command: 'pwd', cwd: '/workspace/sub' });
	assert.equal(run.stdout.trim(), path.join(server.cwd, 'sub'));
	const { json: exec } = await server.api.raw('POST', '/api/session/s/exec', { command: 'pwd', cwd: '/workspace/sub' });
	assert.equal(exec.data.output.trim(), path.join(server.cwd, 'sub'));
	const file = `/api/file/${encodeURIComponent('/')}workspace/sub/by-url?sessionId=s`;
	assert.equal((await server.api.raw('PUT', file, Buffer.from('bytes'))).status, 200);
	assert.equal(readFileSync(path.join(server.cwd, 'sub/by-url'), 'utf8'), 'bytes');
	assert.equal((await server.api.raw('GET', file)).text, 'bytes');
	const { status, json } = await server.api.raw('POST', '/api/run', { command: 'pwd', cwd: '/workspace/none' });
	assert.deepEqual([status, json.code], [400, 'VALIDATION_FAILED']);
	const { json: argv } = await server.api.raw('POST', '/api/process/start', { argv: ['./sub/none'], cwd: '/workspace' });
	assert.equal(argv.code, 'PROCESS_SPAWN_FAILED');
});

scenario('in sandboxes /workspace is only the default directory of sessions', { skip: skip || noSandboxes, args: ['--isolate'], ordinary: true }, async (server) => {
	const { json } = await server.api.raw('POST', '/api/session/create', { id: 's', cwd: '/workspace' });
	assert.equal(json.success, true, json.message);
	const { json: read } = await server.api.raw('POST', '/api/exists', { sessionId: 's', path: '/workspace' });
	assert.equal(read.exists, false, 'the sandbox has none');
});
