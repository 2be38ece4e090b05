/* The pixels of images. */
import { isTransient } from '../net/api';
import type { EncodedImage, Image } from './image_cells';
import { decodeSixel } from './sixel';

const KEPT_MAX = 128 << 20; // bytes of decoded images
const USED_MS = 2000; // a picture that was drawn so recently is not dropped for another
const PIXELS_MAX = 4 << 20; // of a picture; larger ones are shrunk
const LOADS_MAX = 4; // at a time
const RETRY_MS = 5000; // after the server could not be reached

/** Fetches a part of the output. */
export type FetchOutput = (from: number, to: number) => Promise<Uint8Array>;

interface Kept {
	readonly picture: ImageBitmap;
	usedAt: number;
}

/** The data of a whole sequence, as it is in the output. Images are ASCII. */
function dataOf(sequence: Uint8Array): EncodedImage | null {
	const text = new TextDecoder('latin1').decode(sequence).replaceAll(/(?!^)[\x00-\x1a\x1c-\x1f\x7f]/g, '');
	const sixels = /^(?:\x1bP|\xc2?\x90)[\d;:]*q([^\x1b\x80-\xff]*)/.exec(text)?.[1];
	const file = /^(?:\x1b\]|\xc2?\x9d)1337;([^\x1b\x80-\xff]*)/.exec(text)?.[1];
	return sixels !== undefined ? { kind: 'sixel', data: sixels } : file !== undefined ? { kind: 'file', data: file } : null;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

/** Decode an image at twice the size that it is shown in, at most. */
function decode({ kind, data }: EncodedImage, { width, height }: Image): Promise<ImageBitmap> {
	const scale = Math.min(2, Math.sqrt(PIXELS_MAX / (width * height)));
	const size = { resizeWidth: Math.max(1, Math.round(width * scale)), resizeHeight: Math.max(1, Math.round(height * scale)) };
	if (data === '')
		throw new Error('it has been forgotten');
	return kind === 'file' ? createImageBitmap(new Blob([bytesOf(atob(data.slice(data.indexOf(':') + 1)))]), size)
		: createImageBitmap(new ImageData(decodeSixel(data, { width, height }), width, height), scale < 1 ? size : {});
}

/** Decodes images when they are to be drawn, and drops those that have not been drawn for the longest time. */
export class Pictures {
	#fetch: FetchOutput;
	#ready: () => void;
	#signal: AbortSignal;
	#states = new WeakMap<Image, 'loading' | 'failed'>();
	#kept = new Map<Image, Kept>(); // the last used one is last
	#bytes = 0;
	#queue: Image[] = [];
	#loads = 0;

	/** ready: called when an image can be drawn. */
	constructor(fetchOutput: FetchOutput, ready: () => void, signal: AbortSignal) {
		this.#fetch = fetchOutput;
		this.#ready = ready;
		this.#signal = signal;
		signal.addEventListener('abort', () => {
			for (const image of this.#kept.keys())
				this.#drop(image);
		});
	}

	/** null if the image is not there yet; 'failed' if it cannot be shown. */
	get(image: Image): ImageBitmap | 'failed' | null {
		const kept = this.#kept.get(image);
		if (kept !== undefined) {
			kept.usedAt = performance.now();
			this.#kept.delete(image);
			this.#kept.set(image, kept);
			return kept.picture;
		}
		const state = this.#states.get(image);
		if (state === undefined) {
			this.#states.set(image, 'loading');
			this.#queue.push(image);
			this.#loadMore();
		}
		return state === 'failed' ? 'failed' : null;
	}

	#loadMore(): void {
		while (this.#loads < LOADS_MAX) {
			const image = this.#queue.shift();
			if (image === undefined)
				return;
			this.#loads++;
			void this.#load(image).finally(() => {
				this.#loads--;
				this.#loadMore();
			});
		}
	}

	async #load(image: Image): Promise<void> {
		try {
			const { source } = image;
			const encoded = 'data' in source ? source : dataOf(await this.#fetch(source.from, source.to));
			if (encoded === null)
				throw new Error('there is no image');
			const picture = await decode(encoded, image);
			if (!this.#keep(image, picture))
				throw new Error('there are too many images');
			this.#states.delete(image);
		} catch (error) {
			this.#states.set(image, 'failed');
			if (isTransient(error))
				window.setTimeout(() => this.#retry(image), RETRY_MS);
		}
		if (!this.#signal.aborted)
			this.#ready();
	}

	#retry(image: Image): void {
		this.#states.delete(image);
		if (!this.#signal.aborted)
			this.#ready();
	}

	/** Returns false if there is no space for it. */
	#keep(image: Image, picture: ImageBitmap): boolean {
		const now = performance.now();
		const bytes = sizeOf(picture);
		for (const [old, { usedAt }] of this.#kept)
			if (this.#bytes + bytes > KEPT_MAX && now - usedAt > USED_MS)
				this.#drop(old);
		if (this.#signal.aborted || this.#bytes + bytes > KEPT_MAX) {
			picture.close();
			return false;
		}
		this.#kept.set(image, { picture, usedAt: now });
		this.#bytes += bytes;
		return true;
	}

	#drop(image: Image): void {
		const kept = this.#kept.get(image);
		if (kept === undefined)
			return;
		this.#kept.delete(image);
		this.#bytes -= sizeOf(kept.picture);
		kept.picture.close();
	}
}

const sizeOf = ({ width, height }: ImageBitmap) => width * height * 4;
