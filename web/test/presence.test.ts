import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../src/net/wire';
import { persons } from '../src/ui/presence';

const client = (id: number, person: number, typedAt: string | null = null): Client =>
	({ id, person, name: `n${id}`, color: 0, role: 'owner', typedAt });
const message = (clients: readonly Client[], sizeBy: number | null = null) =>
	({ type: 'presence', clients, sizeBy, sizePolicy: 'latest' }) as const;

test('tabs of one person count once, and this tab represents its own person', () => {
	const all = [client(1, 1), client(2, 2), client(3, 1), client(4, 1)];
	assert.deepEqual(persons(message(all), null).map(({ id }) => id), [1, 2]);
	assert.deepEqual(persons(message(all), 3).map(({ id }) => id), [3, 2]);
	assert.deepEqual(persons(message(all, 4), 3).map(({ id }) => id), [3, 2]);
	assert.deepEqual(persons(message(all, 4), 2).map(({ id }) => id), [4, 2]);
});

test('a person has typed when any of their tabs has', () => {
	const [only] = persons(message([client(1, 1, '2026-01-02T00:00:00Z'), client(2, 1), client(3, 1, '2026-01-01T00:00:00Z')]), 2);
	assert.deepEqual([only?.id, only?.typedAt], [2, '2026-01-02T00:00:00Z']);
});
