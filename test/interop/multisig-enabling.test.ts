/** Multisig is an experiment: who has not enabled it comes no further than the first round, in either program. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { needsRealPrograms } from "../actors.ts";
import { type Ask, asking, sides, withServices } from "./two-services.ts";

const PASSWORD = "";

/** Two signers' wallets, one after the other in one service: what the second receives after their first round. */
async function firstRounds(ask: Ask, enables: boolean): Promise<string> {
  const prepare = { enable_multisig_experimental: enables };
  const names = ["a", "b"].map((name) => `${name}-${enables}`);
  const first: string[] = [];
  for (const filename of names) {
    await ask("create_wallet", { filename, password: PASSWORD, language: "English" });
    first.push(String((await ask("prepare_multisig", prepare)).multisig_info));
    await ask("close_wallet");
  }
  let told = "";
  for (const [i, filename] of names.entries()) {
    await ask("open_wallet", { filename, password: PASSWORD });
    // What was enabled and not written is asked for again.
    await ask("prepare_multisig", prepare);
    const others = first.toSpliced(i, 1);
    const made = await ask("make_multisig", { multisig_info: others, threshold: 2, password: PASSWORD });
    if (i === 0) told = String(made.multisig_info);
    if (i === 0) await ask("close_wallet");
  }
  return told;
}

test("an exchange goes on where the owner has enabled it, and else is refused", needsRealPrograms, () =>
  withServices({}, async (services) => {
    for (const side of sides) {
      const ask = asking(services[side]);
      for (const enables of [true, false]) {
        const told = await firstRounds(ask, enables);
        const next = ask("exchange_multisig_keys", { multisig_info: [told], password: PASSWORD });
        if (enables) assert.ok((await next).address, side);
        else await assert.rejects(next, ({ code }: { code: number }) => code === -48, side);
        await ask("close_wallet");
      }
    }
  }),
);
