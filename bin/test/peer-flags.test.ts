import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { formatPeerAddress } from "@anulo/p2p";
import type { NetworkName } from "@anulo/protocol";
import { BadUsage, parseFlags } from "../src/flags.ts";
import { peerFlags, peerOptionsOf } from "../src/peer-flags.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-"));
const listsFile = join(folder, "below", "peers.bin");

function options(args: readonly string[], network: NetworkName = "regtest", restrictedPort?: number) {
  return peerOptionsOf(parseFlags(peerFlags, args), { network, listsFile, restrictedPort });
}

async function refusal(...args: string[]): Promise<string> {
  try {
    await options(args);
  } catch (error) {
    if (error instanceof BadUsage) return error.message;
    throw error;
  }
  return "none";
}

test("without flags a node meets peers as the original does", async () => {
  const stagenet = await options([], "stagenet");
  assert.deepEqual(stagenet.listen, [{ host: "0.0.0.0", port: 38080, isOptional: false }]);
  assert.ok(stagenet.nodes!.seed!.length > 0);
  const { listen, nodes, storage, ...rest } = await options([]);
  assert.deepEqual([listen![0]!.port, nodes!.seed], [18080, []]);
  const given = Object.entries(rest).filter(([, value]) => value !== undefined && value !== false);
  assert.deepEqual(given, [
    ["rpcPort", 0],
    ["canLookUp", true],
    ["zones", []],
    ["blocklistNames", []],
  ]);
  assert.equal(storage!.load(), undefined);
});

test("a block list is looked for on mainnet alone, and not behind a proxy", async () => {
  const namesOf = async (network: NetworkName, ...args: string[]) =>
    (await options(["--enable-dns-blocklist", ...args], network)).blocklistNames?.length;
  assert.equal(await namesOf("mainnet"), 7);
  assert.equal(await namesOf("stagenet"), 0);
  assert.equal(await namesOf("mainnet", "--proxy=127.0.0.1:9050"), 0);
  assert.equal((await options([], "mainnet")).blocklistNames?.length, 0);
});

test("flags say whom to meet, where and how much", async () => {
  const list = join(folder, "bans.txt");
  writeFileSync(list, "1.2.3.4\n");
  const all = await options(
    [
      ...["--p2p-bind-ip=127.0.0.1", "--p2p-bind-port=5", "--p2p-use-ipv6", "--p2p-bind-port-ipv6=6"],
      ...[
        "--p2p-external-port=7",
        "--add-peer=1.1.1.1",
        "--add-peer=[2001:db8::1]:9",
        "--seed-node=3.3.3.3:3",
      ],
      ...["--add-priority-node=localhost:4", "--out-peers=3", "--in-peers=-1", "--max-connections-per-ip=2"],
      ...["--limit-rate=10", "--limit-rate-up=20", `--ban-list=${list}`, "--allow-local-ip", "--no-sync"],
      ...["--tx-proxy=tor,127.0.0.1:9050,disable_noise", "--public-node", "--pad-transactions"],
    ],
    "regtest",
    18089,
  );
  assert.deepEqual(all.listen, [
    { host: "127.0.0.1", port: 5, isOptional: false },
    { host: "::", port: 6 },
  ]);
  assert.deepEqual(all.nodes!.add!.map(formatPeerAddress), ["1.1.1.1:18080", "[2001:db8::1]:9"]);
  assert.ok(all.nodes!.priority!.some(({ host, port }) => host === "127.0.0.1" && port === 4));
  assert.deepEqual(
    [all.advertisedPort, all.rpcPort, all.maxOut, all.maxIn, all.maxPerIp, all.limitUp, all.limitDown],
    [7, 18089, 3, undefined, 2, 20, 10],
  );
  assert.deepEqual(
    [all.banList, all.ipv6, all.allowLocal, all.noSync, all.padTransactions],
    ["1.2.3.4\n", true, true, true, true],
  );
  assert.deepEqual(all.zones, [{ zone: "tor", proxy: { host: "127.0.0.1", port: 9050 }, noise: false }]);
  assert.equal((await options(["--hide-my-port", "--p2p-external-port=7"])).advertisedPort, 0);
});

test("what cannot be obeyed is refused", async () => {
  assert.match(await refusal("--out-peers=x"), /--out-peers needs a whole number: x/);
  assert.match(await refusal("--limit-rate=0"), /--limit-rate needs a whole number above 0: 0/);
  assert.match(await refusal("--p2p-bind-port=70000"), /--p2p-bind-port must be below 65536/);
  assert.match(await refusal("--public-node"), /needs --rpc-restricted-bind-port/);
  assert.match(await refusal("--proxy=x"), /--proxy must be /);
  assert.match(await refusal("--seed-node=x.onion"), /--seed-node: not a Tor address: x.onion/);
  assert.match(await refusal("--add-peer=1.2.3.400"), /--add-peer: not an address: 1.2.3.400/);
});

test("a login of a proxy is not told where the flag cannot be obeyed", async () => {
  const proxy = "socks5://user:secret@127.0.0.1:0";
  for (const flag of [`--proxy=${proxy}`, `--tx-proxy=${proxy}`, `--tx-proxy=tor,${proxy}`])
    assert.doesNotMatch(await refusal(flag), /secret/, flag);
  const comma = "--tx-proxy=tor,socks5://user:a,secret@127.0.0.1:1,5,5";
  assert.doesNotMatch(await refusal(comma), /secret/);
});

test("the peer lists are kept in a file, all or nothing", async () => {
  const { storage } = await options([]);
  storage!.save(Uint8Array.of(1, 2, 3));
  storage!.save(Uint8Array.of(4));
  assert.deepEqual([...storage!.load()!], [4]);
  assert.deepEqual([...readFileSync(listsFile)], [4]);
  rmSync(folder, { recursive: true });
});
