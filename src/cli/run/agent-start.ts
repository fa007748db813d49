/** Waits until the agent of a session has started: a terminal shows it, and an interrupt gives it up. */
import type { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/session.ts";
import { type Io, isInteractive } from "../io.ts";
import { untilAborted, watchInterrupts } from "./interrupts.ts";
import { noSpinner, startSpinner } from "./spinner.ts";

export interface AgentStart {
  readonly io: Io;
  /** Closed where it is interrupted, which ends what was being started. */
  readonly rookery: Rookery;
  readonly json: boolean;
  /** As it is shown. */
  readonly label: string;
  /** `shown` wraps what is only waited for, and no question to the person. */
  readonly open: (signal: AbortSignal, shown: WithSpinner) => Promise<Session>;
}

type WithSpinner = (work: () => Promise<Session>) => Promise<Session>;

/** Undefined where it was interrupted; nothing of it is left then. */
export async function waitForAgentStart({ io, rookery, json, label, open }: AgentStart): Promise<Session | undefined> {
  using interrupts = watchInterrupts(io);
  using spinner = !json && isInteractive(io.stdout, io.env) ? startSpinner(io.stdout) : noSpinner;
  const { signal } = interrupts;
  const opening = open(signal, async (work) => {
    spinner.wait(label);
    return work().finally(() => spinner.clear());
  });
  await Promise.race([opening, untilAborted(signal)]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!signal.aborted) return await opening;
  spinner.clear();
  const settled = opening.catch(() => undefined); // what it was opened for is not wanted any more
  await rookery.close();
  await settled;
  return undefined;
}
