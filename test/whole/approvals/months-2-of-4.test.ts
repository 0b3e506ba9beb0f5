// A quarter of ten thousand random months of windows and budgets.
import test from 'node:test';
import { playMonths } from './months.ts';

test('2,500 random months: windows and budgets are obeyed', () => playMonths(2500, 2));
