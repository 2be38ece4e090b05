/*
 * Where the page is: its own address, and what the address says. Nothing secret stays in it: the
 * session's id (`s`) and a share link's id (`link`) only choose, they open nothing.
 */

/** Terminals side by side: with more of them none can be read. */
export const TILES_MAX = 4;

/** The folder the page was loaded from, so that it also works below a path behind a proxy. */
const base = new URL('.', window.location.href);

export function httpUrl(path: string, query?: Readonly<Record<string, string>>): string {
	return absolute(path, query).href;
}

function absolute(path: string, query?: Readonly<Record<string, string>>): URL {
	const url = new URL(path, base);
	url.hash = '';
	for (const [name, value] of Object.entries(query ?? {}))
		url.searchParams.set(name, value);
	return url;
}

export function socketUrl(path: string, query: Readonly<Record<string, string>>): string {
	const url = absolute(path, query);
	url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
	return url.href;
}

/** The address to give to somebody: path is the server's "/#link=…". */
export function shareUrl(path: string): string {
	return base.origin + base.pathname + path.replace(/^\//, '');
}

/**
 * Where a preview is opened. Below localhost every name is the browser's own machine: the right one only where the page is
 * from there as well, and then by the page's own port, which may be one that is forwarded. Otherwise its path has to do.
 */
export function previewUrl({ host, url, path }: { host: string | null; url: string | null; path: string }): string {
	const { protocol, hostname, port } = window.location;
	if (host?.endsWith('.localhost') && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
		return `${protocol}//${host}${port === '' ? '' : `:${port}`}/`;
	if (url === null || host?.endsWith('.localhost'))
		return httpUrl(path.replace(/^\//, ''));
	return url;
}

export function sessionInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('s');
}

export function linkInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('link');
}

/** The command that a link leads to. */
export function blockInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('block');
}

export function sessionHref(id: string): string {
	return `?${new URLSearchParams({ s: id })}`;
}

/** The sessions that are side by side, as they stand; empty where there is but one. */
export function tilesInAddress(): string[] {
	const tiles = [...new Set(new URLSearchParams(window.location.search).getAll('tile'))].slice(0, TILES_MAX);
	return tiles.length > 1 ? tiles : [];
}

/** tiles: those side by side, if there is more than this one. */
export function showSessionInAddress(id: string, how: 'push' | 'replace', tiles: readonly string[] = []): void {
	if (sessionInAddress() === id && String(tilesInAddress()) === String(tiles))
		return;
	const href = `?${new URLSearchParams([['s', id], ...tiles.map((tile) => ['tile', tile])])}`;
	if (how === 'push')
		window.history.pushState(null, '', href);
	else
		window.history.replaceState(null, '', href);
}

/** Whether all sessions are to be seen, not one. */
export function wallInAddress(): boolean {
	return new URLSearchParams(window.location.search).get('view') === 'wall';
}

/** link: of the page's visitor, or null. */
export function showWallInAddress(link: string | null): void {
	if (!wallInAddress())
		window.history.pushState(null, '', `?${new URLSearchParams({ view: 'wall', ...(link === null ? {} : { link }) })}`);
}

export function showLinkInAddress(link: string): void {
	window.history.replaceState(null, '', `?${new URLSearchParams({ link })}`);
}

/**
 * The token or link that the page was opened with, taken out of the address bar at once, so that
 * it is neither copied along, nor bookmarked, nor on somebody's screen recording.
 */
export function takeCredential(): string | null {
	const found = /^#(?:token|link)=(.+)$/.exec(window.location.hash);
	if (found?.[1] === undefined)
		return null;
	window.history.replaceState(null, '', window.location.pathname + window.location.search);
	try {
		return decodeURIComponent(found[1]);
	} catch {
		return found[1];
	}
}
