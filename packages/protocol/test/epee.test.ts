import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { PortableEntry, PortableObject, PortableType } from "../src/index.ts";
import {
  BadBytes,
  epee,
  fromHex,
  httpLimits,
  openPortable,
  PortableNames,
  peerLimits,
  readPortable,
  readRecord,
  rememberPortable,
  toHex,
  writePortable,
  writePortableInPieces,
  writeRecord,
} from "../src/index.ts";

const header = "011101010101020101";
const integers = {
  int64: 64,
  int32: 32,
  int16: 16,
  int8: 8,
  uint64: 64,
  uint32: 32,
  uint16: 16,
  uint8: 8,
} as const;

function valuesOfType(type: PortableType): fc.Arbitrary<unknown> {
  switch (type) {
    case "double":
      return fc.double();
    case "string":
      return fc.uint8Array({ maxLength: 100 });
    case "bool":
      return fc.boolean();
    case "object":
      return objects;
    default: {
      const bits = BigInt(integers[type]);
      const isSigned = type.startsWith("i");
      return isSigned
        ? fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n })
        : fc.bigInt({ min: 0n, max: 2n ** bits - 1n });
    }
  }
}

const types = [...(Object.keys(integers) as PortableType[]), "double", "string", "bool", "object"] as const;
const entries: fc.Arbitrary<PortableEntry> = fc.constantFrom(...types).chain((type) => {
  const value = valuesOfType(type as PortableType);
  return fc.oneof(
    value.map((given) => ({ type, value: given }) as unknown as PortableEntry),
    fc.array(value, { maxLength: 4 }).map((values) => ({ type, values }) as unknown as PortableEntry),
  );
});
const names = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom("a", "_", "\xff", "\0", "Z") });
const objects: fc.Arbitrary<PortableObject> = fc
  .array(
    fc.tuple(
      names,
      fc.oneof({ depthIdentifier: "portable", maxDepth: 2 }, fc.constant(undefined), fc.nat(3)),
    ),
    {
      maxLength: 3,
    },
  )
  .map((pairs) => new Map(pairs.map(([name, n]) => [name, { type: "uint8", value: BigInt(n ?? 0) }])));

test("any fields read as written", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(names, entries), { selector: ([name]) => name, maxLength: 6 }),
      (fields) => {
        const object: PortableObject = new Map(fields);
        assert.deepEqual(readPortable(writePortable(object)), object);
      },
    ),
  );
});

test("fields are written in the order of their names", () => {
  const one: PortableEntry = { type: "uint8", value: 1n };
  const object = new Map([
    ["b", one],
    ["a", one],
  ]);
  assert.equal(toHex(writePortable(object)), `${header}08016108010162${"0801"}`);
});

test("sizes take one, two or four bytes", () => {
  for (const [length, size] of [
    [63, "fc"],
    [64, "0101"],
    [16_383, "fdff"],
    [16_384, "02000100"],
  ] as const) {
    const written = writePortable(new Map([["a", { type: "string", value: new Uint8Array(length) }]]));
    assert.equal(toHex(written).slice(0, 26 + size.length), `${header}0401610a${size}`);
    assert.equal(readPortable(written).get("a")?.type, "string");
  }
});

function nested(depth: number): PortableObject {
  let object: PortableObject = new Map();
  for (let i = 0; i < depth; i++) object = new Map([["a", { type: "object", value: object }]]);
  return object;
}

test("objects nest 31 deep, as in the original, and no deeper", () => {
  assert.ok(readPortable(writePortable(nested(31))).has("a"));
  assert.throws(() => readPortable(writePortable(nested(32))), BadBytes);
  assert.throws(() => readPortable(fromHex(`${header}${"0401610c".repeat(5000)}00`)), BadBytes);
});

test("more objects, fields or strings than the limits are refused", () => {
  const limits = { ...peerLimits, objects: 2, fields: 4, strings: 2 };
  const strings = (count: number): PortableObject =>
    new Map([["a", { type: "string", values: Array.from({ length: count }, () => new Uint8Array()) }]]);
  assert.ok(readPortable(writePortable(strings(2)), limits));
  assert.throws(() => readPortable(writePortable(strings(3)), limits), /too many strings/);
  assert.throws(() => readPortable(writePortable(nested(3)), limits), /too many objects/);
  const fields: PortableObject = new Map(
    ["a", "b", "c", "d", "e"].map((name) => [name, { type: "bool", value: true }]),
  );
  assert.throws(() => readPortable(writePortable(fields), limits), /too many fields/);
});

