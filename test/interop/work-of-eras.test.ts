import assert from "node:assert/strict";
import { test } from "node:test";
import { meetsDifficulty, powVariantOf } from "@anulo/consensus";
import { publicKeyOf } from "@anulo/crypto";
import { createNode } from "@anulo/node";
import {
  blockHashingBlob,
  formatAddress,
  fromHex,
  type Network,
  networks,
  readBlock,
  toHex,
  writeBlock,
} from "@anulo/protocol";
import { call, type ExactObject, post, startDaemon } from "@anulo/testkit";
import { makerOf, needsRealPrograms } from "../actors.ts";

/** A stagenet that lives through a hard fork every two blocks. */
const forkHeights = networks.stagenet.hardForks.slice(1).map((_, i) => 2 + 2 * i);
const moved: Network = {
  ...networks.stagenet,
  hardForks: networks.stagenet.hardForks.map((fork, i) => ({
    ...fork,
    height: i === 0 ? fork.height : forkHeights[i - 1]!,
  })),
};
const difficulty = 2n;
const [spendPublic, viewPublic] = [1, 2].map((byte) => publicKeyOf(new Uint8Array(32).fill(byte, 0, 1)));
const wallet_address = formatAddress(
  { kind: "standard", spendPublic: spendPublic!, viewPublic: viewPublic! },
  "stagenet",
);

async function powOf(
  url: string,
  template: ExactObject,
  blob: Uint8Array,
  majorVersion: number,
): Promise<Uint8Array> {
  const params = {
    major_version: majorVersion,
    height: Number(template.height),
    block_blob: toHex(blob),
    seed_hash: majorVersion >= 12 ? String(template.seed_hash) : "",
  };
  const { result } = await post(`${url}/json_rpc`, { jsonrpc: "2.0", id: "0", method: "calc_pow", params });
  return fromHex(String(result));
}

/** The blocks of a template with the first nonce that does, and with the first that does not. */
async function prove(url: string, template: ExactObject) {
  const block = readBlock(fromHex(String(template.blocktemplate_blob)));
  const { majorVersion } = block.header;
  let right: string | undefined;
  let wrong: string | undefined;
  for (let nonce = 0; right === undefined || wrong === undefined; nonce++) {
    const tried = { ...block, header: { ...block.header, nonce } };
    const hash = await powOf(url, template, blockHashingBlob(tried), majorVersion);
    if (meetsDifficulty(hash, difficulty)) right ??= toHex(writeBlock(tried));
    else wrong ??= toHex(writeBlock(tried));
  }
  return { right, wrong, majorVersion };
}

const submit = (url: string, blob: string) => call(url, "submit_block", [blob]);

test(
  "through all eras both hash alike: right work is accepted, wrong work refused",
  needsRealPrograms,
  async (t) => {
    const ours = createNode({ network: moved, fixedDifficulty: difficulty, dialect: "upstream" });
    await ours.start();
    const real = await startDaemon(makerOf("real"), { forkHeights, difficulty });
    const urls = { ours: ours.urls[0]!, real: real.url };
    const variants = new Set<unknown>();
    try {
      for (let height = 1; height <= forkHeights.at(-1)! + 1; height++) {
        const [from, judge] = height % 2 === 0 ? (["ours", "real"] as const) : (["real", "ours"] as const);
        const template = await call(urls[from], "get_block_template", { wallet_address, reserve_size: 8 });
        const { right, wrong, majorVersion } = await prove(urls[from], template);
        for (const url of Object.values(urls)) {
          await assert.rejects(submit(url, wrong), /not accepted/, `wrong work of version ${majorVersion}`);
        }
        await submit(urls[judge], right);
        await submit(urls[from], right);
        variants.add(powVariantOf(majorVersion));
      }
      const headers = await Promise.all(
        Object.values(urls).map((url) =>
          call(url, "get_block_headers_range", {
            start_height: 1,
            end_height: forkHeights.at(-1)! + 1,
            fill_pow_hash: true,
          }),
        ),
      );
      assert.deepEqual(headers[0], headers[1]);
      assert.deepEqual([...variants], [0, 1, 2, 4, "randomx"]);
      t.diagnostic(`${(headers[0]!.headers as unknown[]).length} blocks of 16 versions`);
    } finally {
      await real.stop();
      await ours.stop();
    }
  },
);
