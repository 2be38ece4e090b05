// A server of another user than ours, or with sessions of one: as root, with programs that every user may run.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { binaries, binary } from './server.mjs';

/** "daemon", who is there in every Debian. */
export const ordinaryUser = 1;

/** What runs a command as this user: the prefix of a server. */
export const asUser = (uid) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];

/** Whether another user finds the program. setpriv itself still may what root may, so it is not asked to run it. */
const canRun = (program) => {
	const [command, ...args] = asUser(1);
	return spawnSync(command, [...args, 'test', '-x', program]).status === 0;
};

let open;

/** `ringside` where every user may run it: in the build or, if a directory above that is closed, in a copy of root's. */
export function openBinary() {
	if (open) return open;
	open = binary;
	if (process.getuid() !== 0 || canRun(binary)) return open;
	const copy = mkdtempSync(path.join(os.tmpdir(), 'rs-bin-'));
	process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
	chmodSync(copy, 0o755);
	for (const name of ['ringside', 'ringside-server', 'ringside-holder']) {
		copyFileSync(path.join(binaries, name), path.join(copy, name));
		chmodSync(path.join(copy, name), 0o755);
	}
	open = path.join(copy, 'ringside');
	if (!canRun(open)) throw new Error(`other users cannot run ${open}`);
	return open;
}

/** Start a server that has that prefix in directories of its own. */
export async function startAs(server, uid) {
	server.options.binary = openBinary();
	for (const place of [server.root, server.home, server.cwd, path.join(server.home, '.bashrc')]) chownSync(place, uid, uid);
	await server.start();
}