test("a message of a peer, and one of a client, has as many values as the original allows", () => {
  // Source: levin_abstract_invoke2.h `default_levin_limits`, http_abstract_invoke.h `default_http_bin_limits`.
  const allowed = [
    [peerLimits, { objects: 8192, fields: 16_384, strings: 16_384, booleans: 65_536 }],
    [httpLimits, { objects: 196_608, fields: 196_608, strings: 196_608, booleans: 65_536 }],
  ] as const;
  const nothing = new Uint8Array();
  const listOf = (type: "string" | "bool" | "object", values: unknown[]) =>
    writePortable(new Map([["a", { type, values }]]) as PortableObject);
  const fields = (count: number): PortableObject =>
    new Map(Array.from({ length: count }, (_, i) => [`${i}`, { type: "bool", value: true }]));
  const messages = {
    strings: (count: number) => listOf("string", Array(count).fill(nothing)),
    booleans: (count: number) => listOf("bool", Array(count).fill(true)),
    objects: (count: number) => listOf("object", Array(count).fill(new Map())),
    fields: (count: number) => writePortable(fields(count)),
  };
  for (const [limits, counts] of allowed)
    for (const kind of ["objects", "fields", "strings", "booleans"] as const) {
      assert.ok(readPortable(messages[kind](counts[kind]), limits), kind);
      assert.throws(() => readPortable(messages[kind](counts[kind] + 1), limits), BadBytes, kind);
    }
});

test("damaged storage is refused", () => {
  const bad = {
    "no header": "0111010101010201",
    "another version": "01110101010102010200",
    "a count without elements": `${header}040161850800`,
    "a name of no length": `${header}040008`,
    "the same name twice": `${header}080161080101610801`,
    "the same name twice, behind a later one": `${header}0c016208010161080101610802`,
    "the first name once more at the end": `${header}0c016208010161080101620802`,
    "an unknown type": `${header}0401610e00`,
    "a boolean of two": `${header}0401610b02`,
    "a string too short": `${header}0401610a10aabb`,
    "a huge count": `${header}0401618bffffffffffffffff`,
    "an array of arrays": `${header}0401618d04`,
    "no end": `${header}08016108`,
  };
  for (const [what, hex] of Object.entries(bad))
    assert.throws(() => readPortable(fromHex(hex)), BadBytes, what);
});

test("arbitrary bytes are fields or BadBytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        readPortable(new Uint8Array([...fromHex(header), ...bytes]), peerLimits);
      } catch (error) {
        assert.ok(error instanceof BadBytes, String(error));
      }
    }),
    { numRuns: 500 },
  );
});

const outKey = epee.record({ height: epee.count64, key: epee.fixedBytes(32), unlocked: epee.bool });
const answer = epee.record({
  outs: epee.list(outKey, 3),
  ids: epee.packedBytes(32),
  status: epee.text,
  credits: epee.u64,
  note: epee.optionalField(epee.blob),
  level: epee.defaultsTo(epee.u8, 7),
});

test("a record goes through portable storage and JSON", () => {
  const key = new Uint8Array(32).fill(5);
  const value = {
    outs: [{ height: 9, key, unlocked: true }],
    ids: [key, key],
    status: "OK",
    credits: 2n ** 64n - 1n,
    note: new Uint8Array([1]),
    level: 8,
  };
  assert.deepEqual(readRecord(answer, writeRecord(answer, value)), value);
  assert.deepEqual(answer.fromJson(answer.toJson(value)), value);
  const json = answer.toJson(value) as { [name: string]: unknown };
  assert.deepEqual(json.ids, [toHex(key), toHex(key)]);
});

test("absent fields have their zero or default value, empty lists are left out", () => {
  const empty = { outs: [], ids: [], status: "", credits: 0n, note: undefined, level: 7 };
  assert.deepEqual(readRecord(answer, fromHex(`${header}00`)), empty);
  assert.deepEqual([...readPortable(writeRecord(answer, empty)).keys()].sort(), ["credits", "status"]);
});

