import { type Chance, createChance } from "../crash/chance.ts";
import type { Release } from "../programs/releases.ts";

/** What happens to a network, one step after the other. */
export type Step =
  /** Nodes of different groups lose each other; `groups` has the group of each node. */
  | { readonly kind: "part"; readonly groups: readonly number[] }
  | { readonly kind: "heal" }
  | { readonly kind: "slow"; readonly link: number; readonly delayMs: number }
  /** Its connections end and come again. */
  | { readonly kind: "drop"; readonly link: number }
  | { readonly kind: "mine"; readonly node: number; readonly blocks: number }
  | { readonly kind: "pay"; readonly node: number; readonly payment: number }
  | { readonly kind: "wait"; readonly ms: number };

export interface Plan {
  /** Who calls whom, by number. */
  readonly links: readonly (readonly [caller: number, called: number])[];
  /** Whose programs: "ours", the release that is installed, or today's. */
  readonly programs: readonly Program[];
  readonly steps: readonly Step[];
}

export type Program = "ours" | Release;

export interface PlanOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Blocks mined while the network is apart, about. */
  readonly blocks: number;
  /** Payments there are to make. */
  readonly payments: number;
  /** How many nodes are originals, where there are any; two of five, if not given. */
  readonly originals?: number | undefined;
  /** Releases of the original that are there. */
  readonly releases: readonly Release[];
}

/** Two of five nodes are originals: 8 of 20. */
const SHARE_OF_ORIGINALS = 0.4;
const CALLS_PER_NODE = 3;
const PARTITIONS = 3;
const MAX_GROUPS = 3;
const MAX_BLOCKS_AT_ONCE = 3;
const MAX_DELAY_MS = 1500;

/** The same options give the same plan. */
export function createPlan(options: PlanOptions): Plan {
  const chance = createChance(`network ${options.seed}`);
  const { nodes } = options;
  return {
    programs: choosePrograms(options, chance),
    links: chooseLinks(nodes, chance),
    steps: [...chooseSteps(options, chance)],
  };
}

function choosePrograms(options: PlanOptions, chance: Chance): Program[] {
  const { nodes, releases, originals: originalCount = Math.ceil(nodes * SHARE_OF_ORIGINALS) } = options;
  const originals = releases.length === 0 ? 0 : originalCount;
  const all: Program[] = Array.from({ length: nodes }, (_, i) =>
    i < originals ? releases[i % releases.length]! : "ours",
  );
  return shuffled(all, chance);
}

function shuffled<T>(items: readonly T[], chance: Chance): T[] {
  const remaining = [...items];
  const shuffledItems: T[] = [];
  while (remaining.length > 0)
    shuffledItems.push(...remaining.splice(chance.between(0, remaining.length - 1), 1));
  return shuffledItems;
}

/** A ring, so that all are connected, and some more. */
function chooseLinks(nodes: number, chance: Chance): [number, number][] {
  const links = new Map<string, [number, number]>();
  const add = (from: number, to: number) => {
    if (from !== to && !links.has(`${to} ${from}`)) links.set(`${from} ${to}`, [from, to]);
  };
  const ring = shuffled(
    Array.from({ length: nodes }, (_, i) => i),
    chance,
  );
  for (let i = 0; i < nodes; i++) add(ring[i]!, ring[(i + 1) % nodes]!);
  for (let i = 0; i < nodes; i++)
    for (let j = 1; j < CALLS_PER_NODE; j++) add(i, chance.between(0, nodes - 1));
  return [...links.values()];
}

function* chooseSteps({ nodes, blocks, payments }: PlanOptions, chance: Chance): Generator<Step> {
  const share = (total: number) => Math.ceil(total / PARTITIONS);
  let nextPayment = 0;
  for (let i = 0; i < PARTITIONS; i++) {
    const groups = chance.between(2, MAX_GROUPS);
    yield { kind: "part", groups: Array.from({ length: nodes }, () => chance.between(0, groups - 1)) };
    for (let mined = 0; mined < share(blocks); ) {
      const count = chance.between(1, MAX_BLOCKS_AT_ONCE);
      mined += count;
      yield { kind: "mine", node: chance.between(0, nodes - 1), blocks: count };
      if (nextPayment < payments) {
        yield { kind: "pay", node: chance.between(0, nodes - 1), payment: nextPayment++ };
      }
      yield { kind: "slow", link: chance.between(0, 10_000), delayMs: chance.between(0, MAX_DELAY_MS) };
      if (chance.happens(0.5)) yield { kind: "drop", link: chance.between(0, 10_000) };
      if (chance.happens(0.3)) yield { kind: "wait", ms: chance.between(100, 1500) };
    }
    yield { kind: "heal" };
    yield { kind: "wait", ms: chance.between(500, 3000) };
  }
}
