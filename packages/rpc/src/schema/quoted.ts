import { quote } from "../json.ts";

/** Text with its JSON form, which is made once: for long texts that are sent again and again. */
export class Quoted {
  readonly text: string;
  /** A byte string. */
  readonly json: string;

  constructor(text: string) {
    this.text = text;
    this.json = quote(text);
  }
}

/** Prepares a text. */
export function quoted(text: string): Quoted {
  return new Quoted(text);
}
