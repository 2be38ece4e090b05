import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut, moveBy, placeOf, tilesBetween } from '../src/wall/layout';
import { dueAt, nextOrder, NO_ORDER } from '../src/wall/order';
import { at, block, session } from './sessions';

const idle = (id: string, made = 0) => session({}, { id, createdAt: at(made) });
const works = (id: string, made = 0) => session({ status: 'running', block: block({}) }, { id, createdAt: at(made) });
const waits = (id: string, made = 0) => session({ status: 'waiting_input', input: 'line' }, { id, createdAt: at(made) });
const failed = (id: string, made = 0) => session({ block: block({ state: 'done', exitCode: 1 }) }, { id, createdAt: at(made) });
const ended = (id: string, made = 0) => session(null, { id, state: 'exited', createdAt: at(made) });

test('sessions that wait come first, then failed, working, idle and ended ones', () => {
	const all = [ended('e'), idle('i2', 2), idle('i1', 1), works('w'), failed('f'), waits('a'), session(null, { id: 'u', createdAt: at(3) })];
	assert.deepEqual(nextOrder(NO_ORDER, all, 0).ids, ['a', 'f', 'w', 'i1', 'i2', 'u', 'e']);
	assert.deepEqual(nextOrder(NO_ORDER, [], 0).ids, []);
});

test('a waiting session moves forward at once, and back only after a delay', () => {
	let order = nextOrder(NO_ORDER, [idle('a'), idle('b'), idle('c')], 0);
	order = nextOrder(order, [idle('a'), idle('b'), works('c')], 100);
	assert.deepEqual([order.ids, dueAt(order)], [['a', 'b', 'c'], 2100], 'a short command moves nothing');
	order = nextOrder(order, [idle('a'), idle('b'), idle('c')], 200);
	assert.deepEqual([order.ids, dueAt(order)], [['a', 'b', 'c'], null]);
	order = nextOrder(order, [idle('a'), idle('b'), works('c')], 300);
	order = nextOrder(order, [idle('a'), idle('b'), works('c')], 2300);
	assert.deepEqual([order.ids, dueAt(order)], [['c', 'a', 'b'], null]);
	order = nextOrder(order, [idle('a'), waits('b'), works('c')], 2400);
	assert.deepEqual(order.ids, ['b', 'c', 'a']);
	order = nextOrder(order, [idle('a'), idle('b'), works('c')], 2500);
	order = nextOrder(order, [idle('a'), works('b'), works('c')], 3000);
	assert.deepEqual([order.ids, dueAt(order)], [['b', 'c', 'a'], 5000], 'a status change restarts the delay');
	order = nextOrder(order, [idle('a'), works('b')], 5000);
	assert.deepEqual(order.ids, ['b', 'a']);
	assert.equal(order.ranks.size, 2, 'a deleted session is dropped');
});

test('tiles are as large as possible with all visible, but never too small to read', () => {
	assert.equal(layOut(1, 1300, 820, false).columns, 1);
	assert.equal(layOut(4, 1300, 900, false).columns, 2);
	assert.equal(layOut(100, 1300, 820, false).columns, 4);
	assert.equal(layOut(100, 390, 800, false).columns, 1);
	assert.ok(layOut(2, 3840, 2100, false).tileWidth <= 720);
	for (const count of [0, 1, 3, 100]) {
		for (const width of [320, 700, 1920]) {
			const layout = layOut(count, width, 900, false);
			for (let i = 0; i < count; i++) {
				const { x, y, width: wide, height } = placeOf(layout, i);
				assert.ok(x >= 0 && x + wide <= width && y >= 0 && y + height <= layout.height);
			}
		}
	}
	const fine = layOut(4, 700, 900, false), coarse = layOut(4, 700, 900, true);
	assert.deepEqual([placeOf(fine, 0).headHeight, placeOf(coarse, 0).headHeight, coarse.tileHeight - fine.tileHeight], [30, 44, 14]);
	assert.ok(layOut(3, 0, 0, false).tileHeight > 0 || layOut(3, 0, 0, false).columns === 1);
});

test('partly visible tiles count as visible', () => {
	const layout = layOut(10, 700, 300, false);
	const { y, height } = placeOf(layout, 3);
	assert.equal(layout.columns, 2);
	assert.deepEqual(tilesBetween(layout, 0, 100), { first: 0, end: 2 });
	assert.deepEqual(tilesBetween(layout, y + 1, y + height), { first: 2, end: 4 });
	assert.deepEqual(tilesBetween(layout, 0, 1e6), { first: 0, end: 10 });
	assert.deepEqual(tilesBetween(layout, 1e6, 2e6), { first: 10, end: 10 });
	assert.deepEqual(tilesBetween(layOut(0, 800, 300, false), 0, 300), { first: 0, end: 0 });
});

test('keys lead from tile to tile, and never out of the list', () => {
	const layout = { count: 8, columns: 3, tileWidth: 1, tileHeight: 1, headHeight: 0, height: 1 };
	const to = (key: string, from: number) => moveBy(key, from, layout, 2);
	assert.deepEqual(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'].map((key) => to(key, 4)), [3, 5, 1, 7, 0, 7, 1, 7]);
	assert.deepEqual(['ArrowLeft', 'ArrowUp', 'PageUp'].map((key) => to(key, 0)), [0, 0, 0]);
	assert.deepEqual(['ArrowRight', 'ArrowDown', 'PageDown'].map((key) => to(key, 7)), [7, 7, 7]);
	assert.equal(to('ArrowDown', 5), 7, 'no tile below: the last one');
	assert.equal(to('x', 4), null);
});
