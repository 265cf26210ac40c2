/** The optional package koffi, which calls functions of the system's libraries. */
import { createRequire } from "node:module";

export type Call<T> = {
  (...values: unknown[]): T;
  async(...values: [...unknown[], (error: Error | null, result: T) => void]): void;
};

/** The part of koffi used here. */
export type Koffi = {
  load(library: string): { func<T>(signature: string): Call<T> };
  address(bytes: Uint8Array): bigint;
  /** A value of a type that lies at an address. */
  decode(address: bigint, type: "uint64_t"): number | bigint;
};

/** Throws when the package is not installed. */
export const loadKoffi = (): Koffi => createRequire(import.meta.url)("koffi") as Koffi;
