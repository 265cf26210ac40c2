import type { Difference } from "./compare.ts";
import type { GoldenAnswer, GoldenGroup, GoldenStep } from "./recording.ts";

export type Context = {
  readonly step: GoldenStep;
  readonly method: string;
  readonly group: GoldenGroup;
  /** Undefined: the original programs, which have no intended difference. */
  readonly dialect: "contract" | "upstream" | undefined;
};

/** Paths whose values are random too, though three recordings happened to agree. */
const alsoVolatile: readonly { readonly id: RegExp; readonly paths: readonly string[] }[] = [
  {
    // A wallet may have refreshed by itself before it is told not to.
    id: /^refresh:set-up/,
    paths: [".json.result.blocks_fetched", ".json.result.received_money"],
  },
  {
    // The original sweeps one address, chosen at random.
    id: /^sweep_all:subaddr_indices is (null|negative)$/,
    paths: [".json.result.amount_list[]", ".json.result.spent_key_images_list[].key_images[]"],
  },
];

/** The answer a step must get in this dialect, with the paths whose values may differ. */
export function demandedAnswer({ step }: Context): { answer: GoldenAnswer; volatile: readonly string[] } {
  const also = alsoVolatile.filter(({ id }) => id.test(step.id)).flatMap(({ paths }) => paths);
  return { answer: step.answer, volatile: [...(step.volatile ?? []), ...also] };
}

/** Is this difference from the demanded answer one we want? */
export function isIntended(_context: Context, _difference: Difference): boolean {
  return false;
}
