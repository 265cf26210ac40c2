/**
 * The part of the binding's open database file that we use. Declared here because the binding's own types do not
 * compile in a program that is a module and whose compiler checks the types of packages too.
 */
export interface DatabaseFile {
  transactionSync<T>(action: () => T): T;
  useReadTransaction(): Snapshot;
  /** Ends the transaction in which this thread reads: the next read begins one. */
  resetReadTxn(): void;
  /** Removes readers whose processes are gone. */
  readerCheck(): number;
  /** A line for each reader. */
  readerList(): string;
  close(): Promise<void>;
}

/** The database as it was at one time, until `done` is called. */
export interface Snapshot {
  done(): void;
}
