/** The scans under way that have many blocks before them. */

/** A scan that has so many blocks left is long. */
const LONG_SCAN_BLOCKS = 200;

export class LongScans {
  readonly #onChange: (isUnderWay: boolean) => void;
  readonly #underWay = new Set<object>();

  /** `onChange` is called when the first of several long scans begins, and when the last of them ends. */
  constructor(onChange: (isUnderWay: boolean) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** A scan has so many blocks left. Once it is long it counts as long until its `end`. */
  note(scan: object, blocksLeft: number): void {
    if (blocksLeft < LONG_SCAN_BLOCKS || this.#underWay.has(scan)) return;
    this.#underWay.add(scan);
    if (this.#underWay.size === 1) this.#onChange(true);
  }

  end(scan: object): void {
    if (this.#underWay.delete(scan) && this.#underWay.size === 0) this.#onChange(false);
  }
}
