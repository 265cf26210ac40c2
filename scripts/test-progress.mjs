// A reporter for node:test: a line for every file that has ended, with how far the run is, and what failed in it. Where
// nothing ends for a while, a line says what runs; a terminal always shows it.
import { relative, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import { root } from "./sources.mjs";

const total = Number(process.env.ANULO_TEST_FILES);
const width = `${total}`.length;

function clock(ms) {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
}

/** Milliseconds without a line after which one says what runs. */
const QUIET_MS = 30_000;

function sourceOf(file) {
  return relative(root, file).replace("/dist/", "/").replace(/\.js$/, ".ts");
}

/** Whether an event is of a file as a whole, which Node.js 20 names by its full path, and later ones by a relative one. */
const isOfFile = (data) => data.file !== undefined && data.nesting === 0 && resolve(data.name) === data.file;

/** The events of a run; undefined wherever none has come for a while. */
async function* withPauses(source) {
  const events = source[Symbol.asyncIterator]();
  for (let next = events.next(); ; ) {
    const waiting = new AbortController();
    const pause = wait(QUIET_MS, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    const event = await Promise.race([next, pause]);
    waiting.abort();
    if (event === undefined) yield undefined;
    else if (event.done) return;
    else {
      yield event.value;
      next = events.next();
    }
  }
}

/** Characters of a file's output that are kept for the case that it fails. */
const MAX_OUTPUT = 4000;

/** What a file that runs has said so far. */
class FileResult {
  failures = [];
  output = "";
  hasEnded = false;
  /** Names of tests and suites that have begun and not ended, by their place in the file. */
  running = new Map();

  print(text) {
    this.output = (this.output + text).slice(-MAX_OUTPUT);
  }

  began({ line, column, name }) {
    this.running.set(`${line}:${column} ${name}`, name);
  }

  ended({ line, column, name }) {
    this.running.delete(`${line}:${column} ${name}`);
  }

  /** What failed; of a file that was stopped also what it was doing. */
  describe({ details: { error } }) {
    const names = [...this.running.values()];
    const standing =
      names.length > 0
        ? `had not ended: ${names.join(", ")}\n`
        : "all tests that began had ended, its process had not\n";
    const isStopped = error?.failureType === "testTimeoutFailure";
    return [...this.failures, isStopped ? standing : "", this.output, "\n"].join("");
  }
}

function describeFailure({ name, details: { error } }) {
  return `${name}\n${inspect(error?.cause ?? error)}\n`;
}

/** Lines of the progress; `source` is the run's stream of events. */
export default async function* progress(source) {
  const began = performance.now();
  const files = new Map();
  const resultOf = (file) => {
    if (!files.has(file)) files.set(file, new FileResult());
    return files.get(file);
  };
  const running = new Map();
  const runs = () =>
    [...running].map(([file, from]) => `${sourceOf(file)} (${clock(performance.now() - from)})`).join(", ");
  const isTerminal = process.stdout.isTTY === true;
  const runLine = () =>
    isTerminal && running.size > 0 ? `  runs: ${runs()}`.slice(0, process.stdout.columns) : "";
  const lineStart = isTerminal ? "\r\u001b[K" : "";
  let ended = 0;
  const closing = [];
  // "test:pass" and "test:fail" wait until the files before are done; "test:complete" is sent at once.
  for await (const event of withPauses(source)) {
    if (event === undefined) {
      if (running.size > 0 && !isTerminal) yield `runs: ${runs()}\n`;
      else yield `${lineStart}${runLine()}`;
      continue;
    }
    const { type, data } = event;
    if (type === "test:dequeue" && isOfFile(data)) running.set(data.file, performance.now());
    else if (type === "test:dequeue" && data.file !== undefined) resultOf(data.file).began(data);
    const isSummary = type === "test:diagnostic" && data.file === undefined;
    if (isSummary && /^[a-z_]+ [\d.]+$/.test(data.message)) closing.push(data.message);
    if (type === "test:stdout" || type === "test:stderr") resultOf(data.file).print(data.message);
    if (type !== "test:complete" || data.file === undefined) continue;
    const result = resultOf(data.file);
    if (!isOfFile(data)) {
      result.ended(data);
      if (data.details.type === "suite" || data.details.passed) continue;
      // The end of a file may be read before the last of its tests.
      if (result.hasEnded) yield describeFailure(data);
      else result.failures.push(describeFailure(data));
      continue;
    }
    result.hasEnded = true;
    running.delete(data.file);
    ended += 1;
    const hasFailed = result.failures.length > 0 || data.details.passed === false;
    const place = `${ended}`.padStart(width);
    const seconds = (data.details.duration_ms / 1000).toFixed(1);
    const name = sourceOf(data.file);
    yield `${lineStart}[${place}/${total}] ${clock(performance.now() - began)} ${hasFailed ? "FAILED" : "ok"} ${name} (${seconds} s)\n`;
    if (hasFailed) yield result.describe(data);
    yield runLine();
    result.failures = [];
    result.output = "";
    result.running.clear();
  }
  // Spelled as in TAP, which reads the same on every version of Node.
  yield lineStart + closing.map((line) => `# ${line}\n`).join("");
}
