import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { BadTlsSettings } from "../src/daemon-tls.ts";
import { readPem } from "../src/file/pem-file.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-pem-"));
after(() => rmSync(folder, { recursive: true }));

test("a file of certificates is read up to 4 MiB, and no other file is, nor told", () => {
  const file = join(folder, "a.pem");
  const begin = "secret -----BEGIN CERTIFICATE-----\n";
  const refused = (why: RegExp) =>
    assert.throws(
      () => readPem(file),
      (error: Error) => {
        assert.ok(error instanceof BadTlsSettings);
        assert.match(error.message, why);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  refused(/cannot be read/);
  writeFileSync(file, begin);
  assert.equal(readPem(file), begin);
  const largest = begin.padEnd(4 * 2 ** 20, "\n");
  writeFileSync(file, largest);
  assert.equal(readPem(file), largest);
  writeFileSync(file, `${largest}\n`);
  refused(/not a PEM file/);
  writeFileSync(file, "secret -----BEGI");
  refused(/not a PEM file/);
});
