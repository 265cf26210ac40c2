/**
 * The generator of SuperscalarHash programs: instructions are drawn to fit the decoder and the ports of a model
 * processor. Source: RandomX specification, chapter 6; the order of draws from superscalar.cpp (Copyright (c)
 * 2018-2019 tevador, BSD 3-clause), which the specification leaves open.
 */
import { isZeroOrPowerOfTwo } from "./reciprocal.ts";

export type SuperscalarOperation =
  | "subtract"
  | "xor"
  | "addShifted"
  | "multiply"
  | "rotateConstant"
  | "addConstant"
  | "xorConstant"
  | "multiplyHigh"
  | "multiplyHighSigned"
  | "multiplyReciprocal";

export type SuperscalarInstruction = {
  readonly operation: SuperscalarOperation;
  readonly target: number;
  /** The target where the operation has no source. */
  readonly source: number;
  /** A byte; bits 2 and 3 are the shift of `addShifted`. */
  readonly mod: number;
  /** 32 bits, without sign. */
  readonly constant: number;
  /** Bytes of code that it takes in the model processor. */
  readonly size: number;
};

/** `addressRegister` (0–7) has the longest chain: it chooses the next cache line. */
export type SuperscalarProgram = {
  readonly instructions: readonly SuperscalarInstruction[];
  readonly addressRegister: number;
};

/** Random bytes for the generator. */
export type SuperscalarRandom = { byte(): number; word(): number };

const LATENCY = 170;
const MAX_INSTRUCTIONS = 3 * LATENCY + 2;
const CYCLES = LATENCY + 4;
const LOOK_FORWARD = 4;
const MAX_DISCARDED = 256;
/** r5 cannot be the target of an addition with shift. */
const NEVER_SHIFT_TARGET = 5;

/** Execution ports as bits, and the order in which a free one is sought. */
const P0 = 1;
const P1 = 2;
const P5 = 4;
const PORT_ORDER = [P5, P0, P1] as const;

/** One decoded operation: its ports (two sets: both at once; none: no execution), and its cycles. */
type MacroOp = { readonly ports: readonly number[]; readonly latency: number; readonly dependent?: true };

const MOVE: MacroOp = { ports: [], latency: 0 };
const ANY: MacroOp = { ports: [P0 | P1 | P5], latency: 1 };
const WIDE: MacroOp = { ports: [P1, P5], latency: 4 };
const PRODUCT: MacroOp = { ports: [P1], latency: 3 };

/** Indices among `ops` at which source and target are chosen and the result is written; -1: no source. */
type Shape = {
  readonly ops: readonly MacroOp[];
  readonly sourceAt: number;
  readonly targetAt: number;
  readonly resultAt: number;
};

const single = (op: MacroOp, sourceAt = 0): Shape => ({ ops: [op], sourceAt, targetAt: 0, resultAt: 0 });
const wide: Shape = { ops: [MOVE, WIDE, MOVE], sourceAt: 1, targetAt: 0, resultAt: 1 };

const SHAPES: Readonly<Record<SuperscalarOperation, Shape>> = {
  subtract: single(ANY),
  xor: single(ANY),
  addShifted: single({ ports: [P0 | P1], latency: 1 }),
  multiply: single(PRODUCT),
  rotateConstant: single({ ports: [P0 | P5], latency: 1 }, -1),
  addConstant: single(ANY, -1),
  xorConstant: single(ANY, -1),
  multiplyHigh: wide,
  multiplyHighSigned: wide,
  multiplyReciprocal: {
    ops: [ANY, { ...PRODUCT, dependent: true }],
    sourceAt: -1,
    targetAt: 1,
    resultAt: 1,
  },
};

/** How 16 bytes of code are cut into instructions. */
const GROUPS = [
  [4, 8, 4],
  [7, 3, 3, 3],
  [3, 7, 3, 3],
  [4, 9, 3],
  [4, 4, 4, 4],
  [3, 3, 10],
] as const;

/** An instruction being built. */
type Draft = {
  readonly operation: SuperscalarOperation;
  readonly mod: number;
  readonly constant: number;
  readonly size: number;
  /** Operations of one group and parameter may not follow each other on a register. */
  readonly group: SuperscalarOperation;
  parameter: number;
  source: number;
  target: number;
};

type Register = { ready: number; group: SuperscalarOperation | undefined; parameter: number };

type Simulation = {
  readonly random: SuperscalarRandom;
  readonly busy: Uint8Array[];
  readonly registers: Register[];
  readonly instructions: SuperscalarInstruction[];
  current: Draft | undefined;
  /** The next macro-op of the current instruction. */
  nextOp: number;
  cycle: number;
  dependency: number;
  discarded: number;
  multiplications: number;
  saturated: boolean;
};

const isMultiplication = (operation: SuperscalarOperation): boolean => operation.startsWith("multiply");

