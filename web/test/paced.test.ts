import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Paced } from '../src/net/paced';
import { FakeClock } from './fakes';

test('requests within the interval lead to one call at its end', () => {
	const clock = new FakeClock();
	const runs: number[] = [];
	const paced = new Paced(clock, 1000, () => runs.push(clock.now()));
	paced.ask();
	clock.advance(300);
	paced.ask();
	paced.ask();
	clock.advance(5000);
	assert.deepEqual(runs, [0, 1000]);
	paced.ask();
	assert.deepEqual(runs, [0, 1000, 5300]);
});

test('nothing is called after dispose', () => {
	const clock = new FakeClock();
	let runs = 0;
	const paced = new Paced(clock, 1000, () => {
		runs++;
	});
	paced.ask();
	paced.ask();
	paced.dispose();
	clock.advance(5000);
	paced.ask();
	assert.equal(runs, 1);
});
