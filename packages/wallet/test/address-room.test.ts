/** How many addresses callers can have a wallet make, in however many calls. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { accountHandlers } from "../src/rpc/accounts.ts";
import type { WalletContext } from "../src/service.ts";

/** Asks a wallet for more accounts or addresses; returns how many it was given. */
async function ask(name: string, used: readonly number[], params: object): Promise<string> {
  const made: string[] = [];
  const wallet = {
    state: { accounts: used.map((length) => ({ addresses: { length } })) },
    subaddresses: { lookahead: { accounts: 50, addresses: 200 } },
    texts: { during: (_: number, store: () => Promise<unknown>) => store() },
    createAddresses: async (_: number, __: string, count: number) => {
      made.push(`${count} addresses`);
      return [0];
    },
    createAccount: async () => {
      made.push("an account");
      return 0;
    },
    prepareAddresses: async () => undefined,
    addressOf: () => "",
  };
  const { handler } = accountHandlers.find(({ call }) => call.name === name)!;
  const context = { opened: { wallet } } as unknown as WalletContext;
  await (handler as (params: object, context: WalletContext) => Promise<object>)(params, context);
  return made.join();
}

const addresses = (used: readonly number[], count: number) =>
  ask("create_address", used, { account_index: 0, label: "", count });
const account = (used: readonly number[]) => ask("create_account", used, { label: "" });
const refused = { message: /^a wallet has at most 4000000 addresses/ };

test("addresses are made as long as a wallet recognises four million, its look-ahead among them", async () => {
  const room = 4_000_000 - 51 * 200;
  assert.equal(await addresses([room - 65_536], 65_536), "65536 addresses");
  assert.equal(await addresses([room - 1], 1), "1 addresses");
  await assert.rejects(addresses([room], 1), refused);
  await assert.rejects(addresses([room - 65_535], 65_536), refused);
  assert.equal(await account([room - 201]), "an account");
  await assert.rejects(account([room - 199]), refused);
  await assert.rejects(account(Array.from({ length: 19_950 }, () => 1)), refused);
});
