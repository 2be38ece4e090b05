/* Line icons on a 16 × 16 grid, drawn for this page. */

const PATHS = {
	add: 'M8 3.5v9M3.5 8h9',
	bell: 'M3.5 11.5C5.5 9 4 4 8 4s2.5 5 4.5 7.5zM7 13.8h2',
	check: 'M3.5 8.5l3 3 6-7',
	close: 'M4 4l8 8M12 4l-8 8',
	commands: 'M2.5 4l2 2-2 2M7 6h6.5M7 10h6.5M7 13h4M2.5 10l2 2-2 2',
	copy: 'M6 6h6.5v6.5H6zM4 10H3.5V3.5H10V4',
	down: 'M4 6.5L8 10.5l4-4',
	edit: 'M3.5 12.5l.6-2.6 6.4-6.4 2 2-6.4 6.4zM9.3 4.7l2 2',
	eye: 'M1.8 8C3.4 5.2 5.5 3.8 8 3.8S12.6 5.2 14.2 8c-1.6 2.8-3.7 4.2-6.2 4.2S3.4 10.8 1.8 8zM8 6.3a1.7 1.7 0 100 3.4 1.7 1.7 0 000-3.4z',
	go: 'M3 8h9.5M9 4.5L12.5 8 9 11.5',
	keyboard: 'M2 4.5h12v7.5H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.5 7h.01M5 9.7h6',
	lock: 'M4 7.5h8v5.5H4zM5.5 7.5V5.3a2.5 2.5 0 015 0v2.2',
	moon: 'M12.8 9.6A5.2 5.2 0 016.4 3.2a5.2 5.2 0 106.4 6.4z',
	panel: 'M2.5 3.5h11v9h-11zM6.2 3.5v9',
	people: 'M6 7.5a2.2 2.2 0 100-4.4 2.2 2.2 0 000 4.4zM2 13c.2-2.3 1.7-3.6 4-3.6s3.8 1.3 4 3.6M10.6 3.4a2.2 2.2 0 010 3.9M11.8 9.8c1.3.5 2.1 1.6 2.2 3.2',
	resize: 'M9 3.5h3.5V7M7 12.5H3.5V9M12.5 3.5l-9 9',
	search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3l3.4 3.4',
	settings: 'M2.5 4.5h6M11.5 4.5h2M10 3v3M2.5 8h1M6.5 8h7M5 6.5v3M2.5 11.5h6M11.5 11.5h2M10 10v3',
	share: 'M8 9.5v-7M5 5l3-3 3 3M4 7.5H3v6h10v-6h-1',
	exit: 'M6.5 3H3.5v10h3M7 8h6M10.5 5L13.5 8l-3 3',
	stop: 'M4 4h8v8H4z',
	sun: 'M8 10.8a2.8 2.8 0 100-5.6 2.8 2.8 0 000 5.6zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M3.6 12.4l1-1M11.4 4.6l1-1',
	text: 'M3 3.5h10M3 6.5h10M3 9.5h10M3 12.5h6',
	tiles: 'M2.5 3h4.7v4.2H2.5zM8.8 3h4.7v4.2H8.8zM2.5 8.8h4.7V13H2.5zM8.8 8.8h4.7V13H8.8z',
	up: 'M4 9.5L8 5.5l4 4',
} as const;

export type IconName = keyof typeof PATHS;

const SVG = 'http://www.w3.org/2000/svg';

export function icon(name: IconName): SVGSVGElement {
	const svg = document.createElementNS(SVG, 'svg');
	svg.setAttribute('viewBox', '0 0 16 16');
	svg.setAttribute('class', 'icon');
	svg.setAttribute('aria-hidden', 'true');
	const path = document.createElementNS(SVG, 'path');
	path.setAttribute('d', PATHS[name]);
	svg.append(path);
	return svg;
}

/** The logo: a boxing ring from above with four posts, and a prompt in the middle. */
export function mark(): SVGSVGElement {
	const svg = document.createElementNS(SVG, 'svg');
	svg.setAttribute('viewBox', '0 0 32 32');
	svg.setAttribute('class', 'mark');
	svg.setAttribute('aria-hidden', 'true');
	for (const [kind, d] of [
		['rope', 'M7 5h18M7 27h18M5 7v18M27 7v18'],
		['prompt', 'M11.5 11l5 5-5 5M18 21h4'],
		['post', 'M5 5h.01M27 5h.01M5 27h.01M27 27h.01'],
	] as const) {
		const path = document.createElementNS(SVG, 'path');
		path.setAttribute('class', kind);
		path.setAttribute('d', d);
		svg.append(path);
	}
	return svg;
}
