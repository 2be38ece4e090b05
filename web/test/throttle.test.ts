import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from '../src/net/throttle';
import { FakeClock } from './fakes';

test('requests within the interval lead to one call at its end', () => {
	const clock = new FakeClock();
	const runs: number[] = [];
	const throttle = new Throttle(clock, 1000, () => runs.push(clock.now()));
	throttle.request();
	clock.advance(300);
	throttle.request();
	throttle.request();
	clock.advance(5000);
	assert.deepEqual(runs, [0, 1000]);
	throttle.request();
	assert.deepEqual(runs, [0, 1000, 5300]);
});

test('nothing is called after dispose', () => {
	const clock = new FakeClock();
	let runs = 0;
	const throttle = new Throttle(clock, 1000, () => {
		runs++;
	});
	throttle.request();
	throttle.request();
	throttle.dispose();
	clock.advance(5000);
	throttle.request();
	assert.equal(runs, 1);
});
