/** A value, or a promise of it. Short work returns the value: a promise would cost more than the work. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value: at once if it is no promise. */
export function whenReady<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns the result of `work`, or that of `onError` if it throws or rejects. */
export function whenFailed<T>(
  work: () => MaybePromise<T>,
  onError: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(onError) : value;
  } catch (error) {
    return onError(error);
  }
}

/** Returns the result of `work`; `end` is called once it is finished, whether it succeeds or not. */
export function whenOver<T>(work: () => MaybePromise<T>, end: () => void): MaybePromise<T> {
  let value: MaybePromise<T>;
  try {
    value = work();
  } catch (error) {
    end();
    throw error;
  }
  if (value instanceof Promise) return value.finally(end);
  end();
  return value;
}
