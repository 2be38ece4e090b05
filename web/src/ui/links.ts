import { confirmDialog } from './dialog';

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * Follow a link of the terminal's text. visible: the text is the address. Otherwise the program
 * chose the words (OSC 8), and the reader is shown first where they lead.
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
