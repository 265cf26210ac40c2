/** What may change of outputs while they stay in their places, as it was at one moment: five bytes of each. */
import { type OutputPage, PAGE_OUTPUTS } from "./output-page.ts";

export type OutputState = {
  readonly isSpent: boolean;
  readonly frozen: boolean;
  readonly hasKeyImage: boolean;
};

export class OutputStates {
  readonly #pages: readonly ReturnType<OutputPage["statesNow"]>[];

  constructor(pages: readonly OutputPage[]) {
    this.#pages = pages.map((page) => page.statesNow());
  }

  at(place: number): OutputState {
    return this.#pages[Math.floor(place / PAGE_OUTPUTS)]!(place % PAGE_OUTPUTS);
  }
}
