import assert from "node:assert/strict";
import { test } from "node:test";
import {
  areInMainSubgroup,
  checkKeyImageProofs,
  checkRingSignature,
  checkSignatures,
  checkTxProof,
  checkTxProofs,
  commit,
  commitmentMask,
  commitmentsBalance,
  commitmentsOpen,
  commitZeroMask,
  decodeAmount,
  decodeMaskAndAmount,
  derivationScalarBatch,
  derivationToScalar,
  deriveBatch,
  derivePublicKey,
  deriveSecretKey,
  deriveSubaddressPublicKey,
  deriveViewTag,
  encodeAmount,
  encodeMaskAndAmount,
  G,
  generateKeyDerivation,
  generateTxProof,
  generateTxProofs,
  H,
  InvalidPoint,
  type KeyImageProof,
  type KeySignature,
  keccak256,
  keyImageBatch,
  keyImageOf,
  mulBy8,
  mulBy8Batch,
  outputSpendKeyBatch,
  pointAdd,
  proveKeyImages,
  publicKeyBatch,
  publicKeyOf,
  randomScalar,
  scAdd,
  scalarMult,
  scFromUint64,
  scReduce64,
  signMessageHash,
  subaddressKeys,
  subaddressKeysOf,
  subaddressSecretKey,
  subaddressSpendPublicKeys,
  type TxProof,
  type TxProofClaim,
  type TxProofStatement,
  viewTagBatch,
} from "../src/index.ts";
import { onEachBackend } from "./backends.ts";
import {
  bytes,
  flipBit,
  hex,
  NO_POINT,
  plusOrder,
  recordedTransactions,
  recordedWallet,
  TORSION,
} from "./fixtures.ts";

const wallet = {
  viewSecret: bytes(recordedWallet.viewSecret),
  spendSecret: bytes(recordedWallet.spendSecret),
  spendPublic: bytes(recordedWallet.spendPublic),
  viewPublic: bytes(recordedWallet.viewPublic),
};

/** The point of order 2. */
const SMALL_ORDER = bytes(`ec${"ff".repeat(30)}7f`);

onEachBackend("wallet keys", () => {
  test("the recorded wallet's public keys follow from its secrets", () => {
    assert.equal(hex(publicKeyOf(wallet.spendSecret)), recordedWallet.spendPublic);
    assert.equal(hex(publicKeyOf(wallet.viewSecret)), recordedWallet.viewPublic);
  });

  test("the recorded wallet's subaddresses are ours", () => {
    for (const { major, minor, spendPublic, viewPublic } of recordedWallet.subaddresses) {
      const keys = subaddressKeys(wallet, major, minor);
      assert.deepEqual(
        { spend: hex(keys.spendPublic), view: hex(keys.viewPublic) },
        { spend: spendPublic, view: viewPublic },
      );
    }
    const batch = subaddressSpendPublicKeys({ keys: wallet, major: 1, fromMinor: 1, count: 3 });
    const expected = recordedWallet.subaddresses.filter(({ major, minor }) => major === 1 && minor >= 1);
    assert.equal(hex(batch), expected.map(({ spendPublic }) => spendPublic).join(""));
    const pairs = subaddressKeysOf({ keys: wallet, major: 0, fromMinor: 0, count: 3 });
    assert.deepEqual(
      pairs,
      [0, 1, 2].map((minor) => subaddressKeys(wallet, 0, minor)),
    );
    assert.equal(hex(pairs[0]!.spendPublic), hex(wallet.spendPublic));
    assert.throws(() => subaddressSecretKey(wallet.viewSecret, 2 ** 32, 0), RangeError);
    assert.throws(() => subaddressSecretKey(wallet.viewSecret, 0, -1), RangeError);
  });

  test("recorded payments are found, decrypted and spendable", () => {
    for (const { txPublicKey, outputs, paid } of recordedWallet.payments) {
      const derivation = generateKeyDerivation(bytes(txPublicKey), wallet.viewSecret);
      const output = outputs[paid.outputIndex]!;
      assert.equal(deriveViewTag(derivation, paid.outputIndex), output.viewTag);
      const spendPublic = deriveSubaddressPublicKey(bytes(output.key), derivation, paid.outputIndex);
      assert.equal(hex(spendPublic), hex(subaddressKeys(wallet, paid.major, paid.minor).spendPublic));
      assert.equal(hex(derivePublicKey(derivation, paid.outputIndex, spendPublic)), output.key);

      const amountKey = derivationToScalar(derivation, paid.outputIndex);
      const amount = decodeAmount(bytes(output.amount), amountKey);
      assert.equal(String(amount), paid.amount);
      assert.equal(hex(encodeAmount(amount, amountKey)), output.amount);
      assert.equal(hex(commit(commitmentMask(amountKey), amount)), output.commitment);

      const isMain = paid.major === 0 && paid.minor === 0;
      const spendSecret = isMain
        ? wallet.spendSecret
        : scAdd(wallet.spendSecret, subaddressSecretKey(wallet.viewSecret, paid.major, paid.minor));
      const secret = deriveSecretKey(derivation, paid.outputIndex, spendSecret);
      assert.equal(hex(publicKeyOf(secret)), output.key);
      assert.equal(hex(keyImageOf(bytes(output.key), secret)), paid.keyImage);
    }
  });
});

