/** A value that is there, or will be. Short work gives it at once: a promise would cost more than the work. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once where it is there. */
export function whenReady<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What `work` gives, or `onError` where it throws or rejects. */
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

/** What `work` gives; `end` is called once it is over, however it ends. */
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
