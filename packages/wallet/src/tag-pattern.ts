import { runInNewContext } from "node:vm";

const MAX_MS = 500;
const MAX_CHARACTERS = 256;

/**
 * Returns the tags that a pattern matches as a whole; undefined if the pattern is invalid or takes too long: `(a+)+b`
 * could run for ever. Must not be called on the event loop.
 */
export function matchingTags(pattern: string, tags: readonly string[]): ReadonlySet<string> | undefined {
  if (pattern.length > MAX_CHARACTERS) return undefined;
  const candidates = [...new Set(tags)].filter(({ length }) => length <= MAX_CHARACTERS);
  const job = { pattern: `^(?:${pattern})$`, tags: candidates };
  try {
    const fits = runInNewContext("const is = new RegExp(pattern); tags.map((tag) => is.test(tag))", job, {
      timeout: MAX_MS,
    }) as boolean[];
    return new Set(candidates.filter((_, at) => fits[at]));
  } catch {
    return undefined;
  }
}
