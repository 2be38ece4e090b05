import picture from '../favicon.svg?raw';

const COUNT_MAX = 9;
let plain: string | null = null; // address of the icon without a number

/** Show a number on the favicon; 0: none. */
export function showCount(count: number): void {
	const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
	if (link === null)
		return;
	plain ??= link.href;
	link.href = count === 0 ? plain : `data:image/svg+xml,${encodeURIComponent(withCount(picture, count))}`;
}

function withCount(svg: string, count: number): string {
	const badge = '<circle cx="22" cy="22" r="10" fill="#f2b84b" stroke="#101317" stroke-width="2"/>'
		+ `<text x="22" y="27" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="15" fill="#101317">${count > COUNT_MAX ? '+' : count}</text>`;
	return svg.replace('</svg>', `${badge}</svg>`);
}
