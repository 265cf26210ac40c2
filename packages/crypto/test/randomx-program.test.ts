import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { test } from "node:test";
import { createMachine, fixedModule, placeConstants } from "../src/randomx/fixed.ts";
import { NAMES } from "../src/randomx/instructions.ts";
import { createSharedMemory, SCRATCHPAD_BYTES } from "../src/randomx/memory.ts";
import { constantRegisters, writeProgramModule } from "../src/randomx/program-module.ts";
import { programBytes, VERSIONS, type VersionParameters } from "../src/randomx/versions.ts";
import { executeProgram, type ProgramState } from "../src/reference/randomx.ts";

const machine = createMachine({ memory: createSharedMemory(0), fixedPart: fixedModule() });
placeConstants(machine);
const { bytes, slot } = machine;
const memory = new DataView(bytes.buffer);

/** Stands for the dataset: eight words that depend on the number alone. */
const itemOf = (number: bigint): bigint[] =>
  Array.from({ length: 8 }, (_, i) => BigInt.asUintN(64, (number + BigInt(i)) * 0x9e3779b97f4a7c15n));

function pair(out: number, ...numbers: bigint[]): void {
  const words = numbers.flatMap(itemOf);
  words.forEach((word, i) => void memory.setBigUint64(out + 8 * i, word, true));
}

type Start = {
  parameters: VersionParameters;
  program: Uint8Array;
  scratchpad: Uint8Array;
  rounding: number;
};

const randomStart = (program: Uint8Array, parameters: VersionParameters): Start => ({
  parameters,
  program,
  scratchpad: randomBytes(SCRATCHPAD_BYTES),
  rounding: randomInt(4),
});

/** What the compiled program leaves: registers, rounding mode, scratchpad. */
function runCompiled({ parameters, program, scratchpad, rounding }: Start, iterations: number): Uint8Array[] {
  bytes.set(scratchpad, slot.scratchpad);
  bytes.set(constantRegisters(program), slot.registers + 192);
  memory.setUint32(slot.rounding, rounding, true);
  const code = writeProgramModule(program, { parameters, slot, rounding, isFull: false, iterations });
  const imports = { env: { memory: machine.memory }, fixed: machine.exports, dataset: { pair } };
  (new WebAssembly.Instance(new WebAssembly.Module(code), imports).exports.run as () => void)();
  return [
    bytes.slice(slot.registers, slot.registers + 192),
    bytes.slice(slot.rounding, slot.rounding + 4),
    bytes.slice(slot.scratchpad, slot.scratchpad + SCRATCHPAD_BYTES),
  ];
}

/** The same of the readable twin. */
function runReference(
  { parameters, program, scratchpad, rounding }: Start,
  iterations: number,
): Uint8Array[] {
  const constants = constantRegisters(program);
  const doubles = new DataView(constants.buffer);
  const pairs = (values: (i: number) => number): [number, number][] =>
    Array.from({ length: 4 }, (_, i) => [values(2 * i), values(2 * i + 1)]);
  const left = Uint8Array.from(scratchpad);
  const state: ProgramState = {
    scratchpad: new DataView(left.buffer),
    rounding,
    r: new Array<bigint>(8).fill(0n),
    f: pairs(() => 0),
    e: pairs(() => 0),
    a: pairs((i) => doubles.getFloat64(8 * i, true)),
  };
  const { f, e } = executeProgram(program, state, { parameters, iterations, itemOf });
  const registers = new Uint8Array(BigUint64Array.of(...state.r, ...f, ...e).buffer);
  return [registers, Uint8Array.of(state.rounding, 0, 0, 0), left];
}

function compare(program: Uint8Array, parameters: VersionParameters, iterations: number): void {
  const start = randomStart(program, parameters);
  const [registers, rounding, scratchpad] = runCompiled(start, iterations);
  const [wantedRegisters, wantedRounding, wantedScratchpad] = runReference(start, iterations);
  const note = `program ${Buffer.from(program).toString("hex")}`;
  assert.deepEqual(registers, wantedRegisters, note);
  assert.deepEqual(rounding, wantedRounding, note);
  assert.equal(Buffer.compare(scratchpad!, wantedScratchpad!), 0, `scratchpad, ${note}`);
}

/** A random program in which about half of the instructions are of one kind. */
function programOf(name: (typeof NAMES)[number], parameters: VersionParameters): Uint8Array {
  const program = randomBytes(programBytes(parameters));
  const opcode = NAMES.indexOf(name);
  for (let at = 128; at < program.length; at += 8) if (randomInt(2)) program[at] = opcode;
  return program;
}

/** Divisors about those of which IMUL_RCP multiplies by nothing: zero and the powers of two. */
const constants = [0, 1, 2, 3, 4, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff];

/** A program of such divisions with branches between them, which may jump back to behind a register's last change. */
function specialProgram(parameters: VersionParameters): Uint8Array {
  const program = randomBytes(programBytes(parameters));
  const words = new DataView(program.buffer, program.byteOffset, program.length);
  for (let at = 128; at < program.length; at += 8) {
    program[at] = NAMES.indexOf(randomInt(4) === 0 ? "CBRANCH" : "IMUL_RCP");
    if (NAMES[program[at]!] === "IMUL_RCP")
      words.setUint32(at + 4, constants[randomInt(constants.length)]!, true);
  }
  return program;
}

for (const [version, parameters] of Object.entries(VERSIONS)) {
  test(`IMUL_RCP does what the readable twin does with divisors that change nothing, version ${version}`, () => {
    for (let i = 0; i < 5; i++) compare(specialProgram(parameters), parameters, 8);
  });

  for (const name of new Set(NAMES)) {
    test(`${name} does what the readable twin does, version ${version}`, () => {
      for (let i = 0; i < 3; i++) compare(programOf(name, parameters), parameters, 8);
    });
  }

  test(`random programs do what the readable twin does, version ${version}`, () => {
    const count = process.env.ANULO_TESTS === "quick" ? 5 : 50;
    for (let i = 0; i < count; i++) compare(randomBytes(programBytes(parameters)), parameters, 32);
  });
}
