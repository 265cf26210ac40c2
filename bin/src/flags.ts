/** The value of a flag. A `switch` has none, `each` may occur several times. */
export type FlagKind = "switch" | "text" | "number" | "each";

export type Flag = {
  readonly kind: FlagKind;
  /** Name of the value in the help, e.g. "PORT". */
  readonly value?: string;
  /** The only values that a `text` flag accepts. */
  readonly choices?: readonly string[];
} & (
  | { readonly help: string; readonly noEffect?: undefined }
  /** For a flag of the original that has no effect here: the reason. */
  | { readonly noEffect: string; readonly help?: undefined }
);

export type FlagTable = { readonly [name: string]: Flag };

type TextOf<F extends Flag> = F["choices"] extends readonly string[] ? F["choices"][number] : string;

type ValueOf<F extends Flag> = F["kind"] extends "switch"
  ? boolean
  : F["kind"] extends "each"
    ? readonly string[]
    : (F["kind"] extends "number" ? number : TextOf<F>) | undefined;

export type Values<T extends FlagTable> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

/** An invalid command line; the message gives the reason. */
export class BadUsage extends Error {
  override name = "BadUsage";
}

/** Throws an error of this class as bad usage of `where`, any other error unchanged. */
export function throwUsage(
  where: string,
  kind: abstract new (...args: never[]) => Error,
  error: unknown,
): never {
  throw error instanceof kind ? new BadUsage(`${where}: ${error.message}`) : error;
}

/** The flags from one source: names, and the texts of each in order. */
export type Given = ReadonlyMap<string, readonly string[]>;

/** Parses `--name value` and `--name=value`. Throws BadUsage for unknown flags. */
export function readWords(table: FlagTable, args: readonly string[]): Given {
  const values = new Map<string, string[]>();
  const rest = [...args];
  let before = "the command";
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { name, attached } = splitWord(word, before);
    before = `--${name}`;
    const flag = table[name];
    if (flag === undefined) throw new BadUsage(`unknown flag --${name}${suggestion(table, name)}`);
    const text = flag.kind === "switch" ? (attached ?? "true") : (attached ?? rest.shift());
    if (text === undefined) throw new BadUsage(`--${name} needs a value (${flag.value})`);
    values.set(name, [...(values.get(name) ?? []), text]);
  }
  return values;
}

/** The value of every flag, from the first source that has it. Throws BadUsage for invalid values. */
export function valuesOf<T extends FlagTable>(table: T, sources: readonly Given[]): Values<T> {
  const entries = Object.entries(table).map(([name, flag]) => {
    const texts = sources.find((source) => source.has(name))?.get(name) ?? [];
    const read = texts.map((text) => readValue(name, flag, text));
    if (flag.kind === "each") return [name, read];
    return [name, read.at(-1) ?? (flag.kind === "switch" ? false : undefined)];
  });
  return Object.fromEntries(entries) as Values<T>;
}

/** The flags of a command line alone. Throws BadUsage. */
export function parseFlags<T extends FlagTable>(table: T, args: readonly string[]): Values<T> {
  return valuesOf(table, [readWords(table, args)]);
}

/** The flags used that have no effect, as a line for the log; undefined if there are none. */
export function describeWithoutEffect(table: FlagTable, values: Values<FlagTable>): string | undefined {
  const isGiven = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value ?? false));
  const flags = Object.entries(table).filter(([name, { noEffect }]) => noEffect && isGiven(values[name]));
  if (flags.length === 0) return undefined;
  return `flags without effect: ${flags.map(([name, { noEffect }]) => `--${name} (${noEffect})`).join(", ")}`;
}

/** The word itself is not printed: it may be the rest of a password with a space. */
function splitWord(word: string, before: string): { name: string; attached: string | undefined } {
  const [, name, attached] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === undefined) throw new BadUsage(`not a flag: a word after ${before} (quotes missing?)`);
  return { name, attached };
}

function readValue(name: string, flag: Flag, text: string): boolean | number | string {
  if (flag.kind === "switch") {
    if (["true", "1", "yes"].includes(text)) return true;
    if (["false", "0", "no"].includes(text)) return false;
    throw new BadUsage(`--${name} takes no value, or true or false: ${text}`);
  }
  if (flag.kind === "number") {
    if (!/^\d{1,15}$/.test(text)) throw new BadUsage(`--${name} needs a whole number: ${text}`);
    return Number(text);
  }
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw new BadUsage(`--${name} must be one of ${flag.choices.join(", ")}: ${text}`);
  }
  return text;
}

/** ", did you mean --x?" if a known flag is similar. */
export function suggestion(table: FlagTable, name: string): string {
  const completions = Object.keys(table).filter((flag) => flag.startsWith(name));
  if (completions.length === 1) return `, did you mean --${completions[0]}?`;
  const nearest = Object.keys(table)
    .map((flag) => ({ flag, distance: editDistance(name, flag) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const isNear = nearest !== undefined && nearest.distance <= Math.max(2, name.length / 3);
  return isNear ? `, did you mean --${nearest.flag}?` : "";
}

/** Minimum number of letters to insert, delete or change (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The table as help text, one line per flag. */
export function formatFlags(table: FlagTable): string {
  const lines = Object.entries(table).map(([name, { value, help, noEffect, choices }]) => {
    const choiceText = choices === undefined ? value : choices.join("|");
    return {
      flagText: `  --${name}${choiceText === undefined ? "" : ` ${choiceText}`}`,
      help: help ?? `accepted; ${noEffect}`,
    };
  });
  const width = Math.max(...lines.map(({ flagText }) => flagText.length));
  return lines.map(({ flagText, help }) => `${flagText.padEnd(width + 2)}${help}`).join("\n");
}
