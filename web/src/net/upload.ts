/* Uploads of files. The browser reads a file while it is sent. */
import { ApiError, filePath, type Api } from './api';
import { httpUrl } from './address';

export interface Upload {
	readonly session: string;
	/** Absolute, or relative to the directory of the session's shell. */
	readonly path: string;
	readonly body: Blob;
	/** The body is a tar archive, to be unpacked as a directory at the path. */
	readonly archive?: boolean;
	readonly signal: AbortSignal;
	progress?(sent: number): void;
}

/**
 * Create a file or a directory, completely or not at all. Nothing is overwritten: if the path exists, it fails with 412.
 * Rejects with an ApiError, whose code is ABORTED if the upload was cancelled.
 */
export function upload(api: Api, { session, path, body, archive, signal, progress }: Upload): Promise<void> {
	return new Promise((resolve, reject) => {
		// fetch() does not report upload progress.
		const request = new XMLHttpRequest();
		const fail = (status: number, code: string, message: string) => reject(new ApiError(status, code, message));
		request.open('PUT', httpUrl(filePath(path), {
			...api.query(), sessionId: session, ...(archive === true ? { format: 'tar' } : {}),
		}));
		request.setRequestHeader('If-None-Match', '*');
		request.setRequestHeader('Content-Type', 'application/octet-stream');
		request.upload.onprogress = ({ loaded }) => progress?.(Math.min(loaded, body.size));
		request.onerror = () => fail(0, 'UNREACHABLE', 'The connection was lost, or the file could not be read.');
		request.onabort = () => fail(0, 'ABORTED', 'The upload was cancelled.');
		request.onload = () => {
			if (request.status >= 200 && request.status < 300)
				resolve();
			else
				fail(request.status, ...whyNot(request));
		};
		signal.addEventListener('abort', () => request.abort(), { once: true });
		if (signal.aborted)
			request.onabort(new ProgressEvent('abort'));
		else
			request.send(body);
	});
}

function whyNot({ status, responseText }: XMLHttpRequest): [code: string, message: string] {
	let error: { code?: unknown; message?: unknown } = {};
	try {
		error = JSON.parse(responseText) as typeof error ?? {};
	} catch {
		// Not JSON: the reply of a proxy.
	}
	const code = typeof error.code === 'string' ? error.code : 'UNKNOWN_ERROR';
	if (status === 413)
		return [code, 'The file is larger than the server or its proxy accepts.'];
	if (code === 'NO_SPACE')
		return [code, 'There is not enough space on the server’s disk.'];
	return [code, typeof error.message === 'string' ? error.message : `The server answered with status ${status}.`];
}
