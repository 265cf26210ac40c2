/** One event of a stream. Source: HTML Standard, section 9.2, "Server-sent events". */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: string };

/** A stream that holds more than an event may. */
export class StreamTooLong extends Error {}

const MAX_EVENT = 1024 * 1024;

/** Puts events together from text as it comes. */
export class EventReader {
  #rest = "";
  #id = "";
  #event = "";
  #data: string[] = [];
  #length = 0;

  /** The events that are whole with this text; throws StreamTooLong. */
  push(text: string): ServerEvent[] {
    // A carriage return at the end may be half of a line's end.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    if (this.#rest.length > MAX_EVENT) throw new StreamTooLong("a line is too long");
    return lines.map((line) => this.#line(line)).filter((event) => event !== undefined);
  }

  #line(line: string): ServerEvent | undefined {
    if (line === "") return this.#end();
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "event") this.#event = value;
    else if (name === "data") {
      // Lines are joined by a line end, and an empty one takes memory too.
      this.#length += value.length + 1;
      if (this.#length > MAX_EVENT) throw new StreamTooLong("an event is too long");
      this.#data.push(value);
    }
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const event = { id: this.#id, event: this.#event, data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.#length = 0;
    return isEmpty ? undefined : event;
  }
}
