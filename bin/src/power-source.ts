import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PowerSource } from "@anulo/node";

/** The folder in which Linux describes batteries and mains; other systems do not have it. */
const folder = "/sys/class/power_supply";

function read(...path: string[]): string {
  try {
    return readFileSync(join(folder, ...path), "utf8").trim();
  } catch {
    return "";
  }
}

function names(): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * The machine's power source: an adapter that is online decides, otherwise the first battery that reports whether it is
 * in use. Source: miner.cpp `on_battery_power`.
 */
export function powerSource(): PowerSource {
  const supplies = names().map((name) => ({ name, type: read(name, "type") }));
  const plugs = supplies.filter(({ type }) => type.startsWith("Mains"));
  if (plugs.some(({ name }) => read(name, "online").startsWith("1"))) return "mains";
  const batteries = supplies.filter(({ type }) => type.startsWith("Battery"));
  const states = batteries.map(({ name }) => read(name, "status"));
  const chargeState = states.find((state) => /^(Charging|Full|Discharging)/.test(state));
  if (chargeState === undefined) return "unknown";
  return chargeState.startsWith("Discharging") ? "battery" : "mains";
}
