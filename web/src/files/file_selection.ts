/* Files that were dropped, pasted or chosen. They are read from the event while it is handled. */

import { h } from '../ui/dom';

export interface FileSelection {
	readonly files: readonly File[];
	readonly directories: number; // cannot be uploaded
	readonly how: 'drop' | 'paste' | 'choose';
}

/** The files of a drop or a paste; null if there are none. */
export function filesFrom(data: DataTransfer | null, how: FileSelection['how']): FileSelection | null {
	if (data === null || data.files.length === 0)
		return null;
	const items = [...data.items].filter(({ kind }) => kind === 'file');
	const directories = items.filter((item) => item.webkitGetAsEntry?.()?.isDirectory === true);
	const files = items.filter((item) => !directories.includes(item)).map((item) => item.getAsFile()).filter((file) => file !== null);
	return { files, directories: directories.length, how };
}

/** Open the browser's file chooser. */
export function chooseFiles(chosen: (selection: FileSelection) => void): void {
	const input = h('input', {
		type: 'file', multiple: true, change: () => chosen({ files: [...input.files ?? []], directories: 0, how: 'choose' }),
	});
	input.click();
}
