import assert from "node:assert/strict";
import { test } from "node:test";
import { scAdd, scReduce32, scSub } from "@anulo/crypto";
import fc from "fast-check";
import {
  addSeedOffset,
  BadMnemonic,
  decodeMnemonic,
  encodeMnemonic,
  findLanguage,
  fromHex,
  isOldStyleMnemonic,
  languages,
  oldEnglish,
  removeSeedOffset,
  toHex,
} from "../src/index.ts";

/** Seeds that the real wallet service returned: of the recorded chain's wallet, and of that with a seed offset. */
const recorded = {
  key: "b32da24bc13e128c4f07300bc259da9c14f9ddf14eff88533b1110ef4dd57408",
  seed:
    "jeers hoisting pruned blip went luggage soccer smash tadpoles tagged cuisine skirting neon himself gasp " +
    "edited gave pests goodbye hatchet fizzle railway guru hotel gasp",
  offset: "some offset",
  offsetSeed:
    "october tulips romance loincloth giddy lush citadel waxing flippant ditch copy ocean fatal cucumber history " +
    "older gills mundane azure amply pierce wanted dozen dynamite wanted",
};
const german =
  "Sorte Banane kommen Aroma Beil Rapsöl Qualle Brett Nenner Tasse Zollhund Verb Grünalge Kochbuch Spannung Oboe " +
  "Lagune Ventil Tragesel Radclub locken greifen Brett bringen Lagune";

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("the recorded seed is the recorded key", () => {
  const { key, language, hasCheckWord } = decodeMnemonic(recorded.seed);
  assert.equal(toHex(key), recorded.key);
  assert.equal(language.name, "English");
  assert.ok(hasCheckWord);
  assert.equal(encodeMnemonic(key, "English"), recorded.seed);
});

test("a recorded German seed is read as German and written the same", () => {
  const { key, language } = decodeMnemonic(german);
  assert.equal(language.name, "Deutsch");
  assert.equal(encodeMnemonic(key, "German"), german);
  assert.equal(encodeMnemonic(key, "Deutsch"), german);
});

test("a seed offset gives the key the real wallet service restored", () => {
  const key = removeSeedOffset(fromHex(recorded.key), recorded.offset);
  assert.equal(encodeMnemonic(key, "English"), recorded.offsetSeed);
  assert.equal(toHex(addSeedOffset(key, recorded.offset)), recorded.key);
});

test("a seed offset leaves neither the passphrase nor what was made of it in memory", (t) => {
  const wiped: string[] = [];
  const { fill } = Uint8Array.prototype;
  t.mock.method(
    Uint8Array.prototype,
    "fill",
    function wipe(this: Uint8Array, ...args: Parameters<typeof fill>) {
      if (args[0] === 0 && this.length > 0) wiped.push(toHex(this));
      return fill.apply(this, args);
    },
  );
  const key = fromHex(recorded.key);
  const passphrase = Buffer.from(recorded.offset).toString("hex");
  for (const change of [addSeedOffset, removeSeedOffset]) {
    wiped.length = 0;
    const changed = change(key, recorded.offset);
    const offset = change === addSeedOffset ? scSub(changed, key) : scSub(key, changed);
    assert.ok(wiped.includes(passphrase), change.name);
    assert.ok(
      wiped.some(
        (hex) => hex.length === 64 && toHex(scAdd(fromHex(hex), new Uint8Array(32))) === toHex(offset),
      ),
      change.name,
    );
  }
});

test("each language has its own length of prefixes", () => {
  const lengths = Object.fromEntries(
    [...languages, oldEnglish].map((each) => [each.englishName, each.prefixLength]),
  );
  // Source: the files of mnemonics/, one for each language.
  assert.deepEqual(lengths, {
    ...{ German: 4, English: 3, Spanish: 4, French: 4, Italian: 4, Dutch: 4, Portuguese: 4, Russian: 4 },
    ...{ Japanese: 3, "Chinese (simplified)": 1, Esperanto: 4, Lojban: 4, "English (old)": 4 },
  });
});

test("every language has 1626 different words that their prefixes tell apart", () => {
  assert.equal(languages.length, 12);
  for (const { words, prefixLength, name } of languages) {
    assert.equal(words.length, 1626);
    const prefixes = new Set(words.map((word) => [...word].slice(0, prefixLength).join("").toLowerCase()));
    assert.equal(prefixes.size, 1626, name);
  }
});

const prefixesOf = new Map(
  [...languages, oldEnglish].map((language) => {
    const { words, prefixLength } = language;
    return [language, new Set(words.map((word) => [...word].slice(0, prefixLength).join("").toLowerCase()))];
  }),
);

/** Whether another language has words that begin as those of a seed. */
const isInOtherWords = (text: string, name: string): boolean =>
  [...prefixesOf].some(
    ([language, prefixes]) =>
      language.name !== name &&
      text
        .split(" ")
        .every((word) => prefixes.has([...word].slice(0, language.prefixLength).join("").toLowerCase())),
  );

