/** The login by digest, beside an own computation of RFC 7616. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createDigest, type Digest } from "../src/digest.ts";

const md5 = (...parts: readonly string[]) => createHash("md5").update(parts.join(":")).digest("hex");
const login = { user: "alice", password: "pa:ss" };

/** The fields of the header that answers a challenge to a request for `/json_rpc`. */
function fieldsOf(digest: Digest): Record<string, string> {
  const header = digest.authorization("POST", "/json_rpc")!;
  assert.match(header, /^Digest /);
  return Object.fromEntries(
    [...header.matchAll(/(\w+)="?([^",]*)/g)].map(([, name, value]) => [name!, value!]),
  );
}

for (const algorithm of ["MD5", "MD5-sess"])
  test(`requests answer a challenge by ${algorithm}, each with a count and a nonce of its own`, () => {
    const digest = createDigest(login);
    assert.equal(digest.authorization("POST", "/json_rpc"), undefined);
    assert.equal(digest.accept(`Digest qop="auth",algorithm=${algorithm},realm="r",nonce="n"`), true);
    const nonces = new Set<string>();
    for (const nc of ["00000001", "00000002"]) {
      const { cnonce = "", response, ...fields } = fieldsOf(digest);
      const named = {
        username: "alice",
        realm: "r",
        nonce: "n",
        uri: "/json_rpc",
        qop: "auth",
        nc,
        algorithm,
      };
      assert.deepEqual(fields, named);
      assert.match(cnonce, /^[0-9a-f]{16}$/);
      nonces.add(cnonce);
      const plain = md5("alice", "r", "pa:ss");
      const secret = algorithm === "MD5" ? plain : md5(plain, "n", cnonce);
      assert.equal(response, md5(secret, "n", nc, cnonce, "auth", md5("POST", "/json_rpc")));
    }
    assert.equal(nonces.size, 2);
  });

test("a second challenge is a refusal, unless the nonce is merely stale, which begins a new count", () => {
  const digest = createDigest(login);
  assert.equal(digest.accept('Digest realm="r",nonce="n"'), true);
  fieldsOf(digest);
  assert.equal(digest.accept('Digest realm="r",nonce="m"'), false);
  assert.deepEqual([fieldsOf(digest)["nonce"], fieldsOf(digest)["nc"]], ["n", "00000003"]);
  assert.equal(digest.accept('Digest realm="r",nonce="m",stale=true'), true);
  const { nonce, nc } = fieldsOf(digest);
  assert.deepEqual([nonce, nc], ["m", "00000001"]);
});

test("of several challenges the first that is supported is answered", () => {
  const supported = 'Digest realm="r",nonce="n",algorithm=md5';
  const others = ['Digest realm="r",nonce="x",algorithm=SHA-256', 'Digest realm="r"', "Basic"];
  const digest = createDigest(login);
  for (const header of [...others, others.join(", "), `${" ".repeat(4096)}${supported}`])
    assert.equal(digest.accept(header), false, header.trim());
  assert.equal(digest.accept(`${others[0]}, ${supported}`), true);
  assert.equal(fieldsOf(digest)["nonce"], "n");
});
