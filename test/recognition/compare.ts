/** Holds our transactions against the original's. */
import { feeOfWeight } from "@anulo/protocol";
import type { Sample, Seen } from "./play.ts";
import { kolmogorovSmirnovP, permutationP } from "./two-samples.ts";

export type Comparison = {
  /** Payments whose transactions differ in what must be the same. */
  readonly differing: readonly string[];
  /** For each property that is left to chance, the probability of samples this different. */
  readonly p: Readonly<Record<string, number>>;
};

/** What a wallet decides besides chance, of one payment. */
function decided({ features, transactions, feePerByte }: Seen): string {
  const { form, fee, weight } = features;
  // The fee is that of the weight at the rate the node returned; a byte more where the fee before it took one more.
  const isOfWeight = fee >= feeOfWeight(weight, feePerByte) && fee <= feeOfWeight(weight + 1, feePerByte);
  return `${transactions} transactions, ${form}, fee ${isOfWeight ? "of weight" : "odd"}`;
}

/** Bytes of weight that are paid for and not there. */
const overpaid = ({ features, feePerByte }: Seen): string =>
  `${features.inputs} ${features.outputs} ${Number((features.fee - feeOfWeight(features.weight, feePerByte)) / feePerByte)}`;

export function compareSides(first: Sample, second: Sample): Comparison {
  const [ours, real] = [first.payments, second.payments];
  const differing = ours.flatMap((seen, i) => {
    const [a, b] = [decided(seen), decided(real[i]!)];
    return a === b ? [] : [`payment ${i}:\n  ours ${a}\n  real ${b}`];
  });
  const categories = (look: (seen: Seen) => readonly (string | number | undefined)[]) => {
    const values = (side: readonly Seen[]) =>
      side
        .flatMap(look)
        .filter((value) => value !== undefined)
        .map(String);
    return permutationP(values(ours), values(real));
  };
  const numbers = (look: (seen: Seen) => readonly number[]) =>
    kolmogorovSmirnovP(ours.flatMap(look), real.flatMap(look));
  return {
    differing,
    p: {
      inputs: categories(({ features }) => [features.inputs]),
      overpaid: categories((seen) => [overpaid(seen)]),
      weight: numbers(({ features }) => [features.weight]),
      decoyAges: numbers(({ decoyAges }) => decoyAges),
      realAges: numbers(({ realAges }) => realAges),
      realPlaces: categories(({ realPlaces }) => realPlaces),
      changePlace: categories(({ features, changePlace }) => (features.outputs === 2 ? [changePlace] : [])),
      changePlaceUnsent: permutationP(first.changePlaces.map(String), second.changePlaces.map(String)),
      changePlaceAmongMany: numbers(({ features, changePlace }) =>
        features.outputs > 2 && changePlace !== undefined ? [changePlace / (features.outputs - 1)] : [],
      ),
    },
  };
}
