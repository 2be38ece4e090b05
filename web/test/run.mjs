/* Bundles the tests with esbuild, which comes with Vite, and runs them in this process. Needs Node 18. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
const out = mkdtempSync(join(tmpdir(), 'ringside-web-test-'));
try {
	// Bundled separately, so that tests do not share the state of modules.
	await build({
		entryPoints: tests.map((name) => join(here, name)),
		outdir: out, outExtension: { '.js': '.mjs' },
		bundle: true, platform: 'node', format: 'esm', target: 'node18', logLevel: 'warning', loader: { '.woff2': 'empty' },
	});
	for (const name of tests)
		await import(pathToFileURL(join(out, name.replace(/\.ts$/, '.mjs'))).href);
} finally {
	rmSync(out, { recursive: true });
}
