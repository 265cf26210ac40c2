import type { NativeRandomXSource, RandomXCache, RandomXDataset } from "@anulo/crypto";
import type { FoundNonce, PowSearch, PowWork } from "./work.ts";

/** Which code computes RandomX: the system's library, or our own. */
export type Engine = "native" | "portable";

/** Data computed from a seed, which the threads of one process share. */
export type SeedSource = RandomXCache | RandomXDataset | NativeRandomXSource;

/** A message from the node to the hashing process. `id` identifies the question in every answer to it. */
export type PowQuestion =
  | { readonly type: "hash"; readonly id: number; readonly work: PowWork }
  | { readonly type: "search"; readonly id: number; readonly search: PowSearch }
  /** Ends a search; there is no answer. */
  | { readonly type: "abandon"; readonly id: number }
  /** The seed in use (32 bytes each), which is kept, and the one that will be needed soon. */
  | { readonly type: "seeds"; readonly current: Uint8Array; readonly next: Uint8Array | undefined };

/** A message from the hashing process to the node. */
export type PowAnswer =
  | { readonly type: "hashed"; readonly id: number; readonly hash: Uint8Array }
  /** Hashes computed for a search since the last report, and total CPU time (milliseconds) of the process. */
  | { readonly type: "progress"; readonly id: number; readonly hashes: number; readonly cpuMs: number }
  /** The end of a search; nothing is found if all nonces were tried. */
  | { readonly type: "searched"; readonly id: number; readonly nonce: FoundNonce | undefined }
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  /** Which code computes RandomX from now on, and why it is not the system's library. */
  | DatasetStatus
  | { readonly type: "engine"; readonly engine: Engine; readonly reason: string | undefined };

/** The progress of the dataset that long searches use. */
export type DatasetStatus =
  | { readonly type: "dataset"; readonly state: "begun" | "ready" | "let go" }
  | { readonly type: "dataset"; readonly state: "failed"; readonly reason: string }
  | { readonly type: "dataset"; readonly state: "growing"; readonly percent: number };

/** A task of a thread, one at a time. */
export type ThreadTask =
  | { readonly type: "hash"; readonly work: PowWork; readonly source: string | undefined }
  | {
      readonly type: "try";
      /** The name of the source to hash with. */
      readonly source: string | undefined;
      readonly search: PowSearch;
      /** Nonces to try: this one, and `count - 1` after it. */
      readonly nonce: number;
      readonly count: number;
    }
  /** Makes the cache of a seed, in the place of one that is not used any more if there is one. */
  | {
      readonly type: "make";
      readonly seedId: Uint8Array;
      readonly engine: Engine;
      readonly replaced: SeedSource | undefined;
    }
  /** Checks whether the system's library can be used, and is correct. */
  | { readonly type: "choose" }
  /** Frees a cache that no thread uses any more. */
  | { readonly type: "free"; readonly source: SeedSource };

/** A message to a thread. */
export type ThreadMessage =
  | ThreadTask
  /** A cache or dataset that some thread has made, sent before the first task that needs it. */
  | { readonly type: "take"; readonly name: string; readonly source: SeedSource }
  /** The source with this name will not be needed any more. */
  | { readonly type: "drop"; readonly name: string };

/** The result of a thread's task. */
export type ThreadResult =
  | { readonly type: "hashed"; readonly hash: Uint8Array }
  | { readonly type: "tried"; readonly hashes: number; readonly nonce: FoundNonce | undefined }
  | { readonly type: "made"; readonly source: SeedSource }
  | { readonly type: "freed" }
  | { readonly type: "chosen"; readonly engine: Engine; readonly reason: string | undefined }
  | { readonly type: "failed"; readonly reason: string };
