import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { meetsDifficulty } from "@anulo/consensus";
import {
  blockHashingBlob,
  extraNonce,
  fromHex,
  parseExtra,
  readBlock,
  toHex,
  writeBlock,
} from "@anulo/protocol";
import { CallFailed, call, type ExactObject, loadGoldenState, post, submitBlock } from "@anulo/testkit";
import { needsRealPrograms, onStage, otherSide, type Side, type Stage } from "../actors.ts";

const address = loadGoldenState().wallets.a.address;

/** Seeds change after 4 blocks and 2 more, so that a short chain sees several. */
const quickSeeds = { SEEDHASH_EPOCH_BLOCKS: "4", SEEDHASH_EPOCH_LAG: "2" };

async function blockAt(url: string, height: number): Promise<ExactObject> {
  return call(url, "get_block", { height, fill_pow_hash: true });
}

function headerOf({ block_header }: ExactObject): ExactObject {
  return { ...(block_header as ExactObject), depth: 0 };
}

const both = (stage: Stage, options: object) =>
  Promise.all((["ours", "real"] as const).map((side) => stage.daemon(side, "upstream", options)));

for (const miner of ["ours", "real"] as const satisfies Side[]) {
  const judge = otherSide[miner];
  test(
    `blocks with work by ${miner} are accepted by ${judge}, also across changes of the seed`,
    needsRealPrograms,
    async () => {
      await onStage(async (stage) => {
        const options = { difficulty: 2, env: quickSeeds };
        const from = await stage.daemon(miner, "upstream", options);
        const to = await stage.daemon(judge, "upstream", options);
        const count = 11;
        const seeds = new Set<unknown>();
        for (let height = 1; height <= count; height++) {
          await call(from.url, "generateblocks", { amount_of_blocks: 1, wallet_address: address });
          const block = await blockAt(from.url, height);
          await submitBlock(to.url, String(block.blob));
          const header = headerOf(block);
          assert.deepEqual(headerOf(await blockAt(to.url, height)), header);
          assert.ok(meetsDifficulty(fromHex(String(header.pow_hash)), 2n));
          const [template, theirs] = await Promise.all([from, to].map(({ url }) => templateOf(url)));
          const told = [
            "seed_hash",
            "seed_height",
            "next_seed_hash",
            "difficulty",
            "wide_difficulty",
            "height",
          ];
          for (const name of told) assert.deepEqual(template![name], theirs![name], name);
          seeds.add(template!.seed_hash);
        }
        assert.equal(seeds.size, 3);
      });
    },
  );
}

function templateOf(url: string): Promise<ExactObject> {
  return call(url, "get_block_template", { wallet_address: address, reserve_size: 8 });
}

test("wrong work is refused both ways", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const daemons = await both(stage, { difficulty: 10n ** 14n });
    for (const { url } of daemons) {
      for (const { url: judge } of daemons) {
        const blob = String((await templateOf(url)).blocktemplate_blob);
        await assert.rejects(submitBlock(judge, blob), (error: unknown) => {
          assert.ok(error instanceof CallFailed);
          assert.match(error.message, /Block not accepted/);
          return true;
        });
        assert.equal((await call(judge, "get_block_count", {})).count, 1);
      }
    }
  });
});

/** A block of this template with another time, and a nonce that `calc_pow` says will do. */
async function proveAt(url: string, template: ExactObject, timestamp: number): Promise<string> {
  const block = readBlock(fromHex(String(template.blocktemplate_blob)));
  for (let nonce = 0; ; nonce++) {
    const tried = { ...block, header: { ...block.header, timestamp, nonce } };
    const params = {
      major_version: block.header.majorVersion,
      height: Number(template.height),
      block_blob: toHex(blockHashingBlob(tried)),
      seed_hash: String(template.seed_hash),
    };
    const asked = { jsonrpc: "2.0", id: "0", method: "calc_pow", params };
    const { result: hash } = await post(`${url}/json_rpc`, asked);
    const difficulty = BigInt(template.difficulty as number);
    if (meetsDifficulty(fromHex(String(hash)), difficulty)) return toHex(writeBlock(tried));
  }
}

