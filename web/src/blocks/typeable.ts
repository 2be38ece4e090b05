/** The server keeps no more of a command's text: of one that is as long it may have the beginning alone. */
const TEXT_MAX = 4096;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A command as it can be typed again: nothing in it is a key. null: nobody knows all of it. */
export function typeable(command: string | null): string | null {
	if (command === null || new TextEncoder().encode(command).length >= TEXT_MAX)
		return null;
	const text = command.replaceAll('\r\n', '\n').replace(CONTROLS, '').trim();
	return text === '' ? null : text;
}