onEachBackend("the wallet's scan", () => {
  test("the batch functions give what the single ones give, and mark what is no point", () => {
    const keys = [...recordedWallet.payments.map(({ txPublicKey }) => bytes(txPublicKey)), NO_POINT, G];
    const { derivations, valid } = deriveBatch({
      viewSecret: wallet.viewSecret,
      publicKeys: Buffer.concat(keys),
    });
    assert.deepEqual([...valid], [1, 1, 0, 1]);
    const expected = keys.map((key) =>
      key === NO_POINT ? new Uint8Array(32) : generateKeyDerivation(key, wallet.viewSecret),
    );
    assert.equal(hex(derivations), hex(Buffer.concat(expected)));

    const indices = Uint32Array.of(0, 1, 127, 300);
    const each = <T>(compute: (derivation: Uint8Array, index: number) => T): T[] =>
      [...indices].map((index, i) => compute(derivations.subarray(32 * i, 32 * i + 32), index));
    assert.deepEqual([...viewTagBatch(derivations, indices)], each(deriveViewTag));
    assert.equal(
      hex(derivationScalarBatch(derivations, indices)),
      hex(Buffer.concat(each(derivationToScalar))),
    );

    const outputKeys = Buffer.concat([G, NO_POINT, H, wallet.spendPublic]);
    const spendKeys = outputSpendKeyBatch({ outputKeys, derivations, outputIndices: indices });
    assert.deepEqual([...spendKeys.valid], [1, 0, 1, 1]);
    assert.equal(
      hex(spendKeys.points.subarray(64, 96)),
      hex(deriveSubaddressPublicKey(H, expected[2]!, 127)),
    );
    assert.equal(
      hex(spendKeys.points.subarray(96)),
      hex(deriveSubaddressPublicKey(wallet.spendPublic, expected[3]!, 300)),
    );
  });
});

