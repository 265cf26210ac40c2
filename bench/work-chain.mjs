/**
 * The recorded chain as miners at difficulty 2 would have made it: the same blocks and transactions, each block with
 * another predecessor and a nonce whose hash meets that difficulty. The nonces are kept beside this file; after a new
 * recording `node bench/work-chain.mjs` finds them anew, within a minute.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { meetsDifficulty } from "@anulo/consensus";
import { createRandomXCache, createRandomXVm, useSplitTiering } from "@anulo/crypto";
import { blockHashingBlob, blockId, fromHex, readBlock, toHex, writeBlock } from "@anulo/protocol";
import { loadChain } from "@anulo/testkit";

export const WORK_DIFFICULTY = 2;
const noncesFile = new URL("./work-nonces.json", import.meta.url);

/** Each recorded block on top of the one before, with the nonce that `nonceOf` gives. */
function rebuild(nonceOf) {
  const { genesis, blocks } = loadChain();
  let previousId = fromHex(genesis.hash);
  return blocks.map(({ blob, txs }, at) => {
    const recorded = readBlock(fromHex(blob));
    const block = { ...recorded, header: { ...recorded.header, previousId, nonce: 0 } };
    block.header.nonce = nonceOf(block, at);
    previousId = blockId(block);
    return { blob: toHex(writeBlock(block)), txs };
  });
}

/** The blocks, oldest first, without genesis. */
export function loadWorkChain() {
  const nonces = JSON.parse(readFileSync(noncesFile, "utf8"));
  return rebuild((_, at) => nonces[at]);
}

function findNonces() {
  useSplitTiering();
  const machine = createRandomXVm(createRandomXCache(fromHex(loadChain().genesis.hash)));
  const nonces = [];
  rebuild((block) => {
    const meets = (nonce) => {
      const hash = machine.hash(blockHashingBlob({ ...block, header: { ...block.header, nonce } }));
      return meetsDifficulty(hash, BigInt(WORK_DIFFICULTY));
    };
    let nonce = 0;
    while (!meets(nonce)) nonce++;
    nonces.push(nonce);
    return nonce;
  });
  writeFileSync(noncesFile, `${JSON.stringify(nonces)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) findNonces();
