/** Whether the name is a loopback name, which other machines cannot use. */
export function isLoopback(hostname: string): boolean {
	return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
