import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { CallFailed, call, type Exact, isExactObject, parseExact, post } from "@anulo/devnet";
import type { RawAnswer } from "../http/connection.ts";
import type { Maker } from "../programs/servers.ts";
import { BlockedServers } from "./blocked-servers.ts";
import { type Ending, startCast } from "./cast.ts";
import { compareValues, type Difference } from "./compare.ts";
import type { Context } from "./context.ts";
import { type Demanded, demandedAnswer } from "./demanded.ts";
import { laxJson } from "./lax-json.ts";
import { calledBy, type GoldenAnswer, type GoldenStep, type Recording } from "./recording.ts";
import type { StepResult } from "./result.ts";
import { sendStep } from "./send.ts";
import { Translation } from "./translation.ts";

/** Code of the error with which our services answer what they declare but do not do yet. */
const notImplementedCode = -32000;

/** The original programs take minutes for some of what they were asked; ours begin to where the machine has other work. */
const patienceMsOf = { real: 300_000, ours: 120_000 } as const;

/** A service that leaves so many steps without answer hangs: the rest would only take time. */
const maxSilences = 3;

/** Where the node listened while the wallet services were recorded. */
const recordedDaemons = { "0.18.0": "127.0.0.1:29100", "0.18.5": "127.0.0.1:31100" } as const;

/** Replays a recording step by step against the programs of `maker` and compares every answer. */
export async function replay(
  recording: Recording,
  maker: Maker,
  isSelected: (step: GoldenStep) => boolean = () => true,
): Promise<StepResult[]> {
  const cast = await startCast(maker, recording);
  const translation = new Translation();
  translation.set(recordedDaemons[recording.release], `127.0.0.1:${cast.daemonPort}`);
  const blocked = new BlockedServers(recording.group);
  const results: StepResult[] = [];
  let silences = 0;
  const patienceMs = patienceMsOf[maker.kind];
  try {
    for (const step of recording.steps) {
      if (step.crashed && maker.kind === "real") {
        results.push({ ...emptyResult(step), outcome: "notSent" });
        continue;
      }
      checkEnding(await cast.revive(step.to), results.at(-1));
      const context = contextOf(step, maker, recording);
      const raw = await sendStep(step, { url: cast.url(step.to), translation, patienceMs }).catch(noAnswer);
      if (raw.http < 0 && ++silences === maxSilences) throw new Error(`${step.to}: ${raw.reason}, again`);
      const demanded = demandedAnswer(context);
      learn(demanded, jsonOf(raw, demanded.answer), translation);
      results.push(blocked.excuse(judge({ context, raw, demanded, translation })));
      if (isLeftToItself(step)) await untilScanned(cast.url(step.to), cast.url("node"));
    }
  } catch (error) {
    await cast.stop();
    throw error;
  }
  for (const ending of await cast.stop()) checkEnding(ending);
  return results.filter(({ step }) => isSelected(step));
}

const mayEnd = /^(\/stop_daemon|stop_wallet)/;

/** Throws if a program ended that was not stopped, or ended with an error. */
function checkEnding(ending: Ending | undefined, last?: StepResult): void {
  if (ending === undefined || (ending.code === 0 && (last === undefined || mayEnd.test(last.step.id))))
    return;
  const { name, code, output } = ending;
  throw new Error(
    `${name} ended with ${code} after ${last?.step.id ?? "all steps"}:\n${output.slice(-4000)}`,
  );
}

/** A service that refuses to refresh on request was recorded after it had done so by itself. */
function isLeftToItself({ id, answer }: GoldenStep): boolean {
  return id.startsWith("refresh:set-up") && isExactObject(answer.json) && answer.json.error !== undefined;
}

async function untilScanned(walletUrl: string, nodeUrl: string): Promise<void> {
  const { height: target } = await post(`${nodeUrl}/get_height`);
  for (let tries = 0; tries < 300; tries++) {
    const height = await heightOf(walletUrl);
    if (height === target || height === undefined) return;
    await delay(100);
  }
  throw new Error("the wallet service did not refresh by itself");
}

/** Height of the open wallet; undefined where none is, since a restricted service opens none. */
async function heightOf(walletUrl: string): Promise<Exact | undefined> {
  try {
    return (await call(walletUrl, "get_height")).height;
  } catch (error) {
    if (error instanceof CallFailed) return undefined;
    throw error;
  }
}

/** Silence is an answer that agrees with none. */
function noAnswer(error: unknown): RawAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  return { http: -1, reason, headers: {}, body: Buffer.alloc(0) };
}

