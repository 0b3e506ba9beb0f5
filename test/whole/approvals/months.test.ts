// Some random months of windows and budgets; `months-N-of-4.test.ts` play ten thousand.
import test from 'node:test';
import { playMonths } from './months.ts';

const SEED = 20_261_124;

test('in random months, the bridge approves what windows and budgets allow, as soon as they do, and nothing else', () =>
  playMonths(100, SEED));
