import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "@anulo/storage";
import { wipe } from "./wipe.ts";

/** Identifies a slot and its content: a slot that was erased or reused has another id. */
export interface SlotReference {
  readonly index: number;
  /** 8 random bytes. */
  readonly id: Uint8Array;
}

export interface KeySlot {
  readonly reference: SlotReference;
  /** 32 random bytes. */
  readonly rowKey: Buffer;
}

const ID_BYTES = 8;
const ROW_KEY_BYTES = 32;
/** A power of two, so that no slot is on two sectors of a disk. */
const SLOT_BYTES = 64;
const SLOTS_PER_READ = 1024;
/** 64 MiB of slots; they are meant for rows that will be deleted, not for rows that are kept. */
const MAX_SLOTS = 2 ** 20;

const isFree = (slot: Buffer): boolean => slot.subarray(0, ID_BYTES).every((byte) => byte === 0);

/**
 * A file with a random key for each row of a wallet's secret tables. Engines keep old bytes (LMDB in free pages,
 * PostgreSQL in dead tuples, its log and its backups), so the key is destroyed instead, without which the row cannot be
 * opened: its slot never moves, and is overwritten and synced before a deletion settles. This works only if the file
 * system overwrites in place (ext4, xfs; not btrfs, zfs or a snapshot) and the disk keeps no copy of its own.
 */
export class KeySlots {
  readonly #path: string;
  #file: FileHandle | undefined;
  /** One byte per slot: 1 if it is in use. */
  #taken: Buffer;

  private constructor(path: string, file: FileHandle | undefined, taken: Buffer) {
    this.#path = path;
    this.#file = file;
    this.#taken = taken;
  }

  /** Opens the slots of the file at `path`, which is created with the first slot. */
  static async open(path: string): Promise<KeySlots> {
    const file = await openExisting(path);
    if (file === undefined) return new KeySlots(path, file, Buffer.alloc(0));
    try {
      return new KeySlots(path, file, await takenIn(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** No slots, of no file, for a reader of rows that are not secret. */
  static none(): KeySlots {
    return new KeySlots("", undefined, Buffer.alloc(0));
  }

  get isEmpty(): boolean {
    return !this.#taken.includes(1);
  }

  /** Returns new random keys, which are on disk when this resolves. Throws a RangeError if the file is full. */
  async take(count: number): Promise<KeySlot[]> {
    if (count === 0) return [];
    this.#file ??= await createLasting(this.#path);
    const slots: KeySlot[] = [];
    while (slots.length < count) {
      const index = this.#nextFree();
      this.#taken[index] = 1;
      // A former owner that does not know yet that it was fenced may have used it since.
      if (!(await this.#isErased(index))) continue;
      const slot = { reference: { index, id: randomBytes(ID_BYTES) }, rowKey: randomBytes(ROW_KEY_BYTES) };
      await this.#write(index, [slot.reference.id, slot.rowKey]);
      slots.push(slot);
    }
    await this.#file.datasync();
    return slots;
  }

  /** The key in a slot; undefined once it is destroyed. */
  async read({ index, id }: SlotReference): Promise<Buffer | undefined> {
    if (this.#taken[index] !== 1 || this.#file === undefined) return undefined;
    const slot = Buffer.alloc(SLOT_BYTES);
    await this.#file.read(slot, 0, SLOT_BYTES, index * SLOT_BYTES);
    const isThere = slot.subarray(0, ID_BYTES).equals(id);
    const rowKey = isThere ? Buffer.from(slot.subarray(ID_BYTES, ID_BYTES + ROW_KEY_BYTES)) : undefined;
    wipe(slot);
    return rowKey;
  }

  /** Destroys these keys: they are not on disk any more when this resolves. Slots with another id are not changed. */
  async destroy(references: readonly SlotReference[]): Promise<void> {
    const here: number[] = [];
    for (const reference of references) {
      if (await this.#holds(reference)) here.push(reference.index);
    }
    await this.#erase(here);
  }

  /** Destroys every key except these. */
  async keepOnly(references: AsyncIterable<SlotReference>): Promise<void> {
    const kept = new Set<number>();
    for await (const reference of references) {
      if (await this.#holds(reference)) kept.add(reference.index);
    }
    const others: number[] = [];
    for (let at = this.#taken.indexOf(1); at !== -1; at = this.#taken.indexOf(1, at + 1)) {
      if (!kept.has(at)) others.push(at);
    }
    await this.#erase(others);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #holds(reference: SlotReference): Promise<boolean> {
    const rowKey = await this.read(reference);
    wipe(rowKey);
    return rowKey !== undefined;
  }

  async #erase(indices: readonly number[]): Promise<void> {
    if (indices.length === 0 || this.#file === undefined) return;
    for (const index of indices) await this.#write(index, []);
    await this.#file.datasync();
    for (const index of indices) this.#taken[index] = 0;
  }

  async #write(index: number, parts: readonly Uint8Array[]): Promise<void> {
    const slot = Buffer.alloc(SLOT_BYTES);
    let at = 0;
    for (const part of parts) {
      slot.set(part, at);
      at += part.length;
    }
    const { bytesWritten } = await this.#file!.write(slot, 0, SLOT_BYTES, index * SLOT_BYTES);
    wipe(slot);
    if (bytesWritten !== SLOT_BYTES) throw new Error("a slot was written in part");
  }

  async #isErased(index: number): Promise<boolean> {
    const slot = Buffer.alloc(SLOT_BYTES);
    await this.#file!.read(slot, 0, SLOT_BYTES, index * SLOT_BYTES);
    const isErased = isFree(slot);
    wipe(slot);
    return isErased;
  }

  #nextFree(): number {
    const at = this.#taken.indexOf(0);
    if (at !== -1) return at;
    const { length } = this.#taken;
    if (length + SLOTS_PER_READ > MAX_SLOTS) throw new RangeError(`the wallet has ${length} secret rows`);
    this.#taken = Buffer.concat([this.#taken], length + SLOTS_PER_READ);
    return length;
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  return await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** Creates an empty file with a durable name, readable by its owner only. */
async function createLasting(path: string): Promise<FileHandle> {
  const file = await open(path, "wx+", 0o600);
  try {
    syncFolder(dirname(path));
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

async function takenIn(file: FileHandle): Promise<Buffer> {
  const count = Math.min(Math.ceil((await file.stat()).size / SLOT_BYTES), MAX_SLOTS);
  const taken = Buffer.alloc(count);
  const chunk = Buffer.alloc(SLOTS_PER_READ * SLOT_BYTES);
  for (let first = 0; first < count; first += SLOTS_PER_READ) {
    wipe(chunk);
    await file.read(chunk, 0, chunk.length, first * SLOT_BYTES);
    for (let i = 0; i < SLOTS_PER_READ && first + i < count; i++) {
      taken[first + i] = isFree(chunk.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)) ? 0 : 1;
    }
  }
  wipe(chunk);
  return taken;
}
