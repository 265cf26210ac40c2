import type { WalletChange, WalletKey, WalletRow, WalletStore } from "@anulo/store";

/** Maximum number of steps per group. */
const MAX_GROUP_STEPS = 1024;
const MAX_GROUP_ROWS = 2048;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

/** Rows of a group before they are written; of two changes to a row the later one counts. */
export class PendingRows {
  readonly #rows = new Map<string, WalletKey & { readonly value?: Uint8Array }>();
  #bytes = 0;

  put(row: WalletRow): void {
    this.#rows.set(nameOf(row), row);
    this.#bytes += row.key.length + row.value.length;
  }

  delete({ table, key }: WalletKey): void {
    this.#rows.set(nameOf({ table, key }), { table, key });
  }

  /** The value that a row will have; undefined where the group does not put it. */
  valueOf(key: WalletKey): Uint8Array | undefined {
    return this.#rows.get(nameOf(key))?.value;
  }

  get isFull(): boolean {
    return this.#rows.size >= MAX_GROUP_ROWS || this.#bytes >= MAX_GROUP_BYTES;
  }

  get change(): Required<WalletChange> {
    const rows = [...this.#rows.values()];
    return {
      puts: rows.flatMap(({ value, ...key }) => (value === undefined ? [] : [{ ...key, value }])),
      deletes: rows.filter(({ value }) => value === undefined),
    };
  }
}

const nameOf = ({ table, key }: WalletKey): string =>
  `${table.number}:${Buffer.from(key).toString("latin1")}`;

/**
 * Adds rows to a group. A step that throws adds nothing. Returns true when it is done; otherwise it continues in the
 * next group.
 */
export type WriteStep = (rows: PendingRows) => Promise<boolean>;

interface QueuedWrite {
  readonly step: WriteStep;
  resolve(): void;
  reject(error: unknown): void;
}

export interface GatheredWritesOptions {
  /** The store to write to; another one once the log was opened again. */
  readonly store: () => WalletStore;
  /** Called before each group, and after each group whether it was written or not. */
  begin(): void;
  seal(rows: PendingRows): void;
  settle(isWritten: boolean): void;
}

/**
 * Writes steps of many callers, one group after another: steps that arrive while a group is written share the next
 * group.
 */
export class GatheredWrites {
  readonly #options: GatheredWritesOptions;
  #queue: QueuedWrite[] = [];
  #running: Promise<void> | undefined;

  constructor(options: GatheredWritesOptions) {
    this.#options = options;
  }

  /** Resolves once the step's rows survive a loss of power. */
  async submit(step: WriteStep): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#queue.push({ step, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves once no step is waiting. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) await this.#writeGroup();
    this.#running = undefined;
  }

  async #writeGroup(): Promise<void> {
    const { begin, seal, settle } = this.#options;
    const rows = new PendingRows();
    // What is gathered follows from what this store has.
    const store = this.#options.store();
    begin();
    const { added, unfinished, tried } = await this.#gather(rows);
    this.#queue = [...unfinished, ...this.#queue.slice(tried)];
    try {
      seal(rows);
      const { change } = rows;
      if (change.puts.length + change.deletes.length > 0) await store.apply(change);
      settle(true);
      for (const { resolve } of added) resolve();
    } catch (error) {
      settle(false);
      for (const { reject } of [...added, ...unfinished]) reject(error);
      this.#queue = this.#queue.slice(unfinished.length);
    }
  }

  /** Runs the first steps of the queue until the group is full. */
  async #gather(
    rows: PendingRows,
  ): Promise<{ added: QueuedWrite[]; unfinished: QueuedWrite[]; tried: number }> {
    const added: QueuedWrite[] = [];
    for (let tried = 0; tried < MAX_GROUP_STEPS; tried++) {
      const queued = this.#queue[tried];
      if (queued === undefined || rows.isFull) return { added, unfinished: [], tried };
      try {
        if (!(await queued.step(rows))) return { added, unfinished: [queued], tried: tried + 1 };
        added.push(queued);
      } catch (error) {
        queued.reject(error);
      }
    }
    return { added, unfinished: [], tried: MAX_GROUP_STEPS };
  }
}
