// Access by role, written by hand from the documents (ws/README.md, ws/auth/README.md), not from the server's own table: the
// expectation of `abuse`.

/**
 * The least role; method and route; and:
 * sent    a body with a visible effect if the request were permitted
 * may     {body, ids, query} for permitted principals, if `sent` would remove what later requests need
 * status  the expected status of a permitted request, if it is not 200 (or several)
 * stream  the response is a stream of events, which is cancelled
 * headers of the request
 * socket  it is a WebSocket handshake
 * ends    it ends the login that it uses
 */
const row = (least, where, sent, more = {}) => {
	const [method, route] = where.split(' ');
	return { least, method, route, sent, status: more.socket ? 101 : 200, ...more, ofSession: /^\/api\/session\/\{id\}|^\/ws\/(pty|terminal)/.test(route) };
};

const ran = (field = 'command') => ({ [field]: 'echo abuse > abuse' });
const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: {
	'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'abuse', version: '1' },
} } };
export const mcpHeaders = (method, name) => ({
	'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}), Accept: 'application/json, text/event-stream',
});
const none = (name) => ({ ids: { [name]: 'none' } });
const session = '/api/session/{id}';
const sandbox = '/v1/sandbox/abuse';

/** In an order in which each can be sent after those before it. */
export const routes = [
	row('public', 'GET /', undefined, { undescribed: true }),
	row('public', 'GET /healthz'),
	row('public', 'GET /readyz'),
	row('owner', 'GET /api/drain'),
	row('owner', 'POST /api/drain'),
	row('owner', 'DELETE /api/drain'),
	row('owner', 'GET /api/nodes', undefined, { status: 404 }), // without a fleet
	row('owner', 'POST /api/upgrade', { waitMs: -1 }, { status: 400 }), // an upgrade would end the sockets
	row('viewer', 'GET /ws', undefined, { undescribed: true, socket: true }),
	row('viewer', 'GET /api/ws', undefined, { undescribed: true, socket: true }),
	row('viewer', 'GET /rpc', undefined, { undescribed: true, socket: true }),
	row('viewer', 'GET /ws/pty?sessionId={id}', undefined, { undescribed: true, socket: true }),
	row('viewer', 'POST /mcp', rpc, { headers: mcpHeaders('tools/list') }),
	row('viewer', 'GET /mcp', undefined, { status: 405 }),
	// There is no such client; the control socket ignores the header.
	row('viewer', 'DELETE /mcp', undefined, { headers: { 'Mcp-Session-Id': 'x'.repeat(32), 'MCP-Protocol-Version': '2025-11-25' }, status: [404, 405] }),
	row('owner', 'GET /metrics'),
	row('public', 'GET /health', undefined, { undescribed: true }),
	row('viewer', 'GET /v1/openapi.json', undefined, { undescribed: true }),
	...[['GET', '/v1/pool/stats'], ['POST', '/v1/pool/prime', undefined, { status: 501 }], ['POST', '/v1/pool/shutdown-prewarmed', undefined, { status: 501 }], ['POST', '/v1/sandbox', {}], ['GET', `${sandbox}/running`], ['POST', `${sandbox}/exec`, { argv: ['touch', 'abuse'] }, { stream: true, status: [200, 501] }], ['GET', `${sandbox}/pty`, undefined, { socket: true }],
		['PUT', `${sandbox}/file/workspace/abuse`, 'abuse'], ['GET', `${sandbox}/file/workspace/abuse`], ['POST', `${sandbox}/persist`, {}, { stream: true, status: [200, 501] }],
		['POST', `${sandbox}/hydrate`, 'abuse', { status: 400 }], ['POST', `${sandbox}/session`, {}], ['DELETE', `${sandbox}/session/none`, undefined, { status: 502 }],
		['POST', `${sandbox}/mount`, {}, { status: 501 }], ['POST', `${sandbox}/unmount`, {}, { status: 501 }], ['POST', `${sandbox}/tunnel/1`, {}, { status: 501 }],
		['DELETE', `${sandbox}/tunnel/1`, undefined, { status: 501 }], ['DELETE', sandbox, undefined, { status: 204 }]]
		.map(([method, route, sent, more]) => row('owner', `${method} ${route}`, sent, { undescribed: true, ...more })),
	row('viewer', 'GET /api/ping'),
	row('viewer', 'GET /api/version'),
	row('viewer', 'GET /api/commands'),
	row('viewer', 'GET /api/openapi.json'),
	row('public', 'POST /api/auth/login', { token: '{owner}' }),
	row('public', 'POST /api/auth/logout', {}, { ends: true }),
	row('viewer', 'GET /api/auth/whoami'),
	row('owner', 'GET /api/auth/logins'),
	row('owner', 'DELETE /api/auth/logins/{loginId}', undefined, { may: none('loginId'), status: 404 }),
	row('owner', 'DELETE /api/auth/logins'),
	row('viewer', 'GET /api/session/list'),
	row('viewer', 'GET /api/session/events', undefined, { stream: true }),
	row('owner', 'POST /api/session/create', { id: 'abuse' }, { may: { body: { id: 's' } }, status: 409 }),
	row('owner', 'POST /api/session/open', { id: 'abuse' }, { may: { body: { id: 's' } } }),
	row('owner', 'POST /api/session/delete', { sessionId: 's' }, { may: { body: { sessionId: 'none' } }, status: 500 }),
	row('viewer', `GET ${session}`),
	row('owner', `POST ${session}/rename`, { name: 'abuse' }, { may: { body: { name: 'matrix-name' } } }),
	row('driver', `POST ${session}/notify`, { text: 'abuse' }),
	row('driver', `POST ${session}/resize`, { cols: 111, rows: 33 }),
	row('owner', `POST ${session}/size`, { policy: 'fixed', cols: 111, rows: 33 }, { may: { body: { policy: 'latest' } } }),
	row('driver', `POST ${session}/signal`, { signal: 'INT' }),
	row('driver', `POST ${session}/terminate`, { graceMs: 0 }, { may: { body: { graceMs: 'abuse' } }, status: 400 }),
	row('driver', `POST ${session}/input`, { data: 'echo abuse > abuse\r' }),
	row('driver', `POST ${session}/keys`, { text: 'echo abuse > abuse', submit: true }),
	row('viewer', `GET ${session}/typed`),
	row('viewer', `GET ${session}/lease`),
	row('driver', `POST ${session}/lease`, { owner: 'abuse', ttlMs: 60_000 }, { may: { body: { ttlMs: 'abuse' } }, status: 400 }),
	row('driver', `DELETE ${session}/lease`, undefined, { status: [200, 400, 404, 409] }),
	row('viewer', `GET ${session}/output`),
	row('viewer', `GET ${session}/screen`),
	row('viewer', `GET ${session}/state`),
	row('viewer', `POST ${session}/wait`, { until: [{ type: 'exit' }], timeoutMs: 1 }),
	row('viewer', `GET ${session}/scrollback`, undefined, { query: 'from=0' }),
	row('viewer', `GET ${session}/search`, undefined, { query: 'q=matrix' }),
	row('owner', `GET ${session}/links`),
	row('owner', `POST ${session}/links`, { role: 'driver' }),
	row('owner', `DELETE ${session}/links/{link}`, undefined, { may: none('link'), status: 404 }),
	row('driver', `POST ${session}/exec`, { ...ran(), queue: true }),
	row('viewer', `GET ${session}/exec`),
	row('viewer', `GET ${session}/exec/{exec}`),
	row('viewer', `GET ${session}/exec/{exec}/output`),
	row('viewer', `GET ${session}/exec/{exec}/stream`, undefined, { stream: true }),
	row('driver', `POST ${session}/exec/{exec}/cancel`, {}, { status: [200, 404, 409] }),
	row('viewer', `GET ${session}/blocks`),
	row('viewer', `GET ${session}/blocks/{block}`),
	row('viewer', `GET ${session}/blocks/{block}/output`),
	row('viewer', `GET ${session}/stream`, undefined, { stream: true }),
	row('owner', 'POST /api/execute', ran()),
	row('owner', 'POST /api/execute/stream', ran(), { stream: true }),
	row('owner', 'POST /api/stdin', {}),
	row('owner', 'PUT /api/stdin/{inputId}', { abuse: true }, { may: none('inputId'), status: 400 }),
	row('owner', 'POST /api/run', ran()),
	row('owner', 'POST /api/process/start', ran()),
	row('owner', 'GET /api/process/list'),
	row('owner', 'GET /api/process/{id}'),
	row('owner', 'GET /api/process/{id}/logs'),
	row('owner', 'GET /api/process/{id}/stream', undefined, { stream: true }),
	row('owner', 'GET /api/process/{id}/output'),
	row('owner', 'POST /api/process/{id}/input', { data: 'abuse\n' }, { status: [200, 409] }),
	row('owner', 'POST /api/process/{id}/signal', { signal: 'TERM' }, { may: { body: { signal: 'CONT' } } }),
	row('owner', 'POST /api/process/{id}/wait', { for: 'exit', timeoutMs: 1 }, { status: 408 }),
	row('owner', 'DELETE /api/process/{id}', undefined, { may: none('id'), status: 404 }),
	row('owner', 'POST /api/port-watch', { port: 1, processId: 'p' }, { stream: true }),
	row('owner', 'DELETE /api/process/kill-all'),
	row('trusted', 'GET /api/file/{path}', undefined, { may: none('path'), status: [200, 404, 501] }),
	row('trusted', 'PUT /api/file/{path}', { abuse: true }, { may: none('path'), status: [200, 501] }),
	row('trusted', 'POST /api/read', { path: '/etc/passwd', sessionId: 's' }),
	row('trusted', 'POST /api/read/stream', { path: '/etc/passwd', sessionId: 's' }, { stream: true }),
	row('trusted', 'POST /api/write', { path: 'abuse', content: 'abuse', sessionId: 's' }, { may: { body: { path: '/dev/null', content: '', sessionId: 's' } } }),
	row('trusted', 'POST /api/delete', { path: 'abuse', sessionId: 's' }, { status: [200, 404] }),
	row('trusted', 'POST /api/rename', { oldPath: '.', newPath: 'abuse', sessionId: 's' }, { status: 500 }),
	row('trusted', 'POST /api/move', { sourcePath: '.', destinationPath: 'abuse', sessionId: 's' }, { status: 500 }),
	row('trusted', 'POST /api/mkdir', { path: 'abuse', sessionId: 's' }, { may: { body: { path: '.', recursive: true, sessionId: 's' } } }),
	row('trusted', 'POST /api/list-files', { path: '.', sessionId: 's' }),
	row('trusted', 'POST /api/exists', { path: '.', sessionId: 's' }),
	row('trusted', 'POST /api/stat', { paths: ['.'], sessionId: 's' }),
	row('trusted', 'POST /api/expose-port', { port: 1999 }),
	row('trusted', 'GET /api/exposed-ports'),
	row('trusted', 'DELETE /api/exposed-ports/{port}', undefined, { may: { ids: { port: '1999' } } }),
	row('trusted', 'GET /api/ports'),
	row('trusted', 'GET /api/ports/events', undefined, { stream: true }),
	...['GET', 'POST', 'PUT', 'DELETE'].map((method) => row('trusted', `${method} /proxy/{path}`, ['POST', 'PUT'].includes(method) ? {} : undefined, { may: { ids: { path: '1999' } }, status: [501, 502] })),
	row('trusted', 'POST /api/watch', { path: '.' }, { stream: true }),
	row('trusted', 'POST /api/watch/check', { path: '.' }),
	row('trusted', 'POST /api/git/checkout', { repoUrl: 'file:///nonexistent/abuse' }, { status: 500 }),
	row('trusted', 'GET /api/interpreter/health'),
	row('trusted', 'POST /api/contexts', { cwd: '/' }, { may: { body: { language: 5 } }, status: 400 }),
	row('trusted', 'GET /api/contexts'),
	row('trusted', 'POST /api/contexts/{id}/interrupt', {}, { status: 404 }),
	row('trusted', 'DELETE /api/contexts/{id}', undefined, { status: 404 }),
	row('trusted', 'POST /api/execute/code', { context_id: 'none', ...ran('code') }, { status: 404 }),
	row('trusted', 'POST /api/backup/create', { dir: '/home/nonexistent/abuse' }, { status: 500 }),
	row('trusted', 'POST /api/backup/restore', { dir: '/home/nonexistent/abuse', archivePath: '/var/backups/nonexistent/abuse' }, { status: 500 }),
	row('owner', 'POST /api/backup/upload', { archivePath: '/var/backups/nonexistent/abuse', url: 'https://127.0.0.1:1/' }, { status: 500 }),
	row('owner', 'POST /api/backup/download', { archivePath: '/var/backups/nonexistent/abuse', expectedSize: 1, parts: [{ url: 'https://127.0.0.1:1/', offset: 0 }] }, { status: 500 }),
	row('owner', 'POST /api/backup/upload-parts', { archivePath: '/var/backups/nonexistent/abuse', parts: [{ partNumber: 1, url: 'https://127.0.0.1:1/', offset: 0, size: 1 }] }, { status: 500 }),
];

