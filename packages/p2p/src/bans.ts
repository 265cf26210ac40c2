/** An address or subnet that may not connect until a moment (Unix seconds). */
export interface Ban {
  /** As text: an address, or `a.b.c.d/n`. */
  readonly host: string;
  /** An IPv4 address as a number, first byte lowest; 0 for anything else. */
  readonly ip: number;
  readonly until: number;
}

/** Addresses and subnets that are shut out. */
export interface Bans {
  /** Those in force: addresses in order, then subnets. */
  list(): Ban[];
  /** Bans for some seconds; 0 seconds or `lift` ends a ban. False for text that is neither address nor subnet. */
  set(host: string, seconds: number | "lift"): boolean;
  /** Seconds an address remains banned, 0 when it is not; undefined for text that is no address. */
  secondsLeft(address: string): number | undefined;
}