function emptyResult(step: GoldenStep): Omit<StepResult, "outcome"> {
  return { step, method: calledBy(step), differences: [], isIntended: false };
}

function contextOf(step: GoldenStep, maker: Maker, recording: Recording): Context {
  const dialect = maker.kind === "ours" ? (maker.dialect ?? "contract") : undefined;
  const { group, release } = recording;
  return { step, method: calledBy(step), group, release, dialect };
}

type Judged = {
  readonly context: Context;
  readonly raw: RawAnswer;
  readonly demanded: Demanded;
  readonly translation: Translation;
};

function judge({ context: { step }, raw, demanded, translation }: Judged): StepResult {
  const empty = emptyResult(step);
  if (step.crashed) return { ...empty, ...judgeSurvival(step, raw) };
  if (isNotYet(jsonOf(raw, step.answer)) && !isNotYet(step.answer.json))
    return { ...empty, outcome: "notYet" };
  const { answer, volatile, holds } = demanded;
  const options = { volatile, holds, translate: (text: string) => translation.text(text) };
  const differences = compareAnswers(answer, raw, options);
  const outcome = differences.length === 0 ? "agreeing" : "differing";
  return { ...empty, differences, outcome, isIntended: !isDeepStrictEqual(answer, step.answer) };
}

/** Where the original program dies, any error will do. */
function judgeSurvival(step: GoldenStep, raw: RawAnswer): Pick<StepResult, "outcome" | "differences"> {
  const json = jsonOf(raw, step.answer);
  const survived = raw.http === 200 && isExactObject(json) && json.error !== undefined;
  if (survived) return { outcome: isNotYet(json) ? "notYet" : "agreeing", differences: [] };
  const difference: Difference = { path: ".http", kind: "value", recorded: "an error", actual: raw.http };
  return { outcome: "differing", differences: [difference] };
}

function isNotYet(json: Exact | undefined): boolean {
  if (!isExactObject(json)) return false;
  if (isExactObject(json.error)) return json.error.code === notImplementedCode;
  return typeof json.status === "string" && /not implemented yet/i.test(json.status);
}

function compareAnswers(
  answer: GoldenAnswer,
  raw: RawAnswer,
  options: Parameters<typeof compareValues>[2],
): Difference[] {
  if (answer.http === 0) {
    // A closed connection says no more than that the request is refused.
    if (raw.http === 0 || raw.http >= 400) return [];
    return [{ path: ".http", kind: "value", recorded: 0, actual: raw.http }];
  }
  if (answer.http !== raw.http) {
    return [{ path: ".http", kind: "value", recorded: answer.http, actual: raw.http }];
  }
  const type = raw.headers["content-type"];
  return [
    ...compareValues(answer.type, type, options, ".type"),
    ...compareBodies(answer, raw, options),
    ...compareChallenges(answer, raw),
  ];
}

function compareBodies(
  answer: GoldenAnswer,
  raw: RawAnswer,
  options: Parameters<typeof compareValues>[2],
): Difference[] {
  if (answer.json !== undefined) {
    const json = jsonOf(raw, answer);
    return compareValues(answer.json, json ?? raw.body.toString("latin1"), options, ".json");
  }
  if (answer.hex !== undefined) return compareValues(answer.hex, raw.body.toString("hex"), options, ".hex");
  return compareValues(answer.text, raw.body.toString("latin1"), options, ".text");
}

/** Nonces are random, everything else of the challenges is not. */
function compareChallenges(answer: GoldenAnswer, raw: RawAnswer): Difference[] {
  const masked = (text: string | undefined) => text?.replace(/nonce="[^"]*"/g, "nonce");
  const recorded = masked(answer.headers?.["WWW-authenticate"]);
  const actual = masked(raw.headers["www-authenticate"]);
  if (recorded === actual) return [];
  return [{ path: ".headers.WWW-authenticate", kind: "value", recorded, actual }];
}

function jsonOf(raw: RawAnswer, answer: GoldenAnswer): Exact | undefined {
  if (answer.raw_bytes_in_json) return laxJson(raw.body.toString("latin1"));
  try {
    return parseExact(raw.body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Takes note of the values this run made where the recorded run made others. */
function learn({ answer, volatile }: Demanded, json: Exact | undefined, translation: Translation): void {
  if (volatile.length === 0 || answer.json === undefined) return;
  const options = { volatile: [], translate: (text: string) => text };
  for (const { path, kind, recorded, actual } of compareValues(answer.json, json, options, ".json")) {
    if (kind === "value" && volatile.includes(path)) translation.learn(recorded ?? null, actual ?? null);
  }
}
