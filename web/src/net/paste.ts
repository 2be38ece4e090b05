/* A pasted text, as the server gets it: see "paste" in ws/README.md. Pure. */

export const PASTE_MAX = 16 * 1024 * 1024; // bytes, the server's limit

export interface Paste {
	readonly data: Uint8Array<ArrayBuffer>; // UTF-8
	readonly lines: number;
	readonly longest: number; // bytes of the longest line
	readonly confirmed: boolean; // the user has confirmed that each line may run
}

/**
 * The text as programs get it: without control characters, and with a CR for each end of a line. The server does the same, but
 * cannot tell a client that connects again how much of a changed text has arrived.
 */
export function cleanPaste(text: string): string {
	return text.replace(/\r\n?|\n/g, '\r').replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '');
}

const CR = 0x0d;

/** The paste of these bytes of a clean text. A line end at the end of the text begins no further line. */
export function pasteOf(data: Uint8Array<ArrayBuffer>, confirmed = false): Paste {
	let lines = 0;
	let longest = 0;
	for (let begin = 0; begin < data.length; lines++) {
		const at = data.indexOf(CR, begin), end = at < 0 ? data.length : at;
		longest = Math.max(longest, end - begin);
		begin = end + 1;
	}
	return { data, lines, longest, confirmed };
}
