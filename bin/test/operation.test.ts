import assert from "node:assert/strict";
import { test } from "node:test";
import { completionFor } from "../src/completion.ts";
import { unknownVariables } from "../src/configuration.ts";
import { formatGroups, groupOf } from "../src/flag-groups.ts";
import { BadUsage, type FlagTable } from "../src/flags.ts";
import { nodeFlags } from "../src/node.ts";
import { describeStatus, type NodeStatus, startStatusLine } from "../src/status-line.ts";
import { walletFlags } from "../src/wallet.ts";

const both: readonly FlagTable[] = [nodeFlags, walletFlags];

test("the help shows every flag once, all but new ones below a heading of their own", () => {
  for (const table of both) {
    const lines = formatGroups(table).split("\n");
    for (const name of Object.keys(table)) {
      const shown = lines.filter((line) => line.trimStart().split(/\s/)[0] === `--${name}`);
      assert.equal(shown.length, 1, name);
    }
    const others = Object.entries(table).filter(
      ([name, { noEffect }]) => noEffect === undefined && groupOf(name) === undefined,
    );
    assert.equal(lines.includes("Other"), others.length > 0);
    assert.ok(others.length < 10, "give new flags a heading in flag-groups.ts");
  }
});

test("variables that no flag has are named, without their values", () => {
  const environment = {
    ANULO_DATA_DIR: "/x",
    ANULO_DATADIR: "secret",
    ANULO_NOTHING_ALIKE_AT_ALL: "1",
    ANULO_CRYPTO: "fast",
    OTHER: "1",
  };
  assert.deepEqual(unknownVariables(nodeFlags, environment), [
    "ANULO_DATADIR, did you mean --data-dir?",
    "ANULO_NOTHING_ALIKE_AT_ALL",
  ]);
});

test("every shell's completion has every flag and its choices", () => {
  const tables = { node: nodeFlags, wallet: walletFlags };
  for (const shell of ["bash", "zsh", "fish"]) {
    const text = completionFor(shell, tables);
    for (const name of Object.keys(nodeFlags))
      assert.match(text, shell === "fish" ? new RegExp(` -l ${name} `) : new RegExp(`--${name}\\b`));
    assert.match(text, /text json/);
  }
  assert.throws(() => completionFor("tcsh", tables), BadUsage);
  assert.throws(() => completionFor("constructor", tables), BadUsage);
  assert.throws(() => completionFor(undefined, tables), BadUsage);
});

/** A line that is driven by hand: a call of `pass` lets a second go by. */
function controlled(isTTY: boolean, first: NodeStatus) {
  let status = first;
  let time = 0;
  let show = () => {};
  const written: string[] = [];
  const logged: object[] = [];
  const line = startStatusLine({
    status: () => status,
    out: { isTTY, write: (text) => written.push(text) > 0 },
    log: (fields) => logged.push(fields),
    now: () => time,
    every: (_, run) => {
      show = run;
      return () => {};
    },
  });
  const pass = (seconds: number, next: Partial<NodeStatus> = {}) => {
    status = { ...status, ...next };
    for (let i = 0; i < seconds; i++) {
      time += 1000;
      show();
    }
  };
  return { line, pass, written, logged };
}

const behind: NodeStatus = { height: 100, target: 1100, peers: 3, withoutPeers: undefined };

test("a terminal shows height, speed, time left and peers in one line", () => {
  const { line, pass, written, logged } = controlled(true, behind);
  pass(10, { height: 200 });
  assert.equal(written.at(-1), "\rheight 200 of 1100, 10.0 blocks/s, 90 s left, 3 peers\u001b[K");
  pass(1, { height: 1100 });
  assert.equal(written.at(-1), "\rheight 1100, 3 peers\u001b[K");
  line.stop();
  assert.equal(written.at(-1), "\n");
  assert.deepEqual(logged, []);
});

test("a log has the same now and then, and why there are no peers", () => {
  const { pass, written, logged } = controlled(false, {
    ...behind,
    peers: 0,
    withoutPeers: "offline, as asked",
  });
  assert.deepEqual(logged, [
    { height: 100, target: 1100, blocksPerSecond: 0, peers: 0, withoutPeers: "offline, as asked" },
  ]);
  pass(59);
  assert.equal(logged.length, 1);
  pass(1);
  assert.equal(logged.length, 2);
  pass(3599, { height: 1100, peers: 2, withoutPeers: undefined });
  assert.equal(logged.length, 2);
  pass(1);
  assert.deepEqual(logged.at(-1), { height: 1100, target: 1100, peers: 2 });
  assert.deepEqual(written, []);
});

test("a speed that is not known leaves the time open", () => {
  assert.equal(describeStatus(behind, 0), "height 100 of 1100, 0.0 blocks/s, ? left, 3 peers");
});