onEachBackend("commitments and amounts", () => {
  test("H is eight times the point that the hash of G encodes", () => {
    assert.equal(hex(mulBy8(keccak256(G))), hex(H));
  });

  test("a coinbase commitment is the commitment with mask 1", () => {
    for (const amount of [0n, 1n, 35_184_338_534_400n, 2n ** 64n - 1n]) {
      assert.equal(hex(commitZeroMask(amount)), hex(commit(scFromUint64(1n), amount)));
      assert.equal(hex(commitZeroMask(amount)), hex(pointAdd(G, scalarMult(scFromUint64(amount), H))));
    }
    assert.throws(() => commitZeroMask(2n ** 64n), RangeError);
    assert.throws(() => commit(randomScalar(), -1n), RangeError);
  });

  test("many commitments open together, and not with one mask, amount or point changed", () => {
    const amounts = [0n, 1n, 2n ** 64n - 1n, 5n, 7n];
    const masks = amounts.map(() => randomScalar());
    const commitments = amounts.map((amount, i) => commit(masks[i]!, amount));
    const opens = (
      change: Partial<Record<"masks" | "commitments", Uint8Array[]>> & { amounts?: bigint[] },
    ) => {
      const given = { masks, amounts, commitments, ...change };
      return commitmentsOpen({
        masks: Buffer.concat([...given.masks]),
        amounts: given.amounts,
        commitments: Buffer.concat([...given.commitments]),
      });
    };
    assert.equal(opens({}), true);
    assert.equal(opens({ masks: [], amounts: [], commitments: [] }), true);
    const torsion = pointAdd(commitments[3]!, SMALL_ORDER);
    for (let i = 0; i < amounts.length; i++) {
      assert.equal(opens({ masks: masks.with(i, randomScalar()) }), false);
      assert.equal(opens({ amounts: amounts.with(i, amounts[i]! ^ 1n) }), false);
      assert.equal(opens({ commitments: commitments.with(i, commitments[(i + 1) % 5]!) }), false);
      assert.equal(opens({ commitments: commitments.with(i, NO_POINT) }), false);
    }
    assert.equal(opens({ commitments: commitments.with(3, torsion) }), false);
  });

  test("batches of key pairs are as each by itself", () => {
    const secrets = Array.from({ length: 5 }, () => randomScalar());
    const publicKeys = secrets.map(publicKeyOf);
    for (const count of [0, 1, 2, 5]) {
      const some = { publicKeys: publicKeys.slice(0, count), secretKeys: secrets.slice(0, count) };
      const packed = {
        publicKeys: Buffer.concat([...some.publicKeys]),
        secretKeys: Buffer.concat([...some.secretKeys]),
      };
      const images = some.publicKeys.map((key, i) => keyImageOf(key, secrets[i]!));
      assert.equal(hex(keyImageBatch(packed)), images.map(hex).join(""));
      assert.equal(hex(publicKeyBatch(packed.secretKeys)), some.publicKeys.map(hex).join(""));
    }
  });

  test("recorded transactions balance, and not with another fee", () => {
    for (const { inputs, commitments, fee } of recordedTransactions) {
      const pseudoOuts = inputs.map(({ pseudoOut }) => bytes(pseudoOut));
      assert.equal(commitmentsBalance(pseudoOuts, commitments.map(bytes), BigInt(fee)), true);
      assert.equal(commitmentsBalance(pseudoOuts, commitments.map(bytes), BigInt(fee) + 1n), false);
      assert.equal(commitmentsBalance([NO_POINT], commitments.map(bytes), BigInt(fee)), false);
    }
  });

  test("mask and amount of the first RingCT years survive encryption", () => {
    const [mask, amountKey] = [randomScalar(), randomScalar()];
    const encrypted = encodeMaskAndAmount({ mask, amount: 2n ** 64n - 1n }, amountKey);
    const plain = decodeMaskAndAmount(encrypted, amountKey);
    assert.equal(hex(plain.mask), hex(mask));
    assert.equal(plain.amount, 2n ** 64n - 1n);
  });

  test("64 bytes reduce as one number", () => {
    const wide = new Uint8Array(64);
    wide[32] = 1; // 2^256
    const by32 = scReduce64(wide);
    const twoTo255 = new Uint8Array(64);
    twoTo255[31] = 0x80;
    assert.equal(hex(by32), hex(scAdd(scReduce64(twoTo255), scReduce64(twoTo255))));
  });
});

