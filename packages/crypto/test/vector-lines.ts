/** A line of the vector file: words read in order, each exactly once. */
export type VectorLine = {
  number: number;
  kind: string;
  word(): string;
  bytes(): Uint8Array;
  integer(): number;
  flag(): boolean;
  /** Throws unless every word has been read. */
  end(): void;
};

function createLine(text: string, number: number): VectorLine {
  const words = text.split(" ");
  let at = 1;
  const word = (): string => {
    const next = words[at++];
    if (next === undefined) throw new Error(`line ${number} ends early`);
    return next;
  };
  return {
    number,
    kind: words[0]!,
    word,
    bytes: () => fromHex(word()),
    integer() {
      const value = Number(word());
      if (!Number.isSafeInteger(value)) throw new Error(`line ${number}: no integer`);
      return value;
    },
    flag() {
      const text = word();
      if (text !== "true" && text !== "false") throw new Error(`line ${number}: no truth value`);
      return text === "true";
    },
    end() {
      if (at !== words.length) throw new Error(`line ${number}: ${words.length - at} words left over`);
    },
  };
}

/** Bytes of a vector file's hex word, "x" for none. */
function fromHex(text: string): Uint8Array {
  if (text === "x") return new Uint8Array();
  if (!/^([0-9a-f]{2})+$/.test(text)) throw new Error(`no hex: ${text}`);
  return Uint8Array.from(Buffer.from(text, "hex"));
}

export function readVectorLines(text: string): VectorLine[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line, i) => createLine(line, i + 1));
}
