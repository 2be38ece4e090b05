// A file system that does not respond until it is released, like NFS without its server: a FUSE mount whose program never
// reads requests.
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

/** Why it is not possible here, or false. */
export const noHung = () => {
	if (process.getuid() !== 0) return 'only root mounts';
	return existsSync('/dev/fuse') ? false : 'there is no /dev/fuse';
};

/** Mount one. Returns a function that releases all waiting processes, or undefined if mounting is not possible. */
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
