// Whether bubblewrap may make namespaces here: the kernel, or who rules this machine, may not let it.
import { spawnSync } from 'node:child_process';

const made = spawnSync('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'], { encoding: 'utf8' });

/** false, or why there are no rooms: what `skip` of a test takes. */
export const noRooms = made.status === 0 ? false : `bubblewrap: ${made.error?.code ?? made.stderr.trim()}`;
