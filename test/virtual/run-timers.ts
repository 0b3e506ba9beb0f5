// A function that runs the next due timer → all due timers run; promises settle between them.

/**
 * Calls `runNext` in turns of the event loop until it returns false. Rejects with what it throws.
 *
 * One promise serves all timers: a month in virtual time has millions, and the test runner follows every promise.
 */
export function runTimers(runNext: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = () => {
      try {
        if (runNext()) return void setImmediate(step);
        resolve();
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(step);
  });
}
