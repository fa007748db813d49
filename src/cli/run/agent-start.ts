/** Waits for the start of an agent, with a spinner on a terminal. An interrupt cancels the start. */
import type { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/session.ts";
import { type Io, isInteractive } from "../io.ts";
import { untilAborted, watchInterrupts } from "./interrupts.ts";
import { noSpinner, startSpinner } from "./spinner.ts";

export interface AgentStart {
  readonly io: Io;
  /** Closed by an interrupt, which ends the processes that were starting. */
  readonly rookery: Rookery;
  readonly json: boolean;
  /** Label of the spinner. */
  readonly label: string;
  /** Opens the session. `withSpinner` shows the spinner during work that asks no question. */
  readonly open: (signal: AbortSignal, withSpinner: WithSpinner) => Promise<Session>;
}

type WithSpinner = (work: () => Promise<Session>) => Promise<Session>;

/** Returns undefined after an interrupt, when everything is cleaned up. */
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
  const settled = opening.catch(() => undefined); // nobody needs the result anymore
  await rookery.close();
  await settled;
  return undefined;
}
