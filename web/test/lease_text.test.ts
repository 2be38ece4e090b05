import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseLabel, timeLeft } from '../src/ui/lease_text';

const lease = (expiresAt: string) => ({ owner: 'robot', mode: 'exclusive', expiresAt, sinceAt: expiresAt } as const);

test('the remaining time of a lease is never negative', () => {
	const now = Date.parse('2026-01-01T00:00:00Z');
	assert.equal(timeLeft(lease('2026-01-01T00:00:42Z'), now), '0:42');
	assert.equal(timeLeft(lease('2026-01-01T00:10:00Z'), now), '10:00');
	assert.equal(timeLeft(lease('2026-01-01T01:00:05Z'), now), '1:00:05');
	assert.equal(timeLeft(lease('2025-12-31T23:59:59Z'), now), '0:00');
});

test('a label has at most 64 bytes of whole characters', () => {
	assert.equal(leaseLabel('Ada'), 'Ada');
	assert.equal(leaseLabel('é'.repeat(40)), 'é'.repeat(32));
	assert.equal(leaseLabel(`${'x'.repeat(62)}🐟`), 'x'.repeat(62));
});
