import { crc32 } from "./crc32.ts";
import type { Language } from "./languages.ts";
import { detectionOrder, findLanguage } from "./languages.ts";

/**
 * The words are no mnemonic. In a mnemonic every 4 bytes of a secret key are 3 words, and a last word is a check.
 * Source: mnemonics/electrum-words.cpp, mnemonics/language_base.h.
 */
export class BadMnemonic extends Error {
  override name = "BadMnemonic";
}

const WORDS_OF_KEY = 24;

/** At most the first `length` characters. */
function prefix(word: string, length: number): string {
  return [...word].slice(0, length).join("");
}

/** Upper and lower case are the same word. */
function canonical(word: string): string {
  return word.toLowerCase();
}

type WordMap = ReadonlyMap<string, number>;
type Maps = { readonly whole: WordMap; readonly byPrefix: WordMap };
const mapsOf = new WeakMap<Language, Maps>();

function maps(language: Language): Maps {
  const cached = mapsOf.get(language);
  if (cached !== undefined) return cached;
  const whole = new Map(language.words.map((word, i) => [canonical(word), i]));
  const byPrefix = new Map(
    language.words.map((word, i) => [canonical(prefix(word, language.prefixLength)), i]),
  );
  const newMaps = { whole, byPrefix };
  mapsOf.set(language, newMaps);
  return newMaps;
}

function prefixOf(language: Language, word: string): string {
  return canonical(prefix(word, language.prefixLength));
}

/** Index of the word that is repeated at the end as a check. */
function checkWordIndex(words: readonly string[], language: Language): number {
  const trimmed = words.map((word) => {
    const index = maps(language).byPrefix.get(prefixOf(language, word));
    if (index === undefined) throw new BadMnemonic("a word that is not in the list");
    return prefix(language.words[index]!, language.prefixLength);
  });
  return crc32(new TextEncoder().encode(trimmed.join(""))) % words.length;
}

function isChecked(words: readonly string[], language: Language): boolean {
  const content = words.slice(0, -1);
  const repeated = content[checkWordIndex(content, language)]!;
  return prefixOf(language, repeated) === prefixOf(language, words.at(-1)!);
}

function indicesIn(words: readonly string[], language: Language, hasCheck: boolean): number[] | undefined {
  const { whole, byPrefix } = maps(language);
  const indices: number[] = [];
  for (const word of words) {
    const index = hasCheck ? byPrefix.get(prefixOf(language, word)) : whole.get(canonical(word));
    if (index === undefined) return undefined;
    indices.push(index);
  }
  return indices;
}

type Match = { readonly language: Language; readonly indices: number[]; readonly isGood: boolean };

/** Finds the language that contains all words; prefers one in which the check word fits. */
function matchLanguage(words: readonly string[], hasCheck: boolean): Match {
  let fallback: Match | undefined;
  for (const language of detectionOrder) {
    const indices = indicesIn(words, language, hasCheck);
    if (indices === undefined) continue;
    const isGood = !hasCheck || isChecked(words, language);
    if (isGood) return { language, indices, isGood };
    fallback = { language, indices, isGood };
  }
  if (fallback === undefined) throw new BadMnemonic("words of no known language");
  return fallback;
}

/** Decodes four bytes from three words; throws `BadMnemonic` for the few triples without a value. */
function numberOf(first: number, second: number, third: number, count: number): number {
  const high = (count - first + second) % count;
  const higher = (count - second + third) % count;
  const value = (first + count * high + count * count * higher) % 2 ** 32;
  if (value % count !== first) throw new BadMnemonic("three words that stand for no number");
  return value;
}

export type DecodedMnemonic = {
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly language: Language;
  /** False for old seeds of 24 words. */
  readonly hasCheckWord: boolean;
};

/**
 * Decodes the secret key (32 bytes) of 25 words, or 24 without check; the language is detected, and with a check word
 * the first letters of each word are enough. Throws `BadMnemonic`.
 */
export function decodeMnemonic(text: string): DecodedMnemonic {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const hasCheckWord = words.length === WORDS_OF_KEY + 1;
  if (!hasCheckWord && words.length !== WORDS_OF_KEY) throw new BadMnemonic("a seed has 24 or 25 words");
  const { language, indices, isGood } = matchLanguage(words, hasCheckWord);
  if (!isGood) throw new BadMnemonic("the last word does not fit the others");
  const key = new Uint8Array(32);
  const view = new DataView(key.buffer);
  for (let group = 0; group < 8; group++) {
    const [first, second, third] = indices.slice(3 * group, 3 * group + 3);
    view.setUint32(4 * group, numberOf(first!, second!, third!, language.words.length), true);
  }
  return { key, language, hasCheckWord };
}

/**
 * Encodes bytes (32 for a key; a multiple of 4) as words, with the check word. `languageName` is one of `languages`, by
 * either name. Throws `BadMnemonic` for an unknown language, `RangeError` for other lengths.
 */
export function encodeMnemonic(bytes: Uint8Array, languageName: string): string {
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw new RangeError("words need a multiple of 4 bytes");
  const language = findLanguage(languageName);
  if (language === undefined) throw new BadMnemonic("unknown language");
  const count = language.words.length;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const value = view.getUint32(at, true);
    const first = value % count;
    const second = (Math.floor(value / count) + first) % count;
    const third = (Math.floor(value / count / count) + second) % count;
    words.push(language.words[first]!, language.words[second]!, language.words[third]!);
  }
  return [...words, words[checkWordIndex(words, language)]!].join(" ");
}

/** Whether a text has another number of words than seeds with a check word. */
export function isOldStyleMnemonic(text: string): boolean {
  return text.split(/\s+/).filter((word) => word !== "").length !== WORDS_OF_KEY + 1;
}