function drawConstant(random: SuperscalarRandom, operation: SuperscalarOperation): number {
  if (operation === "addConstant" || operation === "xorConstant") return random.word();
  if (operation !== "rotateConstant" && operation !== "multiplyReciprocal") return 0;
  for (;;) {
    const value = operation === "rotateConstant" ? random.byte() & 63 : random.word();
    if (operation === "rotateConstant" ? value !== 0 : !isZeroOrPowerOfTwo(value)) return value;
  }
}

function createDraft(random: SuperscalarRandom, operation: SuperscalarOperation, size: number): Draft {
  const mod = operation === "addShifted" ? random.byte() : 0;
  const constant = drawConstant(random, operation);
  const parameter = SHAPES[operation] === wide ? random.word() : -1;
  const group = operation === "subtract" ? "addShifted" : operation;
  return { operation, mod, constant, size, group, parameter, source: -1, target: -1 };
}

/** An operation whose first macro-op fills a slot of that many bytes. */
function drawOperation(
  random: SuperscalarRandom,
  size: number,
  place: { group: number; isLast: boolean },
): SuperscalarOperation {
  const pick = (...choices: SuperscalarOperation[]): SuperscalarOperation =>
    choices[random.byte() & (choices.length - 1)]!;
  if (size === 3 && place.isLast) return pick("subtract", "xor", "multiplyHigh", "multiplyHighSigned");
  if (size === 3) return pick("subtract", "xor");
  if (size === 4 && place.group === 4 && !place.isLast) return "multiply";
  if (size === 4) return pick("rotateConstant", "addShifted");
  return size === 10 ? "multiplyReciprocal" : pick("xorConstant", "addConstant");
}

function chooseGroup({ current, multiplications, random }: Simulation, decodeCycle: number): number {
  if (current && SHAPES[current.operation] === wide) return 5;
  if (multiplications <= decodeCycle) return 4;
  if (current?.operation === "multiplyReciprocal") return random.byte() & 1 ? 0 : 3;
  return random.byte() & 3;
}

/** The first cycle from `cycle` on with a free port of the set, and that port; undefined past the end. */
function freePort(busy: readonly Uint8Array[], ports: number, from: number): [number, number] | undefined {
  for (let cycle = from; cycle < CYCLES; cycle++) {
    const port = PORT_ORDER.find((candidate) => (ports & candidate) !== 0 && !busy[cycle]![candidate]);
    if (port !== undefined) return [cycle, port];
  }
  return undefined;
}

/** The first cycle at which the macro-op can execute, or -1; with `commit` its ports are reserved. */
function schedule({ busy }: Simulation, op: MacroOp, from: number, commit: boolean): number {
  if (op.ports.length === 0) return from;
  for (let cycle = from; cycle < CYCLES; cycle++) {
    const places = op.ports.map((ports) => freePort(busy, ports, cycle));
    const first = places[0];
    if (first === undefined) return -1;
    if (places.some((place) => place === undefined || place[0] !== first[0])) continue;
    if (commit) for (const place of places) busy[place![0]]![place![1]] = 1;
    return first[0];
  }
  return -1;
}

function pickRegister(random: SuperscalarRandom, available: readonly number[]): number {
  if (available.length <= 1) return available[0] ?? -1;
  return available[random.word() % available.length]!;
}

const indicesWhere = (registers: readonly Register[], isFit: (register: Register, i: number) => boolean) =>
  registers.flatMap((register, i) => (isFit(register, i) ? [i] : []));

/** Chooses a source that is ready; false when there is none. */
function selectSource({ registers, random }: Simulation, draft: Draft, cycle: number): boolean {
  const ready = indicesWhere(registers, (register) => register.ready <= cycle);
  const forced = ready.length === 2 && draft.operation === "addShifted" && ready.includes(NEVER_SHIFT_TARGET);
  draft.source = forced ? NEVER_SHIFT_TARGET : pickRegister(random, ready);
  if (draft.source < 0) return false;
  if (SHAPES[draft.operation] !== wide) draft.parameter = draft.source;
  return true;
}

/** Chooses a target that is ready and on which the operation is no waste; false when there is none. */
function selectTarget(simulation: Simulation, draft: Draft, cycle: number): boolean {
  const mayChain = simulation.discarded > 0 || draft.group !== "multiply";
  const fit = indicesWhere(simulation.registers, (register, i) => {
    if (register.ready > cycle) return false;
    if (i === draft.source && SHAPES[draft.operation] !== wide) return false;
    if (!mayChain && register.group === "multiply") return false;
    if (register.group === draft.group && register.parameter === draft.parameter) return false;
    return draft.operation !== "addShifted" || i !== NEVER_SHIFT_TARGET;
  });
  draft.target = pickRegister(simulation.random, fit);
  return draft.target >= 0;
}

