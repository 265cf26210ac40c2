import assert from "node:assert/strict";
import { test } from "node:test";
import { pagesOf } from "../src/console-flags.ts";
import { BadUsage } from "../src/flags.ts";

const at = (host: string, restricted = false) => ({ host, port: 1, restricted });

test("no console is served unless asked for", () => {
  assert.equal(pagesOf({ console: false }, { listen: [at("127.0.0.1")], hasLogin: true }), undefined);
});

test("on this machine it needs no login, beyond it one", () => {
  for (const host of ["127.0.0.1", "::1", "localhost"])
    assert.ok(pagesOf({ console: true }, { listen: [at(host)], hasLogin: false })?.has("/console"));
  for (const host of ["0.0.0.0", "::", "192.168.1.5"]) {
    const listen = [at("127.0.0.1"), at(host)];
    assert.throws(() => pagesOf({ console: true }, { listen, hasLogin: false }), BadUsage);
    assert.ok(pagesOf({ console: true }, { listen, hasLogin: true }));
  }
});

test("restricted ports do not count, and are not enough", () => {
  const listen = [at("127.0.0.1"), at("0.0.0.0", true)];
  assert.ok(pagesOf({ console: true }, { listen, hasLogin: false }));
  assert.throws(
    () => pagesOf({ console: true }, { listen: [at("127.0.0.1", true)], hasLogin: true }),
    BadUsage,
  );
});

test("every file is of a known type below /console, and what has a hash in its name may be kept", () => {
  const pages = pagesOf({ console: true }, { listen: [at("127.0.0.1")], hasLogin: false })!;
  for (const [path, { body, isLasting }] of pages) {
    assert.match(path, /^\/console(?:\/|$)/);
    assert.ok(body.length > 0, path);
    assert.equal(isLasting, /^\/console\/assets\/[\w-]+-[\w-]{8}\.\w+$/.test(path), path);
  }
  const document = String(pages.get("/console")!.body);
  assert.doesNotMatch(document, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|crossorigin/);
  assert.match(String(pages.get("/console/licences.txt")!.body), /preact[\s\S]*uplot/);
});
