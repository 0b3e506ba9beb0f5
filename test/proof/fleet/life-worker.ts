// Lives from the parent process → each played here, because the listeners are in memory.
import type { Life } from './life.ts';
import { playLife } from './played-life.ts';

process.on('message', (life: Life) => {
  playLife(life).then(
    (played) => process.send?.({ played }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
