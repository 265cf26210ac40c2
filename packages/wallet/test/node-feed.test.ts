import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeFeeds } from "../src/scan/node-feed.ts";

test("wallets of one node and network share a feed, whichever object says where it is, and others do not", () => {
  const feeds = new NodeFeeds();
  const here = { url: "http://127.0.0.1:1" };
  const there = { url: "http://127.0.0.1:2" };
  const feed = feeds.take(here, "regtest");
  assert.equal(feeds.take(here, "regtest"), feed);
  assert.equal(feeds.take({ ...here }, "regtest"), feed);
  assert.equal(feeds.take(here, "regtest"), feed);
  assert.equal(feed.users, 4);
  const other = feeds.take(there, "regtest");
  assert.notEqual(other, feed);
  assert.notEqual(feeds.take(here, "stagenet"), feed);
  assert.equal(feeds.take(there, "regtest"), other);
});
