// An order from the parent process → that far side, here; each question brings its report.

import type { FarSideOrder } from './far-side-report.ts';
import { farSideOf } from './far-sides.ts';

process.once('message', async (order: FarSideOrder) => {
  const farSide = await farSideOf(order);
  process.on('message', async () => process.send?.(await farSide.report()));
  process.on('disconnect', () => process.exit(0));
  process.send?.(farSide.address);
});
