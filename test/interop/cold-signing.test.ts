import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { CallFailed } from "@anulo/testkit";
import { bigintOf, listOf, mine, needsRealPrograms, onStage, type Side } from "../actors.ts";
import { type Ask, balances, exchange, openPair, receivedBy, signAndSend, sumOf } from "./cold-pair.ts";
import { words } from "./words.ts";

/** What stands for a transaction's key in the wallet that has sent it, where another has signed it. */
const PLACEHOLDER = `01${"00".repeat(31)}`;

/** The transaction's key, or the code of the refusal to return one. */
const keyOf = (ask: Ask, txid: string) =>
  ask("get_tx_key", { txid }).then(
    ({ tx_key }) => tx_key,
    (error: unknown) => (error instanceof CallFailed ? error.code : Promise.reject(error)),
  );

for (const sides of [
  { hot: "ours", cold: "real" },
  { hot: "real", cold: "ours" },
] as const satisfies { hot: Side; cold: Side }[]) {
  test(
    `what ${sides.cold} signs away from the network, ${sides.hot} prepares and sends`,
    needsRealPrograms,
    async (t) => {
      await onStage(async (stage) => {
        const daemon = await stage.daemon("ours", "upstream");
        const witness = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
        const bob = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
        const pair = await openPair(stage, sides, daemon.port);
        await mine(daemon, 75, witness.address);
        await witness.refresh();
        await witness.pay([{ address: bob.address, amount: coin }]);
        await mine(daemon, 11, bob.address);
        await pair.hot("refresh");
        const imported = await exchange(pair, true);
        const [own, other] = await balances([witness.call, pair.hot]);
        assert.deepEqual(other, own);

        const payment_id = "0123456789abcdef";
        const { integrated_address } = await bob.call("make_integrated_address", { payment_id });
        const { address: subaddress } = await bob.call("create_address", { account_index: 0 });
        const one = { destinations: [{ address: String(integrated_address), amount: 3n * coin }] };
        const two = [bob.address, String(subaddress)].map((address, at) => ({
          address,
          amount: coin + BigInt(at),
        }));
        const ids: string[] = [];
        for (const [order, amount] of [
          [one, 3n * coin],
          [{ destinations: two }, 2n * coin + 1n],
        ] as const) {
          const made = await pair.hot("transfer", order);
          const { txid, key, summary } = await signAndSend(pair, made);
          assert.equal(sumOf(summary), amount);
          await mine(daemon, 11, bob.address);
          assert.equal(await receivedBy(bob, txid), amount);
          const shown = await bob.call("check_tx_key", { txid, tx_key: key, address: bob.address });
          assert.ok(bigintOf(shown.received) >= coin);
          const [now, seen] = await balances([witness.call, pair.hot]);
          assert.deepEqual(seen, now);
          ids.push(txid);
        }
        const { payments } = await bob.call("get_payments", { payment_id });
        assert.equal(listOf(payments)[0]!.tx_hash, ids[0]);

        // The change of both is new to the cold wallet; a set brings it along, whether it was exported or not.
        const again = await exchange(pair, false);
        assert.ok(again > imported);
        const swept = await pair.hot("sweep_all", { address: bob.address, account_index: 0 });
        const { txid } = await signAndSend(pair, swept);
        await mine(daemon, 11, bob.address);
        assert.ok((await receivedBy(bob, txid)) > coin);
        const [rest, left] = await balances([witness.call, pair.hot]);
        assert.deepEqual(left, rest);

        // Only the signer knows the key, and nothing of it is left after a hard rescan.
        const proof = { txid, address: bob.address };
        await assert.rejects(pair.hot("get_tx_proof", proof), { code: -1 });
        assert.equal(await keyOf(pair.hot, txid), PLACEHOLDER);
        await pair.hot("rescan_blockchain");
        assert.equal(await keyOf(pair.hot, txid), PLACEHOLDER);
        await pair.hot("rescan_blockchain", { hard: true });
        assert.equal(await keyOf(pair.hot, txid), -24);
        t.diagnostic(`${imported}, then ${again} outputs exchanged; transactions ${[...ids, txid].length}`);
      });
    },
  );
}
