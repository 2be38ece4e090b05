import { FONT_FAMILY } from '../term/fonts';
import { h } from '../ui/dom';
import type { Colors } from './colors';
import type { Place } from './layout';
import { frameOf, paintPicture, type Frame, type Text } from './paint';
import type { Picture } from './picture';

const FONT_SIZE = 16; // for measuring; drawn at any size
const BAND = 1.5; // height of the canvas relative to the window, so that short scrolling draws nothing
const RATIO_MAX = 2; // device pixels per CSS pixel
const DIM = 0.6;
const EDGE = 4; // between a tile's edge and its picture

export interface TilePicture {
	readonly place: Place;
	readonly picture: Picture | null;
}

/**
 * All miniatures on one canvas behind the tiles. The canvas is higher than the window and scrolls with the tiles; it moves only
 * when the window leaves it.
 */
export class WallCanvas {
	readonly element = h('canvas', { class: 'wall-canvas', 'aria-hidden': 'true' });
	#context = this.element.getContext('2d', { alpha: false });
	#ratio = 1;
	#top = 0; // in the scrolled area
	#width = 0;
	#height = 0;
	#advance = 0;
	#monospaced = new Map<string, boolean>();

	/** Make the canvas cover the range from top to bottom. Returns true if it was moved and is empty. */
	cover(top: number, bottom: number, width: number, height: number): boolean {
		const ratio = Math.min(RATIO_MAX, window.devicePixelRatio);
		const wanted = Math.min(height, Math.ceil((bottom - top) * BAND));
		const covers = width === this.#width && ratio === this.#ratio && this.#height >= Math.min(wanted, height)
			&& this.#top + this.#height <= height && top >= this.#top && bottom <= this.#top + this.#height;
		if (covers)
			return false;
		this.#ratio = ratio;
		this.#width = width;
		this.#height = wanted;
		this.#top = Math.max(0, Math.min(height - wanted, Math.round((top + bottom - wanted) / 2)));
		const { style } = this.element;
		this.element.width = Math.max(1, Math.round(width * ratio));
		this.element.height = Math.max(1, Math.round(wanted * ratio));
		style.width = `${width}px`;
		style.height = `${wanted}px`;
		style.top = `${this.#top}px`;
		return true;
	}

	clear(background: string): void {
		this.#fill(background, 0, 0, this.element.width, this.element.height);
	}

	/** The range that it covers, in the scrolled area. */
	get range(): { top: number; bottom: number } {
		return { top: this.#top, bottom: this.#top + this.#height };
	}

	draw({ place, picture }: TilePicture, colors: Colors): void {
		const ratio = this.#ratio, context = this.#context;
		const left = Math.round(place.x * ratio), top = Math.round((place.y + place.headHeight - this.#top) * ratio);
		const width = Math.round(place.width * ratio), height = Math.round((place.height - place.headHeight) * ratio);
		this.#fill(colors.background, left, top, width, height);
		if (context === null || picture === null)
			return;
		const edge = Math.round(EDGE * ratio);
		const frame = frameOf(picture, width - 2 * edge, height - edge, ratio);
		const { rects, texts } = paintPicture(picture, frame, colors, (character) => this.#isMonospaced(character));
		context.save();
		context.beginPath();
		context.rect(left + edge, top, width - 2 * edge, height);
		context.clip();
		for (const { column, row, columns, color } of rects) {
			const from = Math.round(column * frame.cellWidth), to = Math.round((column + columns) * frame.cellWidth);
			this.#fill(color, left + edge + from, top + row * frame.cellHeight, to - from, frame.cellHeight);
		}
		this.#write(texts, frame, left + edge, top);
		context.restore();
	}

	#write(texts: readonly Text[], frame: Frame, left: number, top: number): void {
		const context = this.#context!;
		const advance = this.#measure();
		const scale = frame.cellWidth / advance, line = frame.cellHeight / scale;
		context.setTransform(scale, 0, 0, scale, left, top);
		context.textBaseline = 'middle';
		let font = '', color = '';
		for (const text of texts) {
			const wanted = fontOf(text.bold, text.italic);
			if (wanted !== font)
				context.font = font = wanted;
			if (text.color !== color)
				context.fillStyle = color = text.color;
			context.globalAlpha = text.dim ? DIM : 1;
			const x = text.column * advance, y = (text.row + 0.5) * line;
			// A fallback font may have wider characters.
			if (text.text.length === text.columns)
				context.fillText(text.text, x, y);
			else
				context.fillText(text.text, x, y, text.columns * advance);
		}
	}

	#fill(color: string, x: number, y: number, width: number, height: number): void {
		if (this.#context === null)
			return;
		this.#context.fillStyle = color;
		this.#context.fillRect(x, y, width, height);
	}

	/** The width of a character; the font is monospaced. */
	#measure(): number {
		if (this.#advance > 0 || this.#context === null)
			return this.#advance;
		this.#context.save();
		this.#context.font = fontOf(false, false);
		this.#advance = this.#context.measureText('M'.repeat(100)).width / 100;
		this.#context.restore();
		return this.#advance;
	}

	#isMonospaced(character: string): boolean {
		let monospaced = this.#monospaced.get(character);
		if (monospaced === undefined && this.#context !== null) {
			const advance = this.#measure();
			this.#context.font = fontOf(false, false);
			// Characters of right-to-left scripts would reorder their neighbours.
			monospaced = !/[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(character)
				&& Math.abs(this.#context.measureText(character.repeat(20)).width / 20 - advance) < 0.05;
			this.#monospaced.set(character, monospaced);
		}
		return monospaced ?? false;
	}
}

function fontOf(bold: boolean, italic: boolean): string {
	return `${italic ? 'italic ' : ''}${bold ? 'bold ' : ''}${FONT_SIZE}px ${FONT_FAMILY}`;
}
