type Fields = Readonly<Record<string, unknown>>;
type Write = (event: string, fields?: Fields) => void;

/** Receives the events that a service reports, which contain no secrets. */
export interface Logger {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
  /** The same log for a category, such as "net.p2p". */
  in(category: string): Logger;
}

const drop = () => {};

/** Drops everything. */
export const silent: Logger = { error: drop, warn: drop, info: drop, debug: drop, in: () => silent };
