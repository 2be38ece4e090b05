// A Worker's storage for backups, in memory: an R2 bucket, and the stream of known length that fills it.
globalThis.FixedLengthStream ??= class extends TransformStream {
	constructor() {
		super();
	}
};

const bytesOf = async (value) => Buffer.from(await new Response(value).arrayBuffer());

export class Bucket {
	objects = new Map();

	async put(key, value) {
		this.objects.set(key, await bytesOf(value));
	}

	async head(key) {
		const bytes = this.objects.get(key);
		return bytes ? { size: bytes.length } : null;
	}

	async get(key) {
		const bytes = this.objects.get(key);
		if (!bytes) return null;
		const answer = () => new Response(bytes);
		return { size: bytes.length, body: answer().body, arrayBuffer: () => answer().arrayBuffer(), json: () => answer().json() };
	}

	async delete(key) {
		this.objects.delete(key);
	}

	async list() {
		return { objects: [...this.objects].map(([key, { length }]) => ({ key, size: length })), truncated: false };
	}
}
