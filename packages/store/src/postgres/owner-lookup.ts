type Owners = ReadonlyMap<string, string>;

/** Asks who owns wallets: one query at a time, for the names of all who ask meanwhile, so that they take one connection. */
export class OwnerLookup {
  readonly #read: (names: readonly string[]) => Promise<Owners>;
  /** The query that begins once the one under way has ended, and its names. */
  #next: { readonly names: Set<string>; readonly owners: Promise<Owners> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `read` answers the owners of those names that have one. */
  constructor(read: (names: readonly string[]) => Promise<Owners>) {
    this.#read = read;
  }

  /** Undefined for a name without an owner. Throws what `read` does. */
  readonly ownerOf = async (name: string): Promise<string | undefined> => {
    this.#next ??= this.#begin();
    this.#next.names.add(name);
    return (await this.#next.owners).get(name);
  };

  #begin(): { readonly names: Set<string>; readonly owners: Promise<Owners> } {
    const names = new Set<string>();
    const owners = this.#last.then(() => {
      this.#next = undefined;
      return this.#read([...names]);
    });
    this.#last = owners.catch(() => undefined);
    return { names, owners };
  }
}
