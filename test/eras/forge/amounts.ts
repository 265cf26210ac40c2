/** How amounts are paid that rings of some size cannot hide, because there are so few of them. */
export const rarities = new Map([
  [3_000_000_000_000n, 1],
  [2_000_000_000_000n, 3],
  [1_000_000_000_000n, 6],
  [800_000_000_000n, 9],
  [400_000_000_000n, 13],
]);

/** Amounts of which there is one output, locked to a time and to a height. */
export const lockedToTime = 600_000_000_000n;
export const lockedToHeight = 700_000_000_000n;