/** The MCP tools, with arguments that have an effect: [least role, name, arguments if not permitted, arguments if permitted]. */
export const tools = [
	['owner', 'session_create', { session_id: 'abuse' }, { session_id: 's' }],
	['viewer', 'session_list', {}],
	['owner', 'session_close', { session_id: 's' }, { session_id: 'none' }],
	['driver', 'exec', { session_id: 's', ...ran() }],
	['viewer', 'exec_read', { exec_id: 's/{exec}' }],
	['driver', 'exec_signal', { exec_id: 's/{exec}' }],
	['driver', 'send_keys', { session_id: 's', text: 'echo abuse > abuse', submit: true }],
	['driver', 'lease', { session_id: 's', ttl_ms: 60_000 }, { session_id: 's', ttl_ms: 1 }],
	['viewer', 'wait', { session_id: 's', until: [{ type: 'exit' }], timeout_ms: 1 }],
	['viewer', 'snapshot', { session_id: 's' }],
	['driver', 'resize', { session_id: 's', cols: 111, rows: 33 }],
	['viewer', 'history', { session_id: 's' }],
	['trusted', 'read_file', { session_id: 's', path: '/etc/hostname' }],
	['trusted', 'write_file', { session_id: 's', path: 'abuse', content: 'x' }, { session_id: 's', path: '/nowhere/of/abuse/\0', content: 'x' }],
	['owner', 'exec_command', ran('cmd')],
	['owner', 'write_stdin', { session_id: 1, chars: 'abuse\n' }],
];

