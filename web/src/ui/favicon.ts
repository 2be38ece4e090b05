import picture from '../favicon.svg?raw';

const COLORS = { waits: '#f2b84b', failed: '#f0776a' } as const;
let plain: string | null = null; // address of the icon without a badge
let shown = '';

/** Show a character on the favicon; '': none. */
export function showBadge(text: string, color: keyof typeof COLORS): void {
	const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
	if (link === null || shown === color + text)
		return;
	shown = color + text;
	plain ??= link.href;
	link.href = text === '' ? plain : `data:image/svg+xml,${encodeURIComponent(withBadge(picture, text, COLORS[color]))}`;
}

function withBadge(svg: string, text: string, color: string): string {
	const badge = `<circle cx="22" cy="22" r="10" fill="${color}" stroke="#101317" stroke-width="2"/>`
		+ `<text x="22" y="27" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="15" fill="#101317">${text}</text>`;
	return svg.replace('</svg>', `${badge}</svg>`);
}
