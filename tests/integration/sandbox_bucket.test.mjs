// Buckets as directories: mountBucket() of the published client's Sandbox class, with s3fs and a local store.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after } from 'node:test';
import { namespaceOf } from '../sandbox/local.mjs';
import { sdk } from '../sandbox/sdk.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { Store } from './lib/store.mjs';
import { until } from './lib/until.mjs';

/** Sandboxes have no /dev/fuse. */
const skip = existsSync('/dev/fuse') && !inSandboxes ? false : 'there is no /dev/fuse';
const credentials = { accessKeyId: 'KEY5ec7e7', secretAccessKey: 'SECRET5ec7e7' };
const mountsBelow = (dir) => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter((line) => line.includes(` ${dir}/`));
const passwords = () => readdirSync('/tmp').filter((name) => name.startsWith('.passwd-s3fs-'));
/** The client leaves a log for each mount. */
const logs = () => readdirSync('/tmp').filter((name) => name.startsWith('.s3fs-log-'));
const logsBefore = logs();
after(() => { for (const name of logs()) if (!logsBefore.includes(name)) rmSync(path.join('/tmp', name), { force: true }); });

for (const transport of ['http', 'websocket', 'rpc'])
	scenario(`a bucket is a directory, over ${transport}`, { skip }, async (server) => {
		const store = await new Store().open();
		const namespace = namespaceOf(server, { SANDBOX_TRANSPORT: transport });
		const sandbox = sdk.getSandbox(namespace, 'box'), at = path.join(server.cwd, 'bucket');
		const options = {
			endpoint: store.origin.replace('localhost', '127.0.0.1'), provider: 'minio', credentials,
			s3fsOptions: ['use_path_request_style', 'enable_noobj_cache'],
		};
		const before = passwords();
		store.objects.set('b/there.txt', { bytes: Buffer.from('from the store'), meta: {}, modified: new Date() });
		store.objects.set('b/deep/er.txt', { bytes: Buffer.from('deeper'), meta: {}, modified: new Date() });
		await namespace.started('box');
		try {
			await sandbox.mountBucket('b', at, options);
			assert.equal(mountsBelow(server.cwd).length, 1);
			assert.equal(passwords().length, before.length + 1);

			// Objects of the store are files, and written files are objects.
			const run = async (command) => {
				const result = await sandbox.exec(command, { cwd: at });
				assert.equal(result.exitCode, 0, `${command}: ${result.stderr}`);
				return result.stdout;
			};
			assert.equal(await run('cat there.txt'), 'from the store');
			assert.equal(await run('ls -1'), 'deep\nthere.txt');
			assert.equal((await sandbox.readFile(path.join(at, 'deep/er.txt'))).content, 'deeper');
			await run('seq 1 50000 > numbers; mkdir -p made; echo inside > made/file');
			assert.equal(store.objects.get('b/numbers').bytes.toString(), Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`).join(''));
			assert.equal(store.objects.get('b/made/file').bytes.toString(), 'inside\n');
			await sandbox.writeFile(path.join(at, 'by the API'), 'written');
			assert.equal(store.objects.get('b/by the API').bytes.toString(), 'written');
			assert.deepEqual((await sandbox.listFiles(at)).files.map((file) => file.name).sort(), ['by the API', 'deep', 'made', 'numbers', 'there.txt']);
			await run('rm there.txt; mv numbers others');
			assert.deepEqual([store.objects.has('b/there.txt'), store.objects.has('b/numbers'), store.objects.has('b/others')], [false, false, true]);

			// The mount survives the server.
			await server.kill('SIGKILL');
			await server.start();
			assert.equal(await readFile(path.join(at, 'made/file'), 'utf8'), 'inside\n'); // asynchronous: the store is in this process
			if (transport === 'http') assert.equal(await run('cat made/file'), 'inside');
			assert.ok(!server.stderr.includes('SECRET5ec7e7'), 'credentials are not logged');
			if (transport === 'http') {
				await sandbox.unmountBucket(at);
				assert.deepEqual([mountsBelow(server.cwd), passwords().length], [[], before.length]);
			}
		} finally {
			spawnSync('fusermount', ['-uz', at]);
			for (const name of passwords().filter((each) => !before.includes(each))) rmSync(path.join('/tmp', name), { force: true });
			namespace.disconnect();
			await store.close();
		}
	});

scenario('a failed mount leaves nothing', { skip }, async (server) => {
	const store = await new Store({ misbehave: async (request, count, response) => {
		for await (const chunk of request) void chunk;
		response.writeHead(403, { 'Content-Type': 'application/xml' });
		response.end('<Error><Code>InvalidAccessKeyId</Code></Error>');
		return true;
	} }).open();
	const namespace = namespaceOf(server), sandbox = sdk.getSandbox(namespace, 'box'), at = path.join(server.cwd, 'bucket');
	const before = passwords();
	await namespace.started('box');
	try {
		const options = { endpoint: store.origin.replace('localhost', '127.0.0.1'), provider: 'minio', credentials, s3fsOptions: ['use_path_request_style'] };
		await assert.rejects(sandbox.mountBucket('b', at, options), { name: 'S3FSMountError' });
		assert.deepEqual([mountsBelow(server.cwd), passwords().length, existsSync(at)], [[], before.length, false]);
		writeFileSync(path.join(server.cwd, 'file'), '');
		await assert.rejects(sandbox.mountBucket('b', path.join(server.cwd, 'file'), options));
	} finally {
		spawnSync('fusermount', ['-uz', at]);
		namespace.disconnect();
		await store.close();
	}
	await until('the end of its processes', () => spawnSync('pgrep', ['-f', at]).status !== 0);
});
