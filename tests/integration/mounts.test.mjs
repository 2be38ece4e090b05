// Actions of mounts, without a bucket: with programs of the same names in front of the real ones.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { scenario } from './lib/server.mjs';

const act = (server, action, more) => server.api.raw('POST', '/api/mounts', { action, ...more });

// capnweb looks for it there.
globalThis.WebSocket ??= WebSocket;

/** A scenario with programs of ours in PATH; name: what bash does in their place. */
function acting(name, programs, body) {
	const bin = mkdtempSync(path.join(os.tmpdir(), 'rs-programs-'));
	after(() => rmSync(bin, { recursive: true }));
	for (const [program, script] of Object.entries(programs)) {
		writeFileSync(path.join(bin, program), `#!/bin/bash\n${script}\n`);
		chmodSync(path.join(bin, program), 0o755);
	}
	const skip = process.env.RINGSIDE_ISOLATED === '1' ? 'rooms have programs of their own' : false;
	scenario(name, { skip, env: { PATH: `${bin}:${process.env.PATH}` } }, (server) => body(server, path.join(server.cwd, 'bucket')));
}

acting('s3fs is told what was asked for, and no more', { s3fs: 'printf "%s\\0" "$@" >arguments; exit 7' }, async (server, at) => {
	const options = { passwd_file: '/tmp/a,b', url: 'http://localhost', ro: true, no: false, use_path_request_style: true };
	const { status, json, text } = await act(server, 'mount', { source: 'b:/deep er', path: at, options, verify: false });
	assert.deepEqual([status, json.success, json.exitCode], [200, false, 7], text);
	assert.deepEqual(readFileSync(path.join(server.cwd, 'arguments'), 'utf8').split('\0').slice(0, -1),
		['b:/deep er', at, '-o', 'passwd_file=/tmp/a\\,b', '-o', 'url=http://localhost', '-o', 'ro', '-o', 'use_path_request_style']);
});

acting('what s3fs has said is told: 2, it has failed; 3, nothing has appeared', { s3fs: 'echo "it says: $1"; [ "$1" = appears-never ]' }, async (server, at) => {
	const logfile = path.join(server.cwd, 'log');
	for (const [source, exitCode] of [['fails', 2], ['appears-never', 3]]) {
		const { json, text } = await act(server, 'mount', { source, path: at, options: { logfile } });
		assert.deepEqual([json.success, json.exitCode], [false, exitCode], text);
		assert.match(json.stdout, new RegExp(`it says: ${source}\n$`));
	}
	assert.equal(statSync(logfile).mode & 0o777, 0o600);
});

acting('what is mounted is found, whatever has become of it', {}, async (server, at) => {
	mkdirSync(at);
	const check = async (at) => (await act(server, 'check', { path: at })).json;
	assert.deepEqual([(await check('/proc')).success, (await check(at)).success, (await check(`${at}/none`)).success, (await check('/proc/')).success], [true, false, false, true]);
	assert.deepEqual((({ success, exitCode }) => [success, exitCode])((await act(server, 'unmount', { path: at, only: true })).json), [true, 0]);
	const { json } = await act(server, 'unmount', { path: at });
	assert.equal(json.success, false);
	assert.match(json.stderr, /bucket/);
	assert.equal((await act(server, 'remove', { path: '/proc', only: true })).json.success, true);
	assert.ok(existsSync('/proc'));
	writeFileSync(path.join(at, 'file'), '');
	chmodSync(path.join(at, 'file'), 0o644);
	assert.equal((await act(server, 'remove', { path: at })).json.success, false, 'it is not empty');
	assert.equal((await act(server, 'protect', { path: path.join(at, 'file') })).status, 200);
	assert.equal(statSync(path.join(at, 'file')).mode & 0o777, 0o600);
	const refused = await act(server, 'protect', { path: path.join(at, 'none') });
	assert.deepEqual([refused.status, refused.json.code], [500, 'FILESYSTEM_ERROR']);
});

acting('nothing else is done', { s3fs: 'touch done' }, async (server, at) => {
	const good = { source: 'b', path: at, options: {} };
	const wrong = [[{ action: 'else' }, 'action'], [{ action: undefined }, 'action'], [{ path: undefined }, 'path'], [{ path: 'relative' }, 'path'], [{ path: '/' }, 'path'], [{ path: '/a/../b' }, 'path'],
		[{ path: '/a\nb' }, 'path'], [{ source: undefined }, 'source'], [{ source: '' }, 'source'], [{ source: '-o' }, 'source'], [{ source: 'a\nb' }, 'source'], [{ source: 'x'.repeat(1025) }, 'source'],
		[{ only: 'yes' }, 'only'], [{ verify: 1 }, 'verify'],
		...[[], 'ro', { 'a b': true }, { '-f': true }, { '': true }, { 'a,b': true }, { 'a=b': true }, { a: 1 }, { a: null }, { a: '' }, { a: 'b\nc' }, { a: 'b\0c' }, { a: 'x'.repeat(4097) },
			Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`o${i}`, true]))].map((options) => [{ options }, 'options'])];
	for (const [each, field] of wrong) {
		const { status, json, text } = await act(server, 'mount', { ...good, ...each });
		assert.deepEqual([status, json.code, json.context.validationErrors[0].field], [400, 'VALIDATION_FAILED', field], `${JSON.stringify(each).slice(0, 100)}: ${text}`);
	}
	assert.ok(!existsSync(path.join(server.cwd, 'done')));
});

acting('methods of the preview', { s3fs: 'exit 1' }, async (server, at) => {
	const socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}/rpc`, { headers: { Authorization: `Bearer ${server.token}` } });
	server.clients.add({ terminate: () => socket.terminate() });
	const main = newWebSocketRpcSession(socket);
	await main.utils.activateControlSession((await main.utils.getRuntimeMetadata()).runtimeIncarnationID);
	await main.mounts.ensureDirectory(at);
	assert.deepEqual([await main.mounts.pathExists(at), await main.mounts.isMountpoint(at), await main.mounts.isMountpoint('/proc')], [true, false, true]);
	const mounted = await main.mounts.mountS3FSAndVerify({ source: 'b', mountPath: at, options: { ro: true } });
	assert.deepEqual([mounted.success, mounted.exitCode, mounted.stderr], [false, 2, '']);
	assert.equal((await main.mounts.mountS3FS({ source: 'b', mountPath: at, options: {} })).exitCode, 1);
	assert.equal((await main.mounts.unmountFuseIfMounted(at)).success, true);
	assert.equal((await main.mounts.unmountFuse(at)).success, false);
	assert.equal(await main.mounts.chmodOwnerOnly(at), undefined);
	assert.equal(statSync(at).mode & 0o777, 0o600);
	await assert.rejects(async () => await main.mounts.chmodOwnerOnly(`${at}/none`), { code: 'FILESYSTEM_ERROR' });
	assert.equal((await main.mounts.removeMountDirectory({ path: '/proc', onlyIfNotMountpoint: true })).success, true);
	assert.equal((await main.mounts.removeMountDirectory({ path: at, onlyIfNotMountpoint: true })).success, true);
	assert.ok(!existsSync(at));
	socket.terminate();
});
