const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** "just now", "3 min. ago", "in 7 days". */
export function relativeTime(iso: string): string {
	const distance = Date.parse(iso) - Date.now();
	for (const [unit, size] of UNITS) {
		if (Math.abs(distance) >= size)
			return relative.format(Math.round(distance / size), unit);
	}
	return distance > 0 ? 'in a moment' : 'just now';
}
