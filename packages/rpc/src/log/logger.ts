type Fields = Readonly<Record<string, unknown>>;
type Write = (event: string, fields?: Fields) => void;

/** Where a service reports what happens to it, without secrets. */
export interface Logger {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
  /** The same log for what belongs to a category, such as "net.p2p". */
  in(category: string): Logger;
}

const drop = () => {};

/** Drops everything. */
export const silent: Logger = { error: drop, warn: drop, info: drop, debug: drop, in: () => silent };
