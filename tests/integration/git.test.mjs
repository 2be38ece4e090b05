// Clones, by the published client over HTTP and its WebSocket, and by hand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { everyTransport } from '../sandbox/local.mjs';
import { processesNaming } from './lib/proc.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const script = (text, ...args) => execFileSync('bash', ['-ec', text, 'bash', ...args], { encoding: 'utf8', stdio: 'pipe' });

/** A bare repository with two branches. */
function repository(server) {
	const bare = path.join(server.root, 'some-repo.git');
	if (existsSync(bare)) return bare;
	script(`export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=/nonexistent
		git init -q -b main "$1/work"; cd "$1/work"; echo one >file; git add .; git commit -qm one
		git checkout -qb other; echo two >file; git commit -qam two; git checkout -q main
		git clone -q --bare . "$2"`, server.root, bare);
	return bare;
}

const listening = async (each) => {
	await new Promise((resolve) => { each.listen(0, '127.0.0.1', resolve); });
	return each.address().port;
};
/** A server that asks for a password and accepts none; `asked` gets those that were sent. */
const asking = (asked) => http.createServer((request, response) => {
	asked.push(request.headers.authorization);
	response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
});
const checkout = (server, body) => server.api.raw('POST', '/api/git/checkout', body);

for (const [transport, make] of Object.entries(everyTransport))
	shared(`the published client clones, over ${transport}`, async (server) => {
		const bare = repository(server), client = make(server);
		try {
			await client.utils.createSession({ id: 's', cwd: server.cwd });
			const result = await client.git.checkout(`file://${bare}`, 's', {});
			assert.equal(result.success, true);
			assert.equal(result.branch, 'main');
			assert.equal(result.targetDir, path.join(server.cwd, 'some-repo'));
			assert.equal(readFileSync(path.join(result.targetDir, 'file'), 'utf8'), 'one\n');
			const other = await client.git.checkout(`file://${bare}`, 's', { branch: 'other', targetDir: path.join(server.cwd, 'b'), depth: 1 });
			assert.equal(other.branch, 'other');
			assert.equal(readFileSync(path.join(server.cwd, 'b/file'), 'utf8'), 'two\n');
			const error = await client.git.checkout(`file://${server.root}/none`, 's', {}).catch((e) => e);
			assert.equal(error.httpStatus, 500, error.message);
			assert.equal(error.code, 'GIT_OPERATION_FAILED');
		} finally {
			client.disconnect();
		}
	});

shared('the target of a clone, and refused requests', async (server) => {
	const bare = repository(server), repoUrl = `file://${bare}`;
	await server.session({ id: 's' });
	mkdirSync(path.join(server.cwd, 'deep'));
	await server.run('s', 'cd deep');
	const relative = await checkout(server, { repoUrl, targetDir: 'x/../y', sessionId: 's' });
	assert.equal(relative.json.targetDir, path.join(server.cwd, 'deep/y'));
	assert.ok(existsSync(path.join(server.cwd, 'deep/y/file')));
	if (!existsSync('/workspace'))
		assert.equal((await checkout(server, { repoUrl, targetDir: '/workspace/w' })).json.targetDir, path.join(server.cwd, 'w'));
	const there = await checkout(server, { repoUrl, targetDir: 'w2', branch: '$(touch hacked)\'"; touch hacked #' });
	assert.equal(there.status, 500, 'a missing branch');
	const quoted = await checkout(server, { repoUrl, targetDir: 'it\'s $(touch hacked)' });
	assert.equal(quoted.status, 200);
	assert.ok(existsSync(path.join(server.cwd, 'it\'s $(touch hacked)/file')) && !existsSync(path.join(server.cwd, 'hacked')));
	for (const [body, code] of [
		[{}, 'INVALID_GIT_URL'], [{ repoUrl: 1 }, 'INVALID_GIT_URL'], [{ repoUrl: 'a\0b' }, 'INVALID_GIT_URL'],
		[{ repoUrl: `file:///${'x'.repeat(2048)}` }, 'INVALID_GIT_URL'], [{ repoUrl: 'ext::sh -c touch% hacked' }, 'INVALID_GIT_URL'],
		[{ repoUrl, branch: '--upload-pack=x' }, 'VALIDATION_FAILED'], [{ repoUrl, depth: 0 }, 'VALIDATION_FAILED'],
		[{ repoUrl, timeoutMs: 1.5 }, 'VALIDATION_FAILED'], [{ repoUrl, targetDir: '' }, 'VALIDATION_FAILED'],
		[{ repoUrl, targetDir: 'x'.repeat(5000) }, 'VALIDATION_FAILED'], [{ repoUrl: 'file:///..' }, 'VALIDATION_FAILED'],
	]) {
		const { status, json } = await checkout(server, body);
		assert.equal(status, 400, JSON.stringify(body));
		assert.equal(json.code, code, JSON.stringify(body));
	}
	assert.ok(!readdirSync(server.cwd).includes('hacked'));
});

