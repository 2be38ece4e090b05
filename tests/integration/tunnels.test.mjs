// Tunnels, by a program that is called cloudflared and opens none; by the published clients' methods, and by hand.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { RpcTarget, newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { next, nextNamespace } from '../sandbox/next.mjs';
import { isAlive, kill } from './lib/proc.mjs';
import { pathWithout } from './lib/programs.mjs';
import { scenario } from './lib/server.mjs';
import { until, within } from './lib/until.mjs';

console.debug = console.info = () => {};

/** What it does is in a file beside it, `does`: unready (never connected), mute (no address), stubborn (not ended by TERM), fails. */
const program = `#!${process.execPath}
const fs = require('fs'), http = require('http'), path = require('path');
const here = path.dirname(process.argv[1]);
const does = fs.readFileSync(path.join(here, 'does'), 'utf8');
const say = (level, message, more) => fs.writeSync(2, JSON.stringify({ level, time: new Date().toISOString(), message, ...more }) + '\\n');
fs.writeFileSync(path.join(here, 'run-' + process.pid), JSON.stringify({ arguments: process.argv.slice(2), token: process.env.TUNNEL_TOKEN ?? '' }));
if (does.includes('fails')) { say('error', 'Error', { error: 'there is no \\u0001 way' }); process.exit(3); }
if (does.includes('stubborn')) process.on('SIGTERM', () => {});
const server = http.createServer((request, response) => {
	response.writeHead(request.url === '/ready' && !does.includes('unready') ? 200 : 503);
	response.end('{}');
}).listen(0, '127.0.0.1', () => {
	fs.writeSync(1, 'this is no log\\n');
	say('info', 'Starting metrics server on 127.0.0.1:' + server.address().port + '/metrics');
	say('error', 'it tries again', { error: 'Post "https://api.trycloudflare.com/tunnel": no' });
	if (!does.includes('mute')) say('info', '|  https://words-' + process.pid + '.trycloudflare.com  |');
});
`;

const skip = process.env.RINGSIDE_ISOLATED === '1' ? 'there are no tunnels into rooms' : false;

/** A scenario with that program in PATH; does: see there. */
function tunnelling(name, does, body, options = {}) {
	const bin = mkdtempSync(path.join(os.tmpdir(), 'rs-tunnel-'));
	after(() => rmSync(bin, { recursive: true }));
	writeFileSync(path.join(bin, 'cloudflared'), program);
	chmodSync(path.join(bin, 'cloudflared'), 0o755);
	writeFileSync(path.join(bin, 'does'), does);
	const runs = () => readdirSync(bin).filter((each) => each.startsWith('run-')).map((each) => ({ pid: Number(each.slice(4)), ...JSON.parse(readFileSync(path.join(bin, each), 'utf8')) }));
	scenario(name, { skip, env: { PATH: `${bin}:${process.env.PATH}` }, ...options }, (server) => body(server, {
		runs, does: (what) => writeFileSync(path.join(bin, 'does'), what),
		start: (body) => server.api.raw('POST', '/api/tunnels', body),
		stop: (body) => server.api.raw('POST', '/api/tunnels/stop', body),
		list: async () => (await server.api.call('GET', '/api/tunnels')).tunnels,
	}));
}

