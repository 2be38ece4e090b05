// Servers and sessions of another user, with programs that every user can run; needs root.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { binaries, binary } from './server.mjs';

/** "daemon", which exists in every Debian. */
export const ordinaryUser = 1;

/** The prefix that runs a command as this user. */
export const asUser = (uid) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];

/** Whether another user can run the program. setpriv still has root's rights when it opens the program, so this asks a shell. */
const canRun = (program) => {
	const [command, ...args] = asUser(1);
	return spawnSync(command, [...args, 'test', '-x', program]).status === 0;
};

let open;

/** A `ringside` that every user can run: in the build or, if a directory above is closed, a copy by root. */
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

/** Start a server with that prefix in its own directories. */
export async function startAs(server, uid) {
	server.options.binary = openBinary();
	for (const place of [server.root, server.home, server.cwd, path.join(server.home, '.bashrc')]) chownSync(place, uid, uid);
	await server.start();
}
