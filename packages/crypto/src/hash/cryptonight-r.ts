/** CryptoNight-R: each height has a random program, here written out as WebAssembly. Source: variant4_random_math.h. */
import { createCode, emit, emitSigned, emitUnsigned, I32, writeModule } from "../wasm/module-writer.ts";
import { blake256 } from "./blake256.ts";

type Operation = "multiply" | "add" | "subtract" | "rotateRight" | "rotateLeft" | "xor";

/** `target` is a register 0–3, `source` 0–8; `constant` (32 bits) is used by `add` alone. */
type Instruction = {
  readonly operation: Operation;
  readonly target: number;
  readonly source: number;
  readonly constant: number;
};

/** The model of a processor for which programs are balanced: three units, of which the first alone multiplies. */
const LATENCY = { multiply: 3, add: 2, subtract: 1, rotateRight: 2, rotateLeft: 2, xor: 1 } as const;
const UNITS = 3;
/** Cycles that every register's chain shall take. */
const TOTAL_LATENCY = 45;
const MIN_INSTRUCTIONS = 60;
const MAX_INSTRUCTIONS = 70;
/** A register is not left alone for longer, in cycles. */
const MAX_IDLE = 7;
const MAX_TRIES = 256;
const MAX_FAILURES = 64;
/** The register that every program must use, and that stands in for a source equal to the target. */
const LAST_REGISTER = 8;

/** Random bytes of a height: 32 at a time, each the BLAKE-256 of those before. */
function createByteSource(height: number): { byte(): number; word(): number } {
  let block: Uint8Array = new Uint8Array(32);
  new DataView(block.buffer).setBigUint64(0, BigInt(height), true);
  block[20] = 0xda;
  let at = block.length;
  const need = (count: number): void => {
    if (at + count <= block.length) return;
    block = blake256(block);
    at = 0;
  };
  return {
    byte() {
      need(1);
      return block[at++]!;
    },
    word() {
      need(4);
      at += 4;
      return new DataView(block.buffer, block.byteOffset).getUint32(at - 4, true);
    },
  };
}

type ByteSource = ReturnType<typeof createByteSource>;

/** What is known of the program so far. */
type Draft = {
  readonly program: Instruction[];
  /** Cycle at which each register is ready, on the model and on one with unlimited units. */
  readonly ready: number[];
  readonly idealReady: number[];
  /** `busy[cycle][unit]`. */
  readonly busy: boolean[][];
  readonly rotated: boolean[];
  rotations: number;
  /** Names the value in each register; constants all count as one. */
  readonly value: number[];
  /** Operation and source value that made each register's value. */
  readonly origin: string[];
};

const createDraft = (): Draft => ({
  program: [],
  ready: new Array(9).fill(0),
  idealReady: new Array(9).fill(0),
  busy: Array.from({ length: TOTAL_LATENCY + 1 }, () => new Array<boolean>(UNITS).fill(false)),
  rotated: [false, false, false, false],
  rotations: 0,
  value: [0, 1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff],
  origin: new Array(9).fill("multiply 0"),
});

const isRotation = (operation: Operation): boolean =>
  operation === "rotateRight" || operation === "rotateLeft";

function drawOperation(random: ByteSource, bits: number): Operation {
  if (bits <= 2) return "multiply";
  if (bits === 3) return "add";
  if (bits === 4) return "subtract";
  if (bits === 5) return random.byte() < 0x80 ? "rotateRight" : "rotateLeft";
  return "xor";
}

/** Three bits of operation, two of target, three of source. */
function drawInstruction(random: ByteSource): Instruction {
  const byte = random.byte();
  const operation = drawOperation(random, byte & 7);
  const target = (byte >> 3) & 3;
  const source = byte >> 5;
  const cancels = operation === "add" || operation === "subtract" || operation === "xor";
  return { operation, target, source: cancels && source === target ? LAST_REGISTER : source, constant: 0 };
}

/** Whether the instruction could be merged with the one before it on the same register. */
function isRedundant({ operation, target, source }: Instruction, draft: Draft): boolean {
  if (isRotation(operation) && draft.rotated[target]) return true;
  return operation !== "multiply" && draft.origin[target] === `${operation} ${draft.value[source]}`;
}

/** The unit that can begin the instruction at `cycle`, or -1. */
function freeUnit(operation: Operation, cycle: number, draft: Draft): number {
  for (let unit = operation === "multiply" ? 0 : UNITS - 1; unit >= 0; unit--) {
    if (draft.busy[cycle]![unit]) continue;
    if (operation === "add" && draft.busy[cycle + 1]![unit]) continue;
    if (isRotation(operation) && cycle < draft.rotations * LATENCY[operation]) continue;
    return unit;
  }
  return -1;
}

type Slot = { readonly cycle: number; readonly unit: number };

