import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeLabel } from '../src/ui/size_badge';

test('the badge names the client that sets the size, or the policy', () => {
	assert.equal(sizeLabel('latest', 'Ada'), 'Ada’s size');
	assert.equal(sizeLabel('owner', 'Ada'), 'Ada’s size');
	assert.equal(sizeLabel('latest', null), 'Session size');
	assert.equal(sizeLabel('smallest', null), 'Smallest window');
	assert.equal(sizeLabel('fixed', null), 'Fixed size');
	assert.equal(sizeLabel('owner', null), 'Owner’s size');
});
