/*
 * Bundles a module with the packages that it imports: node bundle_file.mjs FILE OUT
 *
 * OUT is a CommonJS module for node, minified and compressed with brotli. The same input gives the same output.
 */
import { build } from 'esbuild';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const [file, out] = process.argv.slice(2);
if (out === undefined) {
	console.error('usage: node bundle_file.mjs FILE OUT');
	process.exit(2);
}

const { outputFiles: [bundle] } = await build({
	entryPoints: [file],
	nodePaths: [fileURLToPath(new URL('node_modules', import.meta.url))],
	bundle: true,
	minify: true,
	write: false,
	charset: 'utf8',
	format: 'cjs',
	legalComments: 'none',
	logLevel: 'warning',
	mainFields: ['module', 'main'],
	platform: 'node',
	target: 'node18',
});
writeFileSync(out, brotliCompressSync(bundle.contents, { params: {
	[constants.BROTLI_PARAM_QUALITY]: 11,
	[constants.BROTLI_PARAM_SIZE_HINT]: bundle.contents.length,
} }));