/** A stream of bytes for a file. */
const stream = () => new ReadableStream({ start: (controller) => { controller.enqueue(new TextEncoder().encode('abuse')); controller.close(); } });
const nowhere = '/home/nonexistent/abuse';
const archive = '/var/backups/nonexistent/abuse';
const unknown = ['none'];

/** The methods of the main object at /rpc: [least role, name, arguments if not permitted, arguments if permitted]. */
export const methods = [
	['owner', 'commands.execute', ['echo abuse > abuse', 's'], ['true', 's']],
	['owner', 'commands.executeStream', ['echo abuse > abuse', 's'], ['true', 's']],
	['trusted', 'files.readFile', ['/etc/hostname', 's', { encoding: 'none' }]],
	['trusted', 'files.readFileStream', ['/etc/hostname', 's']],
	['trusted', 'files.writeFile', ['abuse', 'abuse', 's'], ['/dev/null', '', 's']],
	['trusted', 'files.writeFileStream', ['abuse', stream, 's'], [nowhere, 'no stream', 's']],
	['trusted', 'files.deleteFile', ['canary', 's'], [nowhere, 's']],
	['trusted', 'files.renameFile', ['canary', 'abuse', 's'], [nowhere, 'abuse', 's']],
	['trusted', 'files.moveFile', ['canary', 'abuse', 's'], [nowhere, 'abuse', 's']],
	['trusted', 'files.mkdir', ['abuse', 's'], ['.', 's', { recursive: true }]],
	['trusted', 'files.listFiles', ['.', 's']],
	['trusted', 'files.exists', ['.', 's']],
	['owner', 'processes.startProcess', ['echo abuse > abuse', 's'], ['', 's']],
	['owner', 'processes.listProcesses', []],
	['owner', 'processes.getProcess', ['p']],
	['owner', 'processes.getProcessLogs', ['p']],
	['owner', 'processes.streamProcessLogs', ['p']],
	['owner', 'processes.killProcess', ['p'], unknown],
	['owner', 'ports.watchPort', [{ port: 1, processId: 'p' }], [{ port: 0 }]],
	['trusted', 'ports.exposePort', [1999, 's', 'abuse']],
	['trusted', 'ports.getExposedPorts', []],
	['trusted', 'ports.unexposePort', [1999]],
	['trusted', 'git.checkout', [`file://${nowhere}`, 's', { targetDir: 'abuse' }], ['none', 's']],
	['trusted', 'interpreter.createCodeContext', [{ cwd: '/' }], [{ language: 'none' }]],
	['trusted', 'interpreter.listCodeContexts', []],
	['trusted', 'interpreter.streamCode', ['none', 'open("abuse", "w")', 'python']],
	['trusted', 'interpreter.runCodeStream', ['none', 'open("abuse", "w")', 'python', {}, 1000]],
	['trusted', 'interpreter.deleteCodeContext', unknown],
	['viewer', 'utils.ping', []],
	['viewer', 'utils.getVersion', []],
	['viewer', 'utils.getCommands', []],
	['owner', 'utils.createSession', [{ id: 'abuse' }], [{ id: 's' }]],
	['owner', 'utils.deleteSession', ['s'], unknown],
	['viewer', 'utils.listSessions', []],
	['trusted', 'backup.createArchive', [nowhere, archive, 's']],
	['trusted', 'backup.restoreArchive', [nowhere, archive, 's']],
	['owner', 'backup.uploadParts', [{ archivePath: archive, parts: [{ partNumber: 1, url: 'https://127.0.0.1:1/', offset: 0, size: 1 }] }]],
	['trusted', 'watch.watch', [{ path: '.' }]],
	['trusted', 'watch.checkChanges', [{ path: '.' }]],
	...['runQuickTunnel', 'runNamedTunnel', 'destroyTunnel', 'listTunnels', 'ensureTunnelRun', 'stopTunnelRun'].map((name) => ['viewer', `tunnels.${name}`, []]),
	['owner', 'processes.killAllProcesses', []],
];

