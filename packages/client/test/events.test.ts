import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startDevnet } from "@anulo/devnet";
import { createWalletService } from "@anulo/wallet";
import {
  BadAnswer,
  createWalletClient,
  HttpError,
  type PaymentEvent,
  type WalletEvent,
} from "../src/index.ts";
import { startFakeService } from "./cutter.ts";

test("events of our service are read in pages and as they come", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-client-"));
  const net = await startDevnet();
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: net.nodeUrl },
    refreshPeriod: 0,
    eventLog: { folder: join(folder, "events") },
  });
  t.after(async () => {
    await service.stop();
    await net.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const wallet = createWalletClient(service.url, { wallet: "shop" });
  await wallet.createWallet({ filename: "shop", password: "", language: "English" });
  const { address } = await wallet.getAddress();
  const control = new AbortController();
  const seen: WalletEvent[] = [];
  const following = (async () => {
    for await (const event of wallet.follow({}, { signal: control.signal })) {
      seen.push(event);
      if (event.type === "payment_unlocked") return;
    }
  })();
  await net.mine(80);
  await net.wallets.alice.pay(address, 2n ** 41n);
  await wallet.refresh();
  await net.mine(11);
  await wallet.refresh();
  await following;
  assert.deepEqual(
    seen.map(({ sequence }) => sequence),
    seen.map((_, i) => i + 1),
  );
  const paid = seen.find((event): event is PaymentEvent => event.type === "payment_confirmed");
  assert.equal(paid?.amount, 2n ** 41n);
  const page = await createWalletClient(service.url).events({
    types: ["payment_confirmed"],
    wallet: "shop",
    limit: 5,
  });
  assert.deepEqual(page.events, [paid]);
  const endless = wallet.follow({ after: page.next }, { signal: control.signal });
  const next = endless.next();
  control.abort(new Error("enough"));
  await assert.rejects(next, /enough/);
});

const eventText = (sequence: number) =>
  `id: ${sequence}\nevent: wallet_rescan\ndata: {"sequence":${sequence},"wallet":"w","type":"wallet_rescan","time":1}\n\n`;

test("a stream that is cut goes on behind the last event, without gap or repetition", async () => {
  const total = 30;
  let requests = 0;
  // Each connection sends three events, the first of them for the second time, and breaks off within the next.
  const service = await startFakeService(({ path }, response) => {
    requests++;
    if (requests > 2 * total)
      return void response.writeHead(400).end("the same events are asked for for ever");
    if (requests % 4 === 3) return void response.writeHead(503, { "Retry-After": "0" }).end();
    const last = Number(new URL(path, service.url).searchParams.get("after"));
    const texts = [last, last + 1, last + 2].filter((number) => number > 0 && number <= total).map(eventText);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`: \n\n${texts.join("")}${eventText(last + 3).slice(0, 20)}`, () => {
      if (requests % 2 === 0) response.end();
      else response.destroy();
    });
  });
  try {
    const sequences: number[] = [];
    for await (const { sequence } of createWalletClient(service.url).follow()) {
      sequences.push(sequence);
      if (sequence === total) break;
    }
    assert.deepEqual(
      sequences,
      Array.from({ length: total }, (_, i) => i + 1),
    );
  } finally {
    await service.close();
  }
});

test("a stream that waits for its next event outlives a collection of garbage", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let requests = 0;
  let sendSecond = () => {};
  const service = await startFakeService((_, response) => {
    requests++;
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(eventText(1));
    sendSecond = () => void response.write(eventText(2));
  });
  try {
    const stream = createWalletClient(service.url).follow();
    await stream.next();
    const second = stream.next();
    // fetch ends the body of a response that was collected, unless somebody reads it.
    for (let i = 0; i < 3; i++) {
      collect();
      await nextTurn();
    }
    sendSecond();
    const { value } = await second;
    assert.deepEqual([value?.sequence, requests], [2, 1]);
    await stream.return();
  } finally {
    await service.close();
  }
});

test("a service that keeps no events, or says what is no event, is an error", async () => {
  const answers = [
    { status: 503, text: "" },
    { status: 200, text: 'data: {"sequence":"1"}\n\n' },
    { status: 200, text: "data: x\n\n" },
  ];
  const service = await startFakeService((_, response) => {
    const { status, text } = answers.shift()!;
    response.writeHead(status, { "Content-Type": "text/event-stream" }).end(text);
  });
  try {
    const wallet = createWalletClient(service.url);
    await assert.rejects(wallet.follow().next(), HttpError);
    await assert.rejects(wallet.follow().next(), BadAnswer);
    await assert.rejects(wallet.follow().next(), BadAnswer);
  } finally {
    await service.close();
  }
});
