import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { type ExactObject, post } from "@anulo/testkit";
import { bigintOf, listOf, mine, needsRealPrograms, onStage, type Side } from "../actors.ts";
import { type Ask, fundTogether, prepareToSign, received } from "./multisig-signers.ts";

/** Recipients in the order of their addresses: the programs keep them in orders of their own. */
function told({ desc, summary }: ExactObject): unknown {
  const sorted = (each: ExactObject) => ({
    ...each,
    recipients: listOf(each.recipients)
      .map(({ address, amount }) => `${address} ${amount}`)
      .toSorted(),
  });
  return { desc: listOf(desc).map(sorted), summary: sorted(summary as ExactObject) };
}

/** The first proposes; all who sign describe it alike; answers the ids of what the last one sends. */
async function spendTogether(group: readonly Ask[], method: string, order: ExactObject): Promise<string[]> {
  const [proposer, ...cosigners] = group as [Ask, ...Ask[]];
  let tx_data_hex = String((await proposer(method, order)).multisig_txset);
  const descriptions: unknown[] = [];
  for (const signer of group)
    descriptions.push(told(await signer("describe_transfer", { multisig_txset: tx_data_hex })));
  for (const other of descriptions) assert.deepEqual(other, descriptions[0]);
  for (const cosigner of cosigners)
    tx_data_hex = String((await cosigner("sign_multisig", { tx_data_hex })).tx_data_hex);
  const { tx_hash_list } = await cosigners.at(-1)!("submit_multisig", { tx_data_hex });
  return listOf(tx_hash_list).map(String);
}

/** What every signer says of all accounts; they must agree. */
async function agreedAccounts(signers: readonly Ask[]): Promise<bigint> {
  const seen: unknown[] = [];
  let total = 0n;
  for (const signer of signers) {
    const { subaddress_accounts, total_balance } = await signer("get_accounts");
    seen.push(
      listOf(subaddress_accounts).map(({ balance, unlocked_balance }) => [balance, unlocked_balance]),
    );
    total = bigintOf(total_balance);
  }
  for (const other of seen) assert.deepEqual(other, seen[0]);
  return total;
}

for (const { threshold, sides } of [
  { threshold: 2, sides: ["real", "ours"] },
  { threshold: 2, sides: ["ours", "real", "real"] },
  { threshold: 3, sides: ["real", "ours", "real", "ours"] },
] as const satisfies { threshold: number; sides: Side[] }[]) {
  const cast = sides.join(", ");
  test(
    `${threshold} of ${sides.length} signers (${cast}) pay several, sweep accounts, and go on after a reorganisation`,
    needsRealPrograms,
    async (t) => {
      await onStage(async (stage) => {
        const { daemon, bob, signers } = await fundTogether(stage, sides, threshold);
        const own: string[] = [];
        for (const signer of signers) {
          const { address } = await signer("create_account");
          const { address: second } = await signer("create_address", { account_index: 0 });
          own.push(`${address} ${second}`);
        }
        assert.equal(new Set(own).size, 1);
        const [account, subaddress] = own[0]!.split(" ") as [string, string];
        await bob.refresh();
        for (const amount of [3n, 4n]) {
          const parts = [account, subaddress].map((address) => ({ address, amount: amount * coin }));
          await bob.pay(parts);
          await mine(daemon, 12, bob.address);
          await bob.refresh();
        }
        const { address: other } = await bob.call("create_address", { account_index: 0 });
        const groupFrom = (first: number) =>
          Array.from({ length: threshold }, (_, i) => signers[(first + i) % signers.length]!);
        const confirm = async (txids: readonly string[]) => {
          let amount = 0n;
          for (const txid of txids) amount += await received(daemon, bob, txid);
          await mine(daemon, 11, bob.address);
          await prepareToSign(signers);
          await agreedAccounts(signers);
          return amount;
        };
        await prepareToSign(signers);
        const before = await agreedAccounts(signers);
        assert.ok(before >= 14n * coin);

        const destinations = [bob.address, String(other), subaddress].map((address, i) => ({
          address,
          amount: coin + BigInt(i),
        }));
        const several = await spendTogether(groupFrom(0), "transfer", { destinations });
        assert.equal(await confirm(several), 2n * coin + 1n);
        // A second spend, of an account of its own and what the first has given back.
        const again = { destinations: [{ address: bob.address, amount: 4n * coin }], account_index: 1 };
        assert.equal(await confirm(await spendTogether(groupFrom(1), "transfer", again)), 4n * coin);

        // The newest blocks go, others come: outputs are found again and need everybody's word again.
        await post(`${daemon.url}/pop_blocks`, { nblocks: 6 });
        await mine(daemon, 8, bob.address);
        await prepareToSign(signers);
        await agreedAccounts(signers);
        const integrated = await bob.call("make_integrated_address", { payment_id: "0123456789abcdef" });
        const paid = { address: String(integrated.integrated_address), amount: coin };
        const after = await spendTogether(groupFrom(2), "transfer", { destinations: [paid] });
        assert.equal(await confirm(after), coin);

        const sweep = { address: String(other), subaddr_indices_all: true };
        const swept = [
          ...(await spendTogether(groupFrom(1), "sweep_all", { ...sweep, account_index: 1 })),
          ...(await spendTogether(groupFrom(0), "sweep_all", { ...sweep, account_index: 0 })),
        ];
        assert.ok((await confirm(swept)) > coin);
        assert.equal(await agreedAccounts(signers), 0n);
        t.diagnostic(`${several.length + swept.length + 2} transactions, sets told alike by all who sign`);
      });
    },
  );
}
