import type { Chance } from "../chance.ts";
import type { DiskImage } from "./forgetful-disk.ts";
import type { ForgetfulFolders } from "./forgetful-folders.ts";

/** A moment at which the machine stops, and what it leaves. */
export interface Cut<Expected> {
  readonly kind: "killed" | "power lost";
  readonly image: DiskImage;
  /** What must be there afterwards. */
  readonly expected: Expected;
}

export interface CutOptions<Expected> {
  readonly disk: Pick<ForgetfulFolders, "observe" | "whole" | "image">;
  readonly chance: Chance;
  /** How many are wanted in all. */
  readonly count: number;
  /** What must be there if the machine stopped now. */
  expect(kind: Cut<Expected>["kind"]): Expected;
}

/** Share of the moments offered at which a cut is made, and of those in which only the process is killed. */
const TAKEN = 0.3;
const KILLED = 0.1;
/** Images wait in memory until they are checked. */
const MAX_WAITING = 6;

/** Takes images at moments of chance, to be checked while nothing else goes on. */
export class CutTaker<Expected> {
  readonly #options: CutOptions<Expected>;
  #waiting: Cut<Expected>[] = [];
  cutCount = 0;
  /** Nothing is taken while the checks themselves use files. */
  isPaused = false;

  constructor(options: CutOptions<Expected>) {
    this.#options = options;
  }

  get isDone(): boolean {
    return this.cutCount >= this.#options.count;
  }

  /** Something has just happened; `isCertain`: here a cut is wanted. */
  offer(isCertain = false): void {
    const { disk, chance } = this.#options;
    if (this.isPaused) return;
    disk.observe();
    if (this.isDone || this.#waiting.length >= MAX_WAITING || !(isCertain || chance.happens(TAKEN))) return;
    const kind = chance.happens(KILLED) ? "killed" : "power lost";
    const image = kind === "killed" ? disk.whole() : disk.image(chance);
    this.#waiting.push({ kind, image, expected: this.#options.expect(kind) });
    this.cutCount++;
  }

  /** Checks what was taken. */
  async check(open: (cut: Cut<Expected>) => Promise<void>): Promise<void> {
    this.isPaused = true;
    for (const cut of this.#waiting.splice(0)) await open(cut);
    this.isPaused = false;
  }
}
