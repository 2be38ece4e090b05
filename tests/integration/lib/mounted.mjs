// Small file systems, for what becomes of a full one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A file system of its own for this process, of so much; undefined where that cannot be. */
export function mounted(type, options) {
	if (process.getuid() !== 0) return undefined;
	const where = mkdtempSync(path.join(os.tmpdir(), 'rs-mount-'));
	process.on('exit', () => {
		spawnSync('umount', ['-l', where]);
		rmSync(where, { recursive: true, force: true });
	});
	return spawnSync('mount', ['-t', type, '-o', options, 'ringside-test', where]).status === 0 ? where : undefined;
}
