import type { Lease } from '../net/wire';

const LABEL_MAX = 64; // bytes, of a lease's owner

/** The name, cut to the length that the owner of a lease may have. */
export function leaseLabel(name: string): string {
	const encoder = new TextEncoder();
	let label = '';
	for (const character of name) {
		if (encoder.encode(label + character).length > LABEL_MAX)
			break;
		label += character;
	}
	return label.trim();
}

/** "0:42", "1:00:05"; never negative. now: of this machine's clock, which may differ from the server's. */
export function timeLeft(lease: Lease, now: number): string {
	const seconds = Math.max(0, Math.ceil((Date.parse(lease.expiresAt) - now) / 1000));
	const two = (n: number) => String(n).padStart(2, '0');
	const minutes = Math.floor(seconds / 60);
	return minutes < 60 ? `${minutes}:${two(seconds % 60)}`
		: `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}
