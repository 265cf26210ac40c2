/** The field back-end by itself, for `test/field.test.ts`: limbs at the borders of their bounds reach no other door. */
export { alloc } from "./arena";
export {
  FE, add, addCarry, carry, fromBytes, gather, gatherCross, gatherPair, mul, mulDifference, mulSum, negIf, scatter, select, sq, sqTimes,
  sub, subCarry, swapLanes, toBytes,
} from "./fe";
