/** One process of a fleet. */
import { freePorts } from "@anulo/devnet";
import { WalletProcess } from "../wallet-process.ts";

export class Member {
  readonly process: WalletProcess;
  /** Where the other processes reach it. */
  readonly address: string;

  private constructor(process: WalletProcess, address: string) {
    this.process = process;
    this.address = address;
  }

  /** Starts `anulo wallet` with these flags as a member of a fleet, and waits until it serves. */
  static async start(flags: readonly string[]): Promise<Member> {
    const [port] = await freePorts(1);
    const address = `127.0.0.1:${port}`;
    return new Member(await WalletProcess.start(["--fleet", address, ...flags]), address);
  }

  get url(): string {
    return this.process.url;
  }
}
