import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PowerSource } from "@anulo/node";

/** Where Linux describes batteries and mains; other systems have no such folder. */
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
 * What the machine is powered by: a plug that is online decides, then the first battery that says whether it is
 * used. Source: miner.cpp `on_battery_power`.
 */
export function powerSource(): PowerSource {
  const supplies = names().map((name) => ({ name, type: read(name, "type") }));
  const plugs = supplies.filter(({ type }) => type.startsWith("Mains"));
  if (plugs.some(({ name }) => read(name, "online").startsWith("1"))) return "mains";
  const batteries = supplies.filter(({ type }) => type.startsWith("Battery"));
  const states = batteries.map(({ name }) => read(name, "status"));
  const known = states.find((state) => /^(Charging|Full|Discharging)/.test(state));
  if (known === undefined) return "unknown";
  return known.startsWith("Discharging") ? "battery" : "mains";
}