/** Waits up to four cycles for a register; the cycles waited, four meaning in vain. */
function waitFor(simulation: Simulation, from: number, select: (cycle: number) => boolean): number {
  let waited = 0;
  while (waited < LOOK_FORWARD && !select(from + waited)) {
    waited++;
    simulation.cycle++;
  }
  return waited;
}

type Outcome = "issued" | "discarded" | "stopped";

/** No register is ready: another instruction is tried, or the group is abandoned. */
function discard(simulation: Simulation): Outcome {
  if (simulation.discarded < MAX_DISCARDED) {
    simulation.discarded++;
    simulation.nextOp = Number.POSITIVE_INFINITY;
    return "discarded";
  }
  simulation.current = undefined;
  return "stopped";
}

/** Gives the next macro-op its cycle, ports and registers. */
function issue(simulation: Simulation, draft: Draft): Outcome {
  const { ops, sourceAt, targetAt, resultAt } = SHAPES[draft.operation];
  const op = ops[simulation.nextOp]!;
  const from = op.dependent ? Math.max(simulation.cycle, simulation.dependency) : simulation.cycle;
  let cycle = schedule(simulation, op, from, false);
  if (cycle < 0) return saturate(simulation);
  if (simulation.nextOp === sourceAt) {
    const waited = waitFor(simulation, cycle, (at) => selectSource(simulation, draft, at));
    if (waited === LOOK_FORWARD) return discard(simulation);
    cycle += waited;
  }
  if (simulation.nextOp === targetAt) {
    const waited = waitFor(simulation, cycle, (at) => selectTarget(simulation, draft, at));
    if (waited === LOOK_FORWARD) return discard(simulation);
    cycle += waited;
  }
  simulation.discarded = 0;
  cycle = schedule(simulation, op, cycle, true);
  if (cycle < 0) return saturate(simulation);
  simulation.dependency = cycle + op.latency;
  if (simulation.nextOp === resultAt)
    simulation.registers[draft.target] = {
      ready: simulation.dependency,
      group: draft.group,
      parameter: draft.parameter,
    };
  if (cycle >= LATENCY) simulation.saturated = true;
  return "issued";
}

function saturate(simulation: Simulation): Outcome {
  simulation.saturated = true;
  return "stopped";
}

function finish(simulation: Simulation, draft: Draft): void {
  const { operation, target, mod, constant, size } = draft;
  const source = draft.source < 0 ? target : draft.source;
  simulation.instructions.push({ operation, target, source, mod, constant, size });
  if (isMultiplication(operation)) simulation.multiplications++;
}

const opsOf = ({ current }: Simulation): number => (current ? SHAPES[current.operation].ops.length : 0);

/** Fills the slots of one decoder group. */
function decode(simulation: Simulation, group: number): void {
  const sizes = GROUPS[group]!;
  for (let slot = 0; slot < sizes.length; ) {
    const top = simulation.cycle;
    if (simulation.nextOp >= opsOf(simulation)) {
      if (simulation.saturated || simulation.instructions.length >= MAX_INSTRUCTIONS) return;
      const place = { group, isLast: slot === sizes.length - 1 };
      const size = sizes[slot]!;
      const operation = drawOperation(simulation.random, size, place);
      simulation.current = createDraft(simulation.random, operation, size);
      simulation.nextOp = 0;
    }
    const draft = simulation.current!;
    const outcome = issue(simulation, draft);
    if (outcome === "stopped") return;
    if (outcome === "discarded") continue; // the cycles waited are lost
    simulation.cycle = top;
    slot++;
    if (++simulation.nextOp >= opsOf(simulation)) finish(simulation, draft);
  }
}

/** The register with the longest chain if every operation took one cycle. */
function longestChain(instructions: readonly SuperscalarInstruction[]): number {
  const chains = new Array<number>(8).fill(0);
  for (const { source, target } of instructions)
    chains[target] = Math.max(chains[target]! + 1, source === target ? 0 : chains[source]! + 1);
  return chains.indexOf(Math.max(...chains));
}

/** The next program from the random source. */
export function generateSuperscalar(random: SuperscalarRandom): SuperscalarProgram {
  const simulation: Simulation = {
    random,
    busy: Array.from({ length: CYCLES }, () => new Uint8Array(8)),
    registers: Array.from({ length: 8 }, () => ({ ready: 0, group: undefined, parameter: -1 })),
    instructions: [],
    current: undefined,
    nextOp: 0,
    cycle: 0,
    dependency: 0,
    discarded: 0,
    multiplications: 0,
    saturated: false,
  };
  for (let i = 0; i < LATENCY && !simulation.saturated; i++) {
    if (simulation.instructions.length >= MAX_INSTRUCTIONS) break;
    decode(simulation, chooseGroup(simulation, i));
    simulation.cycle++;
  }
  const { instructions } = simulation;
  return { instructions, addressRegister: longestChain(instructions) };
}
