/** A unique id of digits and small letters. */
export function randomId(): string {
	return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('');
}
