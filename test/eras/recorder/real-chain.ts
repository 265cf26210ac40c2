import { readBlock, toHex, writeBlock } from "@anulo/protocol";
import {
  call,
  type Exact,
  type ExactObject,
  type Maker,
  post,
  type RunningDaemon,
  startDaemon,
} from "@anulo/testkit";
import { describeBlock } from "../describe.ts";
import type { ErasBlock } from "../fixture.ts";

/** A chain on the real program, made block by block. */
export type RealChain = {
  readonly daemon: RunningDaemon;
  ask(method: string, params?: Exact): Promise<ExactObject>;
  height(): Promise<number>;
  /** A good next block with what is in the pool (hex), not submitted. */
  nextBlock(address: string): Promise<string>;
  mine(address: string): Promise<void>;
  /** A block of the chain as the fixture has it. */
  block(height: number): Promise<ErasBlock>;
  stop(): Promise<void>;
};

export type RealChainOptions = {
  readonly dataDir: string;
  readonly forkHeights: readonly number[];
  readonly port?: number;
  /** Whose program; left out, the one installed. */
  readonly maker?: Maker;
  /** Unix seconds of a block. */
  timestamp(height: number): number;
};

export async function openRealChain(options: RealChainOptions): Promise<RealChain> {
  const { dataDir, forkHeights, port, timestamp, maker = { kind: "real" } } = options;
  const started = { dataDir, forkHeights, ...(port !== undefined && { port }) };
  const daemon = await startDaemon(maker, started);
  const { url } = daemon;
  const ask = (method: string, params: Exact = {}) => call(url, method, params);
  const height = async () => Number((await post(`${url}/get_height`)).height);
  const nextBlock = async (address: string) => {
    const template = await ask("get_block_template", { wallet_address: address, reserve_size: 0 });
    const block = readBlock(Buffer.from(String(template.blocktemplate_blob), "hex"));
    const at = Number(template.height);
    return toHex(writeBlock({ ...block, header: { ...block.header, timestamp: timestamp(at), nonce: at } }));
  };
  return {
    daemon,
    ask,
    height,
    nextBlock,
    mine: async (address) => {
      await ask("submit_block", [await nextBlock(address)]);
    },
    block: async (at) => {
      const { blob, tx_hashes = [] } = await ask("get_block", { height: at });
      const { block_header } = await ask("get_block_header_by_height", { height: at, fill_pow_hash: true });
      const ids = tx_hashes as string[];
      const { txs = [] } = ids.length > 0 ? await post(`${url}/get_transactions`, { txs_hashes: ids }) : {};
      const transactions = (txs as ExactObject[]).map(({ as_hex }) => String(as_hex));
      const described = await describeBlock(url, at);
      return { blob: String(blob), transactions, header: block_header as ExactObject, described };
    },
    stop: () => daemon.stop(),
  };
}