/** The main object of a connection, which hears of ends; preview: it speaks as that client. */
async function connected(server, { preview = false } = {}) {
	const heard = [];
	class Main extends RpcTarget {
		onTunnelExit(...all) { heard.push(all); }

		onTunnelRunExit(event) { heard.push(event); }
	}
	const socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}/rpc`, { headers: { Authorization: `Bearer ${server.token}` } });
	server.clients.add({ terminate: () => socket.terminate() });
	const main = newWebSocketRpcSession(socket, new Main());
	if (preview) await main.utils.activateControlSession((await main.utils.getRuntimeMetadata()).runtimeIncarnationID);
	return { main, socket, heard };
}
const fails = async (promise, code) => {
	const error = await within('failure', Promise.resolve(promise).then((value) => assert.fail(`it did not fail: ${JSON.stringify(value)}`), (error) => error));
	const known = error.code ?? JSON.parse(error.message).code;
	assert.equal(known, code, error.message);
};

tunnelling('a tunnel is there once it is connected, and gone once it is stopped', '', async (server, { start, stop, list, runs }) => {
	const { status, json, text } = await start({ port: 8080, tunnelId: 'quick-a' });
	assert.deepEqual([status, json.started, json.run.tunnelId, json.run.mode, json.run.port], [200, true, 'quick-a', 'quick', 8080], text);
	const [{ pid, arguments: words, token }] = runs();
	assert.equal(json.run.url, `https://words-${pid}.trycloudflare.com`);
	assert.equal(`https://${json.run.hostname}`, json.run.url);
	assert.deepEqual([words, token], [['tunnel', '--metrics', '127.0.0.1:0', '--no-autoupdate', '--output', 'json', '--url', 'http://localhost:8080'], '']);
	assert.deepEqual((await list()).map(({ tunnelId, ready, url }) => [tunnelId, ready, url]), [['quick-a', true, json.run.url]]);
	assert.equal((await start({ port: 8080, tunnelId: 'quick-a' })).json.code, 'TUNNEL_ALREADY_RUNNING');
	const named = await start({ port: 81, tunnelId: 'named', runId: 'one', mode: 'named', token: 'SECRET5ec7e7' });
	assert.deepEqual([named.status, named.json.run.url, named.json.run.runId], [200, undefined, 'one'], named.text);
	const other = runs().find((each) => each.pid !== pid);
	assert.deepEqual([other.arguments.slice(-3), other.token], [['run', '--url', 'http://localhost:81'], 'SECRET5ec7e7']);
	// The same run is the same; another is none.
	const again = await start({ port: 81, tunnelId: 'named', runId: 'one', mode: 'named', token: 'SECRET5ec7e7' });
	assert.deepEqual([again.json.started, again.json.run], [false, named.json.run]);
	for (const more of [{ runId: 'two' }, { port: 82 }, { mode: 'quick', token: undefined }])
		assert.equal((await start({ port: 81, tunnelId: 'named', runId: 'one', mode: 'named', token: 'x', ...more })).json.code, 'TUNNEL_RUN_CONFLICT');
	assert.deepEqual((await stop({ tunnelId: 'named', runId: 'two' })).json.stopped, false);
	assert.deepEqual((await stop({ tunnelId: 'named', runId: 'one' })).json.stopped, true);
	assert.ok(!isAlive(other.pid) && isAlive(pid));
	assert.equal((await stop({ tunnelId: 'none' })).json.code, 'TUNNEL_NOT_FOUND');
	assert.equal((await stop({ tunnelId: 'quick-a' })).json.stopped, true);
	assert.ok(!isAlive(pid));
	assert.deepEqual(await list(), []);
	assert.match((await start({ port: 1 })).json.run.tunnelId, /^quick-[0-9a-z]{20}$/);
	assert.ok(!(server.stderr + server.stdout).includes('5ec7e7'), 'tokens are not logged');
});

