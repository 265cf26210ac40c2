/** How many open wallets are at which height, updated as they advance. */

/** Wallets of one service are at few heights: those that follow the chain share one or two. */
export class HeightTally {
  readonly #heights = new Map<object, number>();
  readonly #wallets = new Map<number, number>();
  #blocks = 0;

  /** Number of open wallets. */
  get open(): number {
    return this.#heights.size;
  }

  /** Number of blocks that wallets have scanned since the start, summed over the wallets. */
  get scannedBlocks(): number {
    return this.#blocks;
  }

  /** Records that a wallet is at `height` now; undefined once it is closed. */
  note(wallet: object, height: number | undefined): void {
    const before = this.#heights.get(wallet);
    if (before === height) return;
    if (before !== undefined) this.#add(before, -1);
    if (height === undefined) this.#heights.delete(wallet);
    else {
      this.#heights.set(wallet, height);
      this.#add(height, 1);
      if (before !== undefined) this.#blocks += Math.max(0, height - before);
    }
  }

  /** Number of wallets below `height`. */
  below(height: number): number {
    let count = 0;
    for (const [at, wallets] of this.#wallets) if (at < height) count += wallets;
    return count;
  }

  #add(height: number, change: number): void {
    const count = (this.#wallets.get(height) ?? 0) + change;
    if (count === 0) this.#wallets.delete(height);
    else this.#wallets.set(height, count);
  }
}