test("a seed whose check word fits in two languages is that of the one tried first", () => {
  const italian =
    "erotico spendere statura regina arsenale opuscolo broccoli farfalla infanzia tempo tregua incendio nessuno " +
    "famiglia femmina aluminio parodia vela pesce agitare anguilla angolino alcool simbiosi aluminio";
  const key = "f82805042b65e38a01aff91df477fd8d30742b02060ffe4f06109f07060771cb";
  assert.equal(encodeMnemonic(fromHex(key), "Italian"), italian);
  assert.ok(isInOtherWords(italian, "Italiano"));
  const read = decodeMnemonic(italian);
  assert.equal(read.language.name, "English");
  // As monero-wallet-rpc 0.18.0.0 and 0.18.5.3 answer `query_key` of the wallet restored from it.
  const spendKey = "abe3f00289f1efc4e81e44217e5878a4fc1e290252cef24a27c55c06ac9ead0e";
  assert.equal(toHex(scReduce32(read.key)), spendKey);
});

test("any key is read as written, in every language, with and without check word", () => {
  for (const { name } of languages) {
    fc.assert(
      fc.property(keys, (key) => {
        const text = encodeMnemonic(key, name);
        fc.pre(!isInOtherWords(text, name));
        const decoded = decodeMnemonic(text);
        assert.deepEqual(decoded.key, key);
        assert.equal(decoded.language.name, name);
        const old = decodeMnemonic(text.split(" ").slice(0, -1).join(" "));
        assert.deepEqual(old.key, key);
        assert.ok(!old.hasCheckWord);
      }),
      { numRuns: 20 },
    );
  }
});

test("with a check word the first letters are enough, in any case and with any spaces", () => {
  for (const { name, prefixLength } of languages) {
    const seed = encodeMnemonic(fromHex(recorded.key), name);
    const short = seed
      .split(" ")
      .map((word) => [...word].slice(0, prefixLength).join(""))
      .map((word) => word.replace(/[a-z]/g, (letter) => letter.toUpperCase()));
    assert.equal(toHex(decodeMnemonic(`  ${short.join("\n ")} `).key), recorded.key, name);
  }
  const withoutCheck = recorded.seed.split(" ").slice(0, -1);
  assert.throws(() => decodeMnemonic(withoutCheck.map((word) => word.slice(0, 3)).join(" ")), BadMnemonic);
});

test("a wrong word, a wrong check word, and a wrong number of words are refused", () => {
  const words = recorded.seed.split(" ");
  assert.throws(() => decodeMnemonic([...words.slice(0, 24), "jeers"].join(" ")), /last word/);
  assert.throws(() => decodeMnemonic(["xylophon", ...words.slice(1)].join(" ")), BadMnemonic);
  assert.throws(() => decodeMnemonic(["abbey", ...words.slice(1)].join(" ")), BadMnemonic);
  for (const count of [0, 1, 12, 23, 26]) {
    assert.throws(
      () => decodeMnemonic(Array.from({ length: count }, () => "abbey").join(" ")),
      /24 or 25 words/,
    );
  }
  assert.ok(!isOldStyleMnemonic(recorded.seed));
  assert.ok(isOldStyleMnemonic("abbey abbey"));
});

test("three words that stand for no number are refused", () => {
  const { words } = findLanguage("English")!;
  const tooLarge = [words[1625]!, words[1624]!, words[1623]!];
  assert.throws(
    () => decodeMnemonic(Array.from({ length: 8 }, () => tooLarge.join(" ")).join(" ")),
    /no number/,
  );
});

test("unknown languages and odd lengths are refused", () => {
  assert.throws(() => encodeMnemonic(new Uint8Array(32), "Klingon"), BadMnemonic);
  assert.throws(() => encodeMnemonic(new Uint8Array(31), "English"), RangeError);
});

test("a seed in old English is read, with or without check word, and none is written", () => {
  const { words } = oldEnglish;
  assert.equal(new Set(words).size, 1626);
  const isUnique = (word: string) => words.filter((other) => other.startsWith(word.slice(0, 4))).length === 1;
  const seed = words.filter(isUnique).slice(0, 24);
  const { key, language, hasCheckWord } = decodeMnemonic(seed.join(" "));
  assert.equal(language.name, "EnglishOld");
  assert.ok(!hasCheckWord);
  const checked = seed.map((word) => decodesWith([...seed, word])).filter((found) => found !== undefined);
  assert.equal(checked.length, 1);
  assert.deepEqual(checked[0]!.key, key);
  assert.throws(() => encodeMnemonic(key, "EnglishOld"), BadMnemonic);
});

function decodesWith(words: readonly string[]) {
  try {
    return decodeMnemonic(words.join(" "));
  } catch (error) {
    assert.ok(error instanceof BadMnemonic);
    return undefined;
  }
}
