import type { ThemeName } from '../ui/theme';

/** Colours of marks in the scroll bar; search.css has those of the text. */
export interface SearchColors {
	readonly match: string;
	readonly current: string;
}

export const SEARCH_COLORS: Readonly<Record<ThemeName, SearchColors>> = {
	dark: { match: '#c08f2c', current: '#9cc8fa' },
	light: { match: '#d9a441', current: '#1f62b5' },
};
