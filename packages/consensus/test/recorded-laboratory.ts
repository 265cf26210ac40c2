import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { SendTransactionFlag } from "../src/index.ts";

/** What monerod's `/send_raw_transaction` said: HTTP status, `status` "OK", the flags that were true. */
export interface TransactionAnswer {
  http: number;
  accepted: boolean;
  flags: SendTransactionFlag[];
}

/** What monerod's `submit_block` said: the error code or 0, and whether the block became the top. */
export interface BlockAnswer {
  code: number;
  isOnTop: boolean;
}

/** Bytes are hex. */
export interface RecordedLaboratory {
  source: string;
  blocks: { block: string; transactions: string[] }[];
  /** Bytes of block 0. */
  genesis: string;
  poolTransaction: string;
  transactions: { name: string; blob: string; answer: TransactionAnswer }[];
  blockCases: { name: string; blob: string; answer: BlockAnswer }[];
}

/** Cases tried on the real monerod, and its answers; made by `record-laboratory.ts`. */
export function readRecordedLaboratory(): RecordedLaboratory {
  const file = new URL("../../test/fixtures/laboratory.json.gz", import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as RecordedLaboratory;
}