test("integers of other types are taken when they fit", () => {
  const small: PortableObject = new Map([["credits", { type: "int8", value: 5n }]]);
  assert.equal(readRecord(answer, writePortable(small)).credits, 5n);
  for (const bad of [
    { type: "int8", value: -5n },
    { type: "string", value: new Uint8Array() },
    { type: "uint64", values: [1n] },
  ] as const) {
    const object: PortableObject = new Map([["credits", bad]]);
    assert.throws(() => readRecord(answer, writePortable(object)), BadBytes);
  }
});

test("fields of the wrong size, and too many elements, are refused", () => {
  const ids: PortableObject = new Map([["ids", { type: "string", value: new Uint8Array(33) }]]);
  assert.throws(() => readRecord(answer, writePortable(ids)), BadBytes);
  const outs: PortableObject = new Map([
    ["outs", { type: "object", values: Array.from({ length: 4 }, () => new Map()) }],
  ]);
  assert.throws(() => readRecord(answer, writePortable(outs)), /more than 3/);
});

test("the declared fields of an array's objects are each object's own, in any order, beside lists and undeclared ones", () => {
  const number = (value: bigint): PortableEntry => ({ type: "uint64", value });
  const inner = (...values: bigint[]): PortableEntry => ({
    type: "object",
    values: values.map((value) => new Map([["n", number(value)]])),
  });
  const objects: PortableObject[] = [
    new Map<string, PortableEntry>([
      ["a", number(1n)],
      ["b", inner(2n, 3n)],
      ["c", number(4n)],
    ]),
    new Map<string, PortableEntry>([
      ["c", { type: "uint8", value: 5n }],
      ["d", { type: "string", value: Uint8Array.of(6) }],
    ]),
    new Map<string, PortableEntry>([["x", number(9n)]]),
    new Map<string, PortableEntry>([["b", inner(7n)]]),
  ];
  const bytes = writePortable(new Map([["list", { type: "object", values: objects }]]));
  const [list] = openPortable(bytes).fields(new PortableNames(["list"]))!;
  const read = list!.mapFields(new PortableNames(["a", "b", "c", "d"]), ([a, b, c, d]) => ({
    a: a?.integer,
    b: b?.mapFields(new PortableNames(["n"]), ([n]) => n?.integer),
    c: c?.integer,
    d: d?.bytes?.length,
  }));
  const nothing = { a: undefined, b: undefined, c: undefined, d: undefined };
  assert.deepEqual(read, [
    { ...nothing, a: 1n, b: [2n, 3n], c: 4n },
    { ...nothing, c: 5n, d: 1 },
    nothing,
    { ...nothing, b: [7n] },
  ]);
  assert.equal(
    openPortable(bytes).mapFields(new PortableNames(["list"]), () => 0),
    undefined,
  );
});

test("objects of an array are counted as memory, one by one", () => {
  const values = Array.from({ length: 100 }, () => new Map<string, PortableEntry>());
  const bytes = writePortable(new Map([["list", { type: "object", values }]]));
  const count = (memoryBytes: number) => {
    const [list] = openPortable(bytes, { ...peerLimits, memoryBytes }).fields(new PortableNames(["list"]))!;
    return list!.mapFields(new PortableNames(["a", "b"]), () => 0)!.length;
  };
  // Each is estimated at 64 bytes, 16 for each declared field, and 16 in the list, which is one of 64 bytes with a field.
  const needed = 80 + 100 * (16 + 64 + 2 * 16);
  assert.equal(count(needed), 100);
  assert.throws(() => count(needed - 1), BadBytes);
});

/** Bytes of memory that a call has taken on the way, at the least; what was freed meanwhile is not seen. */
function memoryTakenBy(run: () => void): number {
  const taken = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = taken();
  run();
  return taken() - before;
}

const concat = (...parts: readonly (Uint8Array | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)));

/** A size of four bytes. */
function size(count: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(count * 4 + 2);
  return bytes;
}

const shape = epee.record({ credits: epee.u64 });
const MANY = 20_000_000;

// Closes: a message whose undeclared parts take many times their bytes of memory when read.
test("an array that nobody declared costs no memory, whatever its numbers are", () => {
  for (const [tag, bytes] of [
    ["81", 8],
    ["84", 1],
    ["88", 1],
    ["89", 8],
  ] as const) {
    const message = concat(header, "04", "01ff", tag, size(MANY / bytes), new Uint8Array(MANY));
    const taken = memoryTakenBy(() =>
      assert.deepEqual(readRecord(shape, message, peerLimits), { credits: 0n }),
    );
    assert.ok(taken < 5_000_000, `${taken} bytes for type ${tag}`);
  }
});

