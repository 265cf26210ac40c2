/** A folder on a disk that forgets, with the folders in it that are there from the start. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import { type DiskImage, ForgetfulDisk } from "./forgetful-disk.ts";

export class ForgetfulFolders {
  /** By their names, that of the folder itself being empty. */
  readonly #parts: ReadonlyMap<string, ForgetfulDisk>;

  /** `inner` are created in it; files whose names match `ignored` are no part of it. */
  constructor(folder: string, inner: readonly string[], ignored: RegExp) {
    for (const name of inner) mkdirSync(join(folder, name), { mode: 0o700 });
    // Inner ones first: in the folder itself, each of them is a name.
    this.#parts = new Map(
      [...inner, ""].map((name) => [name, new ForgetfulDisk(join(folder, name), ignored)]),
    );
  }

  observe(): void {
    for (const disk of this.#parts.values()) disk.observe();
  }

  beginSync(file: number): () => void {
    const disk = [...this.#parts.values()].find((each) => each.has(file));
    return disk?.beginSync(file) ?? (() => {});
  }

  /** LMDB tells that a commit of a file is over. */
  settled(inner: string, name: string): void {
    this.#parts.get(inner)?.settled(name);
  }

  whole(): DiskImage {
    return this.#imageOf((disk) => disk.whole());
  }

  image(chance: Chance): DiskImage {
    return this.#imageOf((disk) => disk.image(chance));
  }

  #imageOf(of: (disk: ForgetfulDisk) => DiskImage): DiskImage {
    const images = [...this.#parts].map(([inner, disk]) =>
      [...of(disk)].map(([name, bytes]) => [join(inner, name), bytes] as const),
    );
    return new Map(images.flat());
  }
}
