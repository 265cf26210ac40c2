import { createRandomXDataset, loadNativeRandomX, type NativeRandomX } from "@anulo/crypto";
import type { DatasetFactory } from "./datasets.ts";
import type { SeedSource } from "./messages.ts";
import type { ProcessSettings } from "./process-settings.ts";

/** A dataset has 2.08 GiB; some memory must remain for other programs. */
const MIN_FREE_BYTES = 3 * 2 ** 30;

/** Makes datasets in separate threads of this process. */
export function createDatasetFactory({ threads, disabledFlags }: ProcessSettings): DatasetFactory {
  let library: Promise<NativeRandomX> | undefined;
  const native = async (): Promise<NativeRandomX> => {
    library ??= loadNativeRandomX({ isChecked: true, disabledFlags }).then((loaded) => {
      if ("missing" in loaded) throw new Error(loaded.missing);
      return loaded;
    });
    return library;
  };
  return {
    async make(cache, options) {
      const free = process.availableMemory();
      if (free < MIN_FREE_BYTES) throw new RangeError(`${free >> 20} MiB of memory are too few`);
      if ("address" in cache) return (await native()).createDataset(cache, { threads, ...options });
      if ("items" in cache) return createRandomXDataset(cache, { threads, ...options });
      throw new TypeError("a dataset is made from a cache");
    },
    async free(dataset: SeedSource) {
      if ("address" in dataset) (await native()).release(dataset);
    },
  };
}
