import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallFailed,
  type Exact,
  type ExactObject,
  formatExact,
  isExactObject,
  loadBlocks,
  loadGoldenState,
} from "@anulo/testkit";
import { needsRealPrograms, onStage } from "../actors.ts";
import { oddQuestions } from "./odd-questions.ts";
import { type Ask, asking, sides } from "./two-services.ts";

/** Fields that we return and the original does not (DIFFERENCES.md). */
const added = new Set(["tx_size"]);

/** The same answer has the same text; the original lists outgoing transfers in no order. */
function told(value: Exact): string {
  if (Array.isArray(value)) {
    const each = value.map(told);
    return `[${value.some((item) => isExactObject(item) && "txid" in item) ? each.sort() : each}]`;
  }
  if (!isExactObject(value)) return formatExact(value);
  const isBookEntry = "description" in value;
  const fields = Object.entries(value)
    .filter(([name]) => !added.has(name) && !(isBookEntry && name === "payment_id"))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${name}:${told(field)}`)}}`;
}

/** What two answers have from a little before they part on: answers can have megabytes. */
function partOf(ours: string, real: string): string {
  let at = 0;
  while (at < ours.length && ours[at] === real[at]) at++;
  const from = Math.max(0, at - 60);
  const [one, other] = [ours, real].map((text) => text.slice(from, from + 200));
  return `from ${from} on, ours ${one}; the real one ${other}`;
}

async function answerOf(ask: Ask, method: string, params: ExactObject): Promise<string> {
  try {
    return told(await ask(method, params));
  } catch (error) {
    if (error instanceof CallFailed) return `${error.code} ${error.reason}`;
    throw error;
  }
}

test("both programs answer odd requests alike", needsRealPrograms, async (t) => {
  await onStage(async (stage) => {
    const { blocks, wallets } = loadGoldenState();
    const daemon = await stage.daemon("real");
    await loadBlocks(daemon.url, blocks);
    const asks = await Promise.all(
      sides.map(async (side) => {
        const service = await stage.service(side, daemon.port);
        const ask = asking(service);
        const { mnemonic: seed } = wallets.a;
        await ask("restore_deterministic_wallet", { filename: "w", password: "p", seed });
        await ask("auto_refresh", { enable: false });
        await ask("refresh");
        return async (method: string, params: ExactObject) =>
          (await answerOf(ask, method, params)).replaceAll(service.walletDir, "the folder");
      }),
    );
    const differing: string[] = [];
    let refused = 0;
    let count = 0;
    for (const [method, ...asked] of oddQuestions) {
      for (const params of asked) {
        const [ours, real] = await Promise.all(asks.map((ask) => ask(method, params)));
        if (ours !== real) {
          differing.push(`${method} ${formatExact(params).slice(0, 200)}: ${partOf(ours!, real!)}`);
        }
        if (/^-?\d/.test(real!)) refused++;
        count++;
      }
    }
    t.diagnostic(`${count} requests, ${refused} of them refused`);
    assert.deepEqual(differing, []);
    assert.ok(refused > 100 && refused < count);
  });
});
