/* Draws the images of a terminal on a canvas over it. Loaded with the first image. */
import type { Terminal } from '@xterm/xterm';
import { imageAt, type EncodedImage, type Image, type ImageRow } from './image_cells';
import { decodeSixel } from './sixel';
import { CELL } from './size';
import './images.css';

const KEPT_MAX = 128 << 20; // bytes of decoded images

/** Fetches a part of the output. */
export type FetchOutput = (from: number, to: number) => Promise<Uint8Array>;

interface Decoded {
	readonly picture: CanvasImageSource & { readonly width: number; readonly height: number };
	readonly bytes: number;
}

/** The data of a whole sequence, as it is in the output. */
function dataOf(sequence: Uint8Array): EncodedImage | null {
	// Only controls are not ASCII, or a file's name, which does not matter.
	const text = new TextDecoder('latin1').decode(sequence).replaceAll(/(?!^)[\x00-\x1a\x1c-\x1f\x7f]/g, '');
	const [, params, sixels] = /^(?:\x1bP|\xc2?\x90)([\d;]*)q([^\x1b\x9c]*)/.exec(text) ?? [];
	if (params !== undefined && sixels !== undefined)
		return { kind: 'sixel', data: sixels };
	const [, file] = /^(?:\x1b\]|\xc2?\x9d)1337;([^\x1b\x9c]*)/.exec(text) ?? [];
	return file === undefined ? null : { kind: 'file', data: file };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function decode({ kind, data }: EncodedImage, image: Image): Promise<Decoded> {
	const bitmap = await createImageBitmap(kind === 'sixel' ? new ImageData(decodeSixel(data, image), image.width, image.height)
		: new Blob([bytesOf(atob(data.slice(data.indexOf(':') + 1)))]));
	return { picture: bitmap, bytes: bitmap.width * bitmap.height * 4 };
}

/** Decodes images when they are to be drawn, and forgets those that have not been drawn for the longest time. */
class Pictures {
	#fetch: FetchOutput;
	#ready: () => void;
	#signal: AbortSignal;
	#states = new WeakMap<Image, 'loading' | 'failed'>();
	#decoded = new Map<Image, Decoded>(); // the last used one is last
	#bytes = 0;

	constructor(fetchOutput: FetchOutput, ready: () => void, signal: AbortSignal) {
		this.#fetch = fetchOutput;
		this.#ready = ready;
		this.#signal = signal;
		signal.addEventListener('abort', () => this.#decoded.clear());
	}

	/** null if the image is not there yet; 'failed' if it never will be. */
	get(image: Image): Decoded['picture'] | 'failed' | null {
		const decoded = this.#decoded.get(image);
		if (decoded !== undefined) {
			this.#decoded.delete(image);
			this.#decoded.set(image, decoded);
			return decoded.picture;
		}
		if (this.#states.get(image) === 'failed')
			return 'failed';
		if (!this.#states.has(image))
			void this.#load(image);
		return null;
	}

	async #load(image: Image): Promise<void> {
		this.#states.set(image, 'loading');
		try {
			const { source } = image;
			const encoded = 'data' in source ? source : dataOf(await this.#fetch(source.from, source.to));
			if (encoded === null)
				throw new Error('no image');
			this.#keep(image, await decode(encoded, image));
			this.#states.delete(image);
		} catch {
			this.#states.set(image, 'failed');
		}
		if (!this.#signal.aborted)
			this.#ready();
	}

	#keep(image: Image, decoded: Decoded): void {
		this.#decoded.set(image, decoded);
		this.#bytes += decoded.bytes;
		for (const [old, { bytes }] of this.#decoded)
			if (this.#bytes > KEPT_MAX && old !== image) {
				this.#decoded.delete(old);
				this.#bytes -= bytes;
			}
	}
}

/** Draws images from now on. */
export function showImages(terminal: Terminal, fetchOutput: FetchOutput, signal: AbortSignal): void {
	const canvas = document.createElement('canvas');
	canvas.className = 'images';
	canvas.setAttribute('aria-hidden', 'true');
	const context = canvas.getContext('2d');
	const screen = terminal.element?.querySelector('.xterm-screen');
	if (context === null || !screen)
		return;
	screen.append(canvas);
	const redraw = () => drawRows(0, terminal.rows - 1);
	const pictures = new Pictures(fetchOutput, redraw, signal);

	/** Draw the rows from start to end. */
	function drawRows(start: number, end: number): void {
		const cell = terminal.dimensions?.css.cell;
		if (cell === undefined || context === null || signal.aborted)
			return;
		const ratio = window.devicePixelRatio, width = terminal.cols * cell.width, height = terminal.rows * cell.height;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.width = `${width}px`;
			canvas.style.height = `${height}px`;
			[start, end] = [0, terminal.rows - 1];
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, start * cell.height, width, (end - start + 1) * cell.height);
		for (let y = start; y <= end; y++)
			drawRow(context, y, cell);
	}

	function drawRow(on: CanvasRenderingContext2D, y: number, cell: { readonly width: number; readonly height: number }): void {
		for (let x = 0, end; x < terminal.cols; x = end) {
			const part = imageAt(terminal, x, y);
			end = x + 1;
			if (part === null)
				continue;
			while (end < terminal.cols && imageAt(terminal, end, y) === part)
				end++;
			drawPart(on, part, x, end - x, y, cell);
		}
	}

	/** Draw count cells of a row of an image at column x. */
	function drawPart(on: CanvasRenderingContext2D, { image, row, first }: ImageRow, x: number, count: number, y: number,
		cell: { readonly width: number; readonly height: number }): void {
		const picture = pictures.get(image);
		// In pixels of the image as it is shown.
		const left = (x - first) * CELL.width, top = row * CELL.height;
		const width = Math.min(count * CELL.width, image.width - left), height = Math.min(CELL.height, image.height - top);
		if (width <= 0 || height <= 0 || left < 0)
			return;
		const scaleX = cell.width / CELL.width, scaleY = cell.height / CELL.height;
		if (picture === 'failed') {
			on.fillStyle = 'rgb(128 128 128 / 25%)';
			on.fillRect(x * cell.width, y * cell.height, width * scaleX, height * scaleY);
		} else if (picture !== null) {
			const ratioX = picture.width / image.width, ratioY = picture.height / image.height;
			on.drawImage(picture, left * ratioX, top * ratioY, width * ratioX, height * ratioY,
				x * cell.width, y * cell.height, width * scaleX, height * scaleY);
		}
	}

	const rendered = terminal.onRender(({ start, end }) => drawRows(start, end));
	signal.addEventListener('abort', () => {
		rendered.dispose();
		canvas.remove();
	});
	redraw();
}