test("a chain with the difficulty of its times has the same one to both", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const [ours, real] = await both(stage, { difficulty: 0 });
    const difficulties: unknown[] = [];
    let time = Math.floor(Date.now() / 1000) - 10_000;
    for (let i = 0; i < 14; i++) {
      const [template, theirs] = await Promise.all([templateOf(ours!.url), templateOf(real!.url)]);
      assert.equal(template.wide_difficulty, theirs.wide_difficulty);
      difficulties.push(template.difficulty);
      time += 40 + 37 * (i % 3);
      const prover = i % 2 === 0 ? ours! : real!;
      const blob = await proveAt(prover.url, template, time);
      await submitBlock(ours!.url, blob);
      await submitBlock(real!.url, blob);
    }
    assert.ok(new Set(difficulties).size > 2, `difficulties ${difficulties}`);
    const [own, their] = await Promise.all([ours!, real!].map(({ url }) => call(url, "get_info", {})));
    assert.deepEqual(own!.cumulative_difficulty, their!.cumulative_difficulty);
    assert.equal(own!.top_block_hash, their!.top_block_hash);
  });
});

test(
  "a block with the most reserved bytes is accepted by the original, as it is and filled",
  needsRealPrograms,
  async () => {
    await onStage(async (stage) => {
      const [ours, real] = await both(stage, {});
      for (const size of [127, 128, 200, 255]) {
        const params = { wallet_address: address, reserve_size: size };
        const template = await call(ours!.url, "get_block_template", params);
        const blob = fromHex(String(template.blocktemplate_blob));
        const offset = Number(template.reserved_offset);
        blob.fill(size, offset, offset + size);
        await submitBlock(real!.url, toHex(blob));
        await submitBlock(ours!.url, toHex(blob));
        const { extra } = readBlock(blob).minerTransaction.prefix;
        assert.deepEqual(extraNonce(parseExtra(extra)), new Uint8Array(size).fill(size));
      }
      const [own, their] = await Promise.all([ours!, real!].map(({ url }) => call(url, "get_info", {})));
      assert.deepEqual([own!.height, own!.top_block_hash], [5, their!.top_block_hash]);
    });
  },
);

/** An answer with no depth in its block's miner transaction. */
function withoutDepth({ blocktemplate_blob, blockhashing_blob, ...rest }: ExactObject) {
  const block = readBlock(fromHex(String(blocktemplate_blob)));
  assert.equal(toHex(blockHashingBlob(block)), blockhashing_blob);
  const fields = parseExtra(block.minerTransaction.prefix.extra);
  const shown = fields.map((field) => (field.type === "mergeMining" ? { ...field, depth: 0n } : field));
  return { ...rest, fields: shown, header: block.header };
}

test(
  "the roots of other chains go into a template as the original puts them there",
  needsRealPrograms,
  async () => {
    await onStage(async (stage) => {
      const [ours, real] = await both(stage, {});
      const template = await templateOf(real!.url);
      const hash = (text: string) => createHash("sha256").update(text).digest("hex");
      const answerOf = async (url: string, params: ExactObject) => {
        try {
          return await call(url, "add_aux_pow", params);
        } catch (error) {
          assert.ok(error instanceof CallFailed);
          return error.message;
        }
      };
      /** The original returns the depth of a tree but writes 0 into the block, which is right for one chain alone. */
      const agree = async (params: ExactObject) => {
        const [own, their] = await Promise.all([ours!, real!].map(({ url }) => answerOf(url, params)));
        if (typeof own === "string" || own!.merkle_tree_depth === 0) assert.deepEqual(own, their);
        else assert.deepEqual(withoutDepth(own!), withoutDepth(their as ExactObject));
        return own;
      };
      const blocktemplate_blob = String(template.blocktemplate_blob);
      let fitted = 0;
      for (let i = 0; i < 24; i++) {
        const chains = Array.from({ length: 1 + (i % 6) }, (_, at) => ({
          id: hash(`${i} ${at}`),
          hash: hash(`w${i} ${at}`),
        }));
        const answer = await agree({ blocktemplate_blob, aux_pow: chains });
        if (typeof answer !== "string") fitted++;
      }
      assert.ok(fitted >= 8);
      const chain = { id: hash("a"), hash: hash("b") };
      const first = await agree({ blocktemplate_blob, aux_pow: [chain] });
      assert.ok(typeof first !== "string");
      await agree({
        blocktemplate_blob: String((first as ExactObject).blocktemplate_blob),
        aux_pow: [{ id: hash("c"), hash: hash("d") }],
      });
      await agree({ blocktemplate_blob, aux_pow: [] });
      await agree({ blocktemplate_blob, aux_pow: [chain, chain] });
      await agree({ blocktemplate_blob, aux_pow: [{ id: "zz", hash: hash("b") }] });
      await agree({ blocktemplate_blob, aux_pow: [{ id: hash("a"), hash: "00" }] });
      await agree({ blocktemplate_blob: "zz", aux_pow: [chain] });
      await agree({ blocktemplate_blob: "00", aux_pow: [chain] });
      await agree({ blocktemplate_blob: toHex(randomBytes(100)), aux_pow: [chain] });
    });
  },
);
