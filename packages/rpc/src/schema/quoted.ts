import { quote } from "../json.ts";

/** Text with its JSON form, which is computed once: for long texts that are sent again and again. */
export class Quoted {
  readonly text: string;
  /** JSON as a byte string (each character is one byte). */
  readonly json: string;

  constructor(text: string) {
    this.text = text;
    this.json = quote(text);
  }
}

/** Computes the JSON form of a text. */
export function quoted(text: string): Quoted {
  return new Quoted(text);
}
