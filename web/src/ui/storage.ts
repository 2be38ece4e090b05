/* What the browser remembers for this page. It may be forbidden to: then the page does without. */

export function remember(key: string, value: string | null): void {
	try {
		if (value === null)
			localStorage.removeItem(`ringside.${key}`);
		else
			localStorage.setItem(`ringside.${key}`, value);
	} catch {
		// Storage is off. It is only for comfort.
	}
}

export function recall(key: string): string | null {
	try {
		return localStorage.getItem(`ringside.${key}`);
	} catch {
		return null;
	}
}
