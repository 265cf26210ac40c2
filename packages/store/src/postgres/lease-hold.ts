/** A process's hold on a wallet's name in a fleet. */
export interface LeaseHold {
  readonly fleet: Uint8Array;
  readonly name: string;
  /** Id of its membership. */
  readonly process: string;
}
