import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whoseSize } from '../src/ui/size_badge';

test('the badge names the client that sets the size, or the policy', () => {
	assert.equal(whoseSize('latest', 'Ada'), 'Ada’s size');
	assert.equal(whoseSize('owner', 'Ada'), 'Ada’s size');
	assert.equal(whoseSize('latest', null), 'Session size');
	assert.equal(whoseSize('smallest', null), 'Smallest window');
	assert.equal(whoseSize('fixed', null), 'Fixed size');
	assert.equal(whoseSize('owner', null), 'Owner’s size');
});
