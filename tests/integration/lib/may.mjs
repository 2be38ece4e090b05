// Who may do what, written by hand from the documents (ws/README.md, ws/auth/README.md), not from the server's own
// table: what the matrix of `abuse` holds it against.

/**
 * The least role; method and route; and more:
 *   sent    a body that would do something to somebody if it were let through
 *   may     what is sent instead by those who may, where the other would take away what the next one needs: {body, ids, query}
 *   status  what they are answered, if it is not 200 (of several one)
 *   stream  the answer is a stream of events, which is left
 *   headers of the request
 *   socket  it is a handshake for a WebSocket
 */
const row = (least, where, sent, more = {}) => {
	const [method, route] = where.split(' ');
	return { least, method, route, sent, status: more.socket ? 101 : 200, ...more, ofSession: /^\/api\/session\/\{id\}|^\/ws\/pty/.test(route) };
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
const notServed = (where, sent = {}) => row('owner', where, where.startsWith('POST') ? sent : undefined, { status: 501 });

/** In an order in which one after the other can be asked by somebody who may. */
export const routes = [
	row('anybody', 'GET /', undefined, { undescribed: true }),
	row('anybody', 'GET /healthz'),
	row('viewer', 'GET /ws', undefined, { undescribed: true, socket: true }),
	row('viewer', 'GET /api/ws', undefined, { undescribed: true, socket: true }),
	row('viewer', 'GET /ws/pty?sessionId={id}', undefined, { undescribed: true, socket: true }),
	row('viewer', 'POST /mcp', rpc, { headers: mcpHeaders('tools/list') }),
	// No such client; by HTTP/2 and the control socket its header is not heard, so none is named.
	row('viewer', 'DELETE /mcp', undefined, { headers: { 'Mcp-Session-Id': 'x'.repeat(32), 'MCP-Protocol-Version': '2025-11-25' }, status: [404, 405] }),
	row('owner', 'GET /metrics'),
	row('viewer', 'GET /api/ping'),
	row('viewer', 'GET /api/version'),
	row('viewer', 'GET /api/commands'),
	row('viewer', 'GET /api/openapi.json'),
	row('anybody', 'POST /api/auth/login', { token: '{owner}' }),
	row('anybody', 'POST /api/auth/logout', {}),
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
	row('driver', `POST ${session}/resize`, { cols: 111, rows: 33 }),
	row('owner', `POST ${session}/size`, { policy: 'fixed', cols: 111, rows: 33 }, { may: { body: { policy: 'latest' } } }),
	row('driver', `POST ${session}/signal`, { signal: 'INT' }),
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
	row('owner', 'POST /api/stdin', { base64: 'eA==' }),
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
	...['read', 'read/stream', 'write', 'delete', 'rename', 'move', 'mkdir', 'list-files', 'exists', 'watch', 'watch/check'].map((each) =>
		notServed(`POST /api/${each}`, { path: '/etc/passwd', content: 'abuse' })),
	notServed('POST /api/git/checkout'),
	notServed('GET /api/interpreter/health'),
	notServed('POST /api/contexts'),
	notServed('GET /api/contexts'),
	notServed('DELETE /api/contexts/{id}'),
	notServed('POST /api/execute/code', ran('code')),
	notServed('POST /api/backup/create'),
	notServed('POST /api/backup/restore'),
	notServed('POST /api/backup/upload-parts'),
];

/** The tools of MCP, with what they would do: [least role, name, arguments of those who must not, of those who may]. */
export const tools = [
	['owner', 'session_create', { session_id: 'abuse' }, { session_id: 's' }],
	['viewer', 'session_list', {}],
	['owner', 'session_close', { session_id: 's' }, { session_id: 'none' }],
	['driver', 'exec', { session_id: 's', ...ran() }],
	['viewer', 'exec_read', { exec_id: 's/{exec}' }],
	['driver', 'exec_signal', { exec_id: 's/{exec}' }],
	['driver', 'send_keys', { session_id: 's', text: 'echo abuse > abuse', submit: true }],
	['viewer', 'wait', { session_id: 's', until: [{ type: 'exit' }], timeout_ms: 1 }],
	['viewer', 'snapshot', { session_id: 's' }],
	['driver', 'resize', { session_id: 's', cols: 111, rows: 33 }],
	['viewer', 'history', { session_id: 's' }],
	['owner', 'exec_command', ran('cmd')],
	['owner', 'write_stdin', { session_id: 1, chars: 'abuse\n' }],
];

/** Of whom nothing is known, as far as the server goes. */
export const nobodies = ['none', 'expired', 'revoked', 'earlier'];
export const principals = ['none', 'viewer', 'driver', 'other', 'expired', 'revoked', 'earlier', 'owner'];

/** What somebody is refused with, or undefined: he may. ofSession: it is about the session that the links are for. */
export function refusal(who, least, ofSession) {
	const ranks = { viewer: 1, driver: 2, other: 2, owner: 3 };
	if (least === 'anybody') return undefined;
	if (nobodies.includes(who)) return '401 UNAUTHENTICATED';
	if (ranks[who] < ranks[least]) return least === 'driver' ? '403 READ_ONLY' : '403 PERMISSION_DENIED';
	return who === 'other' && ofSession ? '403 PERMISSION_DENIED' : undefined;
}
