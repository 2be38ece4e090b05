/* The browser's storage for this page. It may be disabled; then nothing is stored. */

export function remember(key: string, value: string | null): void {
	try {
		if (value === null)
			localStorage.removeItem(`ringside.${key}`);
		else
			localStorage.setItem(`ringside.${key}`, value);
	} catch {
		// Storage is disabled.
	}
}

export function recall(key: string): string | null {
	try {
		return localStorage.getItem(`ringside.${key}`);
	} catch {
		return null;
	}
}
