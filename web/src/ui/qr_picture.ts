import { qrCode } from './qr';

const QUIET = 4; // modules around it
const SVG = 'http://www.w3.org/2000/svg';

/** A picture of the text's QR code, dark on light in any theme; null if the text is too long. */
export function qrPicture(text: string, label: string): SVGElement | null {
	const modules = qrCode(new TextEncoder().encode(text));
	if (modules === null)
		return null;
	const size = modules.length + 2 * QUIET;
	const svg = document.createElementNS(SVG, 'svg');
	for (const [name, value] of Object.entries({
		class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges',
		'data-testid': 'share-qr',
	}))
		svg.setAttribute(name, value);
	const path = document.createElementNS(SVG, 'path');
	path.setAttribute('d', modules.flatMap((row, y) => row.flatMap((dark, x) => dark ? [`M${x + QUIET},${y + QUIET}h1v1h-1z`] : [])).join(''));
	svg.append(path);
	return svg;
}
