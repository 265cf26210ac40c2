import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, type LogLine, unreadLog } from "../src/index.ts";

/** A log and what it wrote, as `severity category event`. */
function recorded(categories?: string) {
  const lines: string[] = [];
  const write = ({ severity, category, event }: LogLine) => lines.push(`${severity} ${category} ${event}`);
  return { log: createLog({ write, categories }), lines };
}

test("at level 0 warnings and general news are logged, the network's errors are not", () => {
  const { log, lines } = recorded();
  log.info("started");
  log.in("blockchain").info("block added");
  log.in("blockchain").warn("reorganised");
  log.in("net.p2p").error("peer dropped");
  assert.deepEqual(lines, ["INFO global started", "WARNING blockchain reorganised"]);
});

test("the last pair that fits decides, with * and ? standing for text and a character", () => {
  const { log, lines } = recorded("*:WARNING,net.*:DEBUG,net.p?p:FATAL,nonsense,txpool:LOUD");
  log.in("net.cn").debug("a");
  log.in("net.p2p").error("b");
  log.in("net").debug("c");
  log.in("txpool").warn("d");
  assert.deepEqual(lines, ["DEBUG net.cn a", "WARNING txpool d"]);
});

test("loggers handed out before follow a change of categories", () => {
  const { log, lines } = recorded("*:WARNING");
  const pool = log.in("txpool");
  pool.debug("a");
  log.change("+txpool:DEBUG");
  assert.equal(log.categories, "*:WARNING,txpool:DEBUG");
  pool.debug("b");
  log.change("-txpool:DEBUG,*:WARNING");
  assert.equal(log.categories, ",");
  pool.error("c");
  assert.deepEqual(lines, ["DEBUG txpool b"]);
});

test("a level may be followed by more pairs", () => {
  const { log } = recorded("2,net:ERROR");
  assert.equal(log.categories, "*:DEBUG,net:ERROR");
  log.change("4");
  assert.equal(log.categories, "*:TRACE");
  log.change("");
  assert.equal(log.categories, "");
});

test("a number that is no level leaves the categories as they are, and is none before others", () => {
  const { log } = recorded("*:INFO");
  for (const number of ["5", "-1", "99999999999999999999", "+"]) {
    log.change(number);
    assert.equal(log.categories, "*:INFO", number);
  }
  log.change("7,net:ERROR");
  assert.equal(log.categories, ",net:ERROR");
  log.change(" 2");
  assert.equal(log.categories, "*:DEBUG");
});

test("a pattern of many stars is matched in bounded time", () => {
  const { log, lines } = recorded(`${"*a".repeat(5000)}b:DEBUG`);
  log.in("a".repeat(40)).debug("never");
  assert.deepEqual(lines, []);
});

test("a log that nobody reads has the categories of level 0", () => {
  const { log } = recorded();
  log.change("0");
  assert.equal(unreadLog().categories, log.categories);
});