shared('a refused password is in no response and no log', async (server) => {
	const asked = [];
	const stub = asking(asked);
	const port = await listening(stub);
	const { status, json, text } = await checkout(server, { repoUrl: `http://ada:s3cr3t@127.0.0.1:${port}/repo.git`, timeoutMs: 20_000 });
	assert.equal(status, 500);
	assert.equal(json.code, 'GIT_OPERATION_FAILED');
	assert.ok(asked.length > 0);
	assert.ok(!(text ?? JSON.stringify(json)).includes('s3cr3t') && !server.stderr.includes('s3cr3t'));
	assert.equal(json.context.repository, `http://***@127.0.0.1:${port}/repo.git`);
	assert.deepEqual(Object.keys(json.context).sort(), ['exitCode', 'repository', 'stderr', 'targetDir']);
	stub.close();
});

shared('a password is only sent to its host, also after redirects', async (server) => {
	const asked = [];
	const other = asking(asked);
	const otherPort = await listening(other);
	const stub = http.createServer((request, response) => {
		response.writeHead(302, { Location: `http://127.0.0.1:${otherPort}${request.url}` }).end();
	});
	const port = await listening(stub);
	try {
		const { status } = await checkout(server, { repoUrl: `http://ada:s3cr3t@127.0.0.1:${port}/repo.git`, timeoutMs: 20_000 });
		assert.equal(status, 500);
		assert.deepEqual([...new Set(asked)], [undefined]);
	} finally {
		stub.close();
		other.close();
	}
});

shared('a server that does not respond: the time limit, and a client that disconnects', async (server) => {
	const sockets = new Set();
	const hang = net.createServer((socket) => { sockets.add(socket.on('error', () => {})); });
	const port = await listening(hang);
	const repoUrl = `http://127.0.0.1:${port}/hang.git`;
	const { status, json } = await checkout(server, { repoUrl, timeoutMs: 300 });
	assert.equal(status, 502);
	assert.equal(json.code, 'GIT_NETWORK_ERROR');
	assert.equal(json.context.exitCode, 124);
	await until('the end of all processes', () => processesNaming(`:${port}/hang`).length === 0);
	const before = sockets.size;
	const request = http.request(`${server.base}/api/git/checkout`, { agent: false, method: 'POST', headers: {
		Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' } });
	request.on('error', () => {}).end(JSON.stringify({ repoUrl }));
	await until('the connection', () => sockets.size > before);
	request.destroy();
	await until('the end of all processes', () => processesNaming(`:${port}/hang`).length === 0);
	for (const each of sockets) each.destroy();
	hang.close();
});

shared('progress, for clients that accept events', async (server) => {
	const bare = repository(server);
	const text = await new Promise((resolve, reject) => {
		const body = JSON.stringify({ repoUrl: `file://${bare}`, targetDir: 'p' });
		http.request(`${server.base}/api/git/checkout`, { agent: false, method: 'POST', headers: {
			Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' } }, (response) => {
			let all = '';
			response.setEncoding('utf8').on('data', (more) => { all += more; }).on('end', () => resolve(all));
		}).on('error', reject).end(body);
	});
	const events = text.split('\n\n').filter((each) => each.startsWith('data:')).map((each) => JSON.parse(each.slice(5)));
	assert.equal(events[0].type, 'start');
	assert.ok(events.some((each) => each.type === 'progress'));
	const last = events.at(-1);
	assert.deepEqual([last.type, last.success, last.branch, last.targetDir], ['complete', true, 'main', path.join(server.cwd, 'p')]);
});

shared('name and password are in no arguments, and the clone has them', async (server) => {
	const bare = repository(server), secret = 'very hidden&$x';
	script('git -C "$1" update-server-info', bare);
	let seen = 0, asked = 0;
	// Data that every user can read, while git waits for the server.
	const look = () => {
		for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
			let text = '';
			try { text = readFileSync(`/proc/${pid}/cmdline`, 'utf8'); } catch { continue; }
			if (!text.includes('some-repo.git')) continue;
			seen += 1;
			assert.ok(!text.includes('hidden'), text.replaceAll('\0', ' '));
		}
	};
	const web = http.createServer((request, response) => {
		const wanted = `Basic ${Buffer.from(`some:${secret}`).toString('base64')}`;
		try { look(); } catch (error) { asked = error; }
		if (request.headers.authorization !== wanted) return response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
		const file = path.join(bare, '..', new URL(request.url, 'http://x').pathname);
		return existsSync(file) ? response.end(readFileSync(file)) : response.writeHead(404).end();
	});
	const url = `http://some:${encodeURIComponent(secret)}@127.0.0.1:${await listening(web)}/some-repo.git`;
	try {
		const answer = await checkout(server, { repoUrl: url, targetDir: path.join(server.cwd, 'clone') });
		assert.equal(answer.status, 200, answer.text);
		assert.equal(asked, 0, String(asked));
		assert.ok(seen > 0);
		assert.ok(!answer.text.includes('hidden'));
		assert.equal(readFileSync(path.join(server.cwd, 'clone/file'), 'utf8'), 'one\n');
		assert.equal(script('git -C "$1" config remote.origin.url', path.join(server.cwd, 'clone')).trim(), url);
		const wrong = await checkout(server, { repoUrl: url.replace('some:', 'other:'), targetDir: path.join(server.cwd, 'none') });
		assert.notEqual(wrong.status, 200);
	} finally {
		web.close();
	}
});
