/*
 * Builds the page for meson: node build.mjs OUT_DIR DEPFILE
 *
 * Vite's result goes to OUT_DIR/dist and from there, by embed_page.mjs, to OUT_DIR/assets.S and
 * OUT_DIR/assets_table.c. The depfile names every source, so that ninja rebuilds when one changes.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [outArgument, depfile] = process.argv.slice(2);
const out = resolve(outArgument);
const here = dirname(fileURLToPath(import.meta.url));
const dist = join(out, 'dist');

function run(...command) {
	const { status, error, stdout, stderr } = spawnSync(process.execPath, command, { cwd: here, encoding: 'utf8' });
	if (status !== 0) {
		process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${error ?? ''}\n`);
		process.exit(1);
	}
}

function listFiles(dir) {
	return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
		entry.isDirectory() ? listFiles(join(dir, entry.name)) : [join(dir, entry.name)]);
}

run(join(here, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', dist, '--emptyOutDir', '--logLevel', 'warn');
run(join(here, 'embed_page.mjs'), dist, out);

const single = ['build.mjs', 'embed_page.mjs', 'index.html', 'package-lock.json', 'tsconfig.json', 'vite.config.ts'];
const sources = [...listFiles(join(here, 'src')), ...single.map((name) => join(here, name))];
const escaped = (path) => path.replace(/[ $#]/g, '\\$&');
writeFileSync(depfile, `${escaped(join(outArgument, 'assets.S'))}: ${sources.map(escaped).join(' ')}\n`);
