// An object store with as much of S3 as multipart uploads and s3fs need, which can misbehave.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const md5 = (bytes) => createHash('md5').update(bytes).digest('hex');
const xml = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export class Store {
	/**
	 * certificate: {cert, key}, files, for https. misbehave(request, count): may respond in the store's place, or not at all.
	 * count: number of requests of that method and path so far, including this one. Returns whether it has handled the
	 * request.
	 */
	constructor({ certificate, misbehave = () => false } = {}) {
		this.objects = new Map(); // by /bucket/key
		this.parts = new Map(); // by path and query
		this.requests = [];
		this.counts = new Map();
		this.misbehave = misbehave;
		this.sockets = new Set();
		this.most = this.now = 0; // concurrent requests
		const serve = (request, response) => { this.#serve(request, response); };
		this.server = certificate
			? https.createServer({ cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }, serve)
			: http.createServer(serve);
		this.server.on('connection', (socket) => {
			this.sockets.add(socket);
			socket.on('close', () => this.sockets.delete(socket)).on('error', () => {});
		});
		this.scheme = certificate ? 'https' : 'http';
	}

	async open() {
		this.server.listen(0, '127.0.0.1');
		await once(this.server, 'listening');
		this.origin = `${this.scheme}://localhost:${this.server.address().port}`;
		return this;
	}

	async close() {
		for (const socket of this.sockets) socket.destroy();
		this.server.close();
		await once(this.server, 'close');
	}

	async #serve(request, response) {
		const url = new URL(request.url, this.origin), what = `${request.method} ${request.url}`;
		const count = (this.counts.get(what) ?? 0) + 1;
		this.counts.set(what, count);
		this.requests.push({ method: request.method, url: request.url, headers: request.headers });
		this.most = Math.max(this.most, ++this.now);
		response.on('close', () => { this.now--; });
		response.on('error', () => {});
		request.on('error', () => {});
		if (await this.misbehave(request, count, response)) return;
		const chunks = [];
		try {
			for await (const chunk of request) chunks.push(chunk);
		} catch {
			return;
		}
		const [, bucket, key] = /^\/([^/]+)\/?(.*)$/s.exec(decodeURIComponent(url.pathname)) ?? [];
		const reply = (status, headers = {}, body = '') => {
			response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers });
			response.end(request.method === 'HEAD' ? '' : body);
		};
		const handler = key ? this.#object : this.#bucket;
		handler.call(this, { request, url, name: `${bucket}/${key ?? ''}`, bucket, reply, body: Buffer.concat(chunks) });
	}

	#object({ request, url, name, reply, body }) {
		const had = this.objects.get(name);
		if (request.method === 'PUT' && url.searchParams.has('partNumber')) {
			this.parts.set(Number(url.searchParams.get('partNumber')), body);
			return reply(200, { ETag: `"${md5(body)}"` });
		}
		if (request.method === 'PUT') {
			const from = request.headers['x-amz-copy-source'];
			const source = from && this.objects.get(decodeURIComponent(from).replace(/^\//, ''));
			if (from && !source) return reply(404);
			const bytes = source ? source.bytes : body;
			const replaced = !from || request.headers['x-amz-metadata-directive'] === 'REPLACE';
			const meta = replaced ? Object.fromEntries(Object.entries(request.headers)
				.filter(([field]) => field === 'content-type' || field.startsWith('x-amz-meta-'))) : source.meta;
			this.objects.set(name, { bytes, meta, modified: new Date() });
			return from
				? reply(200, {}, `<CopyObjectResult><ETag>"${md5(bytes)}"</ETag></CopyObjectResult>`)
				: reply(200, { ETag: `"${md5(bytes)}"` });
		}
		if (request.method === 'DELETE') {
			this.objects.delete(name);
			return reply(204);
		}
		if (!had) return reply(404, {}, '<Error><Code>NoSuchKey</Code></Error>');
		const headers = { ...had.meta, ETag: `"${md5(had.bytes)}"`, 'Last-Modified': had.modified.toUTCString() };
		const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
		if (first === undefined) return reply(200, { ...headers, 'Content-Length': had.bytes.length }, had.bytes);
		const part = had.bytes.subarray(Number(first), last ? Number(last) + 1 : undefined);
		return reply(206, { ...headers, 'Content-Range': `bytes ${first}-${Number(first) + part.length - 1}/${had.bytes.length}` }, part);
	}

	/** ListObjects, both versions, without pages. */
	#bucket({ url, bucket, reply }) {
		const prefix = url.searchParams.get('prefix') ?? '', delimiter = url.searchParams.get('delimiter');
		const contents = [], prefixes = new Set();
		for (const [name, { bytes, modified }] of [...this.objects].sort()) {
			const key = name.slice(bucket.length + 1);
			if (!name.startsWith(`${bucket}/`) || !key.startsWith(prefix)) continue;
			const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
			if (end >= 0) prefixes.add(key.slice(0, end + 1));
			else contents.push(`<Contents><Key>${xml(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>"${md5(bytes)}"</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`);
		}
		const common = [...prefixes].map((each) => `<CommonPrefixes><Prefix>${xml(each)}</Prefix></CommonPrefixes>`);
		reply(200, { 'Content-Type': 'application/xml' }, `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${xml(bucket)}</Name><Prefix>${xml(prefix)}</Prefix><KeyCount>${contents.length + common.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${contents.join('')}${common.join('')}</ListBucketResult>`);
	}
}