/** Principals without valid credentials. unopened: the token of an answer link, which is valid for the terminal alone. */
export const unauthenticated = ['none', 'expired', 'revoked', 'earlier', 'unopened'];
/** answer: a login by an answer link, which uses the session that waits. */
export const principals = ['none', 'viewer', 'driver', 'other', 'answer', 'expired', 'revoked', 'earlier', 'unopened', 'owner'];
/** Routes that this login may use while the prompt waits. */
const seenToAnswer = ['GET /api/auth/whoami', 'GET /api/session/{id}', 'GET /ws/pty?sessionId={id}'];

/**
 * The expected refusal, or undefined. about: {method, route}; names: the request names the links' own session; trusted: the
 * server runs with --drivers-may-all.
 */
export function refusal(principal, least, { about = {}, names = false, trusted = false } = {}) {
	const driver = trusted ? 3 : 2;
	const ranks = { viewer: 1, answer: 1, driver, other: driver, trusted: 3, owner: 4 };
	const needed = { viewer: 1, driver: 2, trusted: 3, owner: 4 };
	if (least === 'public') return undefined;
	if (unauthenticated.includes(principal)) return '401 UNAUTHENTICATED';
	if (ranks[principal] < needed[least]) return least === 'driver' ? '403 READ_ONLY' : '403 PERMISSION_DENIED';
	if (principal === 'answer') return seenToAnswer.includes(`${about.method} ${about.route}`) ? undefined : '403 PERMISSION_DENIED';
	return principal === 'other' && names ? '403 PERMISSION_DENIED' : undefined;
}
