/*
 * Where the page is: its own address, and what the address says. Nothing secret stays in it: the
 * session's id (`s`) and a share link's id (`link`) only choose, they open nothing.
 */

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

export function sessionInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('s');
}

export function linkInAddress(): string | null {
	return new URLSearchParams(window.location.search).get('link');
}

export function sessionHref(id: string): string {
	return `?${new URLSearchParams({ s: id })}`;
}

export function showSessionInAddress(id: string, how: 'push' | 'replace'): void {
	if (sessionInAddress() === id)
		return;
	if (how === 'push')
		window.history.pushState(null, '', sessionHref(id));
	else
		window.history.replaceState(null, '', sessionHref(id));
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
