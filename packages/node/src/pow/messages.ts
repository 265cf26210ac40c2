import type { NativeRandomXSource, RandomXCache, RandomXDataset } from "@anulo/crypto";
import type { FoundNonce, PowSearch, PowWork } from "./work.ts";

/** Who computes RandomX: the system's library, or our own code. */
export type Engine = "native" | "portable";

/** What is computed from a seed, as threads of one process share it. */
export type SeedSource = RandomXCache | RandomXDataset | NativeRandomXSource;

/** What the node asks of the process that hashes. `id` names the question in every answer to it. */
export type PowQuestion =
  | { readonly type: "hash"; readonly id: number; readonly work: PowWork }
  | { readonly type: "search"; readonly id: number; readonly search: PowSearch }
  /** Ends a search; there is no answer. */
  | { readonly type: "abandon"; readonly id: number }
  /** The seed in use (32 bytes each), which is kept, and the one that will be needed soon. */
  | { readonly type: "seeds"; readonly current: Uint8Array; readonly next: Uint8Array | undefined };

/** What the process answers. */
export type PowAnswer =
  | { readonly type: "hashed"; readonly id: number; readonly hash: Uint8Array }
  /** Hashes made for a search since the last time, and CPU time (milliseconds) the process has taken until now. */
  | { readonly type: "progress"; readonly id: number; readonly hashes: number; readonly cpuMs: number }
  /** The end of a search; nothing found when all nonces were tried. */
  | { readonly type: "searched"; readonly id: number; readonly found: FoundNonce | undefined }
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  /** Who computes RandomX from now on, and why it is not the system's library. */
  | DatasetStatus
  | { readonly type: "engine"; readonly engine: Engine; readonly reason: string | undefined };

/** How the dataset comes on that long searches use. */
export type DatasetStatus =
  | { readonly type: "dataset"; readonly state: "begun" | "ready" | "let go" }
  | { readonly type: "dataset"; readonly state: "failed"; readonly reason: string }
  | { readonly type: "dataset"; readonly state: "growing"; readonly percent: number };

/** What the process hands to one of its threads, one task at a time. */
export type ThreadTask =
  | { readonly type: "hash"; readonly work: PowWork; readonly source: string | undefined }
  | {
      readonly type: "try";
      /** What to hash with, by the name it was given under. */
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
  /** Finds out whether the system's library can be used, and is right. */
  | { readonly type: "choose" }
  /** Frees a cache that no thread uses any more. */
  | { readonly type: "free"; readonly source: SeedSource };

/** What a thread is told. */
export type ThreadMessage =
  | ThreadTask
  /** A cache or dataset that some thread has made, before the first task that needs it. */
  | { readonly type: "take"; readonly name: string; readonly source: SeedSource }
  /** What was taken under this name will not be needed any more. */
  | { readonly type: "drop"; readonly name: string };

/** What a thread made of its task. */
export type ThreadResult =
  | { readonly type: "hashed"; readonly hash: Uint8Array }
  | { readonly type: "tried"; readonly hashes: number; readonly found: FoundNonce | undefined }
  | { readonly type: "made"; readonly source: SeedSource }
  | { readonly type: "freed" }
  | { readonly type: "chosen"; readonly engine: Engine; readonly reason: string | undefined }
  | { readonly type: "failed"; readonly reason: string };
