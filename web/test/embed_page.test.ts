import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** Embed a page with a script of so many incompressible bytes. named: index.html refers to it. */
function embed(length: number, named: boolean): { status: number | null; stderr: string; made: boolean } {
	const dir = mkdtempSync(join(tmpdir(), 'rs-embed-'));
	try {
		const dist = join(dir, 'dist');
		const out = join(dir, 'out');
		mkdirSync(join(dist, 'assets'), { recursive: true });
		writeFileSync(join(dist, 'assets/index-12345678.js'), new Uint8Array(randomBytes(length)));
		writeFileSync(join(dist, 'index.html'), named ? '<script src="./assets/index-12345678.js"></script>' : '<p>hello');
		const { status, stderr } = spawnSync(process.execPath, ['embed_page.mjs', dist, out], { encoding: 'utf8' });
		return { status, stderr, made: existsSync(join(out, 'assets.S')) };
	} finally {
		rmSync(dir, { recursive: true });
	}
}

test('a page whose first load is small is embedded, however large its other files are', () => {
	for (const [length, named] of [[140_000, true], [400_000, false]] as const) {
		const { status, stderr, made } = embed(length, named);
		assert.equal(status, 0, stderr);
		assert.ok(made);
	}
});

test('a page whose first load has grown too large fails the build', () => {
	const { status, stderr, made } = embed(160_000, true);
	assert.equal(status, 1);
	assert.match(stderr, /first load has 16\d{4} bytes; more than 150000/);
	assert.ok(!made);
});
