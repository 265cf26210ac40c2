/** Messages between threads that belong to many wallets: those of one turn of the event loop travel together. */

/** A message, for each of these wallets (by number). */
export type MessageGroup<M> = { readonly wallets: readonly number[]; readonly message: M };

type Waiting<M> = { readonly wallets: number[]; readonly message: M };

/**
 * Collects messages and posts them together, in order, at the end of the turn. One object that is sent to wallets one
 * after the other travels once: copying is most of a message's cost.
 */
export class GroupedMessages<M> {
  readonly #post: (groups: readonly MessageGroup<M>[], transfer: readonly ArrayBuffer[]) => void;
  #waiting: Waiting<M>[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(post: (groups: readonly MessageGroup<M>[], transfer: readonly ArrayBuffer[]) => void) {
    this.#post = post;
  }

  /** `transfer`: buffers of the message that are transferred rather than copied. */
  send(wallet: number, message: M, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#waiting.length === 0) queueMicrotask(() => this.#flush());
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.message === message) last.wallets.push(wallet);
    else this.#waiting.push({ wallets: [wallet], message });
    this.#transfer.push(...transfer);
  }

  #flush(): void {
    const [groups, transfer] = [this.#waiting, this.#transfer];
    this.#waiting = [];
    this.#transfer = [];
    this.#post(groups, transfer);
  }
}
