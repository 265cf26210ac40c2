/** As many threads as Node.js has for the disk. The same ones flush the file and serve whatever else uses files. */
export const THREADS = 4;
/** How many threads may read at once: for all, and for strangers. */
export interface ThreadShare {
  readonly forAll: number;
  readonly forStrangers: number;
}

/** Strangers must not keep the owner, a block's judging or a flush waiting. */
const WHOLE_SHARE: ThreadShare = { forAll: THREADS, forStrangers: 2 };

/**
 * Divides the threads of the system among those who have them read: each gets one in the order in which they came, but
 * strangers wait behind the others, and have half of the threads at most.
 */
export class ReadThreads {
  #busy = 0;
  #busyForStrangers = 0;
  readonly #waitingStrangers: (() => void)[] = [];
  readonly #waitingOthers: (() => void)[] = [];
  readonly #share: ThreadShare;

  constructor(share = WHOLE_SHARE) {
    this.#share = share;
  }

  /** Runs `read` as soon as a thread is free for it; rejects with its errors. */
  async run(read: () => Promise<void>, { isStranger }: { readonly isStranger: boolean }): Promise<void> {
    if (this.#isFreeFor(isStranger)) this.#take(isStranger);
    else await new Promise<void>((begin) => this.#waiting(isStranger).push(begin));
    try {
      await read();
    } finally {
      this.#busy -= 1;
      if (isStranger) this.#busyForStrangers -= 1;
      this.#beginNext();
    }
  }

  #isFreeFor(isStranger: boolean): boolean {
    const { forAll, forStrangers } = this.#share;
    return this.#busy < forAll && !(isStranger && this.#busyForStrangers >= forStrangers);
  }

  #take(isStranger: boolean): void {
    this.#busy += 1;
    if (isStranger) this.#busyForStrangers += 1;
  }

  #waiting(isStranger: boolean): (() => void)[] {
    return isStranger ? this.#waitingStrangers : this.#waitingOthers;
  }

  #beginNext(): void {
    const isStranger = this.#waitingOthers.length === 0;
    if (!this.#isFreeFor(isStranger)) return;
    const begin = this.#waiting(isStranger).shift();
    if (begin === undefined) return;
    this.#take(isStranger);
    begin();
  }
}
