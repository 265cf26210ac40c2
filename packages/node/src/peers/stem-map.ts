import type { RandomSource } from "@anulo/crypto";
import { pick } from "./chance.ts";

/** Number of outgoing connections used for stem transactions in one epoch. Source: cryptonote_config.h. */
const STEMS = 2;

/**
 * Maps each incoming connection to the outgoing one for its stem transactions: always the same, so that several
 * transactions reveal no more than one. Keys are those of connections; "" stands for this node itself.
 */
export interface StemMap {
  /** Number of connections in use. */
  readonly size: number;
  /** Replaces closed connections by others of `outgoing`, and adds more while there are too few. */
  update(outgoing: readonly string[]): void;
  /** The connection for transactions from `source`; undefined if there is none. */
  stemOf(source: string): string | undefined;
}

/** Chooses outgoing connections for a new epoch. Source: net/dandelionpp.cpp. */
export function createStemMap(outgoing: readonly string[], random: RandomSource): StemMap {
  const outs: (string | undefined)[] = pick(outgoing, STEMS, random);
  const usage: number[] = Array.from({ length: STEMS }, () => 0);
  const outOf = new Map<string, number>();
  const leastUsed = (): number | undefined => {
    const open = outs.flatMap((out, at) => (out === undefined ? [] : [at]));
    const least = Math.min(...open.map((at) => usage[at]!));
    return pick(
      open.filter((at) => usage[at] === least),
      1,
      random,
    )[0];
  };
  const assign = (source: string): number | undefined => {
    const at = leastUsed();
    if (at === undefined) outOf.delete(source);
    else {
      outOf.set(source, at);
      usage[at]!++;
    }
    return at;
  };
  return {
    get size() {
      return outs.filter((out) => out !== undefined).length;
    },
    update(current) {
      const fresh = current.filter((out) => !outs.includes(out));
      for (let at = 0; at < STEMS; at++) {
        const out = outs[at];
        if (out !== undefined && current.includes(out)) continue;
        const [next] = pick(fresh, 1, random);
        if (next !== undefined) fresh.splice(fresh.indexOf(next), 1);
        if (at < outs.length || next !== undefined) outs[at] = next;
      }
    },
    stemOf(source) {
      const destination = outOf.get(source);
      if (destination !== undefined && outs[destination] !== undefined) return outs[destination];
      if (destination !== undefined) usage[destination]!--;
      const at = assign(source);
      return at === undefined ? undefined : outs[at];
    },
  };
}
