import assert from "node:assert/strict";
import { test } from "node:test";
import { blockHashingBlob, fromHex, readBlock, toHex, writeBlock } from "@anulo/protocol";
import { call } from "@anulo/testkit";
import { needsRealPrograms, onStage } from "../actors.ts";
import { anyBlock, createChance, spendsScript } from "../reading/any-block.ts";

const attempts = 300;
const auxPow = [{ id: "11".repeat(32), hash: "22".repeat(32) }];

test("both nodes hash any block of the format alike", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { url } = await stage.daemon("real");
    const chance = createChance("same hashes");
    for (let hashed = 0; hashed < attempts; ) {
      const made = anyBlock(chance);
      if (spendsScript(made.minerTransaction)) continue;
      hashed++;
      const blocktemplate_blob = toHex(writeBlock(made));
      // It changes the extra of the block's first transaction, so its answer is what is compared.
      const answer = await call(url, "add_aux_pow", { blocktemplate_blob, aux_pow: auxPow });
      const block = readBlock(fromHex(String(answer.blocktemplate_blob)));
      assert.equal(toHex(writeBlock(block)), answer.blocktemplate_blob);
      assert.equal(toHex(blockHashingBlob(block)), answer.blockhashing_blob, blocktemplate_blob);
    }
  });
});
