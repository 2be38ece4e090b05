// Whether bubblewrap can make namespaces: the kernel or the administrator may forbid it.
import { spawnSync } from 'node:child_process';

const made = spawnSync('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'], { encoding: 'utf8' });

/** false, or why there are no sandboxes: the value for `skip`. */
export const noSandboxes = made.status === 0 ? false : `bubblewrap: ${made.error?.code ?? made.stderr.trim()}`;