onEachBackend("transaction proofs", () => {
  const payment = recordedWallet.payments[0]!;
  const { receiverProof } = recordedWallet;

  test("a proof the real wallet made as receiver is accepted", () => {
    const prefixHash = keccak256(bytes(receiverProof.txHash), Buffer.from(receiverProof.message));
    const statement: TxProofStatement = {
      prefixHash,
      R: wallet.viewPublic,
      A: bytes(payment.txPublicKey),
      D: bytes(receiverProof.sharedSecret),
      version: 2,
    };
    const proof = bytes(receiverProof.signature);
    assert.equal(checkTxProof(statement, proof), true);
    assert.equal(checkTxProof({ ...statement, version: 1 }, proof), false);
    assert.equal(checkTxProof({ ...statement, prefixHash: flipBit(prefixHash, 0) }, proof), false);
    assert.equal(checkTxProof({ ...statement, B: wallet.spendPublic }, proof), false);
  });

  for (const version of [1, 2] as const) {
    for (const isSubaddress of [false, true]) {
      test(`a version ${version} proof for a ${isSubaddress ? "subaddress" : "main address"} is accepted`, () => {
        const secret = bytes(payment.txSecretKey);
        const B = isSubaddress ? wallet.spendPublic : undefined;
        const claim = {
          prefixHash: keccak256(secret),
          R: B ? scalarMult(secret, B) : publicKeyOf(secret),
          A: wallet.viewPublic,
          B,
          version,
        };
        const { D, proof } = generateTxProof(claim, secret);
        assert.equal(hex(D), hex(scalarMult(secret, wallet.viewPublic)));
        const statement: TxProofStatement = { ...claim, D };
        assert.equal(checkTxProof(statement, proof), true);
        assert.equal(checkTxProof({ ...statement, D: statement.A }, proof), false);
        assert.equal(checkTxProof({ ...statement, A: NO_POINT }, proof), false);
        assert.equal(checkTxProof(statement, flipBit(proof, 300)), false);
        assert.equal(checkTxProof(statement, proof.subarray(1)), false);
        const raised = Buffer.concat([proof.subarray(0, 32), plusOrder(proof.subarray(32))]);
        assert.equal(checkTxProof(statement, raised), false);
      });
    }
  }
});

