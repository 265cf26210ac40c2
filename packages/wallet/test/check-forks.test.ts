import assert from "node:assert/strict";
import { test } from "node:test";
import { type BlockHeader, type NetworkName, networks } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createForkCheck } from "../src/scan/check-forks.ts";

type Node = { readonly nettype?: string; readonly takesOtherForks?: boolean };

/** Checks blocks of these heights and versions, one batch each, and counts the questions to the node. */
async function check(network: NetworkName, node: Node, ...places: readonly (readonly [number, number])[]) {
  let questions = 0;
  const client = {
    getInfo: async () => {
      questions++;
      return { status: "OK", nettype: node.nettype ?? network };
    },
  };
  const daemon = { address: { url: "", takesOtherForks: node.takesOtherForks === true }, client };
  const checkForks = createForkCheck(network, daemon as unknown as Daemon);
  for (const [height, majorVersion] of places)
    await checkForks([{ height, header: { majorVersion } as BlockHeader }]);
  return questions;
}

const known = networks.mainnet.hardForks;
const newest = known.at(-1)!;

test("blocks of the network's forks are taken without a question", async () => {
  const edges = known.flatMap(({ height, version }, i) =>
    i === 0 ? [] : [[height - 1, known[i - 1]!.version] as const, [height, version] as const],
  );
  assert.equal(await check("mainnet", {}, ...edges, [newest.height + 1e6, newest.version]), 0);
});

test("a block of a fork a block too early or too late is refused", async () => {
  for (const [i, { height, version }] of known.entries()) {
    if (i === 0) continue;
    const before = known[i - 1]!.version;
    for (const [at, odd] of [
      [height - 1, version],
      [height, before],
    ] as const) {
      await assert.rejects(check("mainnet", {}, [at, odd]), (error: unknown) => {
        assert.ok(error instanceof WalletRefusal);
        assert.match(error.message, new RegExp(`version v${odd} at height ${at}\\. Make sure the node`));
        return true;
      });
    }
  }
});

test("a block of a fork that no table names yet tells of a wallet that is too old", async () => {
  await assert.rejects(
    check("stagenet", {}, [3_000_000, newest.version + 1]),
    /version v17 at height 3000000\. Make sure your wallet is up to date/,
  );
});

test("a private chain has the forks its owner likes, of which the node is asked once", async () => {
  const node = { nettype: "fakechain" };
  assert.equal(await check("mainnet", node, [1, 16], [2, 16], [3, 14]), 1);
  assert.equal(await check("regtest", {}, [1, 16], [2, 16]), 0);
  for (const places of [
    [[1, 17]],
    [
      [1, 16],
      [2, 17],
    ],
  ] as const)
    await assert.rejects(check("mainnet", node, ...places), /v17 at height \d\. Make sure your wallet/);
});

test("who takes other forks asks nothing", async () => {
  assert.equal(await check("mainnet", { takesOtherForks: true }, [1, 16], [2, 99]), 0);
});
