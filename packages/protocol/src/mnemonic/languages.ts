import { words as chineseSimplified } from "../generated/words/chinese-simplified.ts";
import { words as dutch } from "../generated/words/dutch.ts";
import { words as english } from "../generated/words/english.ts";
import { words as englishOld } from "../generated/words/english-old.ts";
import { words as esperanto } from "../generated/words/esperanto.ts";
import { words as french } from "../generated/words/french.ts";
import { words as german } from "../generated/words/german.ts";
import { words as italian } from "../generated/words/italian.ts";
import { words as japanese } from "../generated/words/japanese.ts";
import { words as lojban } from "../generated/words/lojban.ts";
import { words as portuguese } from "../generated/words/portuguese.ts";
import { words as russian } from "../generated/words/russian.ts";
import { words as spanish } from "../generated/words/spanish.ts";

/** A language that a wallet's seed can be written in. */
export type Language = {
  /** The language's name in the language itself. */
  readonly name: string;
  readonly englishName: string;
  /** Number of letters at the start of a word that distinguish it from all others. */
  readonly prefixLength: number;
  /** 1626 words. */
  readonly words: readonly string[];
};

type Row = readonly [name: string, englishName: string, prefixLength: number, words: string];

/** In the order in which the original lists them. Source: mnemonics/electrum-words.cpp `get_language_list`. */
const rows: readonly Row[] = [
  ["Deutsch", "German", 4, german],
  ["English", "English", 3, english],
  ["Español", "Spanish", 4, spanish],
  ["Français", "French", 4, french],
  ["Italiano", "Italian", 4, italian],
  ["Nederlands", "Dutch", 4, dutch],
  ["Português", "Portuguese", 4, portuguese],
  ["русский язык", "Russian", 4, russian],
  ["日本語", "Japanese", 3, japanese],
  ["简体中文 (中国)", "Chinese (simplified)", 1, chineseSimplified],
  ["Esperanto", "Esperanto", 4, esperanto],
  ["Lojban", "Lojban", 4, lojban],
];

function languageOf([name, englishName, prefixLength, words]: Row): Language {
  return { name, englishName, prefixLength, words: words.split(" ") };
}

export const languages: readonly Language[] = rows.map(languageOf);

/**
 * The words of the first wallets (2014): seeds in them can still be read, and none is written. Some prefixes are not
 * unique.
 */
export const oldEnglish: Language = languageOf(["EnglishOld", "English (old)", 4, englishOld]);

/** The order in which the languages are tried for a seed. Source: mnemonics/electrum-words.cpp `find_seed_language`. */
const detection = [
  ...["Chinese (simplified)", "English", "Dutch", "French", "Spanish", "German", "Italian", "Portuguese"],
  ...["Japanese", "Russian", "Esperanto", "Lojban"],
];
export const detectionOrder: readonly Language[] = [
  ...detection.map((name) => findLanguage(name)!),
  oldEnglish,
];

/** The language with this name, its own or the English one; undefined when there is none. */
export function findLanguage(name: string): Language | undefined {
  return languages.find((language) => language.name === name || language.englishName === name);
}
