/**
 * A disk that forgets: of a folder, what survives a loss of power. What was synced is there. Of what was written
 * since, any part may be: each page or sector of a file in any version it had, and the names of the folder as they
 * were at any moment, since file systems keep changes of names in order but not with the contents.
 * Contents are read from the files themselves, so it does not matter by what way they were written.
 */
import fs from "node:fs";
import { basename, join } from "node:path";
import type { Chance } from "../chance.ts";

interface Version {
  readonly number: number;
  readonly bytes: Buffer;
}

/** A file, whatever its name is. */
interface Inode {
  readonly isLmdb: boolean;
  /** What a sync has brought to the disk; nothing at first. */
  durable: Version;
  /** Contents seen since, oldest first. */
  versions: Version[];
}

type Names = ReadonlyMap<string, Inode>;

/** What is found after the power is back, by path below the folder. */
export type DiskImage = ReadonlyMap<string, Buffer>;

const SECTOR_BYTES = 512;
const PAGE_BYTES = 4096;
/** More are not distinguished: large files would fill the memory. */
const MAX_VERSIONS = 5;
const nothing = Buffer.alloc(0);
/** LMDB's files, also while they are being created; its lock files are of no use after a loss of power. */
const LMDB_FILE = /\.mdb(?:\.[0-9a-f]+\.new)?$/;
/** Its two root pages. */
const ROOTS_BYTES = 2 * PAGE_BYTES;

// As they are before anybody watches them.
const { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } = fs;

const numberOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

export class ForgetfulDisk {
  readonly folder: string;
  readonly #ignored: RegExp;
  readonly #inodes = new Map<bigint, Inode>();
  /** The names on disk, then as they were seen to change since. */
  #names: Names[] = [new Map()];
  #counter = 0;

  /** A folder that is empty now; files whose names match `ignored` are no part of it. */
  constructor(folder: string, ignored: RegExp) {
    this.folder = folder;
    this.#ignored = ignored;
  }

