/** A tar archive (ustar) with one empty directory of mode 0700. */
export function privateDirectory(now: number): Blob {
	const header = new Uint8Array(3 * 512);
	const put = (at: number, text: string) => header.set(new TextEncoder().encode(text), at);
	const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
	put(0, './');
	put(100, octal(0o700, 7));
	put(108, octal(0, 7));
	put(116, octal(0, 7));
	put(124, octal(0, 11));
	put(136, octal(Math.floor(now / 1000), 11));
	put(148, ' '.repeat(8));
	put(156, '5');
	put(257, 'ustar\x0000');
	put(148, `${octal(header.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
	return new Blob([header]);
}
