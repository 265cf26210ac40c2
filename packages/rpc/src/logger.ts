/** Where a server reports what callers must not see. */
export type Logger = {
  readonly error: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly warn: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly debug: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
};

/** Drops everything. */
export const silent: Logger = { error: () => {}, warn: () => {}, debug: () => {} };
