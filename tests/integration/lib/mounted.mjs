// Small file systems, for tests of full ones.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Mount a file system of a size that only this process sees; undefined if that is not possible. */
export function mounted(type, options) {
	if (process.getuid() !== 0) return undefined;
	const where = mkdtempSync(path.join(os.tmpdir(), 'rs-mount-'));
	process.on('exit', () => {
		spawnSync('umount', ['-l', where]);
		rmSync(where, { recursive: true, force: true });
	});
	return spawnSync('mount', ['-t', type, '-o', options, 'ringside-test', where]).status === 0 ? where : undefined;
}