  /** Looks at what the folder holds now. */
  observe(): void {
    const names = new Map<string, Inode>();
    const numbers = new Set<bigint>();
    for (const name of readdirSync(this.folder).sort()) {
      if (this.#ignored.test(name)) continue;
      const entry = this.#look(join(this.folder, name));
      if (entry === undefined) continue;
      numbers.add(entry.number);
      names.set(name, entry.inode);
    }
    // The number of a file that is gone is given to another one.
    for (const number of this.#inodes.keys()) if (!numbers.has(number)) this.#inodes.delete(number);
    const last = this.#names.at(-1)!;
    const isSame = last.size === names.size && [...names].every(([name, inode]) => last.get(name) === inode);
    if (!isSame) this.#names.push(names);
  }

  #look(path: string): { number: bigint; inode: Inode } | undefined {
    const file = openSync(path, "r");
    try {
      const stat = fstatSync(file, { bigint: true });
      if (!stat.isFile()) return undefined;
      const number = stat.ino;
      const inode = this.#inodes.get(number) ?? {
        isLmdb: LMDB_FILE.test(path),
        durable: { number: 0, bytes: nothing },
        versions: [],
      };
      this.#inodes.set(number, inode);
      const bytes = readFileSync(file);
      const { bytes: before } = inode.versions.at(-1) ?? inode.durable;
      if (!before.equals(bytes)) inode.versions.push({ number: ++this.#counter, bytes });
      if (inode.versions.length > MAX_VERSIONS) inode.versions.shift();
      return { number, inode };
    } finally {
      closeSync(file);
    }
  }

  /** Whether this descriptor is of the folder or of a file in it. */
  has(file: number): boolean {
    const { ino } = fstatSync(file, { bigint: true });
    const paths = readdirSync(this.folder).map((name) => join(this.folder, name));
    return [this.folder, ...paths].some((path) => numberOf(path) === ino);
  }

  /** A sync begins, of a file or of the folder; call the result when it is over. */
  beginSync(file: number): () => void {
    this.observe();
    const { ino } = fstatSync(file, { bigint: true });
    if (ino === numberOf(this.folder)) return this.#beginFolderSync();
    const inode = this.#inodes.get(ino);
    if (inode === undefined) return () => {};
    const synced = inode.versions.at(-1) ?? inode.durable;
    return () => {
      if (synced.number <= inode.durable.number) return;
      inode.durable = synced;
      inode.versions = inode.versions.filter(({ number }) => number > synced.number);
    };
  }

  /** LMDB tells that a commit of this file is over: what the file holds is on disk. */
  settled(name: string): void {
    this.observe();
    const inode = this.#names.at(-1)!.get(name);
    if (inode === undefined) return;
    inode.durable = inode.versions.at(-1) ?? inode.durable;
    inode.versions = [];
  }

  #beginFolderSync(): () => void {
    const synced = this.#names.at(-1)!;
    return () => {
      // Of two syncs at once the later one may be over first.
      const at = this.#names.indexOf(synced);
      if (at !== -1) this.#names = this.#names.slice(at);
    };
  }

  /** What a kill leaves: the operating system keeps all that was written. */
  whole(): DiskImage {
    this.observe();
    return this.#imageOf(this.#names.at(-1)!, ({ durable, versions }) => (versions.at(-1) ?? durable).bytes);
  }

  /** What a loss of power may leave. */
  image(chance: Chance): DiskImage {
    this.observe();
    const names = chance.pick([this.#names[0]!, this.#names.at(-1)!, chance.pick(this.#names)]);
    const remainder = chance.pick(remainders);
    return this.#imageOf(names, (inode) => remainder(inode, chance));
  }

  #imageOf(names: Names, contentOf: (inode: Inode) => Buffer): DiskImage {
    const contents = new Map<Inode, Buffer>();
    for (const inode of names.values()) contents.set(inode, contentOf(inode));
    return new Map([...names].map(([name, inode]) => [basename(name), contents.get(inode)!]));
  }
}

/** A file's contents, the durable one first. */
const contentsOf = ({ durable, versions }: Inode): Buffer[] =>
  [durable, ...versions].map(({ bytes }) => bytes);

/** Which part of what was not synced is there all the same. */
const remainders: readonly ((inode: Inode, chance: Chance) => Buffer)[] = [
  ({ durable }) => durable.bytes,
  ({ durable, versions }) => (versions.at(-1) ?? durable).bytes,
  (inode, chance) => mixed(inode, PAGE_BYTES, chance),
  (inode, chance) => mixed(inode, SECTOR_BYTES, chance),
];

function mixed(inode: Inode, unit: number, chance: Chance): Buffer {
  const contents = contentsOf(inode);
  return inode.isLmdb ? mixedLmdb(contents, unit, chance) : mixedUnits(contents, unit, chance);
}

/**
 * A commit syncs its pages before it writes its root (`packages/store/test/lmdb-syncs.test.ts`): with a root there is
 * all that was written before it, and of what was written later, any part.
 */
function mixedLmdb(contents: readonly Buffer[], unit: number, chance: Chance): Buffer {
  const first = chance.between(0, contents.length - 1);
  const later = contents.slice(first);
  const image = mixedUnits(later, unit, chance);
  image.set(later[0]!.subarray(0, ROOTS_BYTES));
  return image;
}

/** Each unit in any version; a file may have grown without what it grew by. */
function mixedUnits(all: readonly Buffer[], unit: number, chance: Chance): Buffer {
  const image = Buffer.alloc(chance.pick(all).length);
  for (let at = 0; at < image.length; at += unit) {
    const candidates: Buffer[] = [];
    for (const bytes of all) {
      const part = bytes.subarray(at, at + unit);
      if (candidates.every((other) => !other.equals(part))) candidates.push(part);
    }
    image.set(
      (candidates.length > 1 ? chance.pick(candidates) : candidates[0]!).subarray(0, image.length - at),
      at,
    );
  }
  return image;
}
