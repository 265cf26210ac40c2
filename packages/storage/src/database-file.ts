/**
 * What is used of an open file of the database's binding. Declared here since the binding's own types do not compile
 * where a program is a module and its compiler checks the types of packages too.
 */
export interface DatabaseFile {
  transactionSync<T>(action: () => T): T;
  useReadTransaction(): Snapshot;
  /** Removes readers whose processes are gone. */
  readerCheck(): number;
  /** A line for each reader. */
  readerList(): string;
  close(): Promise<void>;
}

/** The database as it was at one moment, until `done` is called. */
export interface Snapshot {
  done(): void;
}
