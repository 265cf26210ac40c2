import { useEffect, useState } from "preact/hooks";

/** What is known of a question: the last answer stays while the next one is on its way, or has failed. */
export type Asked<T> = { readonly answer: T | undefined; readonly failure: string | undefined };

type Asking<T> = (signal: AbortSignal) => Promise<T>;

export type AskingOptions = {
  /** Asked anew, from nothing, when one of these changes. */
  readonly of: readonly (string | number | boolean)[];
  /** Milliseconds between a response and the next request; if left out, there is one request. */
  readonly everyMs?: number;
};

/** Asks, and asks again while the page is looked at. */
export function useAnswer<T>(ask: Asking<T>, { of, everyMs }: AskingOptions): Asked<T> {
  const key = JSON.stringify(of);
  const [state, setState] = useState<Asked<T> & { readonly key: string }>({
    key,
    answer: undefined,
    failure: undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    let timer = 0;
    const again = () => {
      if (everyMs !== undefined && !controller.signal.aborted) timer = setTimeout(once, everyMs);
    };
    const once = async () => {
      if (document.visibilityState === "hidden") return again();
      try {
        const answer = await ask(controller.signal);
        if (!controller.signal.aborted) setState({ key, answer, failure: undefined });
      } catch (error) {
        if (controller.signal.aborted) return;
        const failure = error instanceof Error ? error.message : String(error);
        setState((before) => ({ key, answer: before.key === key ? before.answer : undefined, failure }));
      }
      again();
    };
    void once();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs]);
  return state.key === key ? state : { answer: undefined, failure: undefined };
}
