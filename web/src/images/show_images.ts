/* Draws the images of a terminal on a canvas over it. Loaded with the first image. */
import type { Terminal } from '@xterm/xterm';
import { imageAt, type ImageRow } from './image_cells';
import { Pictures, type FetchOutput } from './pictures';
import { CELL } from './size';
import './images.css';

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
	let frame = 0;
	const redraw = () => {
		frame ||= requestAnimationFrame(() => {
			frame = 0;
			drawRows(0, terminal.rows - 1);
		});
	};
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
		cancelAnimationFrame(frame);
		canvas.remove();
	});
	redraw();
}
