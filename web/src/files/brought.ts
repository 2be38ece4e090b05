/* What somebody drops or pastes that is no text, taken out of the event while it lasts. */

import { h } from '../ui/dom';

export interface Brought {
	readonly files: readonly File[];
	readonly folders: number; // that cannot be taken
	readonly how: 'drop' | 'paste' | 'choose';
}

/** null: no files are in it. */
export function broughtBy(data: DataTransfer | null, how: Brought['how']): Brought | null {
	if (data === null || data.files.length === 0)
		return null;
	const items = [...data.items].filter(({ kind }) => kind === 'file');
	const folders = items.filter((item) => item.webkitGetAsEntry?.()?.isDirectory === true);
	const files = items.filter((item) => !folders.includes(item)).map((item) => item.getAsFile()).filter((file) => file !== null);
	return { files, folders: folders.length, how };
}

/** The browser asks for them. */
export function chooseFiles(bring: (brought: Brought) => void): void {
	const input = h('input', {
		type: 'file', multiple: true, change: () => bring({ files: [...input.files ?? []], folders: 0, how: 'choose' }),
	});
	input.click();
}
