// A promise and a signal → what the promise comes to, or the abort, whichever is first.

/** Rejects with the signal's reason as soon as it aborts; what the promise comes to then is nobody's concern. */
export function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