tunnelling('one that does not come is told', 'fails', async (server, { start, stop, list, runs, does }) => {
	const failed = await start({ port: 1 });
	assert.deepEqual([failed.status, failed.json.code], [500, 'TUNNEL_START_ERROR'], failed.text);
	assert.match(failed.json.message, /could not be started: there is no . way$/);
	for (const what of ['unready', 'mute']) {
		does(what);
		const late = await start({ port: 1, readyTimeoutMs: 1500 });
		assert.deepEqual([late.json.code, await list()], ['TUNNEL_START_ERROR', []], late.text);
	}
	// Stopped meanwhile; and who goes away leaves it.
	does('unready');
	const pending = start({ port: 1, tunnelId: 'a', runId: 'r' });
	await until('it is under way', async () => (await list()).length === 1);
	assert.equal((await stop({ tunnelId: 'a' })).json.stopped, true);
	assert.match((await pending).json.message, /.*/);
	assert.equal((await pending).json.code, 'TUNNEL_START_ERROR');
	const gone = new AbortController();
	fetch(`${server.base}/api/tunnels`, { method: 'POST', body: '{"port":1,"tunnelId":"b","runId":"r"}', signal: gone.signal, headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' } }).catch(() => {});
	await until('it is under way', async () => (await list()).length === 1);
	gone.abort();
	does('stubborn');
	assert.deepEqual((await list()).map(({ tunnelId, ready }) => [tunnelId, ready]), [['b', false]]);
	assert.equal((await stop({ tunnelId: 'b', runId: 'r' })).json.stopped, true);
	const { json } = await start({ port: 1, tunnelId: 'c', stopGraceMs: 300 });
	const { pid } = runs().at(-1) && runs().find(({ pid }) => json.run.url.includes(`-${pid}.`));
	await stop({ tunnelId: 'c' });
	assert.ok(!isAlive(pid), 'KILL');
	// The server's end is theirs.
	does('');
	const last = await start({ port: 1 });
	const { pid: alone } = runs().find(({ pid }) => last.json.run.url.includes(`-${pid}.`));
	await server.kill('SIGTERM');
	await until('it has ended', () => !isAlive(alone));
	await server.start();
	assert.deepEqual(await list(), []);
});

tunnelling('what is wrong', '', async (server, { start, stop, runs }) => {
	for (const [body, field] of [[{}, 'port'], [{ port: 0 }, 'port'], [{ port: 65536 }, 'port'], [{ port: '1' }, 'port'], [{ tunnelId: '../x' }, 'tunnelId'], [{ runId: 'a b' }, 'runId'], [{ mode: 'else' }, 'mode'],
		[{ mode: 'named' }, 'token'], [{ token: 'x' }, 'token'], [{ mode: 'named', token: '' }, 'token'], [{ mode: 'named', token: 'x'.repeat(8193) }, 'token'], [{ readyTimeoutMs: 0 }, 'readyTimeoutMs'], [{ readyTimeoutMs: 600_001 }, 'readyTimeoutMs'],
		[{ stopGraceMs: 0 }, 'stopGraceMs'], [{ stopGraceMs: 60_001 }, 'stopGraceMs']]) {
		const { status, json, text } = await start(field === 'port' ? body : { port: 1, ...body });
		assert.deepEqual([status, json.code, json.context.validationErrors[0].field], [400, 'VALIDATION_FAILED', field], text);
	}
	assert.equal((await stop({})).json.context.validationErrors[0].field, 'tunnelId');
	assert.deepEqual(runs(), []);
	const all = await Promise.all(Array.from({ length: 17 }, () => start({ port: 1 })));
	assert.deepEqual(all.map(({ status }) => status).sort(), [...Array(16).fill(200), 429]);
}, { timeout: 100_000 });

for (const preview of [false, true])
	tunnelling(`methods of ${preview ? 'the preview' : 'the container'}: who has asked for one hears of its end`, '', async (server, { runs, stop }) => {
		const { main, heard } = await connected(server, { preview });
		const stranger = await connected(server, { preview });
		await stranger.main.utils.ping();
		const { run, started } = await main.tunnels.ensureTunnelRun({ tunnelId: 'a', runId: 'r', mode: 'quick', port: 8080 });
		assert.deepEqual([run.tunnelId, run.runId, run.mode, run.port, started], ['a', 'r', 'quick', 8080, true]);
		assert.equal((await main.tunnels.ensureTunnelRun({ tunnelId: 'a', runId: 'r', mode: 'quick', port: 8080 })).started, false);
		await fails(main.tunnels.ensureTunnelRun({ tunnelId: 'a', runId: 'q', mode: 'quick', port: 8080 }), 'TUNNEL_RUN_CONFLICT');
		const pidOf = (url) => runs().find(({ pid }) => url.includes(`-${pid}.`)).pid;
		kill(pidOf(run.url), 'SIGKILL');
		await until('it is told', () => heard.length === 1);
		assert.deepEqual(heard, [preview ? { tunnelId: 'a', runId: 'r', mode: 'quick', port: 8080, exitCode: null } : ['a', 8080, null, 'r']]);
		const named = await main.tunnels.ensureTunnelRun({ tunnelId: 'b', runId: 'r', mode: 'named', port: 81, cloudflaredToken: 'SECRET' });
		assert.deepEqual([named.run.mode, named.run.url], ['named', undefined]);
		assert.deepEqual((({ stopped }) => stopped)(await main.tunnels.stopTunnelRun({ tunnelId: 'b', runId: 'other' })), false);
		assert.deepEqual((({ stopped }) => stopped)(await main.tunnels.stopTunnelRun({ tunnelId: 'b', runId: 'r' })), true);
		if (!preview) {
			const quick = await main.tunnels.runQuickTunnel('q', 8080);
			assert.deepEqual([quick.id, quick.port, quick.url.endsWith(quick.hostname), typeof quick.createdAt], ['q', 8080, true, 'string']);
			await fails(main.tunnels.runQuickTunnel('q', 8080), 'TUNNEL_ALREADY_RUNNING');
			assert.deepEqual((await main.tunnels.runNamedTunnel('n', 'SECRET', 81)).id, 'n');
			assert.deepEqual((await main.tunnels.listTunnels()).map(({ id, url }) => [id, url]), [['q', quick.url], ['n', undefined]]);
			assert.equal(await main.tunnels.destroyTunnel('n'), undefined);
			await fails(main.tunnels.destroyTunnel('n'), 'TUNNEL_NOT_FOUND');
			kill(pidOf(quick.url), 'SIGTERM');
			await until('it is told', () => heard.length === 2);
			assert.deepEqual(heard[1].slice(0, 2), ['q', 8080]);
		}
		assert.deepEqual(stranger.heard, [], 'and nobody else');
		assert.equal(heard.length, preview ? 1 : 2, 'one that was stopped is no news');
	});

tunnelling('tunnels of the published client', '', async (server, { runs, list }) => {
	const sandbox = next.getSandbox(nextNamespace(server), 'box');
	const tunnel = await sandbox.tunnels.get(8080);
	assert.equal(tunnel.url, `https://words-${runs()[0].pid}.trycloudflare.com`);
	assert.deepEqual((await sandbox.tunnels.list()).map(({ url }) => url), [tunnel.url]);
	assert.equal((await sandbox.tunnels.get(8080)).url, tunnel.url, 'the same');
	kill(runs()[0].pid, 'SIGKILL');
	await until('it is forgotten', async () => (await sandbox.tunnels.list()).length === 0);
	const other = await sandbox.tunnels.get(8080);
	assert.notEqual(other.url, tunnel.url);
	await sandbox.tunnels.destroy(8080);
	assert.deepEqual(await list(), []);
});

scenario('without cloudflared tunnels are not available', { skip, env: { PATH: pathWithout('cloudflared') } }, async (server) => {
	const { status, json } = await server.api.raw('POST', '/api/tunnels', { port: 1 });
	assert.deepEqual([status, json.code], [501, 'CLOUDFLARED_NOT_FOUND']);
	const { main } = await connected(server);
	await fails(main.tunnels.runQuickTunnel('a', 8080), 'CLOUDFLARED_NOT_FOUND');
});
