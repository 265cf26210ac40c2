import type { NodeOptions, PeerOptions } from "@anulo/node";
import type { FlagTable, Values } from "./flags.ts";

/** Flags about downloading the chain and about the transaction pool, with the original's names. */
export const syncFlags = {
  "block-sync-size": {
    kind: "number",
    value: "N",
    help: "blocks asked for at once, at most 100 (by weight)",
  },
  "block-download-max-size": {
    kind: "number",
    value: "BYTES",
    help: "blocks fetched ahead, in bytes (33554432)",
  },
  "max-txpool-weight": {
    kind: "number",
    value: "BYTES",
    help: "weight of waiting transactions above which the cheapest are dropped (648000000)",
  },
  "sync-pruned-blocks": { kind: "switch", noEffect: "blocks are always fetched whole" },
  "prep-blocks-threads": { kind: "number", value: "N", noEffect: "see --max-concurrency" },
  "show-time-stats": { kind: "number", value: "0|1", noEffect: "see --log-level" },
  "keep-fakechain": { kind: "switch", noEffect: "a regtest chain is always kept" },
} as const satisfies FlagTable;

/** Returns the options of the flags; 0 stands for the default, as in the original. */
export function syncOptions(
  flags: Values<typeof syncFlags>,
): Pick<NodeOptions, "maxPoolWeight"> & { readonly peers: PeerOptions } {
  return {
    maxPoolWeight: flags["max-txpool-weight"] || undefined,
    peers: {
      blocksPerRequest: flags["block-sync-size"] || undefined,
      maxQueueBytes: flags["block-download-max-size"] || undefined,
    },
  };
}
