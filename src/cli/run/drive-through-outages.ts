/** Drives a session, and opens it again if the log was unreachable for longer than the lease lasts. */
import type { OpenSessionOptions, Rookery } from "../../rookery.ts";
import { retryStore } from "../../session/store-retry.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { printNotice } from "../io.ts";
import { waitForAgentStart } from "./agent-start.ts";
import { driveSession, type DriveOptions } from "./drive.ts";

/** How long to wait for the log. Far longer than a failover takes. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Rejects with the error of the log if it stays unreachable, or with `session_in_use` if another process has opened the
 * session.
 */
export async function driveThroughOutages(
  rookery: Rookery,
  { folders, ...options }: DriveOptions & Pick<OpenSessionOptions, "folders">,
): Promise<ExitCode> {
  const { io, json, attended } = options;
  const { id } = options.session;
  let shown = options.after;
  const onShown = (seq: number): void => void (shown = seq);
  for (let drive: DriveOptions = { ...options, onShown }; ;) {
    try {
      return await driveSession(drive);
    } catch (error) {
      if (!drive.session.lost.aborted) throw error;
    }
    printNotice(io, "the log was unreachable for too long, so the agent was stopped; waiting to continue");
    const session = await waitForAgentStart({
      ...{ io, rookery, json },
      label: "waiting for the log",
      open: (signal, withSpinner) =>
        withSpinner(() =>
          retryStore(() => rookery.openSession({ id, attended, ...(folders !== undefined && { folders }) }), {
            patienceMs: PATIENCE_MS,
            signal,
          }),
        ),
    });
    if (session === undefined) return EXIT.cancelled;
    drive = { ...drive, session, prompt: undefined, resumes: false, after: shown };
  }
}
