/** Takes the place of msgpackr in the bundle: every value of our database is bytes, which lmdb stores as they are. */
export class Encoder {
  constructor() {
    throw new Error("a table without an encoding of its own: the database stores bytes alone");
  }
}