/** The first cycle at which both registers and a unit are there. */
function findSlot({ operation, target, source }: Instruction, draft: Draft): Slot {
  let cycle = Math.max(draft.ready[target]!, draft.ready[source]!);
  for (; cycle < TOTAL_LATENCY; cycle++) {
    const unit = freeUnit(operation, cycle, draft);
    if (unit >= 0) return { cycle, unit };
  }
  return { cycle, unit: -1 };
}

function append(draft: Draft, instruction: Instruction, { cycle, unit }: Slot): void {
  const { operation, target, source } = instruction;
  if (isRotation(operation)) draft.rotations++;
  draft.busy[cycle]![unit] = true;
  if (operation === "add") draft.busy[cycle + 1]![unit] = true;
  draft.ready[target] = cycle + LATENCY[operation];
  const ideal = Math.max(draft.idealReady[target]!, draft.idealReady[source]!);
  draft.idealReady[target] = ideal + (operation === "multiply" ? 3 : 1);
  draft.rotated[target] = isRotation(operation);
  draft.origin[target] = `${operation} ${draft.value[source]}`;
  draft.value[target] = draft.program.length;
  draft.program.push(instruction);
}

/** Draws instructions until every register's chain is long enough, or enough has been tried. */
function fillDraft(draft: Draft, random: ByteSource): void {
  let failures = 0;
  for (let tries = 0; tries < MAX_TRIES && failures < MAX_FAILURES; tries++) {
    if (draft.ready.slice(0, 4).every((cycle) => cycle >= TOTAL_LATENCY)) return;
    const instruction = drawInstruction(random);
    if (isRedundant(instruction, draft)) continue;
    const slot = findSlot(instruction, draft);
    if (slot.cycle > draft.ready[instruction.target]! + MAX_IDLE) continue;
    if (slot.cycle + LATENCY[instruction.operation] > TOTAL_LATENCY) {
      failures++;
      continue;
    }
    const constant = instruction.operation === "add" ? random.word() : 0;
    append(draft, { ...instruction, constant }, slot);
    if (draft.program.length >= MIN_INSTRUCTIONS) return;
  }
}

/** Lengthens one chain for processors with unlimited units: rotate, multiply, multiply, again and again. */
function lengthen({ program, idealReady }: Draft): void {
  const pattern = ["rotateRight", "multiply", "multiply"] as const;
  const chains = (): number[] => idealReady.slice(0, 4);
  for (let i = 0; program.length < MAX_INSTRUCTIONS && Math.max(...chains()) < TOTAL_LATENCY; i++) {
    const target = chains().indexOf(Math.min(...chains()));
    const source = chains().indexOf(Math.max(...chains()));
    const operation = pattern[i % pattern.length]!;
    idealReady[target] = idealReady[source]! + (operation === "multiply" ? 3 : 1);
    program.push({ operation, target, source, constant: 0 });
  }
}

/** The 60 to 70 instructions of a block height. */
export function programOfHeight(height: number): Instruction[] {
  const random = createByteSource(height);
  for (;;) {
    const draft = createDraft();
    fillDraft(draft, random);
    const usesLast = draft.program.some(({ source }) => source === LAST_REGISTER);
    lengthen(draft);
    if (usesLast && draft.program.length >= MIN_INSTRUCTIONS) return draft.program;
  }
}

const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const I32_CONST = 0x41;
const I32_LOAD = 0x28;
const I32_STORE = 0x36;
const OPCODE = { multiply: 0x6c, add: 0x6a, subtract: 0x6b, rotateRight: 0x78, rotateLeft: 0x77, xor: 0x73 };

/** A module whose `run` executes the height's program on nine 32-bit registers at `registers` in `env.memory`. */
export function moduleOfHeight(height: number, registers: number): Uint8Array {
  const body = createCode();
  for (let i = 0; i <= LAST_REGISTER; i++) {
    emit(body, I32_CONST, 0, I32_LOAD, 2);
    emitUnsigned(body, registers + 4 * i);
    emit(body, LOCAL_SET, i);
  }
  for (const { operation, target, source, constant } of programOfHeight(height)) {
    emit(body, LOCAL_GET, target, LOCAL_GET, source, OPCODE[operation]);
    if (operation === "add") {
      emit(body, I32_CONST);
      emitSigned(body, constant);
      emit(body, OPCODE.add);
    }
    emit(body, LOCAL_SET, target);
  }
  for (let i = 0; i < 4; i++) {
    emit(body, I32_CONST, 0, LOCAL_GET, i, I32_STORE, 2);
    emitUnsigned(body, registers + 4 * i);
  }
  const run = { name: "run", parameters: [], results: [], locals: [[9, I32]] as const, body };
  return writeModule({ imports: [], functions: [run] });
}
