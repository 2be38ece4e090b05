// A server of another user than ours, where that can be: as root, with a build that everybody may read.
import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import path from 'node:path';
import { binary } from './server.mjs';

/** What runs a command as this user: the prefix of a server. */
export const asUser = (uid) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];

/** Start a server that has that prefix in directories of its own. Returns whether it can be. */
export async function startAs(server, uid) {
	const [command, ...args] = asUser(uid);
	try {
		execFileSync(command, [...args, binary, '--version'], { stdio: 'ignore' });
	} catch {
		return false; // the build is not for everybody to see
	}
	for (const place of [server.root, server.home, server.cwd, path.join(server.home, '.bashrc')]) chownSync(place, uid, uid);
	await server.start();
	return true;
}