// Closes: the same through a declared field of another type.
test("an array in the place of a declared number is refused before it is read", () => {
  const message = concat(header, "04", "0763726564697473", "88", size(MANY), new Uint8Array(MANY));
  const taken = memoryTakenBy(() => assert.throws(() => readRecord(shape, message, peerLimits), BadBytes));
  assert.ok(taken < 5_000_000, `${taken} bytes`);
});

// Closes: values of no fixed size, each of which takes time to pass over.
test("booleans, strings and objects in arrays are bounded, also where nobody declared them", () => {
  const of = (tag: string, count: number) =>
    concat(header, "04", "01ff", tag, size(count), new Uint8Array(count));
  for (const [tag, count] of [
    ["8b", peerLimits.booleans],
    ["8a", peerLimits.strings],
    ["8c", peerLimits.objects],
  ] as const) {
    assert.deepEqual(readRecord(shape, of(tag, count), peerLimits), { credits: 0n }, tag);
    assert.throws(() => readRecord(shape, of(tag, count + 1), peerLimits), /too many/, tag);
  }
});

// Closes: declared fields that take more memory than their message is worth.
test("what is built from a message is bounded by the memory it declares", () => {
  const hashes = epee.record({ ids: epee.packedBytes(32), notes: epee.list(epee.blob), name: epee.text });
  const value = { ids: [new Uint8Array(32)], notes: [new Uint8Array(9)], name: "a" };
  const bytes = writeRecord(hashes, value);
  assert.deepEqual(readRecord(hashes, bytes, { ...peerLimits, memoryBytes: 1000 }), value);
  for (const large of [
    { ...value, ids: Array.from({ length: 10 }, () => new Uint8Array(32)) },
    { ...value, notes: Array.from({ length: 10 }, () => new Uint8Array()) },
    { ...value, name: "a".repeat(500) },
  ]) {
    const read = () => readRecord(hashes, writeRecord(hashes, large), { ...peerLimits, memoryBytes: 1000 });
    assert.throws(read, /more memory than declared/);
  }
});

test("a name is found among others, in any order, and may not come twice anywhere", () => {
  const entry = "0801";
  const read = (fields: string, count: number) => {
    const first = (count * 4).toString(16).padStart(2, "0");
    return readRecord(epee.record({ a: epee.u8, bb: epee.u8 }), concat(header, first, fields), peerLimits);
  };
  assert.deepEqual(read(`0161${entry}0162${entry}026262${entry}`, 3), { a: 1, bb: 1 });
  assert.deepEqual(read(`026262${entry}0162${entry}0161${entry}`, 3), { a: 1, bb: 1 });
  // One that begins as a declared name is another.
  assert.deepEqual(read(`03626278${entry}`, 1), { a: 0, bb: 0 });
  assert.throws(() => read(`0162${entry}0161${entry}0162${entry}`, 3), /two fields of one name/);
  assert.throws(() => read(`01620c08017a${entry}017a${entry}`, 1), /two fields of one name/);
});

test("an object that is remembered and long is a piece of its own, the same each time; all else is copied", () => {
  const bytes = (length: number): PortableEntry => ({
    type: "string",
    value: Uint8Array.from({ length }, (_, i) => i),
  });
  const long = rememberPortable(new Map([["data", bytes(20_000)]]));
  const short = rememberPortable(new Map([["data", bytes(1000)]]));
  const whole: PortableObject = new Map<string, PortableEntry>([
    ["a", bytes(30_000)],
    ["b", { type: "object", values: [long, short, long] }],
    ["c", bytes(3)],
  ]);
  const [first, second] = [writePortableInPieces(whole), writePortableInPieces(whole)];
  assert.equal(toHex(Buffer.concat(first)), toHex(writePortable(whole)));
  assert.deepEqual(
    first.map((piece, i) => piece === second[i]),
    [false, true, false, true, false],
  );
  assert.equal(first[1], first[3]);
  const others = first.filter((_, i) => i % 2 === 0);
  assert.equal(new Set(others.map(({ buffer }) => buffer)).size, 3, "copied");
  // What is written next must not show in pieces that wait to be sent.
  const before = toHex(Buffer.concat(first));
  writePortableInPieces(new Map([["zz", bytes(10_000)]]));
  assert.equal(toHex(Buffer.concat(first)), before);
});
