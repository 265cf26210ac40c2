/** log2 of the number of parts a pruned chain is cut into. Source: cryptonote_config.h `CRYPTONOTE_PRUNING_LOG_STRIPES`. */
const LOG_STRIPES = 3;
const STRIPES = 2 ** LOG_STRIPES;
/** Seed of the first stripe; the others follow. Source: common/pruning.h. */
const FIRST_SEED = LOG_STRIPES << 7;

/** Whether a node may tell this pruning seed: 0 (keeps all), or one stripe of eight. */
export function isPruningSeed(seed: number): boolean {
  return seed === 0 || (seed >= FIRST_SEED && seed < FIRST_SEED + STRIPES);
}

/** The stripe (1 to 8) that a node with this seed keeps; 0: all. */
export function stripeOf(seed: number): number {
  return seed === 0 ? 0 : 1 + (seed & 0x7f);
}
