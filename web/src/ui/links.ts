import { confirmDialog } from './dialog';

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * Open a link of the terminal. visible: its text is its address. Otherwise (OSC 8) the user has to confirm the address.
 */
export function openLink(uri: string, visible: boolean): void {
	if (!URL.canParse(uri) || !SCHEMES.has(new URL(uri).protocol))
		return;
	void (visible ? Promise.resolve(true) : confirmDialog({
		title: 'Open this link?', text: uri, action: 'Open',
	})).then((yes) => {
		if (yes)
			window.open(uri, '_blank', 'noopener,noreferrer');
	});
}
