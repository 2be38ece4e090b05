/** Bytes: the server cuts longer texts of commands, so a text of this length may be incomplete. */
const TEXT_MAX = 4096;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The text of a command without control characters, for typing it again; null if the whole text is not known. */
export function typeable(command: string | null): string | null {
	if (command === null || new TextEncoder().encode(command).length >= TEXT_MAX)
		return null;
	const text = command.replaceAll('\r\n', '\n').replace(CONTROLS, '').trim();
	return text === '' ? null : text;
}
