import { type Exact, parseExact } from "@anulo/devnet";

const lineEnds = /[\t\n\r]/;

/** JSON that may hold control characters, as the original programs write them; undefined if it is none. */
export function laxJson(text: string): Exact | undefined {
  const escaped = text.replace(/\p{Cc}/gu, (it) =>
    lineEnds.test(it) ? it : `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  try {
    return parseExact(escaped);
  } catch {
    return undefined;
  }
}
