import type { Block } from "@anulo/protocol";
import type { MinerData } from "../mining/miner-data.ts";
import { hex, hexes, list, object, transactionJson } from "./transaction-json.ts";

/** The topics that can be subscribed to. Source: zmq_pub.cpp. */
export const topics = {
  fullChain: "json-full-chain_main",
  minimalChain: "json-minimal-chain_main",
  minerData: "json-full-miner_data",
  fullPool: "json-full-txpool_add",
  minimalPool: "json-minimal-txpool_add",
} as const;

/** The short form of a published transaction; sizes in bytes, fee in atomic units. */
export interface PoolNews {
  /** 32 bytes. */
  readonly id: Uint8Array;
  readonly blobSize: number;
  readonly weight: number;
  readonly fee: bigint;
}

/** Describes transactions that were added to the pool together. */
export function minimalPoolJson(news: readonly PoolNews[]): string {
  return list(
    news.map(({ id, blobSize, weight, fee }) =>
      object(["id", hex(id)], ["blob_size", `${blobSize}`], ["weight", `${weight}`], ["fee", `${fee}`]),
    ),
  );
}

/** Describes a block of the main chain, without the transactions it names. */
export function fullChainJson({ header, minerTransaction, transactionHashes }: Block): string {
  return list([
    object(
      ["major_version", `${header.majorVersion}`],
      ["minor_version", `${header.minorVersion}`],
      ["timestamp", `${header.timestamp}`],
      ["prev_id", hex(header.previousId)],
      ["nonce", `${header.nonce}`],
      ["miner_tx", transactionJson(minerTransaction)],
      ["tx_hashes", hexes(transactionHashes)],
    ),
  ]);
}

/** Describes a block of the main chain by its height and id. */
export function minimalChainJson({ header }: Block, height: number, id: Uint8Array): string {
  return object(
    ["first_height", `${height}`],
    ["first_prev_id", hex(header.previousId)],
    ["ids", hexes([id])],
  );
}

/** Describes the miner data for the next block. */
export function minerDataJson(data: MinerData): string {
  return object(
    ["major_version", `${data.majorVersion}`],
    ["height", `${data.height}`],
    ["prev_id", hex(data.previousId)],
    ["seed_hash", hex(data.seedId)],
    ["difficulty", `"0x${data.difficulty.toString(16)}"`],
    ["median_weight", `${data.medianWeight}`],
    ["already_generated_coins", `${data.alreadyGenerated}`],
    [
      "tx_backlog",
      list(
        data.backlog.map(({ id, weight, fee }) =>
          object(["id", hex(id)], ["weight", `${weight}`], ["fee", `${fee}`]),
        ),
      ),
    ],
  );
}