onEachBackend("proofs checked together", () => {
  const [torsion, none] = [TORSION, NO_POINT];
  const secrets = Array.from({ length: 7 }, () => randomScalar());
  const publicKeys = secrets.map(publicKeyOf);
  const prefixHash = keccak256(secrets[0]!);

  /** Each of them spoilt in turn, in every way: the verdict about it alone changes. */
  function onlyTheSpoiltFail<T>(proofs: readonly T[], ways: readonly ((proof: T) => T)[], check: Check<T>) {
    assert.deepEqual(check([]), []);
    assert.deepEqual(
      check(proofs),
      proofs.map(() => true),
    );
    for (const [way, spoil] of ways.entries()) {
      const at = way % proofs.length;
      const spoilt = proofs.map((proof, i) => (i === at ? spoil(proof) : proof));
      assert.deepEqual(
        check(spoilt),
        proofs.map((_, i) => i !== at),
        `way ${way}`,
      );
      assert.deepEqual(check([spoilt[at]!]), [false]);
    }
  }

  test("of transactions: each has its own verdict", () => {
    const A = wallet.viewPublic;
    const statements = publicKeys.map((R, i): TxProofStatement => {
      const B = i === 3 ? wallet.spendPublic : undefined;
      const D = scalarMult(secrets[i]!, A);
      return { prefixHash, R: B ? scalarMult(secrets[i]!, B) : R, A, B, D, version: i === 5 ? 1 : 2 };
    });
    const proofs = statements.map((statement, i): TxProof => {
      return { statement, proof: generateTxProof(statement, secrets[i]!).proof };
    });
    const change = (part: Partial<TxProofStatement>) => (each: TxProof) => ({
      ...each,
      statement: { ...each.statement, ...part },
    });
    const ways = [
      change({ D: none }),
      change({ R: none }),
      change({ A: none }),
      change({ B: none }),
      change({ D: A }),
      change({ prefixHash: keccak256(A) }),
      change({ D: A.subarray(1) }),
      (each: TxProof) => ({ ...each, proof: flipBit(each.proof, 9) }),
      (each: TxProof) => ({ ...each, proof: each.proof.subarray(1) }),
      ({ statement, proof }: TxProof) => ({
        statement,
        proof: Buffer.concat([proof.subarray(0, 32), plusOrder(proof.subarray(32))]),
      }),
    ];
    onlyTheSpoiltFail(proofs, ways, checkTxProofs);
    const many = publicKeys.map((_, i): TxProofClaim => {
      const key = publicKeys[i]!;
      const B = i % 2 ? wallet.spendPublic : undefined;
      const R = B ? scalarMult(secrets[0]!, B) : publicKeys[0]!;
      return { prefixHash, R, A: key, B, version: 2 };
    });
    const made = generateTxProofs(many, secrets[0]!);
    assert.deepEqual(
      made.map(({ D }) => hex(D)),
      publicKeys.map((key) => hex(scalarMult(secrets[0]!, key))),
    );
    assert.deepEqual(
      made.map(({ derivation }) => hex(derivation)),
      made.map(({ D }) => hex(mulBy8(D))),
    );
    const together = many.map((claim, i) => ({
      statement: { ...claim, D: made[i]!.D },
      proof: made[i]!.proof,
    }));
    assert.deepEqual(
      checkTxProofs(together),
      many.map(() => true),
    );
    assert.throws(() => generateTxProofs([many[0]!, { ...many[1]!, B: none }], secrets[0]!), InvalidPoint);
  });

  test("of key images: each has its own verdict, and is a ring signature of one", () => {
    const statements = publicKeys.map((publicKey, i) => ({
      prefixHash,
      publicKey,
      keyImage: keyImageOf(publicKey, secrets[i]!),
    }));
    const made = proveKeyImages(statements, secrets);
    const proofs = statements.map((statement, i): KeyImageProof => ({ ...statement, proof: made[i]! }));
    for (const { prefixHash: hash, publicKey, keyImage, proof } of proofs) {
      const ring = { prefixHash: hash, keyImage, publicKeys: [publicKey] };
      assert.equal(checkRingSignature(ring, [proof]), true);
    }
    const change = (part: Partial<KeyImageProof>) => (each: KeyImageProof) => ({ ...each, ...part });
    const ways = [
      change({ keyImage: none }),
      change({ publicKey: none }),
      change({ keyImage: publicKeys[0]! }),
      change({ publicKey: publicKeys[1]! }),
      change({ prefixHash: keccak256(torsion) }),
      change({ prefixHash: prefixHash.subarray(1) }),
      change({ keyImage: publicKeys[0]!.subarray(1) }),
      (each: KeyImageProof) => ({ ...each, proof: flipBit(each.proof, 300) }),
      (each: KeyImageProof) => ({ ...each, proof: each.proof.subarray(1) }),
      ({ proof, ...rest }: KeyImageProof) => ({
        ...rest,
        proof: Buffer.concat([plusOrder(proof.subarray(0, 32)), proof.subarray(32)]),
      }),
    ];
    onlyTheSpoiltFail(proofs, ways, checkKeyImageProofs);
  });

  test("of messages: each has its own verdict", () => {
    const signatures = publicKeys.map((publicKey, i): KeySignature => {
      return { publicKey, signature: signMessageHash(prefixHash, publicKey, secrets[i]!) };
    });
    const change = (part: Partial<KeySignature>) => (each: KeySignature) => ({ ...each, ...part });
    const ways = [
      change({ publicKey: none }),
      change({ publicKey: publicKeys[0]! }),
      change({ publicKey: publicKeys[0]!.subarray(1) }),
      change({ publicKey: publicKeys[0]! }),
      (each: KeySignature) => ({ ...each, signature: flipBit(each.signature, 3) }),
      (each: KeySignature) => ({ ...each, signature: new Uint8Array(64) }),
      (each: KeySignature) => ({ ...each, signature: each.signature.subarray(1) }),
    ];
    // The first of them is what the others are changed to.
    onlyTheSpoiltFail(signatures, ways, (some) => checkSignatures(prefixHash, some));
    assert.deepEqual(
      checkSignatures(prefixHash.subarray(1), signatures),
      signatures.map(() => false),
    );
  });

  test("points of small order and what is no point are not in the main subgroup", () => {
    const points = [...publicKeys, torsion, none, pointAdd(publicKeys[0]!, torsion)];
    assert.deepEqual(areInMainSubgroup(points), [...publicKeys.map(() => true), false, false, false]);
    assert.deepEqual(areInMainSubgroup([]), []);
    assert.throws(() => areInMainSubgroup([points[0]!.subarray(1), new Uint8Array(33)]), RangeError);
  });

  test("eightfold points are those of each", () => {
    const vector = Buffer.concat([...publicKeys, none]);
    const { derivations, valid } = mulBy8Batch(vector);
    assert.equal(hex(derivations.subarray(0, 32 * 7)), publicKeys.map((key) => hex(mulBy8(key))).join(""));
    assert.deepEqual([...valid], [...publicKeys.map(() => 1), 0]);
  });
});

type Check<T> = (proofs: readonly T[]) => boolean[];
