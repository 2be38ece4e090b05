import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from '../src/net/loopback';

test('loopback names are recognised', () => {
	for (const url of ['http://127.0.0.1:7070/', 'http://127.9.8.7/', 'http://localhost/', 'http://x.localhost/', 'http://[::1]:7070/'])
		assert.ok(isLoopback(new URL(url).hostname), url);
	for (const url of ['http://192.168.1.2/', 'http://localhost.example/', 'http://128.0.0.1/', 'http://[::2]/', 'http://127.example/', 'http://ring/'])
		assert.ok(!isLoopback(new URL(url).hostname), url);
});
