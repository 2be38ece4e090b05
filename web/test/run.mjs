/* Bundles the tests with esbuild, which comes with Vite, and runs them: works from Node 18 on. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
const out = mkdtempSync(join(tmpdir(), 'ringside-web-test-'));
try {
	await build({
		entryPoints: tests.map((name) => join(here, name)),
		outdir: out, outExtension: { '.js': '.mjs' },
		bundle: true, platform: 'node', format: 'esm', target: 'node18', logLevel: 'warning',
	});
	const files = tests.map((name) => join(out, name.replace(/\.ts$/, '.mjs')));
	process.exitCode = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1;
} finally {
	rmSync(out, { recursive: true });
}
