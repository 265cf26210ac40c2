import { findOriginals } from "../src/programs/find.ts";

/** Today's release where ANULO_TODAY_PROGRAMS says it is, else what is installed. */
const folder = process.env.ANULO_TODAY_PROGRAMS;

/** The option that takes the original programs. */
export const originalPrograms = folder === undefined ? "original" : ({ folder } as const);

/** Why they cannot be run here, or undefined. Where the originals are required, throws if one is missing. */
export function originalsMissing(): string | undefined {
  if (process.env.ANULO_TESTS === "quick") return "not among the quick tests";
  try {
    findOriginals(folder);
    return undefined;
  } catch (error) {
    if (process.env.ANULO_REAL_PROGRAMS === "required") throw error;
    return (error as Error).message;
  }
}
