/*
 * The address of the page and its parameters. It keeps no secrets: the ids of a session (`s`) and of a share link (`link`)
 * do not grant access.
 */

export const TILES_MAX = 4; // terminals side by side that are still readable

/** The directory that the page was loaded from. It may be below a path of a proxy. */
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

/** The full address of a share link. path: "/#link=…", from the server. */
export function shareUrl(path: string): string {
	return base.origin + base.pathname + path.replace(/^\//, '');
}

/**
 * The address of a port preview. Names below .localhost mean the browser's machine. They work only if the page was loaded
 * from there too, with the page's port, which may be forwarded. Otherwise the preview is opened by its path.
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

/** Id of the command to scroll to. */
export function blockInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('block');
}

export function sessionHref(id: string): string {
	return `?${new URLSearchParams({ s: id })}`;
}

/** The sessions side by side, from left to right; empty if there is only one. */
export function tilesInAddress(): string[] {
	const tiles = [...new Set(new URLSearchParams(window.location.search).getAll('tile'))].slice(0, TILES_MAX);
	return tiles.length > 1 ? tiles : [];
}

/** tiles: the sessions side by side, if there are several. */
export function showSessionInAddress(id: string, how: 'push' | 'replace', tiles: readonly string[] = []): void {
	if (sessionInAddress() === id && String(tilesInAddress()) === String(tiles))
		return;
	const href = `?${new URLSearchParams([['s', id], ...tiles.map((tile) => ['tile', tile])])}`;
	if (how === 'push')
		window.history.pushState(null, '', href);
	else
		window.history.replaceState(null, '', href);
}

export function wallInAddress(): boolean {
	return new URLSearchParams(window.location.search).get('view') === 'wall';
}

/** link: id of the page's share link, or null. */
export function showWallInAddress(link: string | null): void {
	if (!wallInAddress())
		window.history.pushState(null, '', `?${new URLSearchParams({ view: 'wall', ...(link === null ? {} : { link }) })}`);
}

export function showLinkInAddress(link: string): void {
	window.history.replaceState(null, '', `?${new URLSearchParams({ link })}`);
}

/**
 * Remove the token or link from the address bar and return it, so that it is not copied, bookmarked or recorded with the
 * address.
 */
export function consumeCredential(): string | null {
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
