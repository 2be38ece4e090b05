// A file system that answers nothing, until it is let go: as NFS does whose server is away. It is one of FUSE, whose program never
// reads what it is asked.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

const program = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('/dev/fuse', os.O_RDWR)
if libc.mount(b'ringside-test', sys.argv[1].encode(), b'fuse', 0, f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
sys.stdin.read()
`;

/** Why there can be none here, or false. */
export const noHung = () => {
	if (process.getuid() !== 0) return 'only root mounts';
	return existsSync('/dev/fuse') ? false : 'there is no /dev/fuse';
};

/** Mount one there. Returns what lets everybody go who waits for it, or undefined where that cannot be. */
export async function hang(where) {
	const child = spawn('python3', ['-c', program, where], { stdio: ['pipe', 'pipe', 'ignore'] });
	const ended = once(child, 'close');
	const mounted = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)]);
	if (!mounted) return undefined;
	let over;
	const letGo = () => over ??= (async () => {
		child.kill('SIGKILL');
		await ended;
		spawnSync('umount', ['-l', where]);
	})();
	process.on('exit', () => { child.kill('SIGKILL'); spawnSync('umount', ['-l', where]); });
	return letGo;
}
