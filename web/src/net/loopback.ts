/** Whether only this machine understands itself by that name. */
export function isLoopback(hostname: string): boolean {
	return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
