/** The wallet of the unnamed path in a fleet: what another process may have by now is not read, nor sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WalletRefusal } from "../src/refusal.ts";
import { startTestService } from "./service.ts";

test("a wallet that another process may have is not read on the unnamed path", async (t) => {
  const { service, call } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  const balance = () => call.getBalance({});
  await balance();
  let asked = "";
  service.confirmHere = (name) => {
    asked = name;
    throw new WalletRefusal("UNOWNED", "elsewhere");
  };
  await assert.rejects(balance(), { code: -503 });
  assert.equal(asked, "w");
  service.confirmHere = () => undefined;
  await balance();
});

test("a wallet that is lost asks its node nothing more, whatever is under way for it", async (t) => {
  const { service, call } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  const { wallet } = service.opened!;
  const { daemon } = wallet;
  const close = t.mock.method(daemon, "close");
  let end = () => {};
  let underWay: Promise<void> | undefined;
  await new Promise<void>((begun) => {
    underWay = service.unnamed.inTurn(
      service.opened!,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
          begun();
        }),
    );
  });
  const closed = service.unnamed.wallets.closeLost();
  assert.equal(close.mock.callCount(), 1);
  await assert.rejects(wallet.refresh(), { kind: "UNOWNED" });
  end();
  await Promise.all([underWay, closed]);
  assert.equal(service.opened, undefined);
});
