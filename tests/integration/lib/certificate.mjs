// A self-signed certificate for localhost, made once per test file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Its directory, which is removed at the end; tests may put other files there. */
export const dir = mkdtempSync(path.join(os.tmpdir(), 'rs-tls-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
export const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(dir, name));
const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
	'-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { encoding: 'utf8' });
assert.equal(made.status, 0, made.stderr);
export const ca = readFileSync(cert);
/** Options of a server that uses it. */
export const secure = { args: ['--tls-cert', cert, '--tls-key', key], ca };
